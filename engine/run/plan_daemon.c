/* plan_daemon.c - each slot at its time; between slots the second looks, sweeps, and the
 * housekeeping of partitions and clock. */
#include <stdio.h>

#include "../base/moment.h"
#include "../base/settings_mask.h"
#include "../base/utf8.h"
#include "../rules/digest.h"
#include "../rules/slot.h"
#include "noted.h"
#include "plans.h"

enum {
    LOOK_US = 500 * 1000, /* the first second look after a slot; doubles while nothing moves */
    LOOK_MAX_US = 15 * 1000 * 1000,
    /* between two of them, while a transaction is waited for: with the look, a second */
    PULSE_US = 750 * 1000,
    DAYS_US = 600 * 1000 * 1000,
    NOTE_US = 60 * 1000 * 1000,
    NOTE_LATER_US = 600 * 1000 * 1000, /* it may not be written */
    LOADS_US = 60 * 1000 * 1000,
    CLOCK_US = 60 * 1000 * 1000,
    SOON_US = 10 * 1000 * 1000, /* housekeeping that failed, or is wanted out of turn */
    JOBS_SHOWN = 10,
    MISSED_MAX = 16, /* slots that come before older ones although they were missed */
};
static const int64_t full_us = 3600LL * 1000 * 1000, prune_us = 3600LL * 1000 * 1000;

static int64_t boundary_us(const struct plan_env *env, const struct plan_daemon *p)
{
    int64_t next = p->current ? p->current + env->clocks->slot_length_s
                              : slot_floor(plan_now(env), env->clocks->slot_length_s);
    /* a moment later: the database's clock must agree */
    return next * 1000000 - env->clocks->offset_us + 1000;
}

/* A look is due at that time at the latest, or when the rest after the last one is over. */
static void look_at(struct plan_daemon *p, int64_t at_us)
{
    int64_t at = at_us > p->rest_until_us ? at_us : p->rest_until_us;
    if (p->catchup_us > at)
        p->catchup_us = at;
}

static void add_slot(const struct plan_env *env, enum target_kind kind, int64_t slot)
{
    if (slot_is_served(slot, env->settings->serve, env->settings->nserve))
        plan_add_target(env, kind, slot);
}

/* What the daemon has missed since the one before, while the store or the machine stood still: a
 * sweep would take it behind all that is older. Of many, as after a suspend of hours, the newest
 * are enough. */
static void begin_slot(const struct plan_env *env, struct plan_daemon *p)
{
    int32_t length_s = env->clocks->slot_length_s;
    int64_t before = p->current;
    p->current = slot_floor(plan_now(env), length_s);
    int64_t oldest = p->current - (int64_t)MISSED_MAX * length_s;
    targets_pass_over(env->targets, p->current, oldest);
    p->pause_us = LOOK_US;
    add_slot(env, TARGET_SLOT, p->current);
    int64_t missed = before + length_s > oldest ? before + length_s : oldest;
    for (int64_t slot = missed; before && slot < p->current; slot += length_s)
        add_slot(env, TARGET_MISSED, slot);
    look_at(p, plan_mono_us(env) + LOOK_US);
}

static int64_t longest_pause_us(const struct plan_env *env, const struct plan_daemon *p)
{
    int64_t lease = env->settings->lease_us / 4;
    return p->catchup.unfinished && lease < LOOK_MAX_US ? lease : LOOK_MAX_US;
}

/* Once a slot, and when another job can be run here: another engine may have put off its checks
 * meanwhile. */
static void want_recall(const struct plan_env *env, struct plan_daemon *p)
{
    if (p->recalled_slot == p->current && p->recalled_jobs == env->jobs->changes)
        return;
    p->recalled_slot = p->current;
    p->recalled_jobs = env->jobs->changes;
    p->catchup.recalling = (struct recalling){ .wanted = true };
}

/* A catch-up mostly ends between two turns, when its last errand comes back. It is noticed here,
 * and the pause begins. */
