/* ready.h - whether the store can be asked. */
#ifndef PRESCIENT_HTTP_READY_H
#define PRESCIENT_HTTP_READY_H

#include "desk.h"

void ready_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
