/* lane_send.c - how long a call may take, and how long a lane pauses after one that failed. */
#include "lane_send.h"

#include <limits.h>

enum {
    BACKOFF_US = 100 * 1000,
    BUSY_MAX_US = 500 * 1000,
    COLLIDED_US = 10 * 1000,
    BACKOFF_MAX_US = 10 * 1000 * 1000,
    LATE_MOST = 10
};

/* ---- how long a call may take ---- */

/* NULL: nobody waits for it, and it has all the time that there is. */
static uint8_t *lateness(struct lane *l)
{
    struct errands *errands = l->env->errands;
    if (l->doing == LANE_RELEASE)       /* the same call of the store */
        return &l->late[LANE_GIVE_BACK];
    if (l->doing != LANE_ERRAND)
        return &l->late[l->doing];
    return errand_can_wait(errands->current.kind) ? NULL : &errands->late[errands->current.kind];
}

static int place_of_failures(const struct lane *l)
{
    return l->doing == LANE_ERRAND ? LANE_ACTIONS + (int)l->env->errands->current.kind : (int)l->doing;
}

/* 0: it has no limit. What an engine that leaves notes beside the leases of its last runs keeps
 * none of them from being renewed. */
static int64_t within_ms(struct lane *l)
{
    const struct lane_env *env = l->env;
    int64_t lease_ms = env->settings->lease_us / 1000;
    const uint8_t *late = lateness(l);
    if (late)
        return lease_ms << (*late < LATE_MOST ? *late : LATE_MOST);
    return env->shutdown->stopping && l->nbuckets ? lease_ms / 3 : 0;
}

void lane_send(struct lane *l, struct store_call *call)
{
    l->sent = place_of_failures(l);
    int64_t ms = within_ms(l);
    call->within_ms = ms < INT_MAX ? (int)ms : INT_MAX;
    store_begin(l->store, call);
}

void lane_note_lateness(struct lane *l, int rc, const struct err *err)
{
    uint8_t *late = lateness(l);
    if (late && !rc)
        *late = 0;
    else if (late && err_is_late(err) && *late < UINT8_MAX)
        ++*late;
}

/* ---- failures ---- */

bool lane_is_elsewhere(int rc)
{
    return rc == ERR_SCHEMA || rc == ERR_SETTINGS;
}

/* Where a daemon starts, a wrong database is a mistake that its service manager should not repeat
 * for ever. Once it has worked, the database is being restored in place, or dropped and made anew:
 * that passes, but not when a later program has migrated the schema to what this one does not
 * know. */
static bool lanes_hold_leases(const struct lane_env *env)
{
    for (int i = 0; i < env->lanes->n; i++)
        if (env->lanes->all[i].nbuckets || env->lanes->all[i].npages)
            return true;
    return false;
}

/* The same goes for a right: where an engine starts, its lack is a mistake. Once a daemon has
 * worked, it was taken from it and may be given back; and any engine that has leases goes on with
 * what it has in hand. */
bool lane_is_final(const struct lane *l, int rc, const struct err *err)
{
    bool waits = l->env->patient && l->env->health->has_worked && err->reason != ERR_REASON_OUTGROWN;
    if (rc == ERR_LOST && err_is_denied(err))
        return !waits && !lanes_hold_leases(l->env);
    return rc == ERR_INPUT || rc == ERR_CHANGED || (lane_is_elsewhere(rc) && !waits);
}

/* A question of the housekeeping that fails again and again must not keep slots waiting: its pauses
 * are those of failures between which nothing worked. */
static int failures_before(const struct lane *l)
{
    int of_this = l->sent < LANE_ACTIONS ? l->failed[l->sent] : 0;
    return of_this > l->failures ? of_this : l->failures;
}

/* However long the database was away: once it is back, that is noticed in well less than a lease's
 * time, as a dead engine is; that a lock is free again, within a second. */
void lane_back_off(struct lane *l, const char *what, const struct err *err)
{
    const struct lane_env *env = l->env;
    run_hours_store_failed(env->run_hours, err);
    if (lane_is_final(l, err->code, err))
        return;
    bool busy = err->code == ERR_BUSY;
    int64_t third_us = env->settings->lease_us / 3, most_us = busy ? BUSY_MAX_US : BACKOFF_MAX_US;
    if (most_us > third_us)
        most_us = third_us;
    int failures = failures_before(l);
    bool is_logged = busy && failures > 0;          /* the same lock */
    int64_t first_us = err->reason == ERR_REASON_COLLIDED ? COLLIDED_US : BACKOFF_US;
    int64_t wait_us = retry_delay(first_us, most_us, failures, random_next(env->random));
    l->failures++;
    l->failed[l->sent] += l->failed[l->sent] < UINT8_MAX;
    l->retry_us = clock_mono_us(env->clock) + wait_us;
    err_set(&env->health->last_failure, err->code, "%s: %s", what, err->text);
    log_line(env->log, is_logged ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, "%s: %s; trying again in %lld ms", what,
             err->text, (long long)wait_us / 1000);
}

/* With pages in hand there is something to go on with, however long it takes; but a right that is
 * refused does not come back by itself. With that, and with leases alone, a command ends after a
 * minute or so. Without leases it gives up after 5 to 8 tries (about ten seconds, sooner where
 * leases are short): cron starts it again. A daemon never gives up. */
bool lane_gives_up(const struct lane *l)
{
    enum { TRIES_WITH_LEASES = 12, TRIES_FOR_A_LOCK = 24, TRIES_AFTER_HELLO = 8, TRIES_BEFORE = 5 };
    const struct lane_env *env = l->env;
    int pages = 0, leases = 0;
    for (int i = 0; i < env->lanes->n; i++) {
        pages += env->lanes->all[i].npages;
        leases += env->lanes->all[i].nbuckets;
    }
    if (env->patient || (pages && !err_is_denied(&l->req.call.err)))
        return false;
    int tries = env->clocks->is_known ? TRIES_AFTER_HELLO : TRIES_BEFORE;
    if (leases || pages)
        tries = TRIES_WITH_LEASES;
    if (l->req.call.rc == ERR_BUSY)
        tries = TRIES_FOR_A_LOCK;
    return l->failures >= tries || l->failed[l->sent] >= tries;
}
