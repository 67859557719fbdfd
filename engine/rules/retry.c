/* retry.c - how long to wait: doubling, capped, then spread so that what failed together does not
 * come back together. */
#include "retry.h"

#include <stdbool.h>

#include "../base/saturate.h"

#define DAY_S 86400

int64_t retry_delay(int64_t base, int64_t max, int32_t failures, uint64_t random)
{
    int64_t first = base < 1 ? 1 : base;
    int64_t most = max < 1 ? 1 : max;
    int doublings = failures < 0 ? 0 : failures;
    bool capped = doublings >= 63 || first > most >> doublings;
    int64_t delay = capped ? most : first << doublings;
    int64_t spread = delay / 2;
    return delay - spread + (int64_t)(random % ((uint64_t)spread + 1));
}

int64_t retry_unknown_job_delay_s(int64_t due_at, int64_t now, int32_t slot_length_s)
{
    int64_t delay = saturate_sub(now, due_at) / 2;
    int64_t least = slot_length_s < 1 ? 1 : slot_length_s;
    if (delay > DAY_S)
        delay = DAY_S;
    return delay < least ? least : delay;
}
