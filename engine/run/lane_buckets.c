/* lane_buckets.c - how leased buckets and their pages come and go, and how long they are
 * trusted. */
#include "lane_buckets.h"

#include <stdlib.h>
#include <string.h>

#include "../base/asan.h"
#include "../base/moment.h"
#include "../rules/about.h"
#include "../rules/slot.h"
#include "phases.h"
#include "verdict.h"

static int64_t now_us(const struct lane_env *env)
{
    return clock_mono_us(env->clock);
}

/* The slot of a pause is emptied at a walk. 0: it does not rest, or is another slot. */
static int64_t rests_until(const struct lane *l, const struct leased_bucket *bucket)
{
    if (!slot_is_of_pause(bucket->lease.slot))
        return 0;
    return pausing_rests_until(l->env->pausing, now_us(l->env));
}

/* How many parts of it (phases.h) may be read by now. */
static int parts_begun(const struct lane *l, const struct leased_bucket *bucket)
{
    if (bucket->lease.bucket != BUCKET_WHOLE_SLOT)
        return PHASES;                  /* it is a part itself */
    return phases_of_target(l->env->clocks, bucket->target, now_us(l->env));
}

/* More parts of it have begun since it was read. */
static bool reads_on(const struct lane *l, const struct leased_bucket *bucket)
{
    return leased_bucket_is_in_part(bucket) && parts_begun(l, bucket) > bucket->parts;
}

/* Its urgent checks are run, and the others begin later: by then another engine may have it. */
static bool is_ahead(const struct lane *l, const struct leased_bucket *bucket)
{
    const struct target *t = bucket->target;
    if (bucket->reads != READ_URGENT || t->round != READ_ALL || !bucket->exhausted)
        return false;
    return bucket->lease.bucket >= phases_of_target(l->env->clocks, t, now_us(l->env));
}

/* What ran in it when its engine began to leave still does. */
static bool outlasts(const struct lane *l, const struct leased_bucket *bucket)
{
    for (const struct page *p = l->pages; p; p = p->following)
        if (p->bucket == bucket && p->noutlasting)
            return true;
    return false;
}

/* Checks of it may be begun. */
static bool goes_on(const struct lane *l, const struct leased_bucket *bucket)
{
    if (!l->env->shutdown->stopping)
        return true;
    return shutdown_leaves(l->env->shutdown) && !pool_broken(l->env->pool) && outlasts(l, bucket);
}

/* Those in which checks are put off come last. */
struct leased_bucket *lane_bucket_to_read(const struct lane *l)
{
    struct leased_bucket *last = NULL;
    for (int i = 0; i < l->nbuckets; i++) {
        struct leased_bucket *bucket = l->buckets[i];
        bool has_more = leased_bucket_has_more(bucket) && !is_ahead(l, bucket);
        if ((!has_more && !reads_on(l, bucket)) || rests_until(l, bucket) || !goes_on(l, bucket))
            continue;
        if (!bucket->target->puts_off)
            return bucket;
        last = last ? last : bucket;
    }
    return last;
}

bool lane_only_puts_off(const struct lane *l)
{
    for (int i = 0; i < l->nbuckets; i++)
        if (!l->buckets[i]->target->puts_off)
            return false;
    return true;
}

int64_t lane_rests_until(const struct lane *l)
{
    for (int i = 0; i < l->nbuckets; i++) {
        int64_t until = l->buckets[i]->exhausted ? 0 : rests_until(l, l->buckets[i]);
        if (until)
            return until;
    }
    return INT64_MAX;
}

struct leased_bucket *lane_bucket_to_finish(const struct lane *l)
{
    for (int i = 0; i < l->nbuckets; i++) {
        struct leased_bucket *bucket = l->buckets[i];
        bool is_read = bucket->exhausted && bucket->reads == READ_ALL;
        if (!bucket->npages && is_read && !leased_bucket_is_in_part(bucket))
            return bucket;
    }
    return NULL;
}

