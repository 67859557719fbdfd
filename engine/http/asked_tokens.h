/* asked_tokens.h - the list of tokens, which the front asks for each second (gate.h). */
#ifndef PRESCIENT_HTTP_ASKED_TOKENS_H
#define PRESCIENT_HTTP_ASKED_TOKENS_H

#include "desk.h"

/* {"tokens": an array of [name, role, is_in_force, hash, session_key], "read_only": the store takes
 * no writes}. */
void asked_tokens_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
