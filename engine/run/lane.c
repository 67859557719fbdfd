/* lane.c - what one store connection does next (a pure decision), and the driving of it. Between
 * two calls it decides again, so a renewal never waits for more than one statement. */
#include "lane.h"

#include <stdio.h>
#include <string.h>

#include "../base/asan.h"
#include "lane_buckets.h"
#include "lane_calls.h"
#include "lane_send.h"

/* ---- the decision ---- */

static enum lane_action decide_stop(const struct lane_view *v)
{
    if (v->settle_due || v->last_due)
        return LANE_SETTLE;
    if (v->return_places_due)
        return LANE_RETURN_PLACES;
    if (v->has_leases)
        return v->has_pages ? LANE_WAIT : LANE_RELEASE;
    return v->has_errand ? LANE_ERRAND : LANE_WAIT;
}

/* It opens nothing. What can be read lies under a lease that goes on (lanes_leave). */
static enum lane_action decide_leave(const struct lane_view *v)
{
    if (v->take_places_due && v->workers_idle)
        return LANE_TAKE_PLACES;
    if (v->can_read && v->workers_idle)
        return LANE_READ;
    if (v->settle_due || v->last_due)
        return LANE_SETTLE;
    if (v->return_places_due)
        return LANE_RETURN_PLACES;
    if (v->take_places_due)
        return LANE_TAKE_PLACES;
    if (v->can_read)
        return LANE_READ;
    if (v->has_leases && !v->has_pages)
        return LANE_RELEASE;
    if (v->can_give_back)
        return LANE_GIVE_BACK;
    return v->has_errand ? LANE_ERRAND : LANE_WAIT;
}

enum lane_action lane_decide(const struct lane_view *v)
{
    if (v->renew_due && v->has_leases)
        return LANE_RENEW;
    if (v->renew_places_due)
        return LANE_RENEW_PLACES;
    if (v->stopping)
        return v->hurries ? decide_stop(v) : decide_leave(v);
    if (v->workers_broken && v->has_leases && !v->has_pages)
        return LANE_RELEASE;            /* others may have workers */
    if (v->take_places_due && v->workers_idle)  /* workers first, then paper work */
        return LANE_TAKE_PLACES;
    if (v->can_read && v->workers_idle)
        return LANE_READ;
    if (v->settle_due)
        return LANE_SETTLE;
    if (v->return_places_due)           /* others may wait for them */
        return LANE_RETURN_PLACES;
    if (v->take_places_due)
        return LANE_TAKE_PLACES;
    if (v->can_read)
        return LANE_READ;
    if (v->can_give_back)               /* other engines may share what is left */
        return LANE_GIVE_BACK;
    if (v->can_finish)
        return LANE_FINISH;
    if (v->has_errand && v->is_urgent)
        return LANE_ERRAND;
    if (v->can_open)
        return LANE_OPEN;
    if (v->has_errand && v->only_puts_off)      /* it may find something that can be run */
        return LANE_ERRAND;
    if (v->last_due)                    /* it is likely to fail again, or runs nothing */
        return LANE_SETTLE;
    if (v->can_put_off)
        return LANE_READ;
    if (v->has_errand && !v->has_leases)
        return LANE_ERRAND;
    return LANE_WAIT;
}

/* A third of the shorter of lease and trust: two renewals may be lost before anything ends. */
static int64_t renew_at_us(const struct lane *l)
{
    const struct settings *s = l->env->settings;
    return l->renewed_us + (s->lease_us < s->trust_us ? s->lease_us : s->trust_us) / 3;
}

/* Which jobs can be run here is known once a worker has loaded them; moving checks on (reslot)
 * needs none. */
static bool can_take_in(const struct lane *l, const struct leased_bucket *bucket)
{
    if (!bucket)
        return false;
    const struct pool *pool = l->env->pool;
    return bucket->target->kind == TARGET_RESLOT || (pool_is_ready(pool) && !pool_broken(pool));
}

/* While checks are only put off, others can be opened that are run. */
static bool can_open(const struct lane *l, const struct leased_bucket *to_read, int64_t now_us)
{
    bool reads_on = to_read && !to_read->target->puts_off;
    if (reads_on || l->nbuckets == LANE_BUCKETS || !l->env->clocks->is_known || pool_broken(l->env->pool))
        return false;
    const struct target *t = targets_to_open(l->env->targets, now_us);
    return t && !(to_read && t->puts_off);
}

