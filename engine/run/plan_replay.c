/* plan_replay.c - the past (or the future) as fast as it goes: the virtual clock jumps from one
 * slot that holds checks to the next. The store is relaxed: a replay that was cut off is simply
 * started again, so no settle waits for the disk by itself. */
#include "plan.h"

enum { CLOSE_EVERY = 500 };             /* slots between second looks, which close what is over */
enum { STEP_DAYS, STEP_ASK, STEP_SLOT, STEP_CLOSE, STEP_END, STEP_KEEP };

static void replay_tick(struct engine *e, void *state)
{
    struct plan_replay *p = state;
    if (p->step == STEP_DAYS && e->has_clock)
        engine_give_errand(e, ERRAND_KEEP_DAYS, 0, 0, false);
    else if (p->step == STEP_CLOSE || p->step == STEP_END) {
        catchup_tick(e, &p->catchup);
        if (p->catchup.step == CATCHUP_DONE && p->step == STEP_END && engine_is_idle(e))
            p->step = STEP_KEEP;
        else if (p->catchup.step == CATCHUP_DONE && p->step == STEP_CLOSE)
            p->step = STEP_ASK;
    }
    if (p->step == STEP_ASK)
        engine_give_errand(e, ERRAND_LATE_SLOT, p->next, p->to + 1, false);
    if (p->step == STEP_KEEP)
        /* what was written is on disk when it comes back */
        engine_give_errand(e, ERRAND_HELLO, 0, 0, false);
}

static void close_slots(struct plan_replay *p, int then)
{
    p->closed_slots = p->slots;
    p->step = then;
    catchup_begin(&p->catchup, TARGET_SWEEP, false, 0, false);
}

static void have_asked(struct engine *e, struct plan_replay *p, int64_t slot)
{
    if (!slot) {
        e->virtual_now = p->to > e->virtual_now ? p->to : e->virtual_now;
        close_slots(p, STEP_END);
        return;
    }
    e->virtual_now = slot;
    p->next = slot + 1;
    p->slots++;
    p->step = STEP_SLOT;
    if (p->progress)
        p->progress(p->ctx, slot, p->slots);
    if (!engine_add_target(e, TARGET_RELOOK, slot))
        engine_end(e, ERR_NOMEM, "out of memory");       /* what comes later must not be run before it */
}

static void replay_errand_done(struct engine *e, void *state, const struct errand *errand, int rc,
                               const struct lane *lane)
{
    struct plan_replay *p = state;
    if (rc) {
        if (errand->kind == ERRAND_HELLO)
            engine_give_errand(e, ERRAND_HELLO, 0, 0, false);
        return;
    }
    if (errand->kind == ERRAND_KEEP_DAYS)
        p->step = STEP_ASK;
    else if (errand->kind == ERRAND_HELLO && p->step == STEP_KEEP)
        engine_end(e, 0, "all done");
    else if (errand->kind == ERRAND_LATE_SLOT && p->step == STEP_ASK)
        have_asked(e, p, lane->req.late.slot);
    else
        catchup_errand_done(e, &p->catchup, errand, rc, lane);
}

static void replay_target_over(struct engine *e, void *state, const struct target *target)
{
    struct plan_replay *p = state;
    if (p->step != STEP_SLOT) {
        catchup_target_over(e, &p->catchup, target);
        return;
    }
    if (p->slots - p->closed_slots >= CLOSE_EVERY)
        close_slots(p, STEP_CLOSE);
    else
        p->step = STEP_ASK;
}

const struct plan plan_replay = { "replay", replay_tick, replay_errand_done, replay_target_over, NULL };
