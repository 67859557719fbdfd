/* asked_schedule.h - GET /v1/schedule?name=: one schedule, when it runs next, and what became of
 * the last times. */
#ifndef PRESCIENT_HTTP_ASKED_SCHEDULE_H
#define PRESCIENT_HTTP_ASKED_SCHEDULE_H

#include "desk.h"

void asked_schedule_answer(struct desk *desk, const struct question *questions, int n,
                           struct answer *answers);

#endif
