/* pool.h - the workers: spawn, give, watch, time out, reap, hold back. No SQL and no job code.
 *
 * The pool is offered pages and gives their waiting checks to idle workers, a slab at a time. It
 * reports for each check how its run ended: answered, timed out, crashed. It never waits: the
 * engine's loop polls pool_poll_fds and calls pool_tick. */
#ifndef PRESCIENT_POOL_H
#define PRESCIENT_POOL_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include "../base/agenda.h"
#include "../base/clock.h"
#include "../base/err.h"
#include "../base/log.h"
#include "../base/settings.h"
#include "../rules/guard.h"
#include "page.h"
#include "../wire/slab.h"

struct pool;
struct spawner;

struct pool_events {
    /* Check `index` of `page` ended its run as `kind`; `raw` holds times, text and effects (text
     * only for TIMEOUT and CRASH) and lives in the page's arena. It was taken at `taken_us`
     * (monotonic). The owner makes its settlement. */
    void (*answered)(void *ctx, struct page *page, int index, enum answer_kind kind,
                     const struct raw_answer *raw, int64_t taken_us);
    /* usable[i]: one of the workers has loaded and opened job i of the settings. Called when the
     * first worker is ready, and then whenever that changes. A worker is given no check of a job
     * that it cannot run; it is replaced, after pauses that grow, so that a job which could not be
     * opened for a moment is run again. */
    void (*ready)(void *ctx, const bool *usable);
    /* With is_dry: `n` bytes of what a job would send, as its worker sends them; may be NULL. */
    void (*requested)(void *ctx, const char *part, size_t n);
    void *ctx;
};

/* Children of this process that are not this pool's: it buries all others that have ended. `has`
 * NULL: there are none. */
struct pool_kin {
    bool (*has)(const void *ctx, pid_t pid);
    const void *ctx;
};

struct pool_options {
    const struct settings *settings;    /* outlives the pool */
    const char *program;                /* NULL: this program itself (/proc/self/exe) */
    const struct clock *clock;
    const struct spawner *spawner;
    uint64_t seed;                      /* of the jitter */
    struct log *log;
    struct agenda *agenda;              /* where it sets its alarms */
    struct pool_events events;
    struct pool_kin kin;
    bool is_dry;                        /* jobs may send nothing, and tell what they would send */
};

int pool_new(const struct pool_options *options, struct pool **out, struct err *err);
/* No more work: no worker is started, and idle ones close their jobs and exit, for which they have
 * two seconds. pool_tick is called as before until pool_is_retired. */
void pool_retire(struct pool *pool);
bool pool_is_retired(const struct pool *pool);
bool pool_has_child(const struct pool *pool, pid_t pid); /* a worker that has not been buried */

/* Kills and reaps the workers that still run. No event is reported any more. NULL is fine. */
void pool_free(struct pool *pool);

/* No worker is started before pool_start. When a few in a row have died before they were ready, the
 * pool is broken until one gets ready; it goes on trying with back-off. */
void pool_start(struct pool *pool);
bool pool_is_ready(const struct pool *pool);
const char *pool_broken(const struct pool *pool);           /* why, or NULL */

/* Whether its workers run many checks of the job in one call; known once they are ready. */
bool pool_runs_batches(const struct pool *pool, int job);

/* Whether some job takes so long that many of its checks take a while. */
enum pool_pace { POOL_UNKNOWN /* none has run here yet */, POOL_FAST, POOL_SLOW };
enum pool_pace pool_pace(const struct pool *pool);

/* Checks of `page` may be given from now on. The pool keeps the pointer until pool_forget. false:
 * out of memory, and they will not be. */
bool pool_offer(struct pool *pool, struct page *page);
void pool_forget(struct pool *pool, struct page *page);     /* over: nothing given, nothing waiting */

/* Its lease is lost or we are stopping: no further check of it is started; those that run go on and
 * are reported as before. */
void pool_cut(struct pool *pool, struct page *page);

/* page->start_until_us has changed: it is later, since the lease was renewed, or 0, since the store
 * rejects writes. Passes it on to the workers that have checks of the page. */
void pool_set_trust(struct pool *pool, const struct page *page);

/* Gives, collects, times out, replaces. To be called when a descriptor is ready, on SIGCHLD, and
 * when an alarm rings that it has set. */
void pool_tick(struct pool *pool);
int pool_poll_fds(const struct pool *pool, struct pollfd *out, int room);      /* how many were filled in */

/* A check that is being run. */
struct pool_run {
    const struct check *check;
    int pid;                            /* of its worker */
    int64_t began_us;                   /* monotonic, when it was first seen running */
};
/* Fills in those that were first seen by `before_us`; how many, at most `room`. */
int pool_long_runs(const struct pool *pool, int64_t before_us, struct pool_run *out, int room);

/* a worker is idle and no offered page has a waiting check */
bool pool_wants_work(const struct pool *pool);
/* SIGKILL to all, now: the end of a stop timeout */
void pool_kill(struct pool *pool);

#endif