/* An engine that leaves may still begin checks, and so hears of pauses. */
static bool has_errand(const struct lane_env *env)
{
    if (shutdown_leaves(env->shutdown) && env->errands->current.kind == ERRAND_PAUSES)
        return errands_wait(env->errands, false);
    return errands_wait(env->errands, env->shutdown->stopping);
}

static struct lane_view look(const struct lane *l)
{
    const struct lane_env *env = l->env;
    const struct settings *s = env->settings;
    const struct leased_bucket *to_read = lane_bucket_to_read(l);
    int64_t now = lane_now_us(l);
    int waiting = lane_waiting_checks(l);
    bool is_broken = pool_broken(env->pool) != NULL;
    bool may_settle = agenda_next_us(&l->settles) <= now;
    bool may_read = l->npages < (env->health->is_degraded ? 1 : LANE_PAGES) && waiting < s->page &&
                    can_take_in(l, to_read);
    bool puts_off = to_read && to_read->target->puts_off;
    return (struct lane_view){
        .stopping = env->shutdown->stopping,
        .hurries = shutdown_hurries(env->shutdown),
        .workers_idle = waiting == 0 && pool_wants_work(env->pool),
        .workers_broken = is_broken,
        .take_places_due = places_due(env->places, PLACES_TAKE, now),
        .renew_places_due = places_due(env->places, PLACES_RENEW, now),
        .return_places_due = places_due(env->places, PLACES_RETURN, now),
        .renew_due = l->nbuckets && (l->in_doubt || now >= renew_at_us(l)),
        .settle_due = may_settle && settle_due(l->pages, s->settle_after_us, now, false),
        .last_due = may_settle && settle_due(l->pages, s->settle_after_us, now, true),
        .can_read = may_read && !puts_off,
        .can_put_off = may_read && puts_off,
        .can_finish = lane_bucket_to_finish(l) != NULL,
        .can_give_back = lane_bucket_to_give_back(l) != NULL,
        .can_open = can_open(l, to_read, now),
        .has_errand = has_errand(env),
        .is_urgent = errands_are_urgent(env->errands, now),
        .has_leases = l->nbuckets > 0,
        .has_pages = l->npages > 0,
        .only_puts_off = lane_only_puts_off(l),
    };
}

/* ---- driving ---- */

/* A host that does not take us is no failure while another one does, and still worth a line: a
 * password that is refused, a name that is gone. */
static void log_passed_over(struct lane *l)
{
    struct health *health = l->env->health;
    const char *reason = store_passed_over(l->store);
    if (!reason || strcmp(reason, health->passed_over) == 0)
        return;
    snprintf(health->passed_over, sizeof health->passed_over, "%.*s", (int)sizeof health->passed_over - 1,
             reason);
    log_warn(l->env->log, "a host of the store was passed over: %s", reason);
}

static bool is_about_places(enum lane_action action)
{
    return action == LANE_TAKE_PLACES || action == LANE_RENEW_PLACES || action == LANE_RETURN_PLACES;
}

/* When a call that works says nothing about one that failed, that one would be tried without a
 * pause for as long as leases can be renewed and pages read. */
static bool clears_failures(const struct lane *l, enum lane_action was)
{
    return was == l->failing || (was != LANE_RENEW && was != LANE_READ && !is_about_places(was));
}

/* The answer was lost, and perhaps the database with its leases. A collision or a corrupt block is
 * reported by the database itself: it is there. */
static bool leaves_doubt(int rc, const struct err *err)
{
    return rc == ERR_LOST && err->reason != ERR_REASON_COLLIDED && err->reason != ERR_REASON_DAMAGED;
}

/* Answers of jobs could not be written either. A corrupt block says nothing about the others. */
static bool refuses_writes(enum lane_action was, int rc, const struct err *err)
{
    return lane_is_elsewhere(rc) || (rc == ERR_LOST && err_is_refusal(err) && lane_calls[was].writes);
}

static bool may_end_command(enum lane_action was, int rc, const struct err *err)
{
    if (rc == ERR_BUSY)
        return was == LANE_ERRAND;
    return rc == ERR_LOST && !(err->reason == ERR_REASON_DAMAGED && was == LANE_SETTLE);
}

static void give_up(const struct lane *l, int rc, const struct err *err)
{
    struct err end = *err;
    if (rc == ERR_DENIED && l->npages)
        err_set(&end, rc,
                "%s; answers of jobs could not be written: their checks run again, a lease's time from now",
                err->text);
    else if (rc != ERR_DENIED)
        err_set(&end, rc, "the store cannot be reached or written to: %s", err->text);
    l->env->events.fatal(l->env->events.ctx, rc, end.text);
}

