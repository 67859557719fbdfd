/* lane.c - what one store connection does next (a pure decision), and the driving of it. How each
 * call is begun, and what its end changes, is in lane_calls.c; what a lane holds, in lane_runs.c.
 * A lane carries one call at a time; between calls it decides anew, so a renewal never waits for
 * more than one statement. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../rules/retry.h"
#include "lane.h"
#include "settle.h"

enum {
    BACKOFF_US = 100 * 1000,
    BUSY_MAX_US = 500 * 1000,
    COLLIDED_US = 10 * 1000,
    BACKOFF_MAX_US = 10 * 1000 * 1000,
    ERRAND_WAITS_US = 2 * 1000 * 1000
};

/* ---- the decision ---- */

enum lane_action lane_decide(const struct lane_view *v)
{
    if (v->renew_due && v->has_runs)
        return LANE_RENEW;
    if (v->stopping) {
        if (v->settle_due || v->apart_due)
            return LANE_SETTLE;
        return v->has_runs && !v->has_pages ? LANE_RELEASE : LANE_WAIT;
    }
    if (v->broken && v->has_runs && !v->has_pages)
        return LANE_RELEASE;            /* others may have workers */
    if (v->can_read && v->hungry)       /* workers first, then paper work */
        return LANE_READ;
    if (v->settle_due)
        return LANE_SETTLE;
    if (v->can_read)
        return LANE_READ;
    if (v->can_finish)
        return LANE_FINISH;
    if (v->has_errand && v->is_urgent)
        return LANE_ERRAND;
    if (v->can_open)
        return LANE_OPEN;
    if (v->apart_due)                   /* it is likely to fail again */
        return LANE_SETTLE;
    if (v->has_errand && !v->has_runs)
        return LANE_ERRAND;
    return LANE_WAIT;
}

void pace_add(struct pace *pace, int64_t run_us)
{
    pace->seen++;
    pace->mean_run_us64 += run_us - pace->mean_run_us64 / 64;
}

int pace_split_at(const struct pace *pace, int split_at)
{
    enum {
        SEEN_ENOUGH = 1000,
        ALONE_US = 200 * 1000,
        OURS_US = 5 /* the engine's and the store's part of a check */,
        MOST_TIMES = 10
    };
    if (pace->seen < SEEN_ENOUGH)
        return split_at;
    int64_t quick = ALONE_US / (pace->mean_run_us64 / 64 + OURS_US), most = (int64_t)split_at * MOST_TIMES;
    quick = quick < most ? quick : most;
    quick = quick < INT32_MAX ? quick : INT32_MAX;
    return quick > split_at ? (int)quick : split_at;
}

/* Which jobs can be run here is known once a worker has loaded them; moving checks on (reslot)
 * needs none. */
static bool can_take_in(const struct lane *l, const struct bucket_run *run)
{
    return run && (run->target->kind == TARGET_RESLOT ||
                   (pool_is_ready(l->engine->pool) && !pool_broken(l->engine->pool)));
}

/* Errands wait while there are slots to open, but not for ever: a slot that cannot be opened may
 * be waiting for just this errand. An index may take its time, and leases with it, and so may a
 * drop: only for one that nobody waits for. */
static bool is_urgent(const struct engine *e, int64_t now)
{
    return e->errand.kind == ERRAND_KEEP_DAYS ||
           (!engine_can_wait(&e->errand) && now - e->errand.given_us > ERRAND_WAITS_US);
}

