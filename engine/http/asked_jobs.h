/* asked_jobs.h - GET /v1/jobs: the jobs of this server's settings, those that engines have noted,
 * and those that were run, with what their runs were like. */
#ifndef PRESCIENT_HTTP_ASKED_JOBS_H
#define PRESCIENT_HTTP_ASKED_JOBS_H

#include "desk.h"

/* {"items": [...], "next": null}: those that took most first, then those that were not run. `from`:
 * runs from the hour of this time on, without it of the last day. */
void asked_jobs_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
