/* plan_replay.c - the past (or the future) as fast as it goes: the virtual clock jumps from one
 * slot that holds checks to the next. The store is relaxed: a replay that was cut off is simply
 * started again, so no settle waits for the disk by itself. */
#include "pausing.h"
#include "plans.h"

enum { CLOSE_EVERY = 500 };             /* slots between second looks, which close what is over */
enum { KEEP_US = 250 * 1000 };
enum { STEP_DAYS, STEP_ASK, STEP_SLOT, STEP_CLOSE, STEP_END, STEP_NOTE, STEP_KEEP };

/* What the last slots emit is delivered in the seconds behind them. */
static int64_t end_of(const struct plan_env *env, const struct plan_replay *p)
{
    int64_t delivered_until = p->delivers ? env->totals->delivered_until : 0;
    return delivered_until > p->to ? delivered_until : p->to;
}

/* What a relaxed store on SQLite has written keeps all others from writing until it is committed,
 * also jobs for which the replay waits. */
static void keep_while_jobs_run(const struct plan_env *env, struct plan_replay *p)
{
    bool may_write = p->step == STEP_SLOT || p->step == STEP_CLOSE || p->step == STEP_END;
    int64_t now = plan_mono_us(env);
    if (!may_write || plan_is_idle(env)) {
        p->kept_us = 0;
        return;
    }
    p->kept_us = p->kept_us ? p->kept_us : now;
    if (now < p->kept_us + KEEP_US)
        plan_wake_at(env, p->kept_us + KEEP_US);
    else if (plan_give(env, (struct errand){ ERRAND_HELLO, .is_urgent = true }))
        p->kept_us = now;
}

static void replay_tick(const struct plan_env *env, void *state)
{
    struct plan_replay *p = state;
    plan_note_runs(env);
    keep_while_jobs_run(env, p);
    if (p->step == STEP_DAYS && env->clocks->is_known)
        plan_give_errand(env, ERRAND_KEEP_DAYS);
    else if (p->step == STEP_CLOSE || p->step == STEP_END) {
        catchup_tick(env, &p->catchup);
        if (p->catchup.step == CATCHUP_DONE && p->step == STEP_END && plan_is_idle(env))
            p->step = STEP_NOTE;
        else if (p->catchup.step == CATCHUP_DONE && p->step == STEP_CLOSE)
            p->step = STEP_ASK;
    }
    if (p->step == STEP_ASK && !pausing_is_emptying(env->pausing, env))
        plan_give(env, (struct errand){ ERRAND_LATE_SLOT, .from = p->next, .before = end_of(env, p) + 1 });
    if (p->step == STEP_NOTE && !run_hours_have_news(env->run_hours))
        p->step = STEP_KEEP;
    if (p->step == STEP_NOTE)
        plan_give_errand(env, ERRAND_NOTE_RUNS);
    if (p->step == STEP_KEEP)
        /* what was written is on disk when it comes back */
        plan_give_errand(env, ERRAND_HELLO);
}

static void close_slots(struct plan_replay *p, int then)
{
    p->closed_slots = p->slots;
    p->step = then;
    catchup_begin(&p->catchup, TARGET_SWEEP, false, 0, false);
}

/* A time that is no slot is the sweep's to mend. What a pause that is ending has held goes to the
 * slot after this moment: until it is there, the clock stands still, and it is asked again. */
static void have_asked(const struct plan_env *env, struct plan_replay *p, const struct store_late_slot *late)
{
    int64_t slot = late->slot;
    if (pausing_is_emptying(env->pausing, env))
        return;
    if (!slot && late->until) {
        p->next = late->until;
        return;
    }
    if (!slot) {
        env->clocks->virtual_now = p->to > env->clocks->virtual_now ? p->to : env->clocks->virtual_now;
        close_slots(p, STEP_END);
        return;
    }
    env->clocks->virtual_now = slot;
    p->next = slot + 1;
    p->slots++;
    p->step = STEP_SLOT;
    if (p->progress)
        p->progress(p->ctx, slot, p->slots);
    if (!plan_add_final_target(env, slot))
        /* what comes later must not be run before it */
        shutdown_end(env->shutdown, ERR_NOMEM, "out of memory");
}

static void replay_errand_done(const struct plan_env *env, void *state, const struct errand_result *result)
{
    struct plan_replay *p = state;
    enum errand_kind kind = result->errand.kind;
    if (result->rc) {
        if (kind == ERRAND_HELLO && (p->step == STEP_DAYS || p->step == STEP_KEEP))
            plan_give_errand(env, ERRAND_HELLO);
        if (kind == ERRAND_NOTE_RUNS && p->step == STEP_NOTE)
            p->step = STEP_KEEP;
        return;
    }
    if (kind == ERRAND_KEEP_DAYS)
        p->step = STEP_ASK;
    else if (kind == ERRAND_HELLO && p->step == STEP_KEEP)
        shutdown_end(env->shutdown, 0, "all done");
    else if (kind == ERRAND_LATE_SLOT && p->step == STEP_ASK)
        have_asked(env, p, &result->reply->late);
    else
        catchup_errand_done(env, &p->catchup, result);
}

static void replay_target_over(const struct plan_env *env, void *state, const struct target *target)
{
    struct plan_replay *p = state;
    if (p->step != STEP_SLOT) {
        catchup_target_over(env, &p->catchup, target);
        return;
    }
    if (target->slot != p->next - 1)
        return;                         /* a look at the slot of a pause */
    if (p->slots - p->closed_slots >= CLOSE_EVERY)
        close_slots(p, STEP_CLOSE);
    else
        p->step = STEP_ASK;
}

const struct plan plan_replay = { "replay", replay_tick, replay_errand_done, replay_target_over };