bool lane_gives_back(const struct lane *l, const struct leased_bucket *bucket)
{
    if (bucket->npages)
        return false;
    if (shutdown_leaves(l->env->shutdown))
        return true;
    return leased_bucket_is_parked(bucket) || leased_bucket_is_in_part(bucket) || is_ahead(l, bucket);
}

struct leased_bucket *lane_bucket_to_give_back(const struct lane *l)
{
    for (int i = 0; i < l->nbuckets; i++)
        if (lane_gives_back(l, l->buckets[i]))
            return l->buckets[i];
    return NULL;
}

int lane_waiting_checks(const struct lane *l)
{
    int n = 0;
    for (const struct page *p = l->pages; p; p = p->following)
        n += page_waiting(p);
    return n;
}

/* ---- pages ---- */

void lane_add_page(struct lane *l, struct leased_bucket *bucket, struct page *page)
{
    struct page **end = &l->pages;
    page->bucket = bucket;
    page->start_until_us = bucket->start_until_us;
    while (*end)
        end = &(*end)->following;
    *end = page;
    l->npages++;
    bucket->npages++;
}

/* In the order in which pages are read. Ids are not enough: a sequence may have been set back. */
static int by_place(const struct check *a, const struct check *b)
{
    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* They are over here, and nothing is settled. */
static int leave_those_of(const struct page *before, struct page *page)
{
    int n = 0;
    for (int i = 0, k = 0; i < before->rows.n; i++) {
        const struct check *held = &before->rows.checks[i];
        while (k < page->rows.n && by_place(&page->rows.checks[k], held) < 0)
            k++;
        bool is_same = k < page->rows.n && by_place(&page->rows.checks[k], held) == 0;
        if (is_same && before->checks[i].state != CHECK_OVER && page_is_unrun(page, k)) {
            page_over(page, k);
            n++;
        }
    }
    return n;
}

void lane_begin_parts(const struct lane *l, struct leased_bucket *bucket)
{
    if (!leased_bucket_begin_parts(bucket, parts_begun(l, bucket)))
        return;
    for (struct page *p = l->pages; p; p = p->following)
        if (p->bucket == bucket)
            p->is_read_again = true;
}

int lane_leave_those_read(const struct lane *l, struct page *page)
{
    int n = 0;
    for (const struct page *p = l->pages; p; p = p->following)
        if (p != page && p->is_read_again && p->bucket == page->bucket)
            n += leave_those_of(p, page);
    return n;
}

static void unlink_page(struct page **list, struct page *page)
{
    for (; *list; list = &(*list)->following)
        if (*list == page) {
            *list = page->following;
            page->following = NULL;
            return;
        }
}

/* Before its memory goes. */
static void leave_places(const struct lane *l, struct page *page)
{
    if (page->has_freed_places)
        places_collect(l->env->places, page);
    places_leave(l->env->places, page);
}

void lane_page_done(struct lane *l, struct page *page)
{
    unlink_page(&l->pages, page);
    agenda_unset(&l->settles, &page->settle);
    pool_forget(l->env->pool, page);
    leave_places(l, page);
    l->npages--;
    page->bucket->npages--;
    page_free(page);
}

/* Nothing of this page is believed any more. A check that still runs keeps the page as a zombie
 * until it ends. */
static void drop_page(struct lane *l, struct page *page)
{
    pool_cut(l->env->pool, page);
    places_leave(l->env->places, page);
    page->dropped = true;
    for (int i = 0; i < page->rows.n; i++)
        if (page->checks[i].state != CHECK_GIVEN && page->checks[i].state != CHECK_OVER)
            page_over(page, i);
    unlink_page(&l->pages, page);
    agenda_unset(&l->settles, &page->settle);
    l->npages--;
    page->bucket->npages--;
    page->bucket = NULL;
    page->following = l->zombies;
    l->zombies = page;
}

void lane_bury_zombies(struct lane *l)
{
    for (struct page **at = &l->zombies; *at;) {
        struct page *p = *at;
        page_leave_waiting(p);
        if (!page_is_over(p)) {
            at = &p->following;
            continue;
        }
        *at = p->following;
        pool_forget(l->env->pool, p);
        leave_places(l, p);
        page_free(p);
    }
}

void lane_wind_down(struct lane *l)
{
    const struct lane_env *env = l->env;
    bool drops = shutdown_hurries(env->shutdown) && env->health->is_degraded && l->doing != LANE_SETTLE;
    int dropped = 0;
    for (struct page *p = l->pages, *next; p; p = next) {
        next = p->following;
        if (env->shutdown->stopping && goes_on(l, p->bucket))
            continue;
        pool_cut(env->pool, p);
        places_leave(env->places, p);
        page_leave_waiting(p);
        if (drops)
            dropped += page_drop_answers(p);
        if (page_is_over(p))
            lane_page_done(l, p);
        else
            settle_set_alarm(env, p);
    }
    if (!dropped)
        return;
    env->totals->skipped_some = true;
    log_warn(env->log, "%d answers cannot be written and are dropped; their checks run again later",
             dropped);
}

/* ---- buckets ---- */

void lane_add_bucket(struct lane *l, struct target *t, const struct lease *lease,
                     const struct lease_origin *origin)
{
    struct leased_bucket *bucket = l->buckets[l->nbuckets++];
    asan_allow(bucket, sizeof *bucket);
    *bucket = (struct leased_bucket){
        .lease = *lease,
        .target = t,
        .settles = &l->settles,
        .cursor = PAGE_START,
        .small_cursor = PAGE_START,
        .start_until_us = lane_trust_until_us(l),
        .began_us = now_us(l->env),
        .reads = t->round,
    };
    if (!l->env->clocks->virtual_now)   /* it says nothing of those who file by the real clock */
        bucket->origin = *origin;
    t->leased++;
    t->was_taken = true;
    if (t->kind != TARGET_RESLOT)
        pool_start(l->env->pool);       /* an empty slot never gets here, and starts no worker */
}

void lane_target_over(struct lane *l, struct target *t)
{
    bool stopping = l->env->shutdown->stopping;
    if (!target_is_over(t, stopping))
        return;
    if (!stopping && target_has_to_put_off(t))
        targets_put_off(l->env->targets, t);
    else
        l->env->events.target_over(l->env->events.ctx, t);
}

void lane_look_at_round(const struct lane *l, struct target *t)
{
    if (t->round_ends)
        target_none_left(t, lanes_read_round(l->env->lanes, t));
}

void lane_bucket_over(struct lane *l, struct leased_bucket *bucket)
{
    struct target *t = bucket->target;
    bool was_in_round = bucket->reads != READ_ALL && bucket->reads == t->round;
    if (was_in_round && bucket->lease.bucket >= 0)
        t->buckets_of_round |= UINT64_C(1) << bucket->lease.bucket;
    for (struct page *p = l->pages, *next; p; p = next) {
        next = p->following;
        if (p->bucket == bucket)
            drop_page(l, p);
    }
    for (int i = 0; i < l->nbuckets; i++)
        if (l->buckets[i] == bucket) {
            l->buckets[i] = l->buckets[--l->nbuckets];
            l->buckets[l->nbuckets] = bucket;
            break;
        }
    target_bucket_over(t, &bucket->counts);
    leased_bucket_release(bucket);
    asan_forbid(bucket, sizeof *bucket);
    lane_look_at_round(l, t);
    lane_target_over(l, t);
}

void lane_bucket_lost(struct lane *l, struct leased_bucket *bucket)
{
    int dropped = 0;
    for (const struct page *p = l->pages; p; p = p->following)
        if (p->bucket == bucket)
            dropped += p->rows.n - p->counts[CHECK_OVER];
    char slot[MOMENT_TEXT];
    log_line_about(l->env->log, LOG_LEVEL_WARN, about_slot(bucket->lease.slot),
                   "slot %s, bucket %d: the lease was taken over by another engine; %d checks under it are "
                   "dropped, nothing was changed",
                   moment_format(bucket->lease.slot, slot), bucket->lease.bucket, dropped);
    lane_bucket_over(l, bucket);
}

/* ---- trust ---- */

int64_t lane_trust_until_us(const struct lane *l)
{
    return health_trust_until_us(l->env->health, l->sent_boot_us, l->env->settings->trust_us);
}

/* A page with checks that have a concurrency key depends on the places, too. */
static void set_page_trust(const struct lane_env *env, struct page *p)
{
    int64_t places_us = p->nkeyed ? places_trust_until_us(env->places) : INT64_MAX;
    int64_t lease_us = p->bucket->start_until_us;
    int64_t until_us = lease_us < places_us ? lease_us : places_us;
    if (p->start_until_us == until_us)
        return;
    p->start_until_us = until_us;
    pool_set_trust(env->pool, p);
}

void lane_set_trust(struct lane *l, struct leased_bucket *bucket, int64_t start_until_us)
{
    bucket->start_until_us = start_until_us;
    for (struct page *p = l->pages; p; p = p->following)
        if (p->bucket == bucket)
            set_page_trust(l->env, p);
}

void lanes_distrust(const struct lanes *lanes)
{
    const struct lane_env *env = lanes->all[0].env;
    env->health->refused_boot_us = clock_boot_us(env->clock);
    for (int i = 0; i < lanes->n; i++) {
        struct lane *l = &lanes->all[i];
        for (int k = 0; k < l->nbuckets; k++)
            lane_set_trust(l, l->buckets[k], 0);
        l->in_doubt = true;
    }
}

/* No round waits for buckets that are opened no more. */
void lanes_leave(const struct lanes *lanes)
{
    for (int i = 0; i < lanes->n; i++) {
        const struct lane *l = &lanes->all[i];
        for (struct page *p = l->pages; p; p = p->following) {
            pool_cut(l->env->pool, p);
            page_note_outlasting(p);
        }
        for (int k = 0; k < l->nbuckets; k++)
            target_end_opening(l->buckets[k]->target);
    }
}

bool lanes_go_on(const struct lanes *lanes)
{
    for (int i = 0; i < lanes->n; i++)
        for (int k = 0; k < lanes->all[i].nbuckets; k++)
            if (goes_on(&lanes->all[i], lanes->all[i].buckets[k]))
                return true;
    return false;
}

bool lanes_read_round(const struct lanes *lanes, const struct target *t)
{
    for (int i = 0; i < lanes->n; i++)
        for (int k = 0; k < lanes->all[i].nbuckets; k++) {
            const struct leased_bucket *bucket = lanes->all[i].buckets[k];
            if (bucket->target == t && bucket->reads != READ_ALL && leased_bucket_has_more(bucket))
                return true;
        }
    return false;
}

bool lanes_hold_lease(const struct lanes *lanes, const struct lease *lease)
{
    for (int i = 0; i < lanes->n; i++)
        for (int k = 0; k < lanes->all[i].nbuckets; k++)
            if (lanes->all[i].buckets[k]->lease.token == lease->token)
                return true;
    return false;
}

/* ---- places of concurrency keys ---- */

static void lanes_put_off_busy(const struct lanes *lanes)
{
    const struct lane_env *env = lanes->all[0].env;
    int64_t most_s, now = now_us(env);
    for (struct keyed_check *k; (k = places_next_busy(env->places, &most_s));) {
        verdict_busy(env, k->page, k->index, most_s, now);
        settle_set_alarm(env, k->page);
    }
}

void lanes_collect_places(const struct lanes *lanes)
{
    for (int i = 0; i < lanes->n; i++) {
        const struct lane *l = &lanes->all[i];
        for (struct page *p = l->pages; p; p = p->following)
            if (p->has_freed_places)
                places_collect(l->env->places, p);
        for (struct page *p = l->zombies; p; p = p->following)
            if (p->has_freed_places)
                places_collect(l->env->places, p);
    }
    lanes_put_off_busy(lanes);
}

/* Those that no worker has begun wait for another place; what has begun runs to its end. */
static void take_back_lost(const struct lane_env *env)
{
    for (struct keyed_check *k; (k = places_next_lost(env->places));) {
        pool_cut(env->pool, k->page);
        places_take_back(env->places, k);
    }
}

void lanes_note_places(const struct lanes *lanes)
{
    take_back_lost(lanes->all[0].env);
    lanes_put_off_busy(lanes);
    for (int i = 0; i < lanes->n; i++)
        for (struct page *p = lanes->all[i].pages; p; p = p->following)
            if (p->nkeyed && !p->dropped)
                set_page_trust(lanes->all[i].env, p);
}

/* ---- answers ---- */

/* Its checks of this slot that wait are put off, and those that a worker was given and has not
 * begun. */
static void hold_back(const struct lanes *lanes, const struct lane_env *env, int job, int64_t slot)
{
    struct job_watch *watch = &env->jobs->watched[job];
    int64_t now = now_us(env);
    if (watch->held_slot != slot && !watch->is_broken)
        log_line_about(
            env->log, LOG_LEVEL_WARN, about_job(slot, env->settings->jobs[job].name),
            "job %s: held back for this pass after %d timeouts or crashes in a row; its other checks "
            "are put off, uncounted",
            env->settings->jobs[job].name, watch->troubles);
    watch->held_slot = slot;
    for (int i = 0; i < lanes->n; i++)
        for (struct page *p = lanes->all[i].pages; p; p = p->following) {
            if (p->dropped || p->bucket->lease.slot != slot)
                continue;
            pool_cut(env->pool, p);
            verdict_hold_back(env, p, job, now);
            settle_set_alarm(env, p);
        }
}

/* Whether an answer that has just come changes when the page is to be settled: the first one does,
 * the last one, and any beside isolated ones. For the others nothing is computed. */
static bool may_move_settle(const struct page *p)
{
    if (p->dropped)
        return false;
    return p->counts[CHECK_ANSWERED] == 1 || p->nisolated ||
           !(p->counts[CHECK_WAITING] + p->counts[CHECK_GIVEN] + p->counts[CHECK_KEYED]);
}

void lanes_take_answer(const struct lanes *lanes, struct page *page, int index, enum answer_kind kind,
                       const struct raw_answer *raw, int64_t taken_us)
{
    const struct lane_env *env = lanes->all[0].env;
    bool is_held_back = verdict_answered(env, page, index, kind, raw, taken_us);
    if (may_move_settle(page))
        settle_set_alarm(env, page);
    if (is_held_back)
        hold_back(lanes, env, page->checks[index].job, page->bucket->lease.slot);
}

void lanes_take_back_paused(const struct lanes *lanes)
{
    for (int i = 0; i < lanes->n; i++) {
        const struct lane_env *env = lanes->all[i].env;
        for (struct page *p = lanes->all[i].pages; p; p = p->following) {
            if (p->dropped)
                continue;
            pool_cut(env->pool, p);
            verdict_pause(env, p, now_us(env));
            settle_set_alarm(env, p);
        }
    }
}

void lanes_job_is_gone(const struct lanes *lanes, int job)
{
    for (int i = 0; i < lanes->n; i++)
        for (struct page *p = lanes->all[i].pages; p; p = p->following)
            if (!p->dropped) {
                verdict_job_is_gone(lanes->all[i].env, p, job, now_us(lanes->all[i].env));
                settle_set_alarm(lanes->all[i].env, p);
            }
}
