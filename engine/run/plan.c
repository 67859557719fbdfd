/* plan.c - what all plans do. */
#include "plan.h"

bool plan_add_target(const struct plan_env *env, enum target_kind kind, int64_t slot)
{
    if (targets_add(env->targets, kind, slot, plan_mono_us(env)))
        return true;
    log_error(env->log, "out of memory: slot %lld is left to the next sweep", (long long)slot);
    env->totals->skipped_some = true;
    return false;
}

bool plan_give(const struct plan_env *env, struct errand errand)
{
    return errands_give(env->errands, &errand, plan_mono_us(env));
}

bool plan_give_errand(const struct plan_env *env, enum errand_kind kind)
{
    return plan_give(env, (struct errand){ .kind = kind });
}
