/* unknown_job.h - checks that are enqueued, or asked for, of jobs that the settings do not have:
 * the likeliest mistake there is. They are filed all the same, as another engine may have the
 * job. */
#ifndef PRESCIENT_UNKNOWN_JOB_H
#define PRESCIENT_UNKNOWN_JOB_H

#include "app.h"

enum { UNKNOWN_JOB_NAMES = 10 };

struct unknown_jobs {               /* all zero: none so far */
    struct { const char *name; int64_t checks; } all[UNKNOWN_JOB_NAMES];
    int n;
    int64_t others;                 /* checks of further jobs */
};

/* A check of `job` was filed. Settings without jobs know none, and nothing is noted. */
void unknown_jobs_note(struct unknown_jobs *u, struct app *app, const char *job);

/* A line on stderr for each job, with --quiet, too: it is a warning, no report of progress. */
void unknown_jobs_tell(const struct unknown_jobs *u, struct app *app);

/* Nothing was found of `job`: a remark when the settings do not have it either. */
void unknown_job_remark(struct app *app, const char *job);

#endif
