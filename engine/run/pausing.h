/* pausing.h - what this engine knows of pauses, and what it does about them: it asks each second
 * whether they have changed, opens the slots of those that were resumed, and ends those whose slot
 * is empty. Where the pulse (fine_pulse.h) is asked, its answer tells of a change, and nothing more
 * is asked. */
#ifndef PRESCIENT_PAUSING_H
#define PRESCIENT_PAUSING_H

#include "../base/agenda.h"
#include "../rules/pause.h"
#include "errand.h"

struct plan_env;

struct pausing {
    bool is_known;                  /* nothing is run before */
    int64_t change;                 /* the number of the last change that is known */
    struct pauses pauses;
    struct arena *arena;            /* they live here */
    int nending;                    /* of them */
    int looked;                     /* places in the list that were looked at since it was known */
    bool is_emptied;                /* of each that is ending, the slot was passed over once */
    int turn;                       /* the one that was opened last, or a place in an older list */
    int64_t ask_us, end_us, open_us;    /* not before */
    int64_t open_pause_us;
    int64_t rest_until_us;          /* no page of what was resumed is read before */
    struct alarm wake;
};

void pausing_init(struct pausing *p);
void pausing_release(struct pausing *p, struct agenda *agenda);

/* Once a second whether pauses have changed: what is begun heeds them. */
void pausing_ask(struct pausing *p, const struct plan_env *env);
/* Each turn of the loop: that, gives errands, adds targets. */
void pausing_tick(struct pausing *p, const struct plan_env *env);
/* An errand has come back. False: it is none of these. *changed: what waits may be paused now. */
bool pausing_errand_done(struct pausing *p, const struct plan_env *env, const struct errand_result *result,
                         bool *changed);

/* Checks of pauses that are ending may still have to be moved: the slot of one of them was not
 * passed over yet. A pass may leave rows that are locked or damaged: no other one is waited for. */
bool pausing_is_emptying(struct pausing *p, const struct plan_env *env);

enum { PAUSING_PAGE = 500 };

/* A page of the slot of a pause was read. Nobody waits for its checks before the next slot begins,
 * so this engine moves some thousands of them a second, in small pages with a rest behind each:
 * they go to all seconds of that slot, and so all over the indexes, and applications must not feel
 * it. */
void pausing_note_page(struct pausing *p, int checks, int64_t now_us);
/* Until when that slot is not read; 0: it may be. */
int64_t pausing_rests_until(const struct pausing *p, int64_t now_us);

#endif
