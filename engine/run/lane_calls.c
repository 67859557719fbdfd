/* lane_calls.c - each call of a lane to its store: how it is begun, and what its end changes. */
#include "lane_calls.h"

#include <assert.h>
#include <string.h>

#include "../base/failpoint.h"
#include "../rules/about.h"
#include "../rules/slot.h"
#include "lane_buckets.h"
#include "lane_open.h"
#include "lane_send.h"
#include "verdict.h"

/* ---- renew ---- */

static void copy_leases(struct lane *l)
{
    for (int i = 0; i < l->nbuckets; i++)
        l->leases[i] = l->buckets[i]->lease;
}

static void begin_renew(struct lane *l)
{
    struct store_renew *r = &l->req.renew;
    *r = (struct store_renew)STORE_RENEW_INIT;
    copy_leases(l);
    r->leases = l->leases;
    r->n = l->nbuckets;
    r->lease_s = lane_lease_s(l);
    l->sent_boot_us = clock_boot_us(l->env->clock);
    lane_send(l, &r->call);
    FAILPOINT("after-renew-sent");
}

static void end_renew(struct lane *l, int rc)
{
    struct store_renew *r = &l->req.renew;
    if (rc) {
        lane_back_off(l, "cannot renew leases", &r->call.err);
        return;
    }
    int64_t trust_until_us = lane_trust_until_us(l);
    l->renewed_us = lane_now_us(l);
    l->in_doubt = !trust_until_us;
    struct leased_bucket *buckets[LANE_BUCKETS];
    int n = l->nbuckets;
    memcpy(buckets, l->buckets, sizeof buckets);
    for (int i = 0; i < n; i++) {
        if (r->lost[i]) {
            lane_bucket_lost(l, buckets[i]);
            continue;
        }
        buckets[i]->lease.expires_us = r->leases[i].expires_us;
        lane_set_trust(l, buckets[i], trust_until_us);
    }
}

/* ---- read ---- */

/* Where a page had checks that cannot be run here, the other pages may have little else: those that
 * can be run are not to stand behind them. A pause holds checks of any job, and a command that no
 * sweep follows reports what it leaves. */
static bool reads_own(const struct lane *l, const struct leased_bucket *bucket)
{
    const struct target *t = bucket->target;
    return t->left_some && bucket->reads != READ_SMALL && !t->puts_off && !t->is_final &&
           t->kind != TARGET_RESLOT && !l->env->pausing->pauses.n;
}

static void begin_read(struct lane *l)
{
    const struct settings *s = l->env->settings;
    struct store_read_page *r = &l->req.read;
    struct leased_bucket *bucket = lane_bucket_to_read(l);
    assert(bucket);                     /* or lane_decide() would have chosen something else */
    l->bucket = bucket;
    *r = (struct store_read_page)STORE_READ_PAGE_INIT;
    r->lease = bucket->lease;
    leased_bucket_follow_round(bucket);
    if (bucket->reads == READ_ALL) {
        lane_begin_parts(l, bucket);
        r->parts = bucket->parts;
    }
    r->after = *leased_bucket_cursor(bucket);
    r->what = bucket->reads;
    r->want = l->env->health->is_degraded ? 1 : s->page;
    if (slot_is_of_pause(bucket->lease.slot) && r->want > PAUSING_PAGE)
        r->want = PAUSING_PAGE;
    r->max_bytes = (size_t)s->page_bytes;
    r->origin = bucket->origin;
    if (reads_own(l, bucket)) {
        r->jobs = l->env->jobs->names;
        r->njobs = l->env->jobs->nnames;
        bucket->reads_own = true;
    }
    lane_send(l, &r->call);
}

static void skip_for_want_of_memory(struct lane *l, struct leased_bucket *bucket)
{
    log_line_about(l->env->log, LOG_LEVEL_ERROR, about_slot(bucket->lease.slot),
                   "out of memory for a page; the rest of slot %lld, bucket %d is skipped for now",
                   (long long)bucket->lease.slot, bucket->lease.bucket);
    l->env->totals->skipped_some = true;
    leased_bucket_skip_rest(bucket);
}

/* Rows that the read left out stay where they are, visible as late, so that they can be mended or
 * deleted. Of a corrupt block many buckets report: one line a slot is enough. */
