/* pool_state.h - what the files of the pool share: its workers as a table of states, and what can
 * happen to one. pool.c gives checks out, pool_end.c times workers out and reaps them,
 * pool_listen.c reads what they send, pool_start.c starts them; each may call those that come after
 * it here, and all may call pool_worker.c and pool_share.c, which says whose turn it is. */
#ifndef PRESCIENT_POOL_STATE_H
#define PRESCIENT_POOL_STATE_H

#include "pool.h"
#include "../rules/turns.h"
#include "spawn.h"

enum {
    WORKER_STARTING_US = 30 * 1000 * 1000,      /* a worker must be ready by then */
    WORKER_STUCK_US = 250 * 1000,               /* longer on one check: others get the rest of its slab */
};

/* Of what a worker printed last: so much may be part of a secret, and is looked at with what comes
 * next. Of a longer secret the last bytes will do: a piece of that many is known as one. */
enum { POOL_HELD_MAX = 256 };

enum pool_worker_state { WORKER_FREE, WORKER_STARTING, WORKER_IDLE, WORKER_RUNNING, WORKER_DYING };

struct pool_worker {
    enum pool_worker_state state;
    struct child child;
    struct slab *slab;
    struct page *page;                  /* whose checks it has; NULL when idle */
    int index[SLAB_CHECKS_MAX];         /* of the page, by place in the slab */
    uint8_t tenant[SLAB_CHECKS_MAX];    /* of these: their places among tenants */
    int count, taken;                   /* checks in the slab; the first ones whose answers are collected */
    /* behind them: answers of a batch that were handed over before others, and the last such place
     * + 1; never less than taken */
    bool ahead[SLAB_CHECKS_MAX];
    int reached;
    /* places from here on were cut off: other workers have those checks */
    int end;
    int claimed;                        /* as last seen */
    int64_t start_until_us;             /* trust of what it was given, as in its slab */
    int64_t given_us;                   /* when it got them */
    int job;                            /* that all of them are of */
    int64_t expected_us;                /* that each would take */
    int64_t charged_us;                 /* up to when its time has been charged to those it was for */
    int64_t seen_us;                    /* when what is running now was first seen */
    bool timed_out;                     /* it is dying because of a deadline */
    bool retired;                       /* it is dying because it was asked to exit */
    const char *why;                    /* added to its exit status in the log and in a crash's note */
    int64_t kill_us;                    /* DYING: when to send SIGKILL; 0: it was sent */
    int64_t start_us;
    /* STARTING: the job that it loads and opens, counted from 1; 0: none */
    int opening;
    bool *usable;                       /* per job, as it reported when it was ready; NULL: not yet */
    bool lacks_some;                    /* it cannot run all of them */
    bool delivers;                      /* RUNNING: what it has are deliveries, and nothing else */
    int32_t served;                     /* checks so far */
    size_t printed;                     /* bytes on stdout and stderr, this slab */
    char held[POOL_HELD_MAX];           /* printed, and not in the log yet */
    size_t nheld;
    bool gone;                          /* its socket is closed, or it broke the protocol */
    int64_t gone_us;                    /* since when */
};

/* How much of what jobs print and log goes into the log, over all workers: a token bucket. */
enum { OUTPUT_BURST = 1 << 20, OUTPUT_PER_S = 16 << 10 };       /* bytes */
struct output_budget {
    int64_t room, since_us;
    int64_t dropped;                    /* bytes, since the room was used up; 0: there is room */
};

enum { POOL_TENANTS = 256 };            /* places: tenants beyond that share them */
struct pool_share {
    bool batches;                       /* many at a time, so that they do not take their times in turn */
    int64_t mean_us;                    /* of a check; a guess until some have run */
    bool has_run;
    struct turns tenants;
    int64_t tags[POOL_TENANTS];
};

