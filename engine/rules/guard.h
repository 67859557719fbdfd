/* guard.h - what becomes of a check after its answer: one total, pure function. */
#ifndef PRESCIENT_GUARD_H
#define PRESCIENT_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include "outcome.h"
#include "retry.h"

struct guard_policy {               /* a job's limits, from the settings */
    int32_t slot_length_s;
    int32_t max_checks;             /* AGAINs granted at most */
    int64_t horizon_s;              /* how far ahead an AGAIN may be */
    int32_t max_failures;           /* later slots that are tried after failures in a row */
    struct retry_attempts attempts; /* in each of these slots */
    int64_t backoff_s;              /* first delay after a failure; doubles with each; 0: one slot length */
    int64_t backoff_max_s;
    /* Of deliveries; 0: of all else. The first failure is tried again after so long, and counts for
     * nothing; the delivery moves by seconds, whatever slot it was run in. */
    int64_t first_retry_s;
};

enum answer_kind {
    ANSWER_DONE,
    ANSWER_AGAIN,
    ANSWER_DEFER,
    ANSWER_FAIL,                    /* from here on: failures */
    ANSWER_FAIL_FINAL,           /* trying again cannot help */
    ANSWER_BROKEN,                  /* the job itself is broken, whatever row it looks at */
    ANSWER_TIMEOUT,
    ANSWER_CRASH,
    ANSWER_BAD
};

struct guard_input {
    enum answer_kind answer;
    int64_t at;                     /* of AGAIN and DEFER */
    int64_t now;                    /* the time that the job was given */
    int64_t ended_at;               /* of failures: when the run ended; not later than now: just then */
    int32_t check_count, failure_count;     /* as read */
    int64_t deferred_at;            /* when this check number was first deferred; 0: never */
    bool is_recurring;              /* it never comes to its end, so max_checks does not apply */
    int64_t slot;                   /* it is filed under */
    int32_t phase_s;                /* so long after a full slot it comes up (phase.h) */
    int64_t put_off_at;             /* the slot at which it was put off without a run; 0: it was not */
    uint64_t random;                /* of failures, for the jitter; the caller's seeded source */
};

struct verdict {
    bool ends;                      /* true: archived; false: moved to next_at */
    enum outcome outcome;
    /* a slot, > now: a fine one when it has run in one, or is deferred by seconds; 0: it ends */
    int64_t next_at;
    int32_t check_count, failure_count;     /* what the row holds from now on */
    int64_t deferred_at;            /* behind next_at: see check.h */
    int64_t put_off_at;             /* 0 once it has run */
    /* next_at is that of its next attempt, or try for a place of its key, in the slot that runs */
    bool is_attempt;
};

/* So many failures in a row end a check. */
int64_t guard_failures_most(const struct guard_policy *policy);

struct verdict guard_judge(const struct guard_policy *policy, const struct guard_input *in);

/* The same shape for a check that was not run (held back, unknown job, reslot): moved to the first
 * full slot at or after `at`, nothing counted. put_off_at keeps the slot from which on it is late;
 * a reslot, which an operator asks for, sets none. A check of an unknown job, or of one that is
 * broken, ends when it has been late for the horizon. */
struct verdict guard_put_off(const struct guard_policy *policy, const struct guard_input *in,
                             enum outcome why, int64_t at);

/* A check of something that is paused moves to the slot of the pause, nothing counted; it is not
 * late there. */
struct verdict guard_pause(const struct guard_input *in, int64_t slot);
/* It moves on from there: to a second of the next full slot, by its `place`. 0 is the full slot. */
struct verdict guard_resume(const struct guard_input *in, int32_t slot_length_s, uint64_t place);

/* Others run checks of its concurrency key: it moves to the second `at`, or the next full slot if
 * that comes first, nothing counted. It takes its turn, and is not put off: those are checks that
 * something keeps from being run. */
struct verdict guard_busy(const struct guard_input *in, int32_t slot_length_s, int64_t at);

/* The slot from which on a check is late that moves on without a run; never 0. */
int64_t guard_late_since(const struct guard_input *in);

#endif
