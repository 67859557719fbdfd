/* plans.h - the ways to run an engine: each is a plan with its state. */
#ifndef PRESCIENT_PLANS_H
#define PRESCIENT_PLANS_H

#include "catchup.h"
#include "plan.h"
#include "pruning.h"

/* run: the slot that is now (or `slot`), then the second looks and a sweep, then the end. */
struct plan_run {
    int64_t slot;                   /* 0: the slot that is now */
    bool no_sweep;
    int step;
    int64_t begin_us;               /* a cron that fired a moment early waits until then; 0: need not */
    struct catchup catchup;
    struct pruning pruning;
};
extern const struct plan plan_run;

/* sweep: every late slot; reslot: all late checks to the next slot, running none. Both end. */
struct plan_sweep {
    enum target_kind kind;          /* TARGET_SWEEP or TARGET_RESLOT */
    int step;
    struct catchup catchup;
};
extern const struct plan plan_sweep;

/* daemon: each slot at its time, second looks and sweeps between; for ever. */
struct plan_daemon {
    int64_t current;                /* the newest slot that was begun */
    bool started;
    struct catchup catchup;
    struct pruning pruning;
    int64_t catchup_us, full_us, days_us, clock_us, prune_us;   /* when each is due again, monotonic */
    int64_t pause_us;               /* between second looks; grows while nothing moves */
    int64_t rest_until_us;          /* no look before, monotonic: the last one was costly */
    bool looking;                   /* a catch-up is under way */
    /* when to ask how far the transactions are that slots wait for; 0: they wait for none */
    int64_t pulse_us;
    struct pulse { int64_t newest; int running; int64_t oldest; } pulse;    /* the last answer */
};
extern const struct plan plan_daemon;
/* Whether a second look may find what it could not find at the pulse before. */
bool plan_pulse_says_look(const struct pulse *before, const struct pulse *now);

/* replay: every slot in [from, to] that holds checks, in order, on a virtual clock. */
struct plan_replay {
    int64_t from, to;
    int step;
    int64_t next;                   /* where to look for the next slot */
    int64_t slots;
    int64_t closed_slots;           /* at the last second look */
    void (*progress)(void *ctx, int64_t slot, int64_t slots);   /* may be NULL */
    void *ctx;
    struct catchup catchup;
};
extern const struct plan plan_replay;

#endif
