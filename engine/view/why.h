/* why.h - why nothing, or nothing more, has happened for a check: one sentence with times and what
 * to do, and a code that programs decide by. Pure: the facts are the caller's (why_ask.h).
 *
 * Times stand within a sentence, and who shows it brings how they are told (told.h): a terminal in
 * its zone, a program in UTC. A sentence with places for its times would have to be put together by
 * each of them, and a note in it may hold anything, also what looks like such a place. */
#ifndef PRESCIENT_WHY_H
#define PRESCIENT_WHY_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/arena.h"

struct telling;

/* The closed list of codes: name, word. docs/http.md says what each means. */
#define WHY_CODES(X)                                                                                         \
    /* no check of that row and job waits, and none is in the history that is kept */                       \
    X(NEVER_ENQUEUED, "never_enqueued")                                                                      \
    X(NOT_FOUND, "not_found")           /* the search ended before it had seen all of the history */         \
    /* a check waits */                                                                                      \
    X(RUNS, "runs")                     /* a worker is at it */                                              \
    X(SLOT_RUNS, "slot_runs")           /* an engine has begun its slot, which is not finished */            \
    X(SLOT_LATE, "slot_late")           /* its slot has begun, and no engine has opened it */                \
    X(LEFT_BEHIND, "left_behind")       /* its slot was run without it: the sweep comes for it */            \
    X(PAUSED, "paused")                                                                                      \
    X(UNKNOWN_JOB, "unknown_job")       /* no engine has noted its job */                                    \
    X(JOB_BROKEN, "job_broken")         /* its job can ask about no row */                                   \
    X(KEY_BUSY, "key_busy")             /* checks of its concurrency key run */                              \
    X(HELD_BACK, "held_back")           /* put off without a run */                                          \
    X(BACKING_OFF, "backing_off")       /* its last run failed, and it is tried again */                     \
    X(DEFERRED, "deferred")             /* its job could not tell yet */                                     \
    X(ASKED_AGAIN, "asked_again")       /* its job wants to look again */                                    \
    X(WAITS, "waits")                   /* its slot has not begun */                                         \
    /* it is over */                                                                                         \
    X(DONE, "done")                                                                                          \
    X(RESOLVED, "resolved")                                                                                  \
    X(CANCELLED, "cancelled")           /* somebody did not want it any more */                              \
    X(GUARDED, "guarded")               /* a guard has ended it */                                           \
    X(FAILED, "failed")                                                                                      \
    /* of an event that it has emitted */                                                                    \
    X(EVENT_WITHHELD, "event_withheld") /* readers get it when an older transaction is over */               \
    X(NO_LISTENER, "no_listener")       /* none gets it by itself */                                         \
    X(DELIVERY_UNKNOWN, "delivery_unknown")     /* it was heard, and no delivery is found any more */        \
    X(DELIVERED, "delivered")                                                                                \
    X(DELIVERY_WAITS, "delivery_waits")                                                                      \
    X(DELIVERY_PAUSED, "delivery_paused")                                                                    \
    X(DELIVERY_RETRIES, "delivery_retries")                                                                  \
    X(DELIVERY_RESOLVED, "delivery_resolved")                                                                \
    X(DELIVERY_FAILED, "delivery_failed")

enum why_code {
#define WHY_CODE(name, word) WHY_##name,
    WHY_CODES(WHY_CODE)
#undef WHY_CODE
    WHY_CODE_COUNT
};
const char *why_word(enum why_code code);

/* A check that is put off by seconds, as its concurrency key is busy, is due again within these. */
enum { WHY_SOON_S = 60 };

/* Facts. Texts that are not known are NULL; moments are in seconds, 0: not known. */

struct why_check {                  /* one that waits */
    int64_t next_at;                /* its slot; INT64_MAX: no time comes to it */
    int64_t put_off_at;             /* a slot at which it was put off without a run */
    int32_t failure_count;
    const char *concurrency_key;
};
struct why_run {                    /* its newest run after which it waits again */
    const char *outcome, *note, *engine;
    int64_t at;
};
struct why_over {                   /* the newest that is over */
    const char *outcome, *guard, *note, *engine;
    int64_t ended_at, run_at;       /* run_at 0: it was never run */
    int64_t failure_count;
    int64_t events;                 /* that it has emitted at its last run; -1: not known */
};
struct why_running { const char *engine; int64_t worker, began_at; };
/* state "pending": nobody has opened it. has_left: checks of this job were left to others */
struct why_slot { const char *state, *engine; int64_t opened_at; bool has_left; };
struct why_pause { const char *what, *name, *by, *reason; int64_t at; };
struct why_place { const char *engine; int64_t taken_at; };  /* of its concurrency key */
struct why_engines { int64_t n, seen_at; const char *newest; };

enum why_job { WHY_JOB_UNSURE, WHY_JOB_KNOWN, WHY_JOB_UNKNOWN };

struct why_facts {
    const char *entity, *key, *job; /* job NULL: nobody has named one, and there is no check */
    int64_t now;
    const struct telling *telling;  /* how its times are told; its now is not looked at. NULL: UTC */
    int64_t failures_most;          /* that many end it; 0: these settings do not have its job */
    enum why_job job_is;            /* to engines */
    const char *meant;              /* the name that was probably meant */
    const struct why_check *check;  /* NULL: none waits. All others: NULL is unknown, or none */
    const struct why_run *run;
    const struct why_over *over;
    const struct why_running *running;
    const struct why_slot *slot;
    const struct why_pause *pause;
    const struct why_place *place;
    const struct why_engines *engines;
    int64_t searched_to;            /* the history was searched back to here only; 0: all of it */
};

struct why {
    enum why_code code;
    const char *sentence;           /* without a period; NULL: out of memory */
};

/* Of a check that waits, or of the last one that is over. The sentence lives in the arena. */
struct why why_of(struct arena *a, const struct why_facts *f);

/* One event and one delivery of it, or none. */
struct why_event {
    const char *event;
    int64_t emitted_at;
    const char *listener, *state, *note;        /* listener NULL: no delivery is found */
    int64_t next_at, ended_at, tries;
    bool is_heard, is_readable;     /* by listeners that get it by itself; for readers of events */
};
struct why why_of_event(struct arena *a, int64_t now, const struct telling *telling,
                        const struct why_event *e);

#endif
