/* ready.c - see ready.h. */
#include "ready.h"

enum ready_rc ready_judge(const struct ready *r, int64_t now_us, int64_t came_us)
{
    if (!r->asked_us)
        return now_us - came_us < READY_OLD_US ? READY_WAITS : READY_SILENT;
    if (now_us - r->asked_us > READY_OLD_US)
        return READY_SILENT;
    return r->failed ? READY_AWAY : READY_YES;
}
