/* lane_open.c - what an open asks for, and what its answer means for its target. */
#include "lane_open.h"

#include <string.h>

#include "../base/failpoint.h"
#include "../base/moment.h"
#include "../rules/about.h"
#include "../rules/slot.h"
#include "lane_buckets.h"
#include "lane_send.h"
#include "phases.h"

enum { NOT_BEGUN_US = 5000, HELD_US = 1000 * 1000 };

static uint64_t buckets_from(int first)
{
    return first < BUCKETS ? UINT64_MAX << first : 0;
}

void lane_begin_open(struct lane *l)
{
    const struct lane_env *env = l->env;
    int64_t now = lane_now_us(l);
    struct target *t = targets_to_open(env->targets, now);
    struct store_open_slot *o = &l->req.open;
    *o = (struct store_open_slot)STORE_OPEN_SLOT_INIT;
    o->slot = t->slot;
    o->now = env->clocks->virtual_now;
    o->split_at = pace_split_at(env->pace, env->settings->split_at);
    o->owner = env->owner;
    o->lease_s = lane_lease_s(l);
    o->want = LANE_BUCKETS - l->nbuckets < LANE_TAKE ? LANE_BUCKETS - l->nbuckets : LANE_TAKE;
    /* A bucket that was done holds rows again when a transaction committed late, or when they were
     * put there by hand. A slot that is only being run for the first time is not asked: its buckets
     * that are done have just been emptied. */
    o->again = !t->first_open;
    bool takes_all = t->puts_off || t->kind == TARGET_RESLOT || slot_is_of_pause(t->slot);
    if (!takes_all && !t->is_final) {
        o->jobs = env->jobs->names;
        o->njobs = env->jobs->nnames;
    }
    l->begun = phases_of_target(env->clocks, t, now);
    if (l->begun > t->begun)            /* a job that was held back is tried again */
        jobs_hold_no_more(env->jobs, t->slot);
    t->begun = l->begun;
    o->left_out = target_left_out(t) | buckets_from(l->begun);
    o->urgent = t->round == READ_URGENT;
    o->asks_urgent = target_may_have_rounds(t);
    enum pool_pace pace = pool_pace(env->pool);
    o->asks_small = o->asks_urgent && pace != POOL_FAST && l->begun == PHASES;
    o->if_slow = pace == POOL_UNKNOWN;
    o->nwatched = watch_expired(env->watch, t->slot, now, l->watched, WATCH_MAX);
    o->watched = l->watched;
    t->is_opening = true;
    l->opening = t;
    l->sent_boot_us = clock_boot_us(env->clock);
    FAILPOINT("before-lease");
    lane_send(l, &o->call);
}

/* Nothing more of it is opened. */
static void end_opening(struct lane *l, struct target *t)
{
    target_end_opening(t);
    lane_target_over(l, t);
}

static void none_left(struct lane *l, struct target *t)
{
    if (target_none_left(t, lanes_read_round(l->env->lanes, t)))
        end_opening(l, t);
}

/* The next part of it begins later. By then what was committed late into the others is there.
 * Another engine that has a slot as one lease gives it back before that. */
static void wait_for_part(struct lane *l, struct target *t, bool is_held)
{
    const struct lane_env *env = l->env;
    int64_t now = lane_now_us(l), until = phase_begins_us(env->clocks, t, l->begun, now);
    if (is_held && until > now + HELD_US)
        until = now + HELD_US;
    t->first_open = false;
    t->skipped_buckets = 0;
    targets_wait(env->targets, t, until);
}

/* None of those that it asked for, which were those that have begun. A command leaves the others to
 * the call after it. */
static void none_left_yet(struct lane *l, struct target *t, const struct store_open_slot *o)
{
    bool is_there = o->state == SLOT_OPEN || o->ntaken || o->nheld;
    bool is_in_part = l->begun < PHASES && is_there;
    if (is_in_part && t->round == READ_URGENT)
        return;                         /* that has just begun, and goes over all */
    if (is_in_part && t->round == READ_ALL && l->env->patient)
        wait_for_part(l, t, o->split == 1 && t->held_by_others);
    else
        none_left(l, t);
}

/* By the database's clock the slot has not begun. */
static void open_not_begun(struct lane *l, struct target *t)
{
    int64_t now = lane_now_us(l);
    if (slot_is_of_pause(t->slot)) {    /* that is over */
        end_opening(l, t);
        return;
    }
    l->retry_us = now + NOT_BEGUN_US;
    if (target_is_nearly_due(t, now))
        return;
    l->env->clocks->is_doubtful = true;
    t->unopened = true;
    end_opening(l, t);
}

/* Another transaction holds what its opening needs: the opening row itself, a table, a SQLite
 * file. It is opened as soon as that is over. Other slots and the leases that are held do not wait
 * for it. */
