/* pruning.c - a small state machine: ask whose turn it is, then drop from table after table. A
 * table that cannot be pruned does not stop the others. */
#include "pruning.h"

#include <inttypes.h>

/* Pruning for the first time in years must not take minutes: the rest follows an hour later. The
 * days are few for another reason, too: when a clock jumps ahead by a year, there is time to notice
 * before all is gone. */
enum { DAYS_MOST = 4, CHUNKS_MOST = 100, TRIES_MOST = 6 };
enum { AGAIN_US = 10 * 1000 * 1000 };
/* There may be a fine slot for each second; what its passes have to tell is soon of no interest. */
enum { FINE_PASSES = PRUNE_PARTS, FINE_PASSES_KEEP_S = 86400 };

static const char *const names[] = {
    [PRUNE_HISTORY] = "history", [PRUNE_RUNS] = "runs", [PRUNE_EVENTS] = "events", [PRUNE_PASSES] = "passes",
    [PRUNE_PAUSES] = "pauses",
    [PRUNE_HOURS] = "hours",
    [PRUNE_CHANGES] = "changes",
    [FINE_PASSES] = "passes of seconds"
};

void pruning_begin(const struct plan_env *env, struct pruning *p, bool patient)
{
    bool keeps_all = env->settings->keep_us <= 0;
    *p = (struct pruning){ .active = !env->clocks->virtual_now,
                           .patient = patient,
                           .claimed = keeps_all,        /* the turn is for those who drop more */
                           .part = keeps_all ? FINE_PASSES : 0 };
}

static int64_t keep_s(const struct plan_env *env, const struct pruning *p)
{
    int64_t keep_s = env->settings->keep_us / 1000000;
    bool is_fine = p->part == FINE_PASSES && (!keep_s || keep_s > FINE_PASSES_KEEP_S);
    return is_fine ? FINE_PASSES_KEEP_S : keep_s;
}

void pruning_tick(const struct plan_env *env, struct pruning *p)
{
    if (p->active && plan_mono_us(env) >= p->due_us)
        plan_give(env, (struct errand){ ERRAND_PRUNE, .from = p->part,
                                        .before = plan_now(env) - keep_s(env, p),
                                        .full = !p->claimed });
}

static void log_dropped(const struct plan_env *env, const struct pruning *p)
{
    const char *unit = p->by_days ? "days" : "rows";
    int64_t all = 0;
    for (int i = 0; i < PRUNE_PARTS; i++)
        all += p->dropped[i];
    if (all)
        log_info(env->log,
                 "pruned: history %" PRId64 " %s, runs %" PRId64 " %s, events %" PRId64 " %s, passes %" PRId64
                 " rows, pauses %" PRId64 " rows, hours %" PRId64 " rows, changes %" PRId64 " rows",
                 p->dropped[PRUNE_HISTORY], unit, p->dropped[PRUNE_RUNS], unit, p->dropped[PRUNE_EVENTS],
                 unit, p->dropped[PRUNE_PASSES], p->dropped[PRUNE_PAUSES], p->dropped[PRUNE_HOURS],
                 p->dropped[PRUNE_CHANGES]);
}

static void next_part(const struct plan_env *env, struct pruning *p)
{
    p->steps = p->tries = 0;
    p->active = ++p->part <= FINE_PASSES;
    if (!p->active)
        log_dropped(env, p);
}

static void step_failed(const struct plan_env *env, struct pruning *p, int rc, const struct err *err)
{
    if (rc == ERR_BUSY && p->patient && ++p->tries < TRIES_MOST) {
        p->due_us = plan_mono_us(env) + AGAIN_US;
        return;
    }
    if (rc == ERR_BUSY)
        log_info(env->log, "%s: what is older than keep is in use and stays for now", names[p->part]);
    else
        log_warn(env->log, "%s could not be pruned: %s", names[p->part], err->text);
    next_part(env, p);
}

void pruning_errand_done(const struct plan_env *env, struct pruning *p, const struct errand_result *result)
{
    const struct store_prune *step = &result->reply->prune;
    int rc = result->rc;
    if (result->errand.kind != ERRAND_PRUNE || !p->active)
        return;
    if (!p->claimed) {
        p->claimed = p->active = rc == 0 && step->n > 0;
        return;
    }
    if (rc) {
        step_failed(env, p, rc, result->err);
        return;
    }
    p->by_days = p->by_days || step->by_days;
    p->dropped[p->part] += step->n;
    p->tries = 0;
    if (step->n == 0 || ++p->steps >= (step->by_days ? DAYS_MOST : CHUNKS_MOST))
        next_part(env, p);
}