static void catchup_turn(const struct plan_env *env, struct plan_daemon *p, int64_t now)
{
    if (!p->looking && now < p->catchup_us)
        return;
    if (!p->looking) {
        p->looking = true;
        bool full = now >= p->full_us || clocks_wants_full_look(env->clocks, plan_mono_us(env));
        want_recall(env, p);
        catchup_begin(&p->catchup, TARGET_SWEEP, true, p->current, full);
        if (full)
            p->full_us = now + full_us;
    }
    if (p->catchup.step != CATCHUP_DONE)
        catchup_tick(env, &p->catchup);
    if (p->catchup.step == CATCHUP_DONE) {
        int64_t most = longest_pause_us(env, p);
        p->pause_us = p->catchup.moved || p->catchup.slots ? LOOK_US : p->pause_us * 2;
        if (p->pause_us > most)
            p->pause_us = most;
        p->rest_until_us = now + catchup_rest_us(p->catchup.cost_us);
        p->catchup_us = now + p->pause_us > p->rest_until_us ? now + p->pause_us : p->rest_until_us;
        p->looking = false;
        p->pulse_us = now + PULSE_US;
    }
}

static void pruning_turn(const struct plan_env *env, struct plan_daemon *p, int64_t now)
{
    if (!p->pruning.active && now >= p->prune_us) {
        pruning_begin(env, &p->pruning, true);
        p->prune_us = now + prune_us;
    }
    pruning_tick(env, &p->pruning);
}

bool plan_pulse_says_look(const struct pulse *before, const struct pulse *now)
{
    return now->newest && (now->newest > before->newest || now->running < before->running);
}

/* A row that is held for long is held by an old transaction, mostly by the oldest. Trying it when
 * any transaction ends would run its job again and again. */
static void pulse_came(const struct plan_env *env, struct plan_daemon *p, const struct store_pulse *r)
{
    struct pulse is = { r->newest, r->running, r->oldest };
    int64_t now = plan_mono_us(env);
    if (p->pulse.oldest && is.oldest != p->pulse.oldest)
        cooldown_end_held(env->cooldowns);
    if (plan_pulse_says_look(&p->pulse, &is) && !p->looking)
        look_at(p, now);
    p->pulse = is;
    p->pulse_us = is.running ? now + PULSE_US : 0;
}

/* What ends meanwhile calls for a tick by itself. */
static void wake_in_time(const struct plan_env *env, const struct plan_daemon *p)
{
    int64_t next = boundary_us(env, p);
    if (!p->looking && p->catchup_us < next)
        next = p->catchup_us;
    if (!p->looking && !env->errands->current.kind && p->pulse_us && p->pulse_us < next)
        next = p->pulse_us;
    if (env->clocks->slot_length_s > 1 && !env->clocks->virtual_now && p->fine.next_us > plan_mono_us(env) &&
        p->fine.next_us < next)
        next = p->fine.next_us;
    plan_wake_at(env, next);
}

