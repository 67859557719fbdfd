/* errand.h - single questions of a plan to the store, one at a time, asked by a lane that is free.
 * Each kind is a row of a table: how its request is filled in, and what its answer changes here. */
#ifndef PRESCIENT_ERRAND_H
#define PRESCIENT_ERRAND_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/log.h"
#include "../base/settings.h"
#include "../store/store_report.h"
#include "../store/store_slot.h"
#include "clocks.h"
#include "counts.h"
#include "jobs.h"
#include "long_runs.h"
#include "measuring.h"
#include "run_hours.h"
#include "zones.h"

/* RELOOK_SETTLED and LATE_BESIDE are the narrow forms of the line before: see catchup.h. */
enum errand_kind {
    ERRAND_NONE, ERRAND_HELLO, ERRAND_KEEP_DAYS, ERRAND_INDEX_DAYS, ERRAND_PULSE,
    ERRAND_FINE_SLOTS, ERRAND_REPORT, ERRAND_PAUSES, ERRAND_END_PAUSES,
    ERRAND_RELOOK, ERRAND_LATE_SLOT,
    ERRAND_RELOOK_SETTLED, ERRAND_LATE_BESIDE, ERRAND_REFILE, ERRAND_RECALL,
    ERRAND_NOTIFY,
    ERRAND_MARK_SWEPT, ERRAND_KEEP_DIGESTS, ERRAND_NOTE_LISTENERS, ERRAND_NOTE_LOADS,
    ERRAND_NOTE_RUNS, ERRAND_NOTE_RUNNING, ERRAND_METRICS, ERRAND_PRUNE
};
enum { ERRANDS = ERRAND_PRUNE + 1 };

struct errand {
    enum errand_kind kind;
    bool is_under_way;
    bool is_urgent;                 /* beside leases, too, and at once */
    int64_t given_us, sent_us;      /* monotonic */
    /* FINE_SLOTS (low), LATE_SLOT, LATE_BESIDE, REFILE, MARK_SWEPT (before), PRUNE (which table,
     * before), PAUSES (from: the number of the last change that is known) */
    int64_t from, before;
    int64_t urgent_from;            /* LATE_SLOT */
    bool full;                      /* LATE_SLOT; PRUNE: only asks whose turn it is */
    const struct jobs *jobs;        /* FINE_SLOTS, RECALL: whose; NULL: of all */
    struct recall_place after;      /* RECALL */
    const struct store_report *report;  /* REPORT: the request; its plan's, until it is answered */
    const char *command;            /* NOTE_LISTENERS: of whom; and for how long they count */
    const struct totals *totals;    /* NOTE_LISTENERS: what it did */
    int counts_s;
};

struct errands {
    struct errand current;          /* kind NONE: none is given */
    uint8_t late[ERRANDS];          /* how often in a row the answer did not come in its time */
};

/* False when one is under way or waits. Only the days of the history take the place of another that
 * waits, and all take that of one that can wait: its plan gives it again. */
bool errands_give(struct errands *all, const struct errand *errand, int64_t now_us);
/* Nobody waits for its answer, and it may fail and take its time: indexes, dropping old rows. */
bool errand_can_wait(enum errand_kind kind);
/* One that waits is not sent; one that is under way comes back. */
void errands_drop(struct errands *all);
/* Also an engine that stops has use for it: what its runs were like, which of them go on, and that
 * there are events. */
bool errand_is_last(enum errand_kind kind);
/* One waits to be sent; at a stop, one of the last. */
bool errands_wait(const struct errands *all, bool stopping);
/* It comes before slots that wait to be opened: they may need just this one. */
bool errands_are_urgent(const struct errands *all, int64_t now_us);

/* ---- a lane's side ---- */

union errand_request {
    struct store_call call;
    struct store_hello hello;
    struct store_relook relook;
    struct store_pulse pulse;
    struct store_fine_slots fine;
    struct store_report report;
    struct store_pauses pauses;
    struct store_end_pauses end_pauses;
    struct store_late_slot late;
    struct store_refile refile;
    struct store_recall recall;
    struct store_mark_swept swept;
    struct store_keep_days days;
    struct store_keep_digests digests;
    struct store_note_listeners note;
    struct store_note_loads loads;
    struct store_note_runs runs;
    struct store_note_running running;
    struct store_prune prune;
    struct store_notify notify;
};

struct errand_env {
    const struct settings *settings;
    struct log *log;
    struct clocks *clocks;
    struct zones *zones;
    struct run_hours *run_hours;
    struct long_runs *long_runs;
    struct measuring *measuring;
    int64_t now_us;                 /* monotonic */
    /* a failure that waiting does not heal */
    void (*fatal)(void *ctx, int rc, const char *text);
    void *ctx;
};

/* What a plan is given: the answer lives until the plan returns. */
struct errand_result {
    struct errand errand;
    int rc;                         /* 0 or a negative ERR_ */
    const struct err *err;
    int64_t took_us;
    int late;                       /* so many in a row, this one included, got no answer in time */
    const union errand_request *reply;
};

/* It is under way from now on. */
void errand_fill(struct errands *all, const struct errand_env *env, int64_t now_us,
                 union errand_request *request);
/* The answer has come, or a failure: takes in what the engine itself needs of it, and fills `out`
 * for the plan. None is given from now on. True when a failure is one that the lane has to back off
 * for. */
bool errand_ended(struct errands *all, const struct errand_env *env, int64_t now_us, int rc,
                  const union errand_request *answer, struct errand_result *out);
void errand_release(union errand_request *request);

#endif