static void skip_damaged_rows(struct lane *l, struct leased_bucket *bucket, const struct store_read_page *r)
{
    if (bucket->damaged_id == r->damaged_id)
        return;                         /* the page before reported the same ones */
    bucket->damaged_id = r->damaged_id;
    struct cooldown_key key = *r->damage ? cooldown_of(COOLDOWN_SLOT, bucket->lease.slot)
                                         : cooldown_of(COOLDOWN_CHECK, r->damaged_id);
    if (cooldown_may_log(l->env->cooldowns, key, lane_now_us(l)))
        log_line_about(l->env->log, LOG_LEVEL_ERROR, about_slot(bucket->lease.slot),
                       "slot %lld, bucket %d: %d rows cannot be run and stay where they are; the first has "
                       "id %lld: %s",
                       (long long)bucket->lease.slot, bucket->lease.bucket, r->ndamaged,
                       (long long)r->damaged_id,
                       *r->damage ? r->damage : "their values violate the table's constraints");
    l->env->totals->skipped_some = true;
    leased_bucket_skip(bucket, r->ndamaged);
}

/* The read met a corrupt block that it could not go around: what is behind it is skipped, stays
 * late and is logged, and all other slots are run. */
static void read_met_corrupt_block(struct lane *l, struct leased_bucket *bucket, const struct err *err)
{
    const struct lease *lease = &bucket->lease;
    if (++bucket->damaged_reads < COOLDOWN_TRIES)
        return;
    if (lane_may_log_slot(l, lease->slot))
        log_line_about(l->env->log, LOG_LEVEL_ERROR, about_slot(lease->slot),
                       "slot %lld, bucket %d: rows that cannot be read stay where they are: %s",
                       (long long)lease->slot, lease->bucket, err->text);
    l->env->totals->skipped_some = true;
    leased_bucket_skip(bucket, 1);
    leased_bucket_skip_rest(bucket);
}

static int job_of(void *jobs, const char *name)
{
    return jobs_usable_index(jobs, name);
}

/* Seconds: as long as a run may last that is started in the trust window, and never less than a
 * lease. */
static int32_t place_lasts_s(const struct lane *l, int job)
{
    const struct settings *s = l->env->settings;
    const struct job_settings *j = &s->jobs[job];
    bool batches = pool_runs_batches(l->env->pool, job) && j->batch_timeout_us > j->timeout_us;
    int64_t run_us = batches ? j->batch_timeout_us : j->timeout_us;
    int64_t us = s->trust_us + run_us + s->kill_grace_us + SLAB_DEADLINE_SLACK_US;
    us = us > s->lease_us ? us : s->lease_us;
    return (int32_t)((us + 999999) / 1000000);
}

/* Checks with a concurrency key wait until it has a place. Of a key of which very many wait here
 * already they are put off: pages have to come to an end. */
static void hold_keyed(struct lane *l, struct leased_bucket *bucket, struct page *page, int64_t now)
{
    const struct lane_env *env = l->env;
    for (int i = 0; i < page->rows.n; i++) {
        const char *key = page->rows.checks[i].concurrency_key;
        if (!key || page->checks[i].state != CHECK_WAITING)
            continue;
        enum places_added added = places_add(env->places, page, i, place_lasts_s(l, page->checks[i].job));
        if (added == PLACES_CROWDED)
            verdict_busy(env, page, i, places_crowded_s(env->places, key), now);
        if (added != PLACES_NO_MEMORY)
            continue;
        env->totals->skipped_some = true;
        leased_bucket_skip(bucket, 1);
        page_over(page, i);
    }
}

/* The rows that were read become a page: checks that are not to be run are sorted out, the pool may
 * give the others. */
static void take_page(struct lane *l, struct leased_bucket *bucket, struct check_rows *rows)
{
    const struct lane_env *env = l->env;
    const struct check *last = &rows->checks[rows->n - 1];
    int64_t now = lane_now_us(l);
    *leased_bucket_cursor(bucket) = (struct page_cursor){ last->bucket, last->priority, last->id };
    bucket->nread += rows->n;
    struct page *page = page_new(rows, job_of, env->jobs, clocks_now(env->clocks, now));
    if (!page) {
        skip_for_want_of_memory(l, bucket);
        return;
    }
    page->is_of_small = page->is_read_again = bucket->reads == READ_SMALL;
    lane_add_page(l, bucket, page);
    if (bucket->reads == READ_ALL)
        bucket->nread -= lane_leave_those_read(l, page);
    verdict_take_in(env, page, now);
    hold_keyed(l, bucket, page, now);
    if (page->nkeyed)
        lane_set_trust(l, bucket, bucket->start_until_us);
    bucket->target->is_barren = !page_waiting(page) && !page->counts[CHECK_KEYED] &&
                                bucket->reads == READ_ALL;
    if (!pool_offer(env->pool, page)) {
        skip_for_want_of_memory(l, bucket);
        page_leave_waiting(page);
    }
    settle_set_alarm(env, page);
    if (page_is_over(page))
        lane_page_done(l, page);
}

