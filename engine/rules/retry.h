/* retry.h - how long to wait after a failure: doubling, with jitter, capped. Pure: the caller
 * brings the random number. */
#ifndef PRESCIENT_RETRY_H
#define PRESCIENT_RETRY_H

#include <stdint.h>
#include "../base/random.h"       /* what a caller brings */

/* Delay before attempt `failures` + 1: base * 2^failures, at most `max`, then spread over [1/2, 1]
 * of itself by `random`. Any unit; never less than 1, never overflows. */
int64_t retry_delay(int64_t base, int64_t max, int32_t failures, uint64_t random);

/* How often a check is run in one full slot, and how long it waits in between. */
struct retry_attempts {
    int32_t most;                   /* runs that may fail in one full slot; less than 2: one */
    int64_t interval_s;             /* after the first of them; doubles with each */
    int64_t interval_max_s;
    int64_t jitter_s;               /* so much more, at random */
};

/* Delay after attempt n (0: the first) has failed: interval * 2^n, at most the longest interval,
 * and 0 to jitter more. Never less than 1, never overflows. */
int64_t retry_attempt_delay_s(const struct retry_attempts *attempts, int32_t n, uint64_t random);

/* What all attempts take at the longest: each runs until `timeout_us`, and waits as long as it can.
 * The last one waits, too: no attempt follows it, but its wait is room for what each attempt takes
 * besides (whole seconds, workers that are busy, the settle). */
struct retry_sum { int64_t waits_us, jitter_us, timeouts_us, all_us; };
struct retry_sum retry_attempts_sum(const struct retry_attempts *attempts, int64_t timeout_us);

/* How long a check of an unknown job is put off that was due at `due_at`: half the time since then,
 * at least one slot, at most a day. */
int64_t retry_unknown_job_delay_s(int64_t due_at, int64_t now, int32_t slot_length_s);
/* The same for a job that is broken, which is most often mended: an hour at most, or one slot. */
int64_t retry_broken_job_delay_s(int64_t due_at, int64_t now, int32_t slot_length_s);

#endif
