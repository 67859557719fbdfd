/* pool_share.c - what a worker is given next. Jobs take turns by their weights, and in each job its
 * tenants, by the workers' time that they have had: a job, or a tenant, with thousands of slow
 * checks delays the few of others by a slab at most. */
#include "pool_state.h"

#include <stdlib.h>

enum {
    SLAB_US = 250 * 1000,               /* so much work is given at once */
    FIRST_MEAN_US = SLAB_US / 16,       /* of a job that nothing is known about */
    MEAN_PART = 4,                      /* of a mean is what was seen last */
    /* Pages are gone through in their order, so that the first ones are over soon, but for a tenant
     * that has had so much less of a worker's time. */
    AHEAD_US = SLAB_US,
    /* A page that waits for so long waits no longer for better priorities. */
    AGED_US = 60 * 1000 * 1000,
    SLOW_US = 1000,                     /* the mean of a check: a thousand of them last a second */
};

/* ---- opening ---- */

static void open_one(struct pool *pool, int job)
{
    const struct job_settings *settings = &pool->o.settings->jobs[job];
    struct pool_share *share = &pool->shares[job];
    ((int32_t *)pool->jobs.weights)[job] = settings->weight;
    share->mean_us = FIRST_MEAN_US;
    share->tenants = (struct turns){ .n = POOL_TENANTS, .tags = share->tags };
}

int pool_share_open(struct pool *pool)
{
    int njobs = pool->o.settings->njobs;
    size_t room = (size_t)njobs + 1;    /* none must not look like no memory */
    pool->waits = calloc(room, sizeof *pool->waits);
    pool->priorities = calloc(room, sizeof *pool->priorities);
    pool->shares = calloc(room, sizeof *pool->shares);
    pool->jobs = (struct turns){ .n = njobs, .tags = calloc(room, sizeof *pool->jobs.tags),
                                 .weights = calloc(room, sizeof *pool->jobs.weights) };
    if (!pool->waits || !pool->priorities || !pool->shares || !pool->jobs.tags || !pool->jobs.weights)
        return -1;
    for (int i = 0; i < njobs; i++)
        open_one(pool, i);
    return 0;
}

void pool_share_release(struct pool *pool)
{
    free(pool->waits);
    free(pool->priorities);
    free(pool->shares);
    free(pool->jobs.tags);
    free((int32_t *)pool->jobs.weights);
}

void pool_share_note_batches(struct pool *pool, int job, bool batches)
{
    pool->shares[job].batches = batches;
}

bool pool_runs_batches(const struct pool *pool, int job)
{
    return pool->shares[job].batches;
}

enum pool_pace pool_pace(const struct pool *pool)
{
    bool has_run = false;
    for (int i = 0; i < pool->jobs.n; i++) {
        const struct pool_share *share = &pool->shares[i];
        if (share->has_run && share->mean_us >= SLOW_US)
            return POOL_SLOW;
        has_run = has_run || share->has_run;
    }
    return has_run ? POOL_FAST : POOL_UNKNOWN;
}

/* ---- what may be given ---- */

/* Deliveries wait for receivers that may be slow or away, and there may be many of them: they get
 * half of the workers at most, so that slots find the others. Those of a job that has max_running
 * are bounded by that. */
static bool may_deliver(const struct pool *pool)
{
    int delivering = 0;
    for (int i = 0; i < pool->used; i++)
        delivering += pool->workers[i].state == WORKER_RUNNING && pool->workers[i].delivers;
    return delivering < (pool->usual + 1) / 2;
}

bool pool_share_is_bounded(const struct pool *pool, int job)
{
    return pool->o.settings->jobs[job].max_running > 0;
}

static bool has_room(const struct pool *pool, int job)
{
    int running = 0;
    for (int i = 0; pool_share_is_bounded(pool, job) && i < pool->used; i++)
        running += pool->workers[i].state == WORKER_RUNNING && pool->workers[i].job == job;
    return !running || running < pool->o.settings->jobs[job].max_running;
}

/* ---- whose turn it is ---- */

/* What one worker may be given, while one is looked for. */
struct look {
    struct pool *pool;
    int64_t boot_us, now_us;
    bool may_deliver;
};

static enum page_kinds kinds_of(const struct look *look, int job)
{
    return look->may_deliver || pool_share_is_bounded(look->pool, job) ? PAGE_ALL : PAGE_OTHERS;
}

/* The next check of a page that may be given; NULL: there is none. */
static const struct page_check *next_of(const struct look *look, struct page *p, int job)
{
    if (page_waiting(p) <= 0 || p->start_until_us <= look->boot_us)
        return NULL;
    int next = page_next(p, job, kinds_of(look, job));
    return next < 0 ? NULL : &p->checks[next];
}

static int32_t priority_of(const struct look *look, const struct page *p, const struct page_check *c)
{
    return look->now_us - p->offered_us > AGED_US ? INT32_MIN : c->settlement.check->priority;
}