static struct lane_view look(const struct lane *l)
{
    struct engine *e = l->engine;
    const struct settings *s = e->o.settings;
    int64_t now = engine_mono_us(e);
    return (struct lane_view){
        .stopping = e->stopping,
        .hungry = lane_waiting_checks(l) == 0 && pool_is_hungry(e->pool),
        .renew_due = l->nruns && (l->in_doubt || now - l->renewed_us >= lane_renew_every_us(l)),
        .settle_due = settle_page_due(l, now) != NULL,
        .apart_due = settle_page_apart_due(l, now) != NULL,
        .can_read = l->npages < (e->is_wary ? 1 : LANE_PAGES) && lane_waiting_checks(l) < s->page &&
                    can_take_in(l, lane_run_to_read(l)),
        .can_finish = lane_run_to_finish(l) != NULL,
        .can_open = l->nruns < LANE_RUNS && !lane_run_to_read(l) && e->has_clock && !pool_broken(e->pool) &&
                    engine_target_for(e),
        .has_errand = e->errand.kind && !e->errand.under_way,
        .is_urgent = is_urgent(e, now),
        .broken = pool_broken(e->pool) != NULL,
        .has_runs = l->nruns > 0,
        .has_pages = l->npages > 0,
    };
}

/* ---- failures ---- */

/* The database is not ours, or not yet: no schema, another slot length, another encoding. */
static bool is_another_database(int rc)
{
    return rc == ERR_SCHEMA || rc == ERR_SETTINGS;
}

/* Failures that cannot heal by waiting: they end the engine. Where a daemon starts that is
 * somebody's mistake, which its service manager should not repeat for ever. Once it has worked,
 * the database is being restored in place, or dropped and made anew: that is over at some time,
 * but not when a later program has migrated the schema to what this one does not know. */
static bool is_final(const struct engine *e, int rc, const struct err *err)
{
    bool waits = e->o.patient && e->has_clock && err->reason != ERR_REASON_OUTGROWN;
    return rc == ERR_INPUT || rc == ERR_CHANGED || (is_another_database(rc) && !waits);
}

/* However long the database was away: once it is back, that is noticed in well less than a lease's
 * time, as a dead engine is; that a lock is free again, within a second. */
void lane_back_off(struct lane *l, const char *what, const struct err *err)
{
    struct engine *e = l->engine;
    if (is_final(e, err->code, err))
        return;
    bool busy = err->code == ERR_BUSY;
    int64_t third = e->o.settings->lease_us / 3, most = busy ? BUSY_MAX_US : BACKOFF_MAX_US;
    most = third < most ? third : most;
    bool again = busy && l->failures > 0;       /* whoever holds the lock was told of */
    int64_t first = err->reason == ERR_REASON_COLLIDED ? COLLIDED_US : BACKOFF_US;
    int64_t wait = retry_delay(first, most, l->failures++, random_next(&e->random));
    l->retry_us = engine_mono_us(e) + wait;
    log_line(e->o.log, again ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, "%s: %s; trying again in %lld ms", what,
             err->text, (long long)wait / 1000);
}

/* With pages in hand there is something to go on with, however long it takes. With leases alone a
 * command ends after a minute or so, and with nothing after some tries (in ten seconds or so),
 * sooner where leases are short; whoever called it, a cron, calls again. A daemon never ends so. */
static bool gives_up(const struct lane *l)
{
    enum { TRIES_WITH_LEASES = 12, TRIES_FOR_A_LOCK = 24 };
    const struct engine *e = l->engine;
    int pages = 0, runs = 0;
    for (int i = 0; i < e->nlanes; i++) {
        pages += e->lanes[i].npages;
        runs += e->lanes[i].nruns;
    }
    int tries = l->req.call.rc == ERR_BUSY ? TRIES_FOR_A_LOCK
                : runs                     ? TRIES_WITH_LEASES
                : e->has_clock             ? 8
                                           : 5;
    return !e->o.patient && !pages && l->failures >= tries;
}

/* ---- driving ---- */

/* A host that does not take us is no failure while another one does, and still somebody's
 * business: a password that is refused, a name that is gone. */
static void tell_passed_over(struct lane *l)
{
    struct engine *e = l->engine;
    const char *words = store_passed_over(l->store);
    if (!words || strcmp(words, e->passed_over) == 0)
        return;
    snprintf(e->passed_over, sizeof e->passed_over, "%.*s", (int)sizeof e->passed_over - 1, words);
    log_warn(e->o.log, "a host of the store was passed over: %s", words);
}

/* An index of a day and the dropping of old ones are not waited for by anybody, and not tried anew
 * soon: they have all the time that there is. */
