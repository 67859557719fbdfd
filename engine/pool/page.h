/* page.h - the checks of one page on their way: read, given to workers, answered, settled. A page
 * belongs to the lane that read it; the pool only holds it while `given` > 0. Moves between states
 * go through the functions here, which keep the counts. No I/O. */
#ifndef PRESCIENT_PAGE_H
#define PRESCIENT_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include "../base/agenda.h"
#include "../base/arena.h"
#include "../base/err.h"
#include "../rules/check.h"

enum check_state {
    CHECK_KEYED,        /* waits until its concurrency key has a place */
    CHECK_WAITING,      /* to be given to a worker */
    CHECK_GIVEN,        /* in a worker's slab */
    CHECK_ANSWERED,     /* its settlement stands ready */
    CHECK_SETTLING,     /* in a settle under way */
    CHECK_OVER,         /* settled, superseded, or left behind */
    CHECK_STATES
};

struct leased_bucket;
struct keyed_check;

struct page_check {
    uint8_t state;              /* enum check_state */
    bool is_delivery;           /* of an event */
    bool single;                /* a batch with it went wrong: run it alone */
    bool maybe_settled;         /* a settle with it was sent and its end is unknown */
    bool answer_refused;        /* the database refused its answer once */
    bool outlasts;              /* it is given, and was when its engine began to leave */
    /* its answer keeps those beside it from being written: it is sent alone, not before retry_us */
    bool isolated;
    /* how often a settle of it alone met a corrupt block, since unwritable_since_us */
    uint8_t unwritable_tries;
    int16_t job;                /* index in the settings; -1: unknown here */
    uint32_t tenant;            /* whose it is: a hash, so others may have the same */
    /* since when another transaction holds its row, or that of an effect; 0: none does */
    int64_t locked_since_us;
    int64_t retry_us, unwritable_since_us;
    struct keyed_check *keyed;  /* it had to wait for a place of its concurrency key; NULL: it did not */
    struct settlement settlement;
};

/* Of a page's checks of one job. */
struct page_job {
    int waiting;
    int from;                   /* none before this place of the order waits, but what came back */
};

struct page;
struct place;
struct place_key;

/* A check that has a concurrency key, as the places of its engine see it (run/places.c). Lives in
 * the page's arena. */
struct keyed_check {
    struct page *page;
    int index;
    int32_t lasts_s;            /* its place has to last for so long */
    struct place_key *queue;    /* where it waits; NULL: it does not */
    TAILQ_ENTRY(keyed_check) in_queue;
    /* under which it may run, from when it was admitted until somebody has seen that it is over */
    struct place *place;
    bool has_lost_place;        /* others may have that place: what comes back unrun is held again */
};

struct page {
    struct check_rows rows;
    struct page_check *checks;  /* rows.n of them */
    /* indexes: by priority, then those of one job side by side, and in these the tenants in turn */
    uint32_t *order;
    struct page_job *jobs;      /* njobs of them, by job */
    int njobs;                  /* the greatest job of it + 1 */
    uint32_t *returned;         /* a stack of indexes that came back from a worker unrun */
    int nreturned;
    int ndeliveries;            /* of all its checks */
    int nkeyed;                 /* of all its checks: those that had to wait for a place */
    int noutlasting;            /* of those given */
    bool has_freed_places;      /* some that were admitted are answered or over */
    int counts[CHECK_STATES];
    int64_t answered_us;        /* when the oldest answer that waits for its settle came; 0: none waits */
    int64_t retry_us;           /* locked rows: do not settle again before */
    int nisolated;              /* of those answered */
    int64_t isolated_retry_us;  /* the earliest retry_us of these */
    struct alarm settle;        /* of the owner: when its answers are to be settled */
    /* its last settle met rows that others hold: tried again when there is nothing else to do */
    bool met_locked;
    /* the next settle leaves out rows that others hold, and finds out about the rest */
    bool skip_locked;
    bool is_of_small;           /* of the round of small tenants (run/targets.h) */
    bool is_read_again;             /* its rows may come again: those that it holds are not run twice */
    bool dropped;               /* its lease is lost: give nothing more, believe nothing more */
    int64_t now;                /* the time that its jobs are given */
    int64_t offered_us;         /* when the pool got it */
    int64_t start_until_us;     /* trust: nothing of it is started later (CLOCK_BOOTTIME) */
    struct leased_bucket *bucket;       /* that it was read from; the pool does not look at it */
    struct arena *arena;        /* answers live here */
    struct page *following;     /* the owner's list */
};

/* Takes the rows over (also on failure). `job_of` finds a check's job by name. NULL when out of
 * memory. */
struct page *page_new(struct check_rows *rows, int (*job_of)(void *ctx, const char *name), void *ctx,
                      int64_t now);
void page_free(struct page *p);         /* NULL is fine; nothing may be given any more */

/* A check that waits is not given before page_admit: its concurrency key needs a place first.
 * NULL: out of memory, and nothing has changed. */
struct keyed_check *page_hold(struct page *p, int index);
void page_admit(struct keyed_check *k);
/* It was admitted, and no worker has it: it waits for a place again. */
void page_hold_again(struct keyed_check *k);
/* Those that are given outlast the stay of their engine. */
void page_note_outlasting(struct page *p);
/* Neither given nor decided. */
bool page_is_unrun(const struct page *p, int index);

/* The next check of a job to give, or -1: deliveries, what is none, or both. Those that came back
 * go first. */
enum page_kinds { PAGE_ALL, PAGE_DELIVERIES, PAGE_OTHERS };
int page_next(struct page *p, int job, enum page_kinds kinds);
void page_give(struct page *p, int index);
/* given, but not started, or not to its end: it waits again; for a place, if it has lost its own */
void page_return(struct page *p, int index);

/* Its answer is in `settlement`. From given (a worker answered), or keyed or waiting (the engine
 * decided without a worker). */
void page_answer(struct page *p, int index, int64_t now_us);
void page_over(struct page *p, int index);          /* from any state but given */
/* what is answered and not being settled is over; returns how many */
int page_drop_answers(struct page *p);
void page_leave_waiting(struct page *p);            /* what has not been given is over, unrun */
void page_settling(struct page *p, int index);
void page_unsettled(struct page *p, int index);     /* the settle did not reach it: answered again */
/* Answered: from now on it is settled alone, and not before `retry_us`. */
void page_isolate(struct page *p, int index, int64_t retry_us);

/* When answers of it are to be settled: at once when all of it is answered, else `settle_after_us`
 * after the first answer. INT64_MAX: it holds none. */
int64_t page_settle_at_us(const struct page *p, int64_t settle_after_us);
bool page_is_all_isolated(const struct page *p);    /* what is answered is */

int page_waiting(const struct page *p);             /* how many may still be given */
bool page_is_over(const struct page *p);            /* nothing waiting, given, answered or settling */

#endif
