/* job_limits.c - from the settings of jobs to the rules; see job_limits.h. */
#include "job_limits.h"

#include <stdio.h>

#include "../base/moment.h"
#include "../base/saturate.h"
#include "../base/utf8.h"

#define SECOND_US INT64_C(1000000)

static struct retry_attempts attempts_of(const struct job_settings *job)
{
    return (struct retry_attempts){
        .most = job->attempts,
        .interval_s = job->attempt_interval_s,
        .interval_max_s = job->attempt_interval_max_s,
        .jitter_s = job->attempt_jitter_s,
    };
}

struct guard_policy job_limits_policy(const struct job_settings *job, int32_t slot_length_s)
{
    return (struct guard_policy){
        .slot_length_s = slot_length_s,
        .max_checks = job->max_checks,
        .horizon_s = job->horizon_s,
        .max_failures = job->max_failures,
        .attempts = attempts_of(job),
        .backoff_s = job->backoff_s,
        .backoff_max_s = job->backoff_max_s,
    };
}

struct guard_policy job_limits_of_deliveries(const struct job_settings *job, int32_t slot_length_s)
{
    enum { FIRST_RETRY_S = 5, MOST_FAILURES = 12, BACKOFF_S = 60, BACKOFF_MAX_S = 2 * 86400 };
    struct guard_policy policy = job_limits_policy(job, slot_length_s);
    if (!job->sets_attempts)
        policy.attempts.most = 1;
    if (!job->sets_max_failures)
        policy.max_failures = MOST_FAILURES;
    if (!job->sets_attempts && policy.max_failures > 0)
        policy.first_retry_s = FIRST_RETRY_S;
    if (!job->sets_backoff)
        policy.backoff_s = BACKOFF_S;
    if (!job->sets_backoff_max)
        policy.backoff_max_s = policy.backoff_s > BACKOFF_MAX_S ? policy.backoff_s : BACKOFF_MAX_S;
    return policy;
}

bool job_limits_have_attempts(const struct settings *settings)
{
    for (int i = 0; i < settings->njobs; i++)
        if (settings->jobs[i].attempts > 1)
            return true;
    return false;
}

/* What one attempt takes at the longest. A batch that does not end in its time counts for none of
 * its checks: they are run again at once, one by one, each until its own timeout. Whether the
 * plug-in takes batches at all is not in the settings. */
static int64_t longest_run_us(const struct job_settings *job)
{
    int64_t batch_us = job->batch > 1 ? job->batch_timeout_us : 0;
    return saturate_add(batch_us, job->timeout_us);
}

/* One attempt takes what it takes, in any slot, as it did when there were no others. */
static bool fits(const struct job_settings *job, int32_t attempts, int32_t slot_length_s)
{
    struct retry_attempts a = attempts_of(job);
    a.most = attempts;
    return attempts < 2 || retry_attempts_sum(&a, longest_run_us(job)).all_us <= slot_length_s * SECOND_US;
}

static int32_t most_that_fit(const struct job_settings *job, int32_t slot_length_s)
{
    int32_t attempts = job->attempts;
    while (!fits(job, attempts, slot_length_s))
        attempts--;
    return attempts;
}

/* "15s", or "15s, of batches 3m". */
static const char *timeouts_text(const struct job_settings *job, char out[2 * MOMENT_TEXT + 16])
{
    char own[MOMENT_TEXT], batch[MOMENT_TEXT];
    struct retry_attempts attempts = attempts_of(job);
    int64_t own_us = retry_attempts_sum(&attempts, job->timeout_us).timeouts_us;
    int64_t batch_us = retry_attempts_sum(&attempts, job->batch_timeout_us).timeouts_us;
    duration_format_us(own_us, own);
    duration_format_us(batch_us, batch);
    if (job->batch > 1)
        snprintf(out, 2 * MOMENT_TEXT + 16, "%s, of batches %s", own, batch);
    else
        snprintf(out, 2 * MOMENT_TEXT + 16, "%s", own);
    return out;
}

static int refuse(const struct job_settings *job, int32_t slot_length_s, struct err *err)
{
    char all[MOMENT_TEXT], delays[MOMENT_TEXT], jitter[MOMENT_TEXT], timeouts[2 * MOMENT_TEXT + 16];
    char slot[MOMENT_TEXT];
    struct retry_attempts attempts = attempts_of(job);
    struct retry_sum sum = retry_attempts_sum(&attempts, longest_run_us(job));
    const char *runs = job->batch > 1 ? ", timeout or batch_timeout, set batch = 1" : " or timeout";
    return err_set(err, ERR_SETTINGS,
                   "%s: job %.*s: its %d attempts take up to %s (delays %s, jitter %s, timeouts %s), and a "
                   "slot is %s: lower attempts (%d would fit), attempt_interval, attempt_interval_max, "
                   "attempt_jitter%s, or have longer slots (prescient migrate --slot-length)",
                   job->from, UTF8_SHOWN(job->name), job->attempts, duration_format_us(sum.all_us, all),
                   duration_format_us(sum.waits_us, delays), duration_format_us(sum.jitter_us, jitter),
                   timeouts_text(job, timeouts), duration_format_us(slot_length_s * SECOND_US, slot),
                   most_that_fit(job, slot_length_s), runs);
}

int job_limits_fit(const struct settings *settings, int32_t slot_length_s, struct err *err)
{
    for (int i = 0; i < settings->njobs; i++)
        if (!fits(&settings->jobs[i], settings->jobs[i].attempts, slot_length_s))
            return refuse(&settings->jobs[i], slot_length_s, err);
    return 0;
}
