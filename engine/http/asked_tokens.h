/* asked_tokens.h - the list of tokens, which the front asks for each second (gate.h). */
#ifndef PRESCIENT_HTTP_ASKED_TOKENS_H
#define PRESCIENT_HTTP_ASKED_TOKENS_H

#include "desk.h"

/* An array of [name, role, is_in_force, hash, session_key]. */
void asked_tokens_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
