/* failing_jobs.h - says which jobs have failed of late, and why: for status. */
#ifndef PRESCIENT_FAILING_JOBS_H
#define PRESCIENT_FAILING_JOBS_H

#include <jansson.h>
#include "app.h"

enum { FAILING_JOBS_MAX = 10 };

/* One row a job, of the hour before `now`, the one with most trouble first; at most
 * FAILING_JOBS_MAX. */
int failing_jobs_ask(struct app *app, int64_t now, struct store_rows *out, struct err *err);

/* "order_paid: 24 run, 0 failed, 24 put off; since 2026-03-01T13:15:00Z: permission denied ..." */
const char *failing_jobs_words(struct app *app, const struct store_rows *rows, int row);

/* An array with an object for each job. */
json_t *failing_jobs_json(struct app *app, const struct store_rows *rows);

#endif