static void end_read(struct lane *l, int rc)
{
    struct store_read_page *r = &l->req.read;
    struct leased_bucket *bucket = l->bucket;
    l->bucket = NULL;
    if (rc) {
        lane_back_off(l, "cannot read a page", &r->call.err);
        if (r->call.err.reason == ERR_REASON_DAMAGED)
            read_met_corrupt_block(l, bucket, &r->call.err);
        lane_look_at_round(l, bucket->target);
        return;
    }
    bucket->damaged_reads = 0;
    if (bucket->cursor.id == INT64_MIN)
        bucket->saw_all = r->is_complete;       /* then so do all that come after it */
    bool is_enough = leased_bucket_note_page(bucket, pool_pace(l->env->pool) == POOL_FAST);
    bucket->exhausted = !r->has_more || is_enough;
    if (r->ndamaged)
        skip_damaged_rows(l, bucket, r);
    if (slot_is_of_pause(bucket->lease.slot))
        pausing_note_page(l->env->pausing, r->page.n, lane_now_us(l));
    if (r->page.n > 0)
        take_page(l, bucket, &r->page);
    else
        bucket->target->is_barren = bucket->reads == READ_ALL;
    check_rows_free(&r->page);
    lane_look_at_round(l, bucket->target);
}

/* ---- finish and release ---- */

static void begin_finish(struct lane *l)
{
    struct leased_bucket *bucket = lane_bucket_to_finish(l);
    struct store_finish *f = &l->req.finish;
    assert(bucket);
    l->bucket = bucket;
    bucket->counts.took_us = lane_now_us(l) - bucket->began_us;
    *f = (struct store_finish)STORE_FINISH_INIT;
    f->lease = bucket->lease;
    f->now = l->env->clocks->virtual_now;
    f->leave = leased_bucket_ends_anyway(bucket);
    f->skip_scan = bucket->skips_scan;
    f->complete = leased_bucket_is_complete(bucket);
    f->origin = bucket->origin;
    f->after = bucket->cursor;
    f->unknown_jobs = (const char *const *)bucket->unknown_jobs;
    f->nunknown_jobs = bucket->nunknown_jobs;
    if (bucket->reads_own && !bucket->skips_scan) {
        f->jobs = l->env->jobs->names;
        f->njobs = l->env->jobs->nnames;
    }
    f->counts = bucket->counts;
    if (bucket->lease.bucket == BUCKET_WHOLE_SLOT && bucket->target->counts.late_us > f->counts.late_us)
        f->counts.late_us = bucket->target->counts.late_us;     /* under leases that were given back */
    FAILPOINT("before-finish");
    lane_send(l, &f->call);
}

/* This target takes no more of this bucket, whatever is left in it. */
static void end_bucket(struct lane *l, struct leased_bucket *bucket)
{
    if (bucket->lease.bucket >= 0)
        bucket->target->skipped_buckets |= UINT64_C(1) << bucket->lease.bucket;
    lane_bucket_over(l, bucket);
}

/* Looking at what is left in the bucket meets a corrupt block: the next try does not look. When the
 * end of the pass cannot be written even so, its lease is left to expire. */
static void finish_met_corrupt_block(struct lane *l, struct leased_bucket *bucket, const struct err *err)
{
    const struct lease *lease = &bucket->lease;
    bool did_not_look = bucket->finish_anyway && bucket->skips_scan;
    l->env->totals->skipped_some = true;
    bucket->skips_scan = true;
    bucket->finish_anyway = true;
    if (!did_not_look)
        return;
    if (lane_may_log_slot(l, lease->slot))
        log_line_about(l->env->log, LOG_LEVEL_ERROR, about_slot(lease->slot),
                       "slot %lld: the end of its pass cannot be written: %s", (long long)lease->slot,
                       err->text);
    bucket->counts.locked++;
    end_bucket(l, bucket);
}

