/* waiting_jobs.h - says which checks wait for jobs that the settings do not have, before they are
 * due: for status and doctor. put_off.h is about those whose slot has come. */
#ifndef PRESCIENT_WAITING_JOBS_H
#define PRESCIENT_WAITING_JOBS_H

#include <jansson.h>
#include "app.h"

/* A job that another engine has run lately is none of them. */
struct waiting_jobs {
    struct store_rows rows;         /* a job each, those with most checks first */
    bool is_asked;                  /* false: the settings have no jobs, those of a host that enqueues */
    bool is_part;                   /* there are more checks, or more jobs, than were looked at */
};

int waiting_jobs_ask(struct app *app, struct waiting_jobs *out, struct err *err);

/* "2 checks wait for jobs that are not in the settings: typo (2, from ...)", or why none is named.
 * NULL: there are none. */
const char *waiting_jobs_words(struct app *app, const struct waiting_jobs *jobs);

/* True when one of them is nobody's, as far as the history tells, or has nearly the name of a job
 * of the settings. Else another engine may have run them before what was looked at. */
bool waiting_jobs_are_amiss(struct app *app, const struct waiting_jobs *jobs);

/* What to do about it. */
const char *waiting_jobs_advice(void);

/* An array with an object for each job; null when nothing was asked. */
json_t *waiting_jobs_json(struct app *app, const struct waiting_jobs *jobs);

#endif