static void open_locked(struct lane *l, struct target *t, const struct err *err)
{
    const struct lane_env *env = l->env;
    int64_t now = lane_now_us(l);
    char slot[MOMENT_TEXT];
    moment_format(t->slot, slot);
    bool was_logged = cooldown_is_on(env->cooldowns, cooldown_of(COOLDOWN_SLOT, t->slot), now);
    if (targets_locked(env->targets, t, now, random_next(env->random)) && !was_logged)
        log_line_about(env->log, LOG_LEVEL_WARN, about_slot(t->slot),
                       "slot %s cannot be opened yet; retrying: %s", slot, err->text);
    if (target_is_worth_waiting(t, env->patient, now))
        return;
    if (lane_may_log_slot(l, t->slot))
        log_line_about(env->log, LOG_LEVEL_ERROR, about_slot(t->slot),
                       "slot %s is skipped: it could not be opened for %d s: %s", slot, TARGET_LOCKED_LONG_S,
                       err->text);
    t->counts.locked++;
    env->totals->skipped_some = true;
    t->unopened = true;
    end_opening(l, t);
}

/* A row of this slot, or its pass row, is on a corrupt block. Retrying cannot help, so this slot is
 * skipped and others are opened. */
static void open_met_corrupt_block(struct lane *l, struct target *t, const struct err *err)
{
    const struct lane_env *env = l->env;
    if (++t->damaged_opens < COOLDOWN_TRIES)
        return;
    if (lane_may_log_slot(l, t->slot))
        log_line_about(env->log, LOG_LEVEL_ERROR, about_slot(t->slot),
                       "slot %lld cannot be opened and is skipped: %s", (long long)t->slot, err->text);
    t->counts.locked++;
    env->totals->skipped_some = true;
    end_opening(l, t);
}

/* A bit each: those whose leases an open shows if they are held. One for urgent checks leaves out
 * what has none. */
static uint64_t asked_buckets(const struct store_open_slot *o)
{
    return o->urgent && o->split > 1 ? 0 : ~o->left_out;
}

/* Leases of the slot that others hold are watched; so are leases of ours that no lane knows, which
 * were taken in a call whose answer never came: the next call takes them over. True when there are
 * such. */
static bool watch_held(struct lane *l, struct target *t, const struct store_open_slot *o)
{
    const struct lane_env *env = l->env;
    struct lease held[BUCKETS];
    int n = 0;
    bool lost_reply = false;
    t->held_by_others = 0;
    for (int i = 0; i < o->nheld; i++) {
        bool is_own = !memcmp(o->held[i].owner, env->owner, STORE_OWNER_SIZE);
        t->held_by_others += !is_own;
        if (lanes_hold_lease(env->lanes, &o->held[i]))
            continue;
        lost_reply = lost_reply || is_own;
        held[n++] = o->held[i];
    }
    int64_t now = lane_now_us(l);
    struct watch_terms terms = {
        .owner = env->owner,
        .lease_us = env->settings->lease_us,
        .database_us = env->clocks->virtual_now ? 0 : clocks_now_us(env->clocks, now),
        .now_us = now,
    };
    watch_note(env->watch, &terms, t->slot, asked_buckets(o), held, n);
    return lost_reply;
}

static void take_leases(struct lane *l, struct target *t, const struct store_open_slot *o)
{
    if (!l->nbuckets) {
        l->renewed_us = lane_now_us(l);
        l->in_doubt = false;
    }
    l->in_doubt = l->in_doubt || !lane_trust_until_us(l);
    if (o->ntaken)
        FAILPOINT("after-lease");
    for (int i = 0; i < o->ntaken; i++)
        lane_add_bucket(l, t, &o->taken[i], &o->origin);
}

/* By the database's clock: in a replay all slots are of the past. */
static void note_missed(const struct lane_env *env, const struct target *t, const struct store_open_slot *o)
{
    int64_t after_us = o->clock_us - t->slot * 1000000;
    bool was_missed = o->rows > 0 && after_us >= env->clocks->slot_length_s * INT64_C(1000000);
    if (was_missed && !env->clocks->virtual_now)
        run_hours_missed_slot(env->run_hours);
}

void lane_end_open(struct lane *l, int rc)
{
    const struct lane_env *env = l->env;
    const struct store_open_slot *o = &l->req.open;
    const struct err *err = &o->call.err;
    struct target *t = l->opening;
    t->is_opening = false;
    l->opening = NULL;
    clocks_compare(env->clocks, o->clock_us, clock_boot_us(env->clock) - l->sent_boot_us, lane_now_us(l));
    if (rc == ERR_BUSY && o->not_begun) {
        open_not_begun(l, t);
        return;
    }
    if (rc == ERR_BUSY) {
        open_locked(l, t, err);
        return;
    }
    if (rc) {
        health_write_failed(env->health, lane_now_us(l));
        lane_back_off(l, "cannot open a slot", err);
        if (err->reason == ERR_REASON_DAMAGED)
            open_met_corrupt_block(l, t, err);
        return;
    }
    target_opened(t);
    note_missed(env, t, o);
    t->first_open = t->first_open || o->state == SLOT_OPEN;
    bool lost_reply = watch_held(l, t, o);
    target_begin_rounds(t, o->has_urgent, o->small_buckets);
    take_leases(l, t, o);
    if (!lost_reply && (o->split == 1 || o->ntaken < o->want))
        none_left_yet(l, t, o);
}
