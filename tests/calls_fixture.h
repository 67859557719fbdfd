/* calls_fixture.h - an engine whose store answers at once, as each test wants, and notes what it
 * was asked; with a plan of one slot. */
#ifndef PRESCIENT_CALLS_FIXTURE_H
#define PRESCIENT_CALLS_FIXTURE_H

#include "settings_fixture.h"

#include "../engine/run/engine.h"
#include "../engine/run/engine_state.h"
#include "../engine/run/plans.h"
#include "../engine/store/store_ops.h"

enum { CALLS_MAX = 64, SLOT = 900 * 1000, LENGTH_S = 900 };

/* The store, and what it was asked; the read of this number is lost. */
struct fake {
    struct store head;
    enum store_op calls[CALLS_MAX];
    int ncalls, reads, lose_read;
    const struct err *finish_fails; /* the first one */
    const struct err *hello_fails;  /* all */
    const struct err *opens_fail;   /* all */
    int damaged_opens;              /* so many at first meet a page of the database that cannot be read */
    /* until then the slot's opening meets a lock, or the database's clock is not there yet */
    int64_t locked_until_us, early_until_us;
    enum target_kind kind;          /* of the slot; SLOT (0): nothing is in it, as that would need workers */
    bool is_command;                /* not patient */
    int64_t full_look_ago_s;        /* what a hello says of the last one; 0: never */
    int full_looks, full_notes;     /* asked for, and noted */
    int late_reads;                 /* so many are given no answer in their time */
    int read_within_ms[8], most_within_ms;      /* what the reads were given; the most that any call was */
    int opens;
    int rows;                       /* of the slot; their ids begin with 1 */
    /* of the row whose settle meets such a page, as all that are sent with it; -1: all do */
    int64_t unwritable_id, writable_from_us;    /* 0: for ever */
    int settled, single_reads;        /* rows settled; reads that asked for one row only */
    /* every so many rows an application's transaction holds one, until that moment; 0: it holds
     * none */
    int held_every;
    int64_t held_until_us, free_settled_us;     /* when the last of the others was settled */
    int waits, free_settled;        /* for the lock timeout; rows settled that nobody held */
    int64_t trust_us;               /* of the lease, as the last renewal was sent */
    int notes;                      /* of the runs that go on for long */
    int runs_notes;                 /* of what runs were like */
    int64_t notified_us;            /* when who waits for events was told first; 0: never */
    void (*stop)(struct engine *e); /* how the engine is stopped by a plan that does so */
    int64_t now_us;
};
extern struct fake fake;

/* The engine, and what was to be seen when it had ended. */
struct ran {
    struct engine *engine;
    bool was_unopened;                  /* the target, when it was over */
    int ended_with;
    bool skipped_some;                  /* of its totals */
    bool holds_back_its_namesake;       /* a check whose id is the number of the slot */
    bool holds_back_the_unwritable;
};
extern struct ran ran;

/* A plan of one slot, whose checks (if there are any) are moved on without a worker: run with it,
 * and its parts, for plans that do more. */
void run_slot(struct fake how);
void run_plan(struct fake how, const struct plan *how_to, void *state);
void one_slot(const struct plan_env *env, void *state);
void nothing_to_do(const struct plan_env *env, void *state, const struct errand_result *result);
void slot_is_over(const struct plan_env *env, void *state, const struct target *target);

void calls_are(const enum store_op *expected, int n);

#endif