/* "unshipped_order, remind" */
static void name_jobs(const struct settings *s, char *out, size_t size)
{
    int shown = s->njobs < JOBS_SHOWN ? s->njobs : JOBS_SHOWN;
    size_t n = (size_t)snprintf(out, size, "%s", shown ? "" : "none");
    for (int i = 0; i < shown; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%.*s", i ? ", " : "", UTF8_SHOWN(s->jobs[i].name));
    if (shown < s->njobs)
        snprintf(out + n, size - n, " and %d more", s->njobs - shown);
}

/* For who reads the log a week later. */
static void tell_start(const struct plan_env *env)
{
    char store[512] = "its store", jobs[JOBS_SHOWN * 84 + 40];
    if (env->settings->store)
        settings_mask_url(env->settings->store, store, sizeof store);
    name_jobs(env->settings, jobs, sizeof jobs);
    log_info(env->log, "prescient %s, a daemon of %s; jobs: %s", *VERSION ? VERSION : "unreleased", store,
             jobs);
    supervisor_status(env->supervisor, "waiting for its store");
}

static void tell_serving(const struct plan_env *env)
{
    char length[MOMENT_TEXT];
    duration_format_us((int64_t)env->clocks->slot_length_s * 1000000, length);
    log_info(env->log, "its store has answered: it serves slots of %s", length);
    supervisor_status(env->supervisor, "serves slots of %s", length);
}

static void daemon_tick(const struct plan_env *env, void *state)
{
    struct plan_daemon *p = state;
    int64_t now = plan_mono_us(env);
    if (!p->is_told && !p->takes_over)
        tell_start(env);
    p->is_told = true;
    if (!p->started && !p->takes_over)  /* else the one before tells of the store */
        plan_wants_metrics(env);
    if (!env->clocks->is_known)
        return;
    if (env->health->writes_failed && p->days_us > now + SOON_US)
        /* perhaps today's partition is missing: a restore, a clock that jumped */
        p->days_us = now + SOON_US;
    env->health->writes_failed = false;
    if (env->clocks->is_doubtful && p->clock_us > now + SOON_US / 10)
        p->clock_us = now + SOON_US / 10;
    env->clocks->is_doubtful = false;
    if (now >= p->days_us && plan_give_errand(env, ERRAND_KEEP_DAYS))
        p->days_us = now + DAYS_US;
    if (!p->started)
        return;
    if (now >= p->digests_us && digests_next(env->settings, 0) >= 0 &&
        plan_give_errand(env, ERRAND_KEEP_DIGESTS))
        p->digests_us = now + full_us;
    if (now >= p->noted_us)
        plan_give(env, (struct errand){ ERRAND_NOTE_LISTENERS, .command = plan_daemon.name,
                                        .totals = env->totals, .counts_s = NOTED_DAEMON_S });
    if (now >= p->loads_us)
        plan_give_errand(env, ERRAND_NOTE_LOADS);
    plan_note_runs(env);
    if (now >= p->clock_us && plan_give_errand(env, ERRAND_HELLO))
        p->clock_us = now + CLOCK_US;
    int64_t current = slot_floor(plan_now(env), env->clocks->slot_length_s);
    if (p->current > current) {
        p->current = 0;                 /* the database's clock had run ahead and came back */
        p->full_us = 0;
        catchup_end_before(&p->catchup, current);
    }
    if (now >= boundary_us(env, p))
        begin_slot(env, p);
    if (!p->looking && p->pulse_us && now >= p->pulse_us && plan_give_errand(env, ERRAND_PULSE))
        p->pulse_us = now + PULSE_US;
    fine_pulse_tick(env, &p->fine, env->fine_errands);
    catchup_turn(env, p, now);
    pruning_turn(env, p, now);
    wake_in_time(env, p);
}

static void daemon_errand_done(const struct plan_env *env, void *state, const struct errand_result *result)
{
    struct plan_daemon *p = state;
    enum errand_kind kind = result->errand.kind;
    int rc = result->rc;
    if (kind == ERRAND_HELLO && rc && !env->clocks->is_known)
        plan_give_errand(env, ERRAND_HELLO);
    else if (kind == ERRAND_HELLO && rc)
        p->clock_us = plan_mono_us(env) + SOON_US / 10;
    else if (kind == ERRAND_KEEP_DAYS) {
        if (!rc && !p->started && !p->takes_over)
            tell_serving(env);
        p->started = p->started || !rc;
        if (rc)
            p->days_us = plan_mono_us(env) + (p->started ? SOON_US : SOON_US / 10);
        else
            plan_give_errand(env, ERRAND_INDEX_DAYS);
    } else if (kind == ERRAND_KEEP_DIGESTS && rc)
        p->digests_us = plan_mono_us(env) + SOON_US;
    else if (kind == ERRAND_NOTE_LISTENERS)
        p->noted_us = plan_mono_us(env) + (rc ? NOTE_LATER_US : NOTE_US);
    else if (kind == ERRAND_NOTE_LOADS)
        p->loads_us = plan_mono_us(env) + LOADS_US;
    else if (kind == ERRAND_PRUNE)
        pruning_errand_done(env, &p->pruning, result);
    else if (kind == ERRAND_FINE_SLOTS)
        fine_pulse_errand_done(env, &p->fine, result);
    else if (kind == ERRAND_PULSE && !rc)
        pulse_came(env, p, &result->reply->pulse);
    else if (kind != ERRAND_INDEX_DAYS)
        catchup_errand_done(env, &p->catchup, result);
}

static void tell_slot(const struct plan_env *env, const struct target *target)
{
    char slot[MOMENT_TEXT], counts[PASS_COUNTS_TEXT];
    supervisor_status(env->supervisor, "slot %s: %s", moment_format(target->slot, slot),
                      pass_counts_format(&target->counts, counts));
}

static void daemon_target_over(const struct plan_env *env, void *state, const struct target *target)
{
    struct plan_daemon *p = state;
    catchup_target_over(env, &p->catchup, target);
    if (target->counts.run)
        tell_slot(env, target);
    if (target->kind == TARGET_SLOT && slot_is_fine(target->slot, env->clocks->slot_length_s)) {
        p->pause_us = LOOK_US;          /* what is committed into it from now on, a look finds */
        look_at(p, plan_mono_us(env) + LOOK_US);
    }
    p->pulse_us = plan_mono_us(env) + PULSE_US;
}

const struct plan plan_daemon = { "daemon", daemon_tick, daemon_errand_done, daemon_target_over };
