/* asked_deliveries.h - GET /v1/deliveries: what was sent to listeners, waits to be sent, or could
 * not be. */
#ifndef PRESCIENT_HTTP_ASKED_DELIVERIES_H
#define PRESCIENT_HTTP_ASKED_DELIVERIES_H

#include "desk.h"

void asked_deliveries_answer(struct desk *desk, const struct question *questions, int n,
                             struct answer *answers);

#endif
