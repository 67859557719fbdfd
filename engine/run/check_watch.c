/* check_watch.c - see check_watch.h. */
#include "check_watch.h"

bool check_watch_must_ask(const struct check_look *before)
{
    return !before->has_begun || before->is_leased;
}

static struct check_watch as_seen(const struct check_look *seen)
{
    return (struct check_watch){
        .id = seen->id,
        .run_count = seen->run_count,
        .failure_count = seen->failure_count,
        .slot = seen->slot,
    };
}

struct check_watch check_watch_begin(const struct check_look *before, int64_t filed_at,
                                     const struct check_look *after)
{
    struct check_watch w = as_seen(after);
    if (!filed_at || (after->waits && after->slot == filed_at))
        return w;
    if (after->waits && after->id == before->id && after->slot == before->slot) {
        w.is_answered_first = true;
        return w;
    }
    /* It was quicker than the second look. */
    w = as_seen(before);
    w.slot = filed_at;
    return w;
}

static bool is_unchanged(const struct check_watch *w, const struct check_look *seen)
{
    return seen->id == w->id && seen->run_count == w->run_count && seen->slot == w->slot;
}

enum check_watch_state check_watch_note(struct check_watch *w, const struct check_look *seen)
{
    if (!seen->waits)
        return CHECK_WATCH_ENDED;
    if (is_unchanged(w, seen))
        return CHECK_WATCH_WAITS;
    if (w->is_answered_first) {
        *w = as_seen(seen);
        return CHECK_WATCH_WAITS;
    }
    if (seen->id != w->id || seen->run_count != w->run_count)
        return CHECK_WATCH_RAN;
    if (seen->slot > w->slot)
        return CHECK_WATCH_PUT_OFF;
    w->slot = seen->slot;               /* somebody has asked for it sooner */
    return CHECK_WATCH_WAITS;
}

enum check_watch_run check_watch_judge(const struct check_watch *w, const struct check_look *seen)
{
    if (!seen->waits || (seen->id == w->id && seen->run_count == w->run_count))
        return CHECK_WATCH_UNKNOWN;
    if (seen->id != w->id)
        return seen->recurs ? CHECK_WATCH_ANSWERED : CHECK_WATCH_UNKNOWN;
    return seen->failure_count > w->failure_count ? CHECK_WATCH_FAILED : CHECK_WATCH_ANSWERED;
}
