/* retry.c - how long to wait: doubling, capped, then spread so that what failed together does not
 * come back together. */
#include "retry.h"

#include <stdbool.h>

#include "../base/saturate.h"

#define HOUR_S 3600
#define DAY_S 86400
#define SECOND_US 1000000

/* base * 2^n, from 1 to `max`. */
static int64_t doubled(int64_t base, int64_t max, int32_t n)
{
    int64_t first = base < 1 ? 1 : base;
    int64_t most = max < 1 ? 1 : max;
    int doublings = n < 0 ? 0 : n;
    bool capped = doublings >= 63 || first > most >> doublings;
    return capped ? most : first << doublings;
}

int64_t retry_delay(int64_t base, int64_t max, int32_t failures, uint64_t random)
{
    int64_t delay = doubled(base, max, failures);
    int64_t spread = delay / 2;
    return delay - spread + (int64_t)(random % ((uint64_t)spread + 1));
}

int64_t retry_attempt_delay_s(const struct retry_attempts *attempts, int32_t n, uint64_t random)
{
    int64_t delay = doubled(attempts->interval_s, attempts->interval_max_s, n);
    if (attempts->jitter_s < 1)
        return delay;
    return saturate_add(delay, (int64_t)(random % ((uint64_t)attempts->jitter_s + 1)));
}

/* n * us, none of them negative. */
static int64_t times(int32_t n, int64_t us)
{
    int64_t product;
    if (us < 1)
        return 0;
    return __builtin_mul_overflow(n, us, &product) ? INT64_MAX : product;
}

struct retry_sum retry_attempts_sum(const struct retry_attempts *attempts, int64_t timeout_us)
{
    int32_t most = attempts->most < 1 ? 1 : attempts->most;
    int64_t waits_s = 0;
    for (int32_t n = 0; n < most; n++)
        waits_s = saturate_add(waits_s, doubled(attempts->interval_s, attempts->interval_max_s, n));
    struct retry_sum sum = {
        .waits_us = times(SECOND_US, waits_s),
        .jitter_us = times(SECOND_US, times(most, attempts->jitter_s)),
        .timeouts_us = times(most, timeout_us),
    };
    sum.all_us = saturate_add(saturate_add(sum.waits_us, sum.jitter_us), sum.timeouts_us);
    return sum;
}

/* Half the time since then, so that what waits for long is moved seldom. */
static int64_t half_since(int64_t due_at, int64_t now, int32_t slot_length_s, int64_t most)
{
    int64_t delay = saturate_sub(now, due_at) / 2;
    int64_t least = slot_length_s < 1 ? 1 : slot_length_s;
    if (delay > most)
        delay = most;
    return delay < least ? least : delay;
}

int64_t retry_unknown_job_delay_s(int64_t due_at, int64_t now, int32_t slot_length_s)
{
    return half_since(due_at, now, slot_length_s, DAY_S);
}

int64_t retry_broken_job_delay_s(int64_t due_at, int64_t now, int32_t slot_length_s)
{
    return half_since(due_at, now, slot_length_s, HOUR_S);
}
