/* pool.c - gives checks of the offered pages to idle workers, and replaces workers. Answers are
 * checked before they are believed (slab_take_answer); a worker that gives none in time is
 * ended. */
#include "pool_state.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/failpoint.h"
#include "../base/settings_secret.h"
#include "../wire/message.h"
#include "sent.h"

enum {
    WATCH_US = 20 * 1000,               /* how often running workers are looked at */
    /* the pause before a worker is replaced for a job that it could not open, at first and at
     * most */
    REOPEN_US = 1000 * 1000, REOPEN_MAX_US = 60 * 1000 * 1000,
    CLOSE_US = 2 * 1000 * 1000,         /* what the jobs of a worker may take to close */
    WORKERS_LIMIT = 1024,
};

/* ---- making and ending the pool ---- */

/* How many workers there may be, and how many run when none is stuck. */
static void set_size(struct pool *pool)
{
    const struct settings *s = pool->o.settings;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pool->usual = s->workers;
    if (!pool->usual)
        pool->usual = cores > 0 ? (int)cores : 1;
    pool->size = s->workers_max > pool->usual ? s->workers_max : pool->usual;
    if (pool->size > WORKERS_LIMIT)
        pool->size = WORKERS_LIMIT;
    /* a worker has one business connection: a limit of these is a limit of workers */
    if (s->business_connections && pool->size > s->business_connections)
        pool->size = s->business_connections;
    if (pool->usual > pool->size)
        pool->usual = pool->size;
}

static int fill(struct pool *pool, struct err *err)
{
    size_t njobs = (size_t)pool->o.settings->njobs + 1;     /* none must not look like no memory */
    pool->workers = calloc((size_t)pool->size, sizeof *pool->workers);
    pool->deaths = calloc(njobs, sizeof *pool->deaths);
    pool->usable = calloc(njobs, sizeof *pool->usable);
    const char *none;
    pool->nsecrets = settings_secrets_of_jobs(pool->o.settings, &none, 0);
    pool->secrets = calloc((size_t)pool->nsecrets + 1, sizeof *pool->secrets);
    if (!pool->workers || !pool->deaths || !pool->usable || !pool->secrets || pool_share_open(pool))
        return err_set(err, ERR_NOMEM, "out of memory for %d workers", pool->size);
    settings_secrets_of_jobs(pool->o.settings, pool->secrets, pool->nsecrets);
    return sent_print(pool->o.settings, &pool->settings_text, &pool->settings_len, err);
}

int pool_new(const struct pool_options *options, struct pool **out, struct err *err)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return err_set(err, ERR_NOMEM, "out of memory for the workers");
    pool->o = *options;
    if (!pool->o.program)
        pool->o.program = "/proc/self/exe";
    set_size(pool);
    pool->random = options->seed;
    pool->output = (struct output_budget){ .room = OUTPUT_BURST, .since_us = pool_now_us(pool) };
    int rc = fill(pool, err);
    if (rc < 0) {
        pool_free(pool);
        return rc;
    }
    *out = pool;
    return 0;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    for (int i = 0; pool->workers && i < pool->used; i++) {
        struct pool_worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        pool_worker_signal(pool, w, SIGKILL);
        pool->o.spawner->bury(pool->o.spawner->ctx, w->child.pid);
        pool_worker_clear(w);
    }
    agenda_unset(pool->o.agenda, &pool->wake_watch);
    agenda_unset(pool->o.agenda, &pool->wake_reopen);
    agenda_unset(pool->o.agenda, &pool->wake_spawn);
    free(pool->workers);
    free(pool->pages);
    free(pool->deaths);
    free(pool->usable);
    pool_share_release(pool);
    free(pool->settings_text);
    free(pool->secrets);
    free(pool);
}

/* ---- pages ---- */

bool pool_offer(struct pool *pool, struct page *page)
{
    if (pool->npages == pool->pages_room) {
        int room = pool->pages_room ? pool->pages_room * 2 : 16;
        struct page **more = realloc(pool->pages, (size_t)room * sizeof *more);
        if (!more)
            return false;
        pool->pages = more;
        pool->pages_room = room;
    }
    page->offered_us = pool_now_us(pool);
    pool->pages[pool->npages++] = page;
    return true;
}

void pool_forget(struct pool *pool, struct page *page)
{
    for (int i = 0; i < pool->used; i++)
        if (pool->workers[i].page == page)
            pool->workers[i].page = NULL;       /* it has none of its checks, and will send ENDED */
    for (int i = 0; i < pool->npages; i++)
        if (pool->pages[i] == page) {
            memmove(&pool->pages[i], &pool->pages[i + 1],
                    (size_t)(pool->npages - i - 1) * sizeof *pool->pages);
            pool->npages--;
            return;
        }
}