/* Rows stay in it that this target would find again. */
static bool leaves_rows(const struct leased_bucket *bucket, const struct store_finish *f)
{
    return f->leave || (bucket->target->is_final && bucket->nunknown_jobs);
}

static void end_finish(struct lane *l, int rc)
{
    const struct store_finish *f = &l->req.finish;
    struct leased_bucket *bucket = l->bucket;
    l->bucket = NULL;
    if (rc == ERR_FENCED)
        lane_bucket_lost(l, bucket);
    else if (rc && f->call.err.reason == ERR_REASON_DAMAGED)
        finish_met_corrupt_block(l, bucket, &f->call.err);
    else if (rc)
        lane_back_off(l, "cannot finish a bucket", &f->call.err);
    else if (f->finished && leaves_rows(bucket, f))
        end_bucket(l, bucket);
    else if (f->finished)
        lane_bucket_over(l, bucket);
    else
        leased_bucket_go_on(bucket);
}

/* Of one slot, as their counts are added up. */
static void begin_give_back(struct lane *l)
{
    const struct leased_bucket *first = lane_bucket_to_give_back(l);
    struct store_release *r = &l->req.release;
    assert(first);
    *r = (struct store_release)STORE_RELEASE_INIT;
    l->ngiven_back = 0;
    l->given_back_counts = (struct pass_counts){ 0 };
    for (int i = 0; i < l->nbuckets; i++) {
        struct leased_bucket *bucket = l->buckets[i];
        if (bucket->target != first->target || !lane_gives_back(l, bucket))
            continue;
        if (leased_bucket_is_in_part(bucket))
            bucket->counts.locked = 0;  /* the next part counts them */
        l->leases[l->ngiven_back] = bucket->lease;
        l->given_back[l->ngiven_back++] = bucket;
        pass_counts_add(&l->given_back_counts, &bucket->counts);
    }
    r->leases = l->leases;
    r->n = l->ngiven_back;
    r->counts = &l->given_back_counts;
    FAILPOINT("before-release");
    lane_send(l, &r->call);
}

/* As at a release, nothing is run any more under leases of which the answer was lost. */
static void end_give_back(struct lane *l, int rc)
{
    if (rc)
        lane_back_off(l, "cannot give leases back", &l->req.release.call.err);
    if (rc && (rc == ERR_BUSY || l->env->shutdown->stopping))
        return;
    for (int i = 0; i < l->ngiven_back; i++)
        lane_bucket_over(l, l->given_back[i]);
    l->ngiven_back = 0;
}

static void begin_release(struct lane *l)
{
    FAILPOINT("before-release");
    struct store_release *r = &l->req.release;
    *r = (struct store_release)STORE_RELEASE_INIT;
    copy_leases(l);
    r->leases = l->leases;
    r->n = l->nbuckets;
    lane_send(l, &r->call);
}

/* A release whose answer was lost may still be on its way: under these leases nothing may be run
 * again, although workers may have got ready meanwhile. Those that it never reaches are ours to
 * take again. At a stop, when nothing is run any more, it is sent again. */
static void end_release(struct lane *l, int rc)
{
    if (rc) {
        lane_back_off(l, "cannot give leases back", &l->req.release.call.err);
        if (l->env->shutdown->stopping || rc == ERR_BUSY)
            return;
    }
    while (l->nbuckets)
        lane_bucket_over(l, l->buckets[0]);
}

/* ---- places of concurrency keys ---- */

static struct store_place *begin_places(struct lane *l, enum places_call call, int *n)
{
    return places_begin(l->env->places, call, n, lane_now_us(l), clock_boot_us(l->env->clock));
}

static void begin_take_places(struct lane *l)
{
    struct store_take_places *t = &l->req.take_places;
    *t = (struct store_take_places)STORE_TAKE_PLACES_INIT;
    t->places = begin_places(l, PLACES_TAKE, &t->n);
    t->owner = l->env->owner;
    FAILPOINT("before-places");
    lane_send(l, &t->call);
}

static void end_take_places(struct lane *l, int rc)
{
    places_taken(l->env->places, !rc, lane_now_us(l));
    if (rc)
        lane_back_off(l, "cannot take places of concurrency keys", &l->req.call.err);
    lanes_note_places(l->env->lanes);
}