/* Any user of the schema is told the time, and may be shown what is paused. */
static bool needs_rights(const struct lane *l, enum lane_action was)
{
    bool keeps_days = was == LANE_ERRAND && l->env->errands->current.kind == ERRAND_KEEP_DAYS;
    return lane_calls[was].writes || keeps_days;
}

/* A call is over: its end is taken in, and a failure that cannot heal by waiting is reported. */
static void call_over(struct lane *l)
{
    const struct lane_events *events = &l->env->events;
    const struct err *err = &l->req.call.err;
    enum lane_action was = l->doing;
    int rc = l->req.call.rc;
    lane_note_lateness(l, rc, err);
    l->doing = LANE_WAIT;
    if (!rc)
        l->failed[l->sent] = 0;
    if (!rc && needs_rights(l, was))
        l->env->health->has_worked = true;
    if (!rc && clears_failures(l, was))
        l->failures = 0;
    if (rc)
        l->failing = was;
    l->in_doubt = l->in_doubt || leaves_doubt(rc, err);
    if (refuses_writes(was, rc, err))
        lanes_distrust(l->env->lanes);
    log_passed_over(l);
    lane_calls[was].end(l, rc);
    bool is_denied = rc < 0 && err_is_denied(err);
    if (lane_is_final(l, rc, err))
        events->fatal(events->ctx, is_denied ? ERR_DENIED : rc, err->text);
    else if (may_end_command(was, rc, err) && lane_gives_up(l))
        give_up(l, is_denied ? ERR_DENIED : rc, err);
}

void lane_drive(struct lane *l)
{
    /* A bound, so that one lane with a fast store (SQLite answers at once) cannot keep workers
     * from being looked after. */
    enum { CALLS_MOST = 8 };
    for (int i = 0; i < CALLS_MOST; i++) {
        lane_bury_zombies(l);
        if (l->env->shutdown->stopping || pool_broken(l->env->pool))
            lane_wind_down(l);
        if (l->doing != LANE_WAIT) {
            if (!store_step(l->store))
                return;
            call_over(l);
            continue;
        }
        if (l->env->shutdown->ended || lane_now_us(l) < l->retry_us)
            return;
        struct lane_view view = look(l);
        enum lane_action action = lane_decide(&view);
        if (action == LANE_WAIT)
            return;
        l->doing = action;
        lane_calls[action].begin(l);
    }
}

/* With a call under way, or backing off, it settles nothing, however many answers are due. */
static int64_t next_us(const struct lane *l)
{
    if (l->doing != LANE_WAIT)
        return store_fd(l->store) < 0 ? 0 : store_deadline_us(l->store);
    if (l->retry_us > lane_now_us(l))
        return l->retry_us;
    struct lane_view view = look(l);
    if (lane_decide(&view) != LANE_WAIT)
        return 0;
    int64_t settle_us = agenda_next_us(&l->settles);
    int64_t renew_us = l->nbuckets ? renew_at_us(l) : INT64_MAX;
    int64_t rest_us = lane_rests_until(l);
    int64_t places_us = places_next_us(l->env->places);
    int64_t first = settle_us < renew_us ? settle_us : renew_us;
    first = first < rest_us ? first : rest_us;
    return first < places_us ? first : places_us;
}

void lane_set_alarm(struct lane *l)
{
    agenda_set(l->env->agenda, &l->wake, next_us(l));
}

bool lane_is_idle(const struct lane *l)
{
    return l->doing == LANE_WAIT && !l->nbuckets && !l->zombies;
}

/* ---- memory ---- */

void lane_init(struct lane *l, const struct lane_env *env, int number)
{
    *l = (struct lane){ .env = env, .number = number, .settler.limit = env->settings->page };
    for (int i = 0; i < LANE_BUCKETS; i++)
        l->buckets[i] = &l->room[i];
    asan_forbid(l->room, sizeof l->room);
}

static void free_pages(struct page *first)
{
    for (struct page *p = first, *next; p; p = next) {
        next = p->following;
        page_free(p);
    }
}

void lane_release(struct lane *l)
{
    agenda_unset(l->env->agenda, &l->wake);
    if (l->doing != LANE_WAIT)
        store_abandon(l->store);
    if (l->doing == LANE_ERRAND)
        errand_release(&l->req.errand);
    if (l->doing == LANE_READ)
        check_rows_free(&l->req.read.page);
    free_pages(l->pages);
    free_pages(l->zombies);
    for (int i = 0; i < l->nbuckets; i++)
        leased_bucket_release(l->buckets[i]);
    asan_allow(l->room, sizeof l->room);
    settler_release(&l->settler);
    store_free(l->store);
}
