/* change.h - POST /v1/resolve, cancel, reschedule, run-now, retry, pause and resume, PUT and DELETE
 * /v1/schedules: what is there is changed, a page a call, and each change leaves a row of the
 * audit. */
#ifndef PRESCIENT_HTTP_CHANGE_H
#define PRESCIENT_HTTP_CHANGE_H

#include "desk.h"

void change_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