struct pool {
    struct pool_options o;
    char *settings_text;
    size_t settings_len;
    const char **secrets;               /* of all jobs, which what they print may quote */
    int nsecrets;
    struct pool_worker *workers;
    int size, usual;                    /* places; how many run when nothing is stuck */
    int used;                           /* places from here on are free, and not looked at */
    struct page **pages;                /* offered, oldest first */
    int npages, pages_room;
    bool started, ready;
    /* a worker that was ready has ended: perhaps the last one that could run some job */
    bool has_lost_worker;
    int failures;                       /* in a row, before being ready */
    struct output_budget output;
    bool *usable;                       /* per job: a worker can run it */
    struct turns jobs;                  /* whose turn it is */
    struct pool_share *shares;          /* per job */
    /* per job, for one worker: it may be given checks of it now, and the first priority of these */
    bool *waits;
    int32_t *priorities;
    /* when a worker is replaced for a job that it could not open; the pause grows */
    int64_t reopen_us, reopen_pause_us;
    unsigned char *deaths;              /* per job: workers that died while they loaded or opened it */
    int64_t spawn_after_us;
    struct alarm wake_watch, wake_reopen, wake_spawn;
    bool broken;
    char why[1024];
    uint64_t random;
};

static inline int64_t pool_now_us(const struct pool *pool)
{
    return clock_mono_us(pool->o.clock);
}

/* So many workers have died while they opened a job before it is left out: the first may have been
 * killed from outside. */
enum { DEATHS_ENOUGH = 2 };

/* pool_worker.c */
int pool_count(const struct pool *pool, enum pool_worker_state state);      /* of the used places */
int pool_live(const struct pool *pool);                             /* places that are not free */
void pool_worker_clear(struct pool_worker *w);                      /* its place is free again */
void pool_worker_signal(const struct pool *pool, const struct pool_worker *w, int sig);
/* SIGTERM now, and SIGKILL once kill_grace is over; `why` goes into the log and into the crash */
void pool_worker_terminate(struct pool *pool, struct pool_worker *w, const char *why);
/* how many checks run: claimed, as it was counted, and not answered */
int pool_worker_runs(const struct pool_worker *w, int claimed);
/* on one check, so long that others get what else it has */
bool pool_worker_is_stuck(const struct pool *pool, const struct pool_worker *w);

/* pool_share.c */
int pool_share_open(struct pool *pool);         /* 0, or -1: out of memory */
void pool_share_release(struct pool *pool);
void pool_share_note_batches(struct pool *pool, int job, bool batches);
bool pool_share_is_bounded(const struct pool *pool, int job);               /* by max_running */
/* Whose turn it is of all that this worker may be given now: a page, and what may be taken of it.
 * NULL: nothing. */
struct page *pool_share_next(struct pool *pool, const struct pool_worker *w, int *job,
                             enum page_kinds *kinds);
int pool_share_most(const struct pool *pool, int job);      /* how many checks of it a slab may hold */
/* The worker has been given them: `job`, `tenant` and `count` of it are set. */
void pool_share_given(struct pool *pool, struct pool_worker *w);
/* Its answers are there, the one in this place first: it is charged for the time since the last. */
void pool_share_answered(struct pool *pool, struct pool_worker *w, int place, int64_t now_us);
void pool_share_over(struct pool *pool, struct pool_worker *w);     /* it has none of them any more */

/* pool_start.c */
/* as many as there should be, unless it backs off */
void pool_spawn_missing(struct pool *pool);
void pool_spawn_failed(struct pool *pool, const char *why);         /* counts it, and backs off */

/* finds out which jobs can be run, and reports a change */
void pool_look_at_jobs(struct pool *pool);

/* pool_listen.c */
/* reads its messages */
void pool_worker_listen(struct pool *pool, struct pool_worker *w);
void pool_worker_drain(struct pool *pool, struct pool_worker *w);             /* reads what its jobs print */
/* no more will come: what was kept as the beginning of a secret is hidden, or shown */
void pool_worker_tell_held(struct pool *pool, struct pool_worker *w);
/* takes the answers that are in its slab */
void pool_worker_collect(struct pool *pool, struct pool_worker *w);
/* returns to the page what it has not claimed */
void pool_worker_cut(struct pool_worker *w);
/* reports how the check in this place ended */
void pool_report(struct pool *pool, struct pool_worker *w, int place, enum answer_kind kind,
                 const struct raw_answer *raw, int64_t taken_us);

/* pool_end.c */
void pool_worker_watch(struct pool *pool, struct pool_worker *w, int64_t now);
void pool_reap(struct pool *pool);
void pool_reap_orphans(struct pool *pool);

#endif
