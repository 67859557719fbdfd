/* plan_daemon.c - each slot at its time; between slots the second looks, sweeps, and the
 * housekeeping of partitions and clock. */
#include "../rules/slot.h"
#include "plan.h"

enum {
    LOOK_US = 500 * 1000,               /* the first second look after a slot; doubles while nothing moves */
    LOOK_MAX_US = 15 * 1000 * 1000,
    /* between two of them, while a transaction is waited for: with the look, a second */
    PULSE_US = 750 * 1000,
    DAYS_US = 600 * 1000 * 1000,
    CLOCK_US = 60 * 1000 * 1000,
    SOON_US = 10 * 1000 * 1000,         /* housekeeping that failed, or is wanted out of turn */
};
static const int64_t full_us = 3600LL * 1000 * 1000, prune_us = 3600LL * 1000 * 1000;

static int64_t boundary_us(const struct engine *e, const struct plan_daemon *p)
{
    int64_t next = p->current ? p->current + e->slot_length_s : slot_floor(engine_now(e), e->slot_length_s);
    /* a moment later: the database's clock must agree */
    return next * 1000000 - e->clock_offset_us + 1000;
}

/* A look is due at that time at the latest, or when the rest after the last one is over. */
static void look_at(struct plan_daemon *p, int64_t at_us)
{
    int64_t at = at_us > p->rest_until_us ? at_us : p->rest_until_us;
    if (p->catchup_us > at)
        p->catchup_us = at;
}

static void begin_slot(struct engine *e, struct plan_daemon *p)
{
    /* after a pause: only the newest; the sweep takes the rest */
    p->current = slot_floor(engine_now(e), e->slot_length_s);
    engine_leave_older(e, p->current);
    p->pause_us = LOOK_US;
    if (slot_is_served(p->current, e->o.settings->serve, e->o.settings->nserve))
        engine_add_target(e, TARGET_SLOT, p->current);
    look_at(p, engine_mono_us(e) + LOOK_US);
}

static int64_t longest_pause_us(const struct engine *e, const struct plan_daemon *p)
{
    int64_t lease = e->o.settings->lease_us / 4;
    return p->catchup.undone && lease < LOOK_MAX_US ? lease : LOOK_MAX_US;
}

/* A catch-up most often ends between two turns, when its last errand comes back: only here is it
 * seen, and the pause begins. */
static void catchup_turn(struct engine *e, struct plan_daemon *p, int64_t now)
{
    if (!p->looking && now < p->catchup_us)
        return;
    if (!p->looking) {
        p->looking = true;
        bool full = now >= p->full_us || engine_wants_full_look(e);
        catchup_begin(&p->catchup, TARGET_SWEEP, true, p->current, full);
        if (full)
            p->full_us = now + full_us;
    }
    if (p->catchup.step != CATCHUP_DONE)
        catchup_tick(e, &p->catchup);
    if (p->catchup.step == CATCHUP_DONE) {
        int64_t most = longest_pause_us(e, p);
        p->pause_us = p->catchup.moved || p->catchup.slots ? LOOK_US : p->pause_us * 2;
        if (p->pause_us > most)
            p->pause_us = most;
        p->rest_until_us = now + catchup_rest_us(p->catchup.cost_us);
        p->catchup_us = now + p->pause_us > p->rest_until_us ? now + p->pause_us : p->rest_until_us;
        p->looking = false;
        p->pulse_us = now + PULSE_US;
    }
}

static void pruning_turn(struct engine *e, struct plan_daemon *p, int64_t now)
{
    if (!p->pruning.active && now >= p->prune_us) {
        pruning_begin(e, &p->pruning, true);
        p->prune_us = now + prune_us;
    }
    pruning_tick(e, &p->pruning);
}

bool plan_pulse_says_look(const struct pulse *before, const struct pulse *now)
{
    return now->newest && (now->newest > before->newest || now->running < before->running);
}

/* A row that is held for long is held by an old transaction, most often the oldest. To try it at
 * each end of any would run its job again and again. */
