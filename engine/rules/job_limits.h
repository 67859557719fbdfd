/* job_limits.h - the limits of a job, from its settings: for the guard, and whether its attempts
 * fit into a slot. */
#ifndef PRESCIENT_JOB_LIMITS_H
#define PRESCIENT_JOB_LIMITS_H

#include <stdint.h>
#include "../base/err.h"
#include "../base/settings.h"
#include "guard.h"

struct guard_policy job_limits_policy(const struct job_settings *job, int32_t slot_length_s);

/* Of its deliveries. What the job's own group sets holds for them, too. Else one that fails is sent
 * again after 5 s, then after 1m, doubling up to 2d, 12 times; what the top level says is for
 * checks. A group that sets its attempts, or that no failure is tried again, has no first 5 s: the
 * delivery is over after as many failures as a check. */
struct guard_policy job_limits_of_deliveries(const struct job_settings *job, int32_t slot_length_s);

/* Whether any job of the settings has more than one attempt: only then the slot length matters. */
bool job_limits_have_attempts(const struct settings *settings);

/* All attempts of a job, each until its timeout and with the longest delays, have to fit into a
 * slot: else they would run beside those of the next one. A check that may be run in a batch takes
 * up to batch_timeout first, as that counts for no attempt, and its timeout then. ERR_SETTINGS
 * names the first job whose attempts do not fit, their sum, the slot length, and what to lower.
 * 0: all fit. */
int job_limits_fit(const struct settings *settings, int32_t slot_length_s, struct err *err);

#endif
