/* plan_run.c - what cron calls: the slot that is now, then what is late, then the end. Also sweep
 * and reslot alone. */
#include "../rules/digest.h"
#include "../rules/slot.h"
#include "noted.h"
#include "plans.h"

enum { EARLY_MAX_US = 5 * 1000 * 1000 };
enum {
    STEP_DAYS,
    STEP_DIGESTS,
    STEP_CHOOSE,
    STEP_EARLY,
    STEP_SLOT,
    STEP_CATCHUP,
    STEP_FINE,
    STEP_END,
    STEP_INDEX,
    STEP_INDEXED,
    STEP_NOTED,
    STEP_COUNTED,
    STEP_SUMMED,
    STEP_MEASURED,
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
    if (slot_is_fine(p->slot, env->clocks->slot_length_s)) {
        char slot_text[MOMENT_TEXT], length[MOMENT_TEXT];
        log_info(env->log,
                 "%s is a second between two slots of %s: only what was asked for at once waits there",
                 moment_format(p->slot, slot_text),
                 duration_format_us(env->clocks->slot_length_s * 1000000LL, length));
    }
    int64_t slot = p->slot ? p->slot : current;
    p->step = STEP_SLOT;
    if (!p->slot && !slot_is_served(slot, env->settings->serve, env->settings->nserve))
        log_info(env->log, "slot %lld is served by another server (serve)", (long long)slot);
    else if (slot == current)
        plan_add_target(env, TARGET_SLOT, slot);
    else
        plan_add_final_target(env, slot);
}

/* Who is alone is told at once which checks of the slot that runs nobody has run. */
static void tell_here(const struct plan_env *env)
{
    if (trouble_tell_here(env->trouble))
        env->totals->skipped_some = true;
}

static void listeners_noted(const struct plan_env *env, int *step, const struct errand_result *result)
{
    if (!result->rc && !result->reply->note.others)
        tell_here(env);
    *step = STEP_NOTED;
}

/* The first errands of a command: the clock, then the days of the history. True when `errand` was
 * one of them. */
static bool opening_done(const struct plan_env *env, int *step, const struct errand_result *result)
{
    enum errand_kind kind = result->errand.kind;
    if (kind == ERRAND_HELLO && result->rc)
        plan_give_errand(env, ERRAND_HELLO);
    else if (kind == ERRAND_KEEP_DAYS && !result->rc)
        *step = STEP_DIGESTS;
    else if (kind == ERRAND_KEEP_DIGESTS && !result->rc)
        *step = STEP_CHOOSE;
    else if (kind == ERRAND_INDEX_DAYS)
        *step = STEP_INDEXED;
    else if (kind == ERRAND_NOTE_LISTENERS)
        listeners_noted(env, step, result);
    else if (kind == ERRAND_NOTE_LOADS)
        *step = STEP_COUNTED;
    else if (kind == ERRAND_NOTE_RUNS && result->rc && *step == STEP_COUNTED)
        *step = STEP_SUMMED;
    else if (kind == ERRAND_METRICS && *step == STEP_SUMMED)
        *step = STEP_MEASURED;
    return kind == ERRAND_HELLO || kind == ERRAND_KEEP_DAYS || kind == ERRAND_KEEP_DIGESTS ||
           kind == ERRAND_INDEX_DAYS || kind == ERRAND_NOTE_LISTENERS || kind == ERRAND_NOTE_LOADS ||
           kind == ERRAND_NOTE_RUNS || kind == ERRAND_METRICS;
}

static void opening_tick(const struct plan_env *env, int *step)
{
    if (*step == STEP_DAYS && env->clocks->is_known)
        plan_give_errand(env, ERRAND_KEEP_DAYS);
    if (*step == STEP_DIGESTS && digests_next(env->settings, 0) < 0)
        *step = STEP_CHOOSE;
    if (*step == STEP_DIGESTS)
        plan_give_errand(env, ERRAND_KEEP_DIGESTS);
}

