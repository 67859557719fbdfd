/* notifying.c - see notifying.h. */
#include "notifying.h"

enum { PAUSE_US = 1000 * 1000 };

bool notifying_owes(const struct notifying *n, const struct plan_env *env)
{
    return env->settings->notify && env->totals->events > n->told;
}

void notifying_tick(struct notifying *n, const struct plan_env *env, bool is_last)
{
    int64_t now = plan_mono_us(env);
    if (!notifying_owes(n, env))
        return;
    int64_t emitted = env->totals->events;
    bool is_due = now >= n->next_us || (is_last && n->sent < emitted);
    if (is_due && plan_give_note(env, ERRAND_NOTIFY)) {
        n->sent = emitted;
        n->next_us = now + PAUSE_US;
    }
    agenda_set(env->agenda, &n->wake, n->next_us > now ? n->next_us : now + PAUSE_US);
}

/* Where it failed, a daemon sends it again. Others end: consumers look at their own times, too. */
bool notifying_errand_done(struct notifying *n, const struct plan_env *env,
                           const struct errand_result *result)
{
    if (result->errand.kind != ERRAND_NOTIFY)
        return false;
    if (!result->rc || !env->patient)
        n->told = n->sent;
    return true;
}

void notifying_release(struct notifying *n, struct agenda *agenda)
{
    agenda_unset(agenda, &n->wake);
}
