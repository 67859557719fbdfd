/* plan.h - what decides which slots are run: a plan adds targets and gives errands. It looks at
 * parts of the engine, and reaches into no lane. */
#ifndef PRESCIENT_PLAN_H
#define PRESCIENT_PLAN_H

#include "../base/agenda.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/settings.h"
#include "../base/supervisor.h"
#include "clocks.h"
#include "cooldown.h"
#include "counts.h"
#include "errand.h"
#include "health.h"
#include "jobs.h"
#include "long_runs.h"
#include "run_hours.h"
#include "shutdown.h"
#include "targets.h"
#include "trouble.h"

struct pausing;

struct plan_env {
    const struct settings *settings;
    struct log *log;
    struct supervisor *supervisor;  /* NULL: nobody wants to know */
    const struct clock *clock;
    bool patient;                   /* a daemon: it waits for ever for what it cannot have now */
    struct clocks *clocks;
    struct targets *targets, *fine_targets;
    struct errands *errands, *fine_errands;
    const struct jobs *jobs;
    struct cooldowns *cooldowns;
    struct health *health;
    struct shutdown *shutdown;      /* a plan ends the engine by shutdown_end */
    struct totals *totals;
    struct pausing *pausing;
    struct run_hours *run_hours;
    struct long_runs *long_runs;
    struct measuring *measuring;
    struct trouble *trouble;        /* what a command tells at its end */
    struct agenda *agenda;
    struct alarm *wake;             /* when tick must be called at the latest: plan_wake_at */
    bool (*is_idle)(const void *engine);        /* no target, no errand, no lease */
    const void *engine;
};

struct plan {
    const char *name;
    /* Looks at the engine and its own state, adds targets, gives errands, or ends the engine. Each
     * turn of the loop: when something happened, and at the time that it has set. */
    void (*tick)(const struct plan_env *env, void *state);
    /* An errand has come back, or failed (it is not repeated by itself). */
    void (*errand_done)(const struct plan_env *env, void *state, const struct errand_result *result);
    /* A target is over: nothing of it is left to take and no lane holds a lease of it. */
    void (*target_over)(const struct plan_env *env, void *state, const struct target *target);
};

static inline int64_t plan_mono_us(const struct plan_env *env) { return clock_mono_us(env->clock); }
/* by the clock that counts; 0 before the first hello */
static inline int64_t plan_now_us(const struct plan_env *env)
{
    return clocks_now_us(env->clocks, plan_mono_us(env));
}
static inline int64_t plan_now(const struct plan_env *env) { return plan_now_us(env) / 1000000; }
static inline bool plan_is_idle(const struct plan_env *env) { return env->is_idle(env->engine); }

/* A tick sets it, again and again for as long as it waits for that time: it rings once. */
static inline void plan_wake_at(const struct plan_env *env, int64_t at_us)
{
    agenda_set(env->agenda, env->wake, at_us);
}

bool plan_has_target(const struct plan_env *env, int64_t slot);
/* Of that slot only checks are left that are put off. */
bool plan_only_puts_off(const struct plan_env *env, int64_t slot);
/* Full and fine slots have lanes, and lists, of their own. False when there is no memory for it,
 * which the log says. */
bool plan_add_target(const struct plan_env *env, enum target_kind kind, int64_t slot);
/* Only its urgent checks, for a sweep. */
bool plan_add_urgent_target(const struct plan_env *env, int64_t slot);
/* A slot of the past that this command alone is to run: no sweep comes after it. */
bool plan_add_final_target(const struct plan_env *env, int64_t slot);
/* False when another one is under way or waits. */
bool plan_give_errand(const struct plan_env *env, enum errand_kind kind);
bool plan_give(const struct plan_env *env, struct errand errand);

/* One that can wait, to a lane that is free: the fine one, or one of full slots when that is long
 * at work. True when it was given to one just now. */
bool plan_give_note(const struct plan_env *env, enum errand_kind kind);

/* In each tick: once a minute what the runs were like is written, and metrics for who wants them;
 * every ten seconds which runs go on for long. */
void plan_note_runs(const struct plan_env *env);
/* The same without metrics, which are of all engines. True when one of them is due. */
bool plan_note_own_runs(const struct plan_env *env);
/* Whether metrics are due; in each tick before the first of those, so that they say in a minute
 * that the store is away. */
bool plan_wants_metrics(const struct plan_env *env);

#endif
