/* plans.h - the ways to run an engine: each is a plan with its state. */
#ifndef PRESCIENT_PLANS_H
#define PRESCIENT_PLANS_H

#include "catchup.h"
#include "check_watch.h"
#include "fine_pulse.h"
#include "plan.h"
#include "pruning.h"

/* run: the slot that is now (or `slot`), then the second looks and a sweep, then the end. */
struct plan_run {
    int64_t slot;                   /* 0: the slot that is now */
    bool no_sweep;
    int step;
    struct fine_pulse fine;
    int64_t fine_until;             /* what was filed in fine slots up to there is run; 0: not known yet */
    int64_t makes_up_before;        /* missed occurrences from there on are the next run's; 0: none came */
    bool delivers_late;             /* it looks once more, for what checks of these slots have emitted */
    int64_t fine_from;              /* at a set time: where to look for the next fine slot; 0: at the first */
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
    bool is_told;                   /* the log has what this daemon is */
    bool takes_over;                /* from one with other settings: which the log has */
    bool started;
    struct catchup catchup;
    struct pruning pruning;
    /* when each is due again, monotonic */
    int64_t catchup_us, full_us, days_us, digests_us, noted_us, loads_us, clock_us, prune_us;
    int64_t pause_us;               /* between second looks; grows while nothing moves */
    int64_t rest_until_us;          /* no look before, monotonic: the last one was costly */
    bool looking;                   /* a catch-up is under way */
    /* Checks that were put off were looked for in this slot, and with these jobs. */
    int64_t recalled_slot;
    unsigned recalled_jobs;
    /* when to ask how far the transactions are that slots wait for; 0: they wait for none */
    int64_t pulse_us;
    struct fine_pulse fine;
    struct pulse { int64_t newest; int running; int64_t oldest; } pulse;    /* the last answer */
};
extern const struct plan plan_daemon;
/* Whether a second look may find what it could not find at the pulse before. */
bool plan_pulse_says_look(const struct pulse *before, const struct pulse *now);

/* run --check: one check, until it has run, here or elsewhere. Ends when it has, when it was put
 * off, or after `within_us`. */
struct plan_check {
    struct check_watch watch;
    const char *job;
    bool runs_here;                 /* the settings have its job; else another engine has to run it */
    int64_t within_us;
    struct store_report report;     /* checks_of_key, in an arena of its own */
    struct check_look (*read)(const struct store_rows *rows, const char *job);
    enum check_watch_state state;         /* out: CHECK_WATCH_WAITS: it has not run in time, or was stopped */
    int step;
    int64_t look_us, target_us;     /* not again before, monotonic */
    int64_t until_us, rest_until_us;
    bool is_noted;                  /* what its run was like, or that failed */
};
extern const struct plan plan_check;

/* replay: every slot in [from, to] that holds checks, in order, on a virtual clock. */
struct plan_replay {
    int64_t from, to;
    int step;
    int64_t next;                   /* where to look for the next slot */
    int64_t slots;
    int64_t closed_slots;           /* at the last second look */
    int64_t kept_us;                /* a hello is due a while after this, monotonic; 0: never */
    void (*progress)(void *ctx, int64_t slot, int64_t slots);   /* may be NULL */
    void *ctx;
    bool delivers;                  /* events go to listeners, and what is filed for them is run */
    struct catchup catchup;
};
extern const struct plan plan_replay;

#endif
