/* pace.c - the arithmetic of pace.h. */
#include "pace.h"

enum {
    SEEN_ENOUGH = 1000,
    ALONE_US = 200 * 1000,
    OVERHEAD_US = 5,                    /* the engine's and the store's part of a check */
    MOST_TIMES = 10
};

void pace_add(struct pace *pace, int64_t run_us)
{
    pace->seen++;
    pace->mean_run_us64 += run_us - pace->mean_run_us64 / 64;
}

int pace_split_at(const struct pace *pace, int split_at)
{
    if (pace->seen < SEEN_ENOUGH)
        return split_at;
    int64_t alone = ALONE_US / (pace->mean_run_us64 / 64 + OVERHEAD_US);
    int64_t most = (int64_t)split_at * MOST_TIMES;
    if (alone > most)
        alone = most;
    if (alone > INT32_MAX)
        alone = INT32_MAX;
    return alone > split_at ? (int)alone : split_at;
}