static void catchup_turn(const struct plan_env *env, int *step, struct catchup *c, int then)
{
    if (*step != STEP_CATCHUP)
        return;
    catchup_tick(env, c);
    if (c->step == CATCHUP_DONE)
        *step = then;
}

/* A time that was set is no engine's of today, and no other engine is there. */
static void note_listeners(const struct plan_env *env, int *step)
{
    if (env->clocks->virtual_now) {
        tell_here(env);
        *step = STEP_NOTED;
    } else
        plan_give(env,
                  (struct errand){ ERRAND_NOTE_LISTENERS, .command = plan_run.name, .totals = env->totals,
                                   .counts_s = noted_command_s(env->clocks->slot_length_s) });
}

static void note_loads(const struct plan_env *env, int *step)
{
    if (env->clocks->virtual_now)
        *step = STEP_COUNTED;
    else
        plan_give_errand(env, ERRAND_NOTE_LOADS);
}

/* As many calls as it takes, until one fails. */
static void note_last_runs(const struct plan_env *env, int *step)
{
    if (run_hours_have_news(env->run_hours))
        plan_give_errand(env, ERRAND_NOTE_RUNS);
    else
        *step = STEP_SUMMED;
}

static void measure(const struct plan_env *env, int *step)
{
    if (!measuring_is_wanted(env->measuring) || env->clocks->virtual_now)
        *step = STEP_MEASURED;
    else
        plan_give_errand(env, ERRAND_METRICS);
}

/* The last steps of a command: housekeeping (`pruning`: NULL for none) when nothing is under way
 * any more, and the end. */