/* Whether it waits, and its first priority. */
static void look_at_job(const struct look *look, int job)
{
    struct pool *pool = look->pool;
    pool->waits[job] = false;
    pool->priorities[job] = INT32_MAX;
    for (int i = 0; i < pool->npages; i++) {
        const struct page_check *c = next_of(look, pool->pages[i], job);
        if (!c)
            continue;
        int32_t priority = priority_of(look, pool->pages[i], c);
        pool->waits[job] = true;
        if (priority < pool->priorities[job])
            pool->priorities[job] = priority;
    }
}

/* Of those with the first priority of all. */
static int job_in_turn(const struct look *look, const struct pool_worker *w)
{
    struct pool *pool = look->pool;
    int32_t first = INT32_MAX;
    for (int i = 0; i < pool->jobs.n; i++) {
        bool can_run = (!w->lacks_some || w->usable[i]) && has_room(pool, i);
        pool->waits[i] = false;
        if (can_run)
            look_at_job(look, i);
        if (pool->waits[i] && pool->priorities[i] < first)
            first = pool->priorities[i];
    }
    for (int i = 0; i < pool->jobs.n; i++)
        pool->waits[i] = pool->waits[i] && pool->priorities[i] == first;
    int job = turns_next(&pool->jobs, pool->waits);
    if (job >= 0)
        turns_reach(&pool->jobs, turns_tag(&pool->jobs, job));
    return job;
}

/* INT64_MAX: nothing of this page may be given, or nothing of the first priority. */
static int64_t tag_of(const struct look *look, struct page *p, int job)
{
    const struct page_check *c = next_of(look, p, job);
    if (!c || priority_of(look, p, c) != look->pool->priorities[job])
        return INT64_MAX;
    return turns_tag(&look->pool->shares[job].tenants, (int)(c->tenant % POOL_TENANTS));
}

static struct page *page_in_turn(const struct look *look, int job)
{
    struct pool *pool = look->pool;
    int64_t least = INT64_MAX;
    for (int i = 0; i < pool->npages; i++) {
        int64_t tag = tag_of(look, pool->pages[i], job);
        least = tag < least ? tag : least;
    }
    turns_reach(&pool->shares[job].tenants, least);
    for (int i = 0; i < pool->npages; i++)
        if (tag_of(look, pool->pages[i], job) <= least + turns_cost(1, AHEAD_US))
            return pool->pages[i];
    return NULL;
}

struct page *pool_share_next(struct pool *pool, const struct pool_worker *w, int *job,
                             enum page_kinds *kinds)
{
    const struct look look = { .pool = pool, .boot_us = clock_boot_us(pool->o.clock),
                               .now_us = pool_now_us(pool), .may_deliver = may_deliver(pool) };
    *job = job_in_turn(&look, w);
    *kinds = *job < 0 ? PAGE_ALL : kinds_of(&look, *job);
    return *job < 0 ? NULL : page_in_turn(&look, *job);
}

/* ---- what it took ---- */

int pool_share_most(const struct pool *pool, int job)
{
    int most = pool->o.settings->slab < SLAB_CHECKS_MAX ? pool->o.settings->slab : SLAB_CHECKS_MAX;
    const struct pool_share *share = &pool->shares[job];
    if (share->batches || share->mean_us * most <= SLAB_US)
        return most;
    int64_t n = SLAB_US / share->mean_us;
    return n > 1 ? (int)n : 1;
}

/* To the tenants of its slab, for each of their checks. Those of one often lie side by side. */
static void give_tenants(struct pool *pool, const struct pool_worker *w, int64_t us)
{
    struct turns *tenants = &pool->shares[w->job].tenants;
    for (int i = 0, from = 0; i < w->count; from = i) {
        while (i < w->count && w->tenant[i] == w->tenant[from])
            i++;
        turns_give(tenants, w->tenant[from], us * (i - from));
    }
}

/* As long as nothing better is known. */
void pool_share_given(struct pool *pool, struct pool_worker *w)
{
    w->expected_us = pool->shares[w->job].mean_us;
    turns_give(&pool->jobs, w->job, w->expected_us * w->count);
    give_tenants(pool, w, w->expected_us);
}

void pool_share_answered(struct pool *pool, struct pool_worker *w, int place, int64_t now_us)
{
    int64_t took_us = now_us - w->charged_us;
    w->charged_us = now_us;
    turns_give(&pool->jobs, w->job, took_us);
    turns_give(&pool->shares[w->job].tenants, w->tenant[place], took_us);
}

void pool_share_over(struct pool *pool, struct pool_worker *w)
{
    if (!w->count)
        return;
    struct pool_share *share = &pool->shares[w->job];
    turns_give(&pool->jobs, w->job, -w->expected_us * w->count);
    give_tenants(pool, w, -w->expected_us);
    int64_t took_us = pool_now_us(pool) - w->given_us;
    share->has_run = share->has_run || w->end > 0;
    if (w->end > 0)
        share->mean_us += (took_us / w->end - share->mean_us) / MEAN_PART;
    if (share->mean_us < 1)
        share->mean_us = 1;
    w->count = 0;
}
