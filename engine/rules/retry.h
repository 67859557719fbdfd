/* retry.h - how long to wait after a failure: doubling, with jitter, capped. Pure: the caller
 * brings the random number. */
#ifndef PRESCIENT_RETRY_H
#define PRESCIENT_RETRY_H

#include <stdint.h>
#include "../base/random.h"       /* what a caller brings */

/* Delay before attempt `failures` + 1: base * 2^failures, at most `max`, then spread over [1/2, 1]
 * of itself by `random`. Any unit; never less than 1, never overflows. */
int64_t retry_delay(int64_t base, int64_t max, int32_t failures, uint64_t random);

/* How long a check of an unknown job is put off that was due at `due_at`: half the time since then,
 * at least one slot, at most a day. */
int64_t retry_unknown_job_delay_s(int64_t due_at, int64_t now, int32_t slot_length_s);

#endif