static uint8_t *lateness(struct lane *l)
{
    enum errand_kind errand = l->engine->errand.kind;
    if (l->doing != LANE_ERRAND)
        return &l->late[l->doing];
    return errand == ERRAND_INDEX_DAYS || errand == ERRAND_PRUNE ? NULL : &l->engine->errand_late[errand];
}

void lane_send(struct lane *l, struct store_call *call)
{
    enum { LATE_MOST = 10 };
    const uint8_t *late = lateness(l);
    int64_t ms = late ? l->engine->o.settings->lease_us / 1000 << (*late < LATE_MOST ? *late : LATE_MOST) : 0;
    call->within_ms = ms < INT_MAX ? (int)ms : INT_MAX;
    store_begin(l->store, call);
}

static void note_lateness(struct lane *l, int rc, const struct err *err)
{
    uint8_t *late = lateness(l);
    if (late && !rc)
        *late = 0;
    else if (late && err_is_late(err) && *late < UINT8_MAX)
        ++*late;
}

/* A call is over: its end is told, and a failure that cannot heal by waiting ends the engine. */
static void call_over(struct lane *l)
{
    struct engine *e = l->engine;
    enum lane_action was = l->doing;
    int rc = l->req.call.rc;
    const struct err *err = &l->req.call.err;
    note_lateness(l, rc, err);
    l->doing = LANE_WAIT;
    if (!rc && (was == l->failing || (was != LANE_RENEW && was != LANE_READ)))
        /* else what fails would be tried without a pause for as long as leases can be renewed */
        l->failures = 0;
    if (rc)
        l->failing = was;
    bool damaged = err->reason == ERR_REASON_DAMAGED;
    /* after a collision or on a damaged block, the database itself answered: it is reachable */
    if (rc == ERR_LOST && err->reason != ERR_REASON_COLLIDED && !damaged)
        l->in_doubt = true;
    if (is_another_database(rc) || (rc == ERR_LOST && err_is_refusal(err) && lane_moves[was].writes))
        lane_writes_refused(e);
    tell_passed_over(l);
    lane_moves[was].end(l, rc);
    if (is_final(e, rc, err))
        engine_end(e, rc, "%s", err->text);
    else if (((rc == ERR_LOST && !(damaged && was == LANE_SETTLE)) ||
              (rc == ERR_BUSY && was == LANE_ERRAND)) &&
             gives_up(l))
        engine_end(e, rc, "the store cannot be reached or written to: %s", err->text);
}

void lane_drive(struct lane *l)
{
    /* A bound, so that one lane with a fast store (SQLite answers at once) cannot keep workers
     * from being looked after. */
    for (int i = 0; i < 8; i++) {
        lane_bury_zombies(l);
        if (l->engine->stopping || pool_broken(l->engine->pool))
            lane_wind_down(l);
        if (l->doing != LANE_WAIT) {
            if (!store_step(l->store))
                return;
            call_over(l);
            continue;
        }
        if (l->engine->ended || engine_mono_us(l->engine) < l->retry_us)
            return;
        struct lane_view view = look(l);
        enum lane_action action = lane_decide(&view);
        if (action == LANE_WAIT)
            return;
        l->doing = action;
        lane_moves[action].begin(l);
    }
}

int64_t lane_next_us(const struct lane *l)
{
    if (l->doing != LANE_WAIT)
        return store_fd(l->store) < 0 ? 0 : store_deadline_us(l->store);
    int64_t now = engine_mono_us(l->engine);
    if (l->retry_us > now)
        return l->retry_us;
    struct lane_view view = look(l);
    if (lane_decide(&view) != LANE_WAIT)
        return 0;
    int64_t next = settle_next_us(l);
    if (l->nruns) {
        int64_t renew = l->renewed_us + lane_renew_every_us(l);
        next = renew < next ? renew : next;
    }
    return next;
}

bool lane_is_idle(const struct lane *l)
{
    return l->doing == LANE_WAIT && !l->nruns && !l->zombies;
}
