/* plan_check.c - one check is run, here or by another engine, and waited for: its row is looked at
 * until it has run, and its slot is a target whenever it is due. */
#include <stdlib.h>

#include "plans.h"

enum {
    LOOK_US = 200 * 1000,
    TARGET_US = 1000 * 1000,            /* another engine may hold its lease, or has just left it */
    REST_US = 2 * 1000 * 1000           /* for what is under way, once it has run */
};
enum { STEP_DAYS, STEP_WATCH, STEP_END };

static void end(const struct plan_env *env, struct plan_check *p, enum check_watch_state state)
{
    p->state = state;
    p->step = STEP_END;
    p->rest_until_us = plan_mono_us(env) + REST_US;
}

static void watch(const struct plan_env *env, struct plan_check *p)
{
    int64_t now = plan_mono_us(env);
    if (!p->until_us)
        p->until_us = now + p->within_us;
    if (now >= p->until_us) {
        end(env, p, CHECK_WATCH_WAITS);
        return;
    }
    if (now >= p->look_us && !env->errands->current.kind) {
        arena_reset(p->report.arena);
        if (plan_give(env, (struct errand){ ERRAND_REPORT, .report = &p->report }))
            p->look_us = now + LOOK_US;
    }
    plan_wake_at(env, p->look_us);
}

/* What its engine does for the other checks of that slot is given up in order, as at a SIGTERM. */
static void closing(const struct plan_env *env, struct plan_check *p)
{
    int64_t now = plan_mono_us(env);
    if (!p->is_noted && run_hours_have_news(env->run_hours))
        plan_give_errand(env, ERRAND_NOTE_RUNS);
    if (plan_is_idle(env))
        shutdown_end(env->shutdown, 0, "it has run");
    else if (now >= p->rest_until_us)
        shutdown_begin(env->shutdown, now + env->settings->stop_timeout_us);
    else
        plan_wake_at(env, p->rest_until_us);
}

static void check_tick(const struct plan_env *env, void *state)
{
    struct plan_check *p = state;
    plan_note_runs(env);
    if (p->step == STEP_DAYS && env->clocks->is_known)
        plan_give_errand(env, ERRAND_KEEP_DAYS);
    if (p->step == STEP_WATCH)
        watch(env, p);
    if (p->step == STEP_END)
        closing(env, p);
}

static void run_here(const struct plan_env *env, struct plan_check *p, const struct check_look *seen)
{
    int64_t now = plan_mono_us(env);
    if (!p->runs_here || !seen->has_begun || now < p->target_us || plan_has_target(env, seen->slot))
        return;
    if (plan_add_target(env, TARGET_RELOOK, seen->slot))
        p->target_us = now + TARGET_US;
}

static void check_errand_done(const struct plan_env *env, void *state, const struct errand_result *result)
{
    struct plan_check *p = state;
    if (result->errand.kind == ERRAND_HELLO && result->rc)
        plan_give_errand(env, ERRAND_HELLO);
    if (result->errand.kind == ERRAND_KEEP_DAYS && !result->rc)
        p->step = STEP_WATCH;
    if (result->errand.kind == ERRAND_NOTE_RUNS)
        p->is_noted = result->rc || !run_hours_have_news(env->run_hours);
    if (result->errand.kind != ERRAND_REPORT || result->rc || p->step != STEP_WATCH)
        return;
    struct check_look seen = p->read(&result->reply->report.rows, p->job);
    enum check_watch_state now = check_watch_note(&p->watch, &seen);
    if (now == CHECK_WATCH_WAITS)
        run_here(env, p, &seen);
    else
        end(env, p, now);
}

static void check_target_over(const struct plan_env *env, void *state, const struct target *target)
{
    (void)env, (void)state, (void)target;
}

const struct plan plan_check = { "run --check", check_tick, check_errand_done, check_target_over };