static void begin_renew_places(struct lane *l)
{
    struct store_renew_places *r = &l->req.renew_places;
    *r = (struct store_renew_places)STORE_RENEW_PLACES_INIT;
    r->places = begin_places(l, PLACES_RENEW, &r->n);
    r->owner = l->env->owner;
    lane_send(l, &r->call);
}

static void end_renew_places(struct lane *l, int rc)
{
    places_renewed(l->env->places, !rc, lane_now_us(l));
    if (rc)
        lane_back_off(l, "cannot renew places of concurrency keys", &l->req.call.err);
    lanes_note_places(l->env->lanes);
}

static void begin_return_places(struct lane *l)
{
    struct store_return_places *r = &l->req.return_places;
    *r = (struct store_return_places)STORE_RETURN_PLACES_INIT;
    r->places = begin_places(l, PLACES_RETURN, &r->n);
    r->owner = l->env->owner;
    FAILPOINT("before-places-back");
    lane_send(l, &r->call);
}

static void end_return_places(struct lane *l, int rc)
{
    places_returned(l->env->places, !rc, lane_now_us(l));
    if (rc)
        lane_back_off(l, "cannot give places of concurrency keys back", &l->req.call.err);
}

/* ---- settle ---- */

static void begin_settle(struct lane *l)
{
    FAILPOINT("before-settle");
    int64_t now = lane_now_us(l), after_us = l->env->settings->settle_after_us;
    struct page *page = settle_due(l->pages, after_us, now, false);
    if (!page)
        page = settle_due(l->pages, after_us, now, true);
    settle_fill(&l->settler, l->env, page, now, &l->req.settle);
    lane_send(l, &l->req.settle.call);
    FAILPOINT("after-settle-sent");
}

static void end_settle(struct lane *l, int rc)
{
    const struct store_settle *s = &l->req.settle;
    struct page *page = l->settler.page;
    if (!rc)
        FAILPOINT("after-settle");
    if (settle_ended(&l->settler, l->env, s, rc, l->npages >= LANE_PAGES, lane_now_us(l))) {
        if (s->call.err.reason != ERR_REASON_DAMAGED)
            health_write_failed(l->env->health, lane_now_us(l));
        lane_back_off(l, "cannot settle a page", &s->call.err);
    }
    if (rc == ERR_FENCED)
        lane_bucket_lost(l, page->bucket);
    else if (page_is_over(page))
        lane_page_done(l, page);
}

/* ---- errands ---- */

static struct errand_env errand_env_of(const struct lane *l)
{
    const struct lane_env *env = l->env;
    return (struct errand_env){
        .settings = env->settings,
        .log = env->log,
        .clocks = env->clocks,
        .zones = env->zones,
        .run_hours = env->run_hours,
        .long_runs = env->long_runs,
        .measuring = env->measuring,
        .now_us = lane_now_us(l),
        .fatal = env->events.fatal,
        .ctx = env->events.ctx,
    };
}

static void begin_errand(struct lane *l)
{
    struct errand_env env = errand_env_of(l);
    errand_fill(l->env->errands, &env, lane_now_us(l), &l->req.errand);
    lane_send(l, &l->req.call);
}

static void end_errand(struct lane *l, int rc)
{
    struct errand_env env = errand_env_of(l);
    struct errand_result result;
    if (errand_ended(l->env->errands, &env, lane_now_us(l), rc, &l->req.errand, &result))
        lane_back_off(l, "cannot ask the store", &l->req.call.err);
    l->env->events.errand_done(l->env->events.ctx, &result);
    errand_release(&l->req.errand);
}

/* ---- which is which ---- */

const struct lane_call lane_calls[] = {
    [LANE_OPEN] = { lane_begin_open, lane_end_open, true },
    [LANE_RENEW] = { begin_renew, end_renew, true },
    [LANE_READ] = { begin_read, end_read, false },
    [LANE_SETTLE] = { begin_settle, end_settle, true },
    [LANE_FINISH] = { begin_finish, end_finish, true },
    [LANE_GIVE_BACK] = { begin_give_back, end_give_back, true },
    [LANE_RELEASE] = { begin_release, end_release, true },
    [LANE_ERRAND] = { begin_errand, end_errand, false },
    [LANE_TAKE_PLACES] = { begin_take_places, end_take_places, true },
    [LANE_RENEW_PLACES] = { begin_renew_places, end_renew_places, true },
    [LANE_RETURN_PLACES] = { begin_return_places, end_return_places, true },
};