static void closing_tick(const struct plan_env *env, int *step, struct pruning *pruning)
{
    if (*step == STEP_END && plan_is_idle(env))
        *step = STEP_INDEX;
    if (*step == STEP_INDEX)
        /* last: nobody waits for it, and it may fail */
        plan_give_errand(env, ERRAND_INDEX_DAYS);
    if (*step == STEP_INDEXED)
        note_listeners(env, step);
    if (*step == STEP_NOTED)
        note_loads(env, step);
    if (*step == STEP_COUNTED)
        note_last_runs(env, step);
    if (*step == STEP_SUMMED)
        measure(env, step);
    if (*step == STEP_MEASURED) {
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
    p->catchup.recalling = (struct recalling){ .wanted = true };
    /* Once an hour with a look at the left edge, whenever this is called. */
    catchup_begin(&p->catchup, TARGET_SWEEP, !p->no_sweep,
                  slot_floor(plan_now(env), env->clocks->slot_length_s),
                  clocks_wants_full_look(env->clocks, plan_mono_us(env)));
    p->step = STEP_CATCHUP;
}

/* At a set time the pulse has no seconds to wait for: the fine slots up to then are asked for, one
 * after the other. */
static void fine_turn_at_set_time(const struct plan_env *env, const struct plan_run *p)
{
    int64_t now = plan_now(env), first = slot_floor(now, env->clocks->slot_length_s) + 1;
    if (p->step == STEP_FINE)
        plan_give(env, (struct errand){ ERRAND_LATE_SLOT, .from = p->fine_from ? p->fine_from : first,
                                        .before = now + 1 });
}

static void fine_slot_found(const struct plan_env *env, struct plan_run *p,
                            const struct store_late_slot *late)
{
    int64_t slot = late->slot;
    p->fine_from = slot ? slot + 1 : late->until;
    if (!slot && late->until)
        return;
    if (!slot)
        p->step = STEP_END;
    else if (!plan_has_target(env, slot))
        plan_add_target(env, TARGET_SLOT, slot);
}

/* What was asked for at once by then, and what was filed in fine slots meanwhile by settles of this
 * run, is run once. What these file again is the next run's. */
static void fine_turn(const struct plan_env *env, struct plan_run *p)
{
    if (env->clocks->virtual_now) {
        fine_turn_at_set_time(env, p);
        return;
    }
    if (p->step == STEP_FINE && !p->fine_until) {
        int64_t now = plan_now(env), filed = env->totals->filed_until;
        p->fine_until = filed > now ? filed : now;
        p->fine.next_us = filed > now ? p->fine.next_us : 0;
    }
    bool is_seen = p->fine_until && fine_pulse_has_seen(&p->fine, p->fine_until);
    if (p->step == STEP_FINE && (is_seen || env->clocks->slot_length_s <= 1)) {
        p->step = STEP_END;
        return;
    }
    fine_pulse_tick(env, &p->fine, env->errands);
    if (!env->errands->current.kind && p->fine.next_us > plan_mono_us(env))
        plan_wake_at(env, p->fine.next_us);
}

/* All that has been found is over, and there may be more by then. */
static bool is_last(const struct plan_env *env, const struct plan_run *p)
{
    return p->step == STEP_END && !p->slot && !env->clocks->virtual_now && plan_is_idle(env);
}

static void stay_until(const struct plan_env *env, struct plan_run *p, int64_t slot)
{
    int64_t now = plan_now(env);
    p->fine_until = slot > now ? slot : now;
    p->fine.next_us = 0;
    p->step = STEP_FINE;
    plan_wake_at(env, plan_mono_us(env));
}

/* Missed occurrences of a schedule that has `run_all`, one after the other: each files the next.
 * They come up to the end of the full slot in which the first one did; then they are the next
 * run's, or a check that keeps up with the clock would keep this run for ever. */
static void make_up(const struct plan_env *env, struct plan_run *p)
{
    int64_t until = env->totals->made_up_until;
    if (!is_last(env, p) || until <= p->fine_until)
        return;
    if (!p->makes_up_before)
        p->makes_up_before = slot_next(until, env->clocks->slot_length_s);
    if (until < p->makes_up_before)
        stay_until(env, p, until);
}

/* Checks of fine slots emit events, too. Their deliveries are made as well; what these file is the
 * next run's. */
static void deliver_late(const struct plan_env *env, struct plan_run *p)
{
    if (!is_last(env, p) || p->delivers_late || env->totals->delivered_until <= p->fine_until)
        return;
    p->delivers_late = true;
    stay_until(env, p, env->totals->delivered_until);
}

/* Once its own slot is over, nothing is added before all that is under way is over, too. */
static bool is_at_work(const struct plan_env *env, const struct plan_run *p)
{
    if (p->slot)
        return false;
    return (p->step == STEP_SLOT && env->targets->first) || p->step == STEP_CATCHUP || p->step == STEP_FINE;
}

static void run_tick(const struct plan_env *env, void *state)
{
    struct plan_run *p = state;
    opening_tick(env, &p->step);
    plan_note_runs(env);
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
    catchup_turn(env, &p->step, &p->catchup, STEP_FINE);
    if (is_at_work(env, p))
        fine_turn(env, p);
    /* behind it: it may just have come to the end, and nothing is under way */
    make_up(env, p);
    deliver_late(env, p);
    closing_tick(env, &p->step, &p->pruning);
}

static void run_errand_done(const struct plan_env *env, void *state, const struct errand_result *result)
{
    struct plan_run *p = state;
    pruning_errand_done(env, &p->pruning, result);
    fine_pulse_errand_done(env, &p->fine, result);
    if (opening_done(env, &p->step, result))
        return;
    if (p->step == STEP_CATCHUP)
        catchup_errand_done(env, &p->catchup, result);
    else if (p->step == STEP_FINE && result->errand.kind == ERRAND_LATE_SLOT && !result->rc)
        fine_slot_found(env, p, &result->reply->late);
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
    opening_tick(env, &p->step);
    plan_note_runs(env);
    if (p->step == STEP_CHOOSE) {
        p->catchup.recalling = (struct recalling){ .wanted = true };
        catchup_begin(&p->catchup, p->kind, true, slot_floor(plan_now(env), env->clocks->slot_length_s),
                      true);
        p->step = STEP_CATCHUP;
    }
    catchup_turn(env, &p->step, &p->catchup, STEP_END);
    closing_tick(env, &p->step, NULL);
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
