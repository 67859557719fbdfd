/* host.h - what a job may call (struct prescient_host), made for one job in one worker. */
#ifndef PRESCIENT_HOST_H
#define PRESCIENT_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include "../../include/prescient/job.h"
#include "../base/err.h"
#include "../base/settings.h"
#include "../wire/slab.h"

struct business;
struct host;

struct host_services {                  /* shared by all jobs of a worker; outlives them */
    /* where effects go; NULL outside a worker: then declaring one is an error */
    struct slab *slab;
    struct business *business;          /* NULL: none is set */
    void (*log)(void *ctx, int level, const char *text);    /* enum prescient_log_level */
    void *log_ctx;
    /* publishes an answer of the call that is under way; false: it is none. NULL outside of a
     * worker */
    bool (*answered)(void *ctx, struct prescient_answer *answer);
    void *answered_ctx;
    /* Nothing may be sent; what would be is told. */
    bool is_dry;
    void (*requested)(void *ctx, const char *request);
    void *requested_ctx;
    void (*hide)(void *ctx, char *text);                    /* NULL: there are no secrets */
    void *hide_ctx;
};

int host_new(const struct job_settings *job, const struct host_services *services, struct host **out,
             struct err *err);
void host_free(struct host *h);         /* NULL is fine */
const struct prescient_host *host_api(const struct host *h);

/* How many of `n` checks one call of job_exec_many may get: the job may have set less in open. */
int host_batch_most(const struct host *h, int n);

/* A call into the job begins: its queries have until `deadline_us` (CLOCK_BOOTTIME). */
void host_begin(struct host *h, int64_t deadline_us);

/* The job is open: ERR_SETTINGS with words when its group has a setting that it has not asked for.
 * With `only_misspelt` only when a name that it did ask for is near: an open that failed has not
 * asked for all. What it asks for later is not noted any more. */
int host_end_open(struct host *h, bool only_misspelt, struct err *err);

/* The last query failed as the database could not be reached or gave no answer in time. */
bool host_had_no_answer(const struct host *h);

/* What answer->impl points to; check->impl is the struct slab_check. */
struct host_answer {
    int index;                          /* in the slab */
    /* an effect was refused: the answer counts as FAIL with the text `refusal`, which lives until
     * host_begin */
    bool is_refused;
    /* the effects of other checks left no room for one of its own: the check is deferred */
    bool is_crowded;
    bool is_published;                  /* the engine has it: nothing can be declared any more */
    const char *refusal;
};

#endif
