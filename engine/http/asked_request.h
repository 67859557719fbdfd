/* asked_request.h - GET /v1/requests?uniqid=: whether a POST was taken whose answer never came. */
#ifndef PRESCIENT_HTTP_ASKED_REQUEST_H
#define PRESCIENT_HTTP_ASKED_REQUEST_H

#include "desk.h"

void asked_request_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
