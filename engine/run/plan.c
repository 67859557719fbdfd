/* plan.c - what all plans do. */
#include "plan.h"

#include "../rules/slot.h"

static struct targets *list_of(const struct plan_env *env, int64_t slot)
{
    return slot_is_fine(slot, env->clocks->slot_length_s) ? env->fine_targets : env->targets;
}

bool plan_has_target(const struct plan_env *env, int64_t slot)
{
    return targets_have(list_of(env, slot), slot);
}

bool plan_only_puts_off(const struct plan_env *env, int64_t slot)
{
    for (const struct target *t = list_of(env, slot)->first; t; t = t->following)
        if (t->slot == slot)
            return t->puts_off;
    return false;
}

static struct target *add(const struct plan_env *env, enum target_kind kind, int64_t slot)
{
    struct target *t = targets_add(list_of(env, slot), kind, slot, plan_mono_us(env));
    if (t)
        return t;
    log_error(env->log, "out of memory: slot %lld is left to the next sweep", (long long)slot);
    env->totals->skipped_some = true;
    return NULL;
}

bool plan_add_target(const struct plan_env *env, enum target_kind kind, int64_t slot)
{
    return add(env, kind, slot) != NULL;
}

bool plan_add_urgent_target(const struct plan_env *env, int64_t slot)
{
    struct target *t = add(env, TARGET_SWEEP, slot);
    if (!t)
        return false;
    target_begin_rounds(t, true, 0);
    t->only_urgent = true;
    return true;
}

bool plan_add_final_target(const struct plan_env *env, int64_t slot)
{
    struct target *t = add(env, TARGET_RELOOK, slot);
    if (!t)
        return false;
    t->is_final = true;
    return true;
}

bool plan_give(const struct plan_env *env, struct errand errand)
{
    return errands_give(env->errands, &errand, plan_mono_us(env));
}

/* A lane asks for what can wait while it holds no lease. The lanes of full slots hold theirs for as
 * long as a job runs; so it is the fine lane's, or theirs when that one is long at work, too. */
bool plan_give_note(const struct plan_env *env, enum errand_kind kind)
{
    enum { LONG_US = 2 * 1000 * 1000 };
    int64_t now_us = plan_mono_us(env);
    struct errands *fine = env->fine_errands, *full = env->errands;
    bool is_waiting = fine->current.kind == kind && !fine->current.is_under_way;
    if (full->current.kind == kind || (fine->current.kind == kind && !is_waiting))
        return false;
    if (!is_waiting)
        return errands_give(fine, &(struct errand){ .kind = kind }, now_us);
    bool moves_on = fine != full && now_us - fine->current.given_us > LONG_US &&
                    errands_give(full, &(struct errand){ .kind = kind }, now_us);
    if (moves_on)
        errands_drop(fine);
    return moves_on;
}

bool plan_note_own_runs(const struct plan_env *env)
{
    int64_t now_us = plan_mono_us(env);
    bool is_of_hour = run_hours_are_due(env->run_hours, now_us);
    if (!is_of_hour && !long_runs_are_due(env->long_runs, now_us))
        return false;
    plan_give_note(env, is_of_hour ? ERRAND_NOTE_RUNS : ERRAND_NOTE_RUNNING);
    return true;
}

bool plan_wants_metrics(const struct plan_env *env)
{
    return !env->clocks->virtual_now &&
           measuring_is_due(env->measuring, plan_mono_us(env), env->patient);
}

/* While the store is away, what runs were like is due all the time, as calls that fail count. */
void plan_note_runs(const struct plan_env *env)
{
    bool wants_metrics = plan_wants_metrics(env);
    if (!plan_note_own_runs(env) && wants_metrics)
        plan_give_note(env, ERRAND_METRICS);
}

bool plan_give_errand(const struct plan_env *env, enum errand_kind kind)
{
    return plan_give(env, (struct errand){ .kind = kind });
}
