/* check_watch.h - whether a check that somebody waits for has run, from looks at its row. Pure: the
 * caller brings the looks. */
#ifndef PRESCIENT_CHECK_WATCH_H
#define PRESCIENT_CHECK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct check_look {                 /* a row of the report checks_of_key */
    bool waits;                     /* there is such a check; else all below is 0 */
    int64_t id;                     /* a new one is another life of the check */
    int64_t run_count, failure_count, slot;
    bool recurs;                    /* it is that of a schedule */
    bool has_begun, is_leased;      /* its slot: by the database's clock; by some engine */
};

enum check_watch_state {
    CHECK_WATCH_WAITS,                  /* it has not run yet */
    CHECK_WATCH_RAN,                  /* once, under `slot`; it waits again, perhaps in a new life */
    CHECK_WATCH_ENDED,                /* it waits no more: by a run, or by somebody's hand */
    CHECK_WATCH_PUT_OFF,                  /* it was moved to a later slot, unrun */
};

struct check_watch {
    /* as it was when the run that counts was still to come */
    int64_t id, run_count, failure_count, slot;
    /* It is asked for once more, and its slot runs: the run that counts is the one after that. */
    bool is_answered_first;
};

/* A check in a slot that has begun and that nobody runs is not asked for again: the run that is to
 * come is late enough. */
bool check_watch_must_ask(const struct check_look *before);

/* It was asked for between two looks, and filed at `filed_at`; 0: it was not asked for. */
struct check_watch check_watch_begin(const struct check_look *before, int64_t filed_at,
                                     const struct check_look *after);

enum check_watch_state check_watch_note(struct check_watch *w, const struct check_look *seen);

/* How the run ended, as far as a look at the row behind it tells. */
enum check_watch_run {
    CHECK_WATCH_UNKNOWN,                /* it may have been enqueued anew, unrun */
    CHECK_WATCH_ANSWERED,
    CHECK_WATCH_FAILED,
};

/* Of a run that is not in the history: what ends a check is there, but for the occurrence of a
 * schedule that ended well. */
enum check_watch_run check_watch_judge(const struct check_watch *w, const struct check_look *seen);

#endif
