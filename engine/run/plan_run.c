/* plan_run.c - what cron calls: the slot that is now, then what is late, then the end. Also sweep
 * and reslot alone. */
#include "../rules/slot.h"
#include "plans.h"

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
static int64_t early_by_us(const struct plan_env *env)
{
    int64_t now = plan_now_us(env), length = env->clocks->slot_length_s * 1000000LL;
    int64_t to_next = slot_next(now / 1000000, env->clocks->slot_length_s) * 1000000 - now;
    int64_t most = length / 10 < EARLY_MAX_US ? length / 10 : EARLY_MAX_US;
    return !env->clocks->virtual_now && to_next <= most ? to_next : 0;
}

static void choose(const struct plan_env *env, struct plan_run *p)
{
    int64_t now = plan_now(env), current = slot_floor(now, env->clocks->slot_length_s);
    if (p->slot > now) {
        char slot_text[MOMENT_TEXT], now_text[MOMENT_TEXT];
        shutdown_end(env->shutdown, ERR_INPUT, "slot %s has not begun yet (now is %s)",
                     moment_format(p->slot, slot_text), moment_format(now, now_text));
        return;
    }
    if (p->slot && p->slot != slot_floor(p->slot, env->clocks->slot_length_s)) {
        char slot_text[MOMENT_TEXT], length[MOMENT_TEXT];
        shutdown_end(env->shutdown, ERR_INPUT, "%s is not a slot: slots are multiples of %s",
                     moment_format(p->slot, slot_text),
                     duration_format_us(env->clocks->slot_length_s * 1000000LL, length));
        return;
    }
    int64_t slot = p->slot ? p->slot : current;
    p->step = STEP_SLOT;
    if (!p->slot && !slot_is_served(slot, env->settings->serve, env->settings->nserve))
        log_info(env->log, "slot %lld is served by another server (serve)", (long long)slot);
    else
        plan_add_target(env, slot == current ? TARGET_SLOT : TARGET_RELOOK, slot);
}

/* The first errands of a command: the clock, then the days of the history. True when `errand` was
 * one of them. */
static bool opening_done(const struct plan_env *env, int *step, const struct errand_result *result)
{
    enum errand_kind kind = result->errand.kind;
    if (kind == ERRAND_HELLO && result->rc)
        plan_give_errand(env, ERRAND_HELLO);
    else if (kind == ERRAND_KEEP_DAYS && !result->rc)
        *step = STEP_CHOOSE;
    else if (kind == ERRAND_INDEX_DAYS)
        *step = STEP_INDEXED;
    return kind == ERRAND_HELLO || kind == ERRAND_KEEP_DAYS || kind == ERRAND_INDEX_DAYS;
}

/* The last steps of a command: the catch-up, housekeeping (`pruning`: NULL for none) when nothing
 * is under way any more, and the end. */
static void closing_tick(const struct plan_env *env, int *step, struct catchup *c, struct pruning *pruning)
{
    if (*step == STEP_CATCHUP) {
        catchup_tick(env, c);
        if (c->step == CATCHUP_DONE)
            *step = STEP_END;
    }
    if (*step == STEP_END && plan_is_idle(env))
        *step = STEP_INDEX;
    if (*step == STEP_INDEX)
        /* last: nobody waits for it, and it may fail */
        plan_give_errand(env, ERRAND_INDEX_DAYS);
    if (*step == STEP_INDEXED) {
        if (pruning)
            pruning_begin(env, pruning, false);
        *step = STEP_PRUNE;
    }
    if (*step == STEP_PRUNE && pruning)
        pruning_tick(env, pruning);
    if (*step == STEP_PRUNE && (!pruning || !pruning->active))
        *step = STEP_OVER;
    if (*step == STEP_OVER)
        shutdown_end(env->shutdown, 0, "all done");
}

static void begin_catchup(const struct plan_env *env, struct plan_run *p)
{
    if (p->slot) {
        p->step = STEP_END;
        return;
    }
    /* Once an hour with a look at the left edge, whenever this is called. */
    catchup_begin(&p->catchup, TARGET_SWEEP, !p->no_sweep,
                  slot_floor(plan_now(env), env->clocks->slot_length_s),
                  clocks_wants_full_look(env->clocks, plan_mono_us(env)));
    p->step = STEP_CATCHUP;
}

static void run_tick(const struct plan_env *env, void *state)
{
    struct plan_run *p = state;
    if (p->step == STEP_DAYS && env->clocks->is_known)
        plan_give_errand(env, ERRAND_KEEP_DAYS);
    if (p->step == STEP_CHOOSE) {
        int64_t early = p->slot ? 0 : early_by_us(env);
        p->begin_us = plan_mono_us(env) + early + (early ? 2000 : 0);
        p->step = STEP_EARLY;
    }
    if (p->step == STEP_EARLY && plan_mono_us(env) >= p->begin_us)
        choose(env, p);
    if (p->step == STEP_EARLY)
        plan_wake_at(env, p->begin_us);
    if (p->step == STEP_SLOT && plan_is_idle(env))
        begin_catchup(env, p);
    closing_tick(env, &p->step, &p->catchup, &p->pruning);
}

static void run_errand_done(const struct plan_env *env, void *state, const struct errand_result *result)
{
    struct plan_run *p = state;
    pruning_errand_done(env, &p->pruning, result);
    if (!opening_done(env, &p->step, result) && p->step == STEP_CATCHUP)
        catchup_errand_done(env, &p->catchup, result);
}

static void run_target_over(const struct plan_env *env, void *state, const struct target *target)
{
    struct plan_run *p = state;
    if (p->step == STEP_CATCHUP)
        catchup_target_over(env, &p->catchup, target);
}

const struct plan plan_run = { "run", run_tick, run_errand_done, run_target_over };

/* ---- sweep and reslot ---- */

static void sweep_tick(const struct plan_env *env, void *state)
{
    struct plan_sweep *p = state;
    if (p->step == STEP_DAYS && env->clocks->is_known)
        plan_give_errand(env, ERRAND_KEEP_DAYS);
    if (p->step == STEP_CHOOSE) {
        catchup_begin(&p->catchup, p->kind, true, slot_floor(plan_now(env), env->clocks->slot_length_s),
                      true);
        p->step = STEP_CATCHUP;
    }
    closing_tick(env, &p->step, &p->catchup, NULL);
}

static void sweep_errand_done(const struct plan_env *env, void *state, const struct errand_result *result)
{
    struct plan_sweep *p = state;
    if (!opening_done(env, &p->step, result) && p->step == STEP_CATCHUP)
        catchup_errand_done(env, &p->catchup, result);
}

static void sweep_target_over(const struct plan_env *env, void *state, const struct target *target)
{
    struct plan_sweep *p = state;
    catchup_target_over(env, &p->catchup, target);
}

const struct plan plan_sweep = { "sweep", sweep_tick, sweep_errand_done, sweep_target_over };
