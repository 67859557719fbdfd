/* looks.h - routes that answer with one thing and all that belongs to it, such as the life of a
 * row: an object with a member for each report. A part has up to a hundred rows. */
#ifndef PRESCIENT_HTTP_LOOKS_H
#define PRESCIENT_HTTP_LOOKS_H

#include "desk.h"

void looks_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
