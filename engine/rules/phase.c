/* phase.c - the arithmetic of phase.h. */
#include "phase.h"

int32_t phase_begins_s(int phase, int32_t pace_s)
{
    return (int32_t)((int64_t)phase * pace_s / PHASES);
}

int phases_begun(int64_t into_s, int32_t pace_s)
{
    if (into_s < 0)
        return 1;
    if (into_s >= pace_s)
        return PHASES;
    /* the last one whose second is not behind `into_s` */
    return (int)((PHASES * (into_s + 1) - 1) / pace_s) + 1;
}
