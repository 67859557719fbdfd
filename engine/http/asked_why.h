/* asked_why.h - GET /v1/why?entity=&key=&job=: why nothing, or nothing more, has happened. */
#ifndef PRESCIENT_HTTP_ASKED_WHY_H
#define PRESCIENT_HTTP_ASKED_WHY_H

#include "desk.h"

void asked_why_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