void pool_cut(struct pool *pool, struct page *page)
{
    for (int i = 0; i < pool->used; i++)
        if (pool->workers[i].page == page) {
            slab_stop(pool->workers[i].slab);
            pool_worker_cut(&pool->workers[i]);
        }
}

/* A worker whose trust had run out waits for CONTINUE. One that runs a check keeps its deadline. */
void pool_set_trust(struct pool *pool, const struct page *page)
{
    int64_t now = clock_boot_us(pool->o.clock);
    for (int i = 0; i < pool->used; i++) {
        struct pool_worker *w = &pool->workers[i];
        if (w->page != page || w->state != WORKER_RUNNING)
            continue;
        bool may_wait = w->start_until_us <= now && page->start_until_us > now;
        w->start_until_us = page->start_until_us;
        slab_set_trust(w->slab, page->start_until_us);
        if (may_wait && slab_claimed(w->slab) <= w->taken)
            w->seen_us = pool_now_us(pool);
        if (may_wait)
            message_send(w->child.sock, MESSAGE_CONTINUE, NULL, 0, -1, NULL);
    }
}

/* ---- giving ---- */

/* The worker did not open all jobs that it was sent. Jobs that workers have died of are not
 * sent. */
static bool lacks_jobs(const struct pool *pool, const struct pool_worker *w)
{
    for (int i = 0; w->usable && i < pool->o.settings->njobs; i++)
        if (!w->usable[i] && pool->deaths[i] < DEATHS_ENOUGH)
            return true;
    return false;
}

static void give(struct pool *pool, struct pool_worker *w, struct page *page, enum page_kinds kinds)
{
    slab_reset(w->slab, page->now, page->start_until_us);
    int most = pool_share_most(pool, w->job), n = 0;
    bool is_bounded = pool_share_is_bounded(pool, w->job);
    bool is_delivery = page->checks[page_next(page, w->job, kinds)].is_delivery;
    w->delivers = is_delivery && !is_bounded;
    /* no deliveries beside others, but of a job that has a bound of its own */
    if (!is_bounded)
        kinds = is_delivery ? PAGE_DELIVERIES : PAGE_OTHERS;
    for (int i; n < most && (i = page_next(page, w->job, kinds)) >= 0; n++) {
        const struct page_check *c = &page->checks[i];
        if (n > 0 && (c->single || page->checks[w->index[0]].single))
            break;                      /* a suspect is alone in its slab: a crash is its doing */
        if (!slab_put(w->slab, &page->rows.checks[i], c->job, c->single))
            break;
        page_give(page, i);
        w->index[n] = i;
        w->tenant[n] = (uint8_t)(c->tenant % POOL_TENANTS);
    }
    w->page = page;
    w->start_until_us = page->start_until_us;
    w->count = w->end = n;
    w->taken = w->reached = w->claimed = 0;
    memset(w->ahead, 0, sizeof w->ahead);
    w->printed = 0;
    w->given_us = w->seen_us = w->charged_us = pool_now_us(pool);
    w->state = WORKER_RUNNING;
    pool_share_given(pool, w);
    uint32_t generation = slab_generation(w->slab);
    FAILPOINT("before-run");
    slab_open(w->slab);
    if (message_send(w->child.sock, MESSAGE_RUN, &generation, sizeof generation, -1, NULL))
        w->gone = true;
}

/* The worker closes its jobs and exits; after CLOSE_US it is killed. */
static void retire(const struct pool *pool, struct pool_worker *w, const char *why)
{
    if (message_send(w->child.sock, MESSAGE_EXIT, NULL, 0, -1, NULL))
        pool_worker_signal(pool, w, SIGKILL);
    w->state = WORKER_DYING;
    w->retired = true;
    w->why = why;
    w->kill_us = pool_now_us(pool) + CLOSE_US;
}

/* A new worker may open a job that this one could not: the database was away for a moment, a file
 * is there again. One worker at a time is replaced, with pauses that grow; the others go on. */
static bool is_to_be_replaced(struct pool *pool, const struct pool_worker *w)
{
    int64_t now = pool_now_us(pool);
    if (!lacks_jobs(pool, w) || now < pool->reopen_us || pool_count(pool, WORKER_STARTING))
        return false;
    pool->reopen_pause_us *= 2;
    if (pool->reopen_pause_us > REOPEN_MAX_US)
        pool->reopen_pause_us = REOPEN_MAX_US;
    pool->reopen_us = now + pool->reopen_pause_us;
    return true;
}

/* Counts workers that are ready. While the only one is being replaced there are none of either. */
static void count_ready(const struct pool *pool, int *whole, int *lacking)
{
    *whole = *lacking = 0;
    for (int i = 0; i < pool->used; i++)
        if (pool->workers[i].usable && pool->workers[i].state != WORKER_DYING)
            ++*(lacks_jobs(pool, &pool->workers[i]) ? lacking : whole);
}