static void pulse_came(struct engine *e, struct plan_daemon *p, const struct store_pulse *r)
{
    struct pulse is = { r->newest, r->running, r->oldest };
    int64_t now = engine_mono_us(e);
    if (p->pulse.oldest && is.oldest != p->pulse.oldest)
        engine_try_held_again(e);
    if (plan_pulse_says_look(&p->pulse, &is) && !p->looking)
        look_at(p, now);
    p->pulse = is;
    p->pulse_us = is.running ? now + PULSE_US : 0;
}

static void daemon_tick(struct engine *e, void *state)
{
    struct plan_daemon *p = state;
    int64_t now = engine_mono_us(e);
    if (!e->has_clock)
        return;
    if (e->writes_failed && p->days_us > now + SOON_US)
        /* perhaps today's partition is missing: a restore, a clock that jumped */
        p->days_us = now + SOON_US;
    e->writes_failed = false;
    if (e->wants_clock && p->clock_us > now + SOON_US / 10)
        p->clock_us = now + SOON_US / 10;
    e->wants_clock = false;
    if (now >= p->days_us && engine_give_errand(e, ERRAND_KEEP_DAYS, 0, 0, false))
        p->days_us = now + DAYS_US;
    if (!p->started)
        return;
    if (now >= p->clock_us && engine_give_errand(e, ERRAND_HELLO, 0, 0, false))
        p->clock_us = now + CLOCK_US;
    if (p->current > slot_floor(engine_now(e), e->slot_length_s)) {
        p->current = 0;                 /* the database's clock had run ahead and came back */
        p->full_us = 0;
    }
    if (now >= boundary_us(e, p))
        begin_slot(e, p);
    if (!p->looking && p->pulse_us && now >= p->pulse_us && engine_give_errand(e, ERRAND_PULSE, 0, 0, false))
        p->pulse_us = now + PULSE_US;
    catchup_turn(e, p, now);
    pruning_turn(e, p, now);
}

static void daemon_errand_done(struct engine *e, void *state, const struct errand *errand, int rc,
                               const struct lane *lane)
{
    struct plan_daemon *p = state;
    if (errand->kind == ERRAND_HELLO && rc && !e->has_clock)
        engine_give_errand(e, ERRAND_HELLO, 0, 0, false);
    else if (errand->kind == ERRAND_HELLO && rc)
        p->clock_us = engine_mono_us(e) + SOON_US / 10;
    else if (errand->kind == ERRAND_KEEP_DAYS) {
        p->started = p->started || !rc;
        if (rc)
            p->days_us = engine_mono_us(e) + (p->started ? SOON_US : SOON_US / 10);
        else
            engine_give_errand(e, ERRAND_INDEX_DAYS, 0, 0, false);
    } else if (errand->kind == ERRAND_PRUNE)
        pruning_errand_done(e, &p->pruning, errand, rc, lane);
    else if (errand->kind == ERRAND_PULSE && !rc)
        pulse_came(e, p, &lane->req.pulse);
    else if (errand->kind != ERRAND_INDEX_DAYS)
        catchup_errand_done(e, &p->catchup, errand, rc, lane);
}

static void daemon_target_over(struct engine *e, void *state, const struct target *target)
{
    struct plan_daemon *p = state;
    catchup_target_over(e, &p->catchup, target);
    p->pulse_us = engine_mono_us(e) + PULSE_US;
}

static int64_t daemon_next_us(const struct engine *e, const void *state)
{
    const struct plan_daemon *p = state;
    if (!e->has_clock || !p->started)
        return INT64_MAX;
    int64_t next = boundary_us(e, p);
    if (!p->looking && p->catchup_us < next)
        next = p->catchup_us;
    if (!p->looking && !e->errand.kind && p->pulse_us && p->pulse_us < next)
        next = p->pulse_us;
    return next;
}

const struct plan plan_daemon = { "daemon", daemon_tick, daemon_errand_done, daemon_target_over,
                                  daemon_next_us };
