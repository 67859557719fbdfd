/* plan_run.c - what cron calls: the slot that is now, then what is late, then the end. Also sweep
 * and reslot alone. */
#include "../rules/slot.h"
#include "plan.h"

enum { EARLY_MAX_US = 5 * 1000 * 1000 };
enum {
    STEP_DAYS,
    STEP_CHOOSE,
    STEP_EARLY,
    STEP_SLOT,
    STEP_CATCHUP,
    STEP_END,
    STEP_INDEX,
    STEP_INDEXED,
    STEP_PRUNE,
    STEP_OVER
};

/* A cron that fires a moment early means the slot that is about to begin. */
static int64_t early_by_us(const struct engine *e)
{
    int64_t now = engine_now_us(e), length = e->slot_length_s * 1000000LL;
    int64_t to_next = slot_next(now / 1000000, e->slot_length_s) * 1000000 - now;
    int64_t most = length / 10 < EARLY_MAX_US ? length / 10 : EARLY_MAX_US;
    return !e->virtual_now && to_next <= most ? to_next : 0;
}

static void choose(struct engine *e, struct plan_run *p)
{
    int64_t now = engine_now(e), current = slot_floor(now, e->slot_length_s);
    if (p->slot > now) {
        engine_end(e, ERR_INPUT, "slot %lld has not begun yet (now is %lld)", (long long)p->slot,
                   (long long)now);
        return;
    }
    if (p->slot && p->slot != slot_floor(p->slot, e->slot_length_s)) {
        engine_end(e, ERR_INPUT, "%lld is not a slot: slots are multiples of %d s", (long long)p->slot,
                   (int)e->slot_length_s);
        return;
    }
    int64_t slot = p->slot ? p->slot : current;
    p->step = STEP_SLOT;
    if (!p->slot && !slot_is_served(slot, e->o.settings->serve, e->o.settings->nserve))
        log_info(e->o.log, "slot %lld is served by another server (serve)", (long long)slot);
    else
        engine_add_target(e, slot == current ? TARGET_SLOT : TARGET_RELOOK, slot);
}

/* The first errands of a command: the clock, then the days of the history. True when `errand` was
 * one of them. */
static bool opening_done(struct engine *e, int *step, const struct errand *errand, int rc)
{
    if (errand->kind == ERRAND_HELLO && rc)
        engine_give_errand(e, ERRAND_HELLO, 0, 0, false);
    else if (errand->kind == ERRAND_KEEP_DAYS && !rc)
        *step = STEP_CHOOSE;
    else if (errand->kind == ERRAND_INDEX_DAYS)
        *step = STEP_INDEXED;
    return errand->kind == ERRAND_HELLO || errand->kind == ERRAND_KEEP_DAYS ||
           errand->kind == ERRAND_INDEX_DAYS;
}

/* The last steps of a command: the catch-up, housekeeping (`pruning`: NULL for none) when nothing
 * is under way any more, and the end. */
static void closing_tick(struct engine *e, int *step, struct catchup *c, struct pruning *pruning)
{
    if (*step == STEP_CATCHUP) {
        catchup_tick(e, c);
        if (c->step == CATCHUP_DONE)
            *step = STEP_END;
    }
    if (*step == STEP_END && engine_is_idle(e))
        *step = STEP_INDEX;
    if (*step == STEP_INDEX)
        /* last: nobody waits for it, and it may fail */
        engine_give_errand(e, ERRAND_INDEX_DAYS, 0, 0, false);
    if (*step == STEP_INDEXED) {
        if (pruning)
            pruning_begin(e, pruning, false);
        *step = STEP_PRUNE;
    }
    if (*step == STEP_PRUNE && pruning)
        pruning_tick(e, pruning);
    if (*step == STEP_PRUNE && (!pruning || !pruning->active))
        *step = STEP_OVER;
    if (*step == STEP_OVER)
        engine_end(e, 0, "all done");
}

static void begin_catchup(struct engine *e, struct plan_run *p)
{
    if (p->slot) {
        p->step = STEP_END;
        return;
    }
    /* Once an hour with a look at the left edge, whenever this is called. */
    catchup_begin(&p->catchup, TARGET_SWEEP, !p->no_sweep, slot_floor(engine_now(e), e->slot_length_s),
                  engine_wants_full_look(e));
    p->step = STEP_CATCHUP;
}

static void run_tick(struct engine *e, void *state)
{
    struct plan_run *p = state;
    if (p->step == STEP_DAYS && e->has_clock)
        engine_give_errand(e, ERRAND_KEEP_DAYS, 0, 0, false);
    if (p->step == STEP_CHOOSE) {
        int64_t early = p->slot ? 0 : early_by_us(e);
        p->begin_us = engine_mono_us(e) + early + (early ? 2000 : 0);
        p->step = STEP_EARLY;
    }
    if (p->step == STEP_EARLY && engine_mono_us(e) >= p->begin_us)
        choose(e, p);
    if (p->step == STEP_SLOT && engine_is_idle(e))
        begin_catchup(e, p);
    closing_tick(e, &p->step, &p->catchup, &p->pruning);
}

static void run_errand_done(struct engine *e, void *state, const struct errand *errand, int rc,
                            const struct lane *lane)
{
    struct plan_run *p = state;
    pruning_errand_done(e, &p->pruning, errand, rc, lane);
    if (!opening_done(e, &p->step, errand, rc) && p->step == STEP_CATCHUP)
        catchup_errand_done(e, &p->catchup, errand, rc, lane);
}

static void run_target_over(struct engine *e, void *state, const struct target *target)
{
    struct plan_run *p = state;
    if (p->step == STEP_CATCHUP)
        catchup_target_over(e, &p->catchup, target);
}

static int64_t run_next_us(const struct engine *e, const void *state)
{
    const struct plan_run *p = state;
    (void)e;
    return p->step == STEP_EARLY ? p->begin_us : INT64_MAX;
}

const struct plan plan_run = { "run", run_tick, run_errand_done, run_target_over, run_next_us };

/* ---- sweep and reslot ---- */

static void sweep_tick(struct engine *e, void *state)
{
    struct plan_sweep *p = state;
    if (p->step == STEP_DAYS && e->has_clock)
        engine_give_errand(e, ERRAND_KEEP_DAYS, 0, 0, false);
    if (p->step == STEP_CHOOSE) {
        catchup_begin(&p->catchup, p->kind, true, slot_floor(engine_now(e), e->slot_length_s), true);
        p->step = STEP_CATCHUP;
    }
    closing_tick(e, &p->step, &p->catchup, NULL);
}

static void sweep_errand_done(struct engine *e, void *state, const struct errand *errand, int rc,
                              const struct lane *lane)
{
    struct plan_sweep *p = state;
    if (!opening_done(e, &p->step, errand, rc) && p->step == STEP_CATCHUP)
        catchup_errand_done(e, &p->catchup, errand, rc, lane);
}

static void sweep_target_over(struct engine *e, void *state, const struct target *target)
{
    struct plan_sweep *p = state;
    catchup_target_over(e, &p->catchup, target);
}

const struct plan plan_sweep = { "sweep", sweep_tick, sweep_errand_done, sweep_target_over, NULL };