/* The first pause begins when the first worker lacks a job. */
static void pace_reopening(struct pool *pool)
{
    int whole, lacking;
    count_ready(pool, &whole, &lacking);
    if (whole && !lacking)
        pool->reopen_us = 0;
    else if (lacking && !pool->reopen_us) {
        pool->reopen_pause_us = REOPEN_US;
        pool->reopen_us = pool_now_us(pool) + REOPEN_US;
    }
}

static void give_all(struct pool *pool)
{
    pace_reopening(pool);
    for (int i = 0; i < pool->used; i++) {
        struct pool_worker *w = &pool->workers[i];
        if (w->state != WORKER_IDLE || w->gone)
            continue;
        if (pool->o.settings->worker_checks && w->served >= pool->o.settings->worker_checks) {
            retire(pool, w, "replaced");
            continue;
        }
        if (is_to_be_replaced(pool, w)) {
            retire(pool, w, "replaced, for a job that it could not open");
            continue;
        }
        enum page_kinds kinds;
        struct page *page = pool_share_next(pool, w, &w->job, &kinds);
        if (page)
            give(pool, w, page, kinds);
    }
}

void pool_retire(struct pool *pool)
{
    pool->started = false;
    for (int i = 0; i < pool->used; i++)
        if (pool->workers[i].state == WORKER_IDLE)
            retire(pool, &pool->workers[i], "stopped");
}

bool pool_is_retired(const struct pool *pool)
{
    for (int i = 0; i < pool->used; i++)
        if (pool->workers[i].retired)
            return false;
    return true;
}

/* ---- the loop's side ---- */

/* Which jobs can be run may have changed with a worker that ended. A successor reports its jobs
 * when it is ready, but a worker that was started earlier, beside a stuck one, takes its place
 * without a report. Until the usual number runs again, what was known stays. */
static void note_lost_worker(struct pool *pool)
{
    if (!pool->has_lost_worker || pool_live(pool) < pool->usual || pool_count(pool, WORKER_STARTING))
        return;
    pool->has_lost_worker = false;
    pool_look_at_jobs(pool);
}

static bool has_waiting_checks(const struct pool *pool)
{
    for (int i = 0; i < pool->npages; i++)
        if (page_waiting(pool->pages[i]) > 0)
            return true;
    return false;
}

/* When a worker has to be looked at, at the latest. */
static int64_t watch_at_us(const struct pool_worker *w, int64_t now)
{
    if (w->state == WORKER_RUNNING || w->state == WORKER_DYING || w->gone)
        return now + WATCH_US;
    return w->state == WORKER_STARTING ? w->start_us + WORKER_STARTING_US : INT64_MAX;
}

static void set_alarms(struct pool *pool)
{
    struct agenda *agenda = pool->o.agenda;
    int64_t now = pool_now_us(pool), watch_us = INT64_MAX;
    for (int i = 0; i < pool->used; i++) {
        int64_t at = watch_at_us(&pool->workers[i], now);
        watch_us = at < watch_us ? at : watch_us;
    }
    agenda_set(agenda, &pool->wake_watch, watch_us);
    agenda_set(agenda, &pool->wake_reopen, pool->reopen_us > now ? pool->reopen_us : INT64_MAX);
    bool waits_to_spawn = pool->spawn_after_us > now && has_waiting_checks(pool);
    agenda_set(agenda, &pool->wake_spawn, waits_to_spawn ? pool->spawn_after_us : INT64_MAX);
}

void pool_tick(struct pool *pool)
{
    int64_t now = pool_now_us(pool);
    pool_reap(pool);
    pool_reap_orphans(pool);
    for (int i = 0; i < pool->used; i++) {
        struct pool_worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        if (!w->gone)
            pool_worker_listen(pool, w);
        if (w->child.output >= 0)
            pool_worker_drain(pool, w);
        pool_worker_watch(pool, w, now);
    }
    pool_spawn_missing(pool);
    note_lost_worker(pool);
    give_all(pool);
    set_alarms(pool);
}

int pool_poll_fds(const struct pool *pool, struct pollfd *out, int room)
{
    int n = 0;
    for (int i = 0; i < pool->used && n + 2 <= room; i++) {
        const struct pool_worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        if (!w->gone)
            out[n++] = (struct pollfd){ .fd = w->child.sock, .events = POLLIN };
        if (w->child.output >= 0)
            out[n++] = (struct pollfd){ .fd = w->child.output, .events = POLLIN };
    }
    return n;
}

bool pool_wants_work(const struct pool *pool)
{
    if (has_waiting_checks(pool))
        return false;
    return pool_count(pool, WORKER_IDLE) > 0 || !pool->ready;
}

void pool_kill(struct pool *pool)
{
    for (int i = 0; i < pool->used; i++) {
        struct pool_worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        pool_worker_signal(pool, w, SIGKILL);
        w->state = WORKER_DYING;
        w->kill_us = 0;
        if (!w->why)
            w->why = "stopped";
    }
}
