/* pool.c - workers are given checks of the offered pages, and looked after; everything that can
 * happen to one is a small function. What a worker says is checked before it is believed
 * (slab_take_answer), and what it does not say in time ends it. */
#include "pool_state.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/failpoint.h"
#include "../base/settings_print.h"
#include "../wire/message.h"

enum {
    WATCH_US = 20 * 1000,               /* how often running workers are looked at */
    /* from a job that cannot be opened to the next try */
    REOPEN_US = 1000 * 1000, REOPEN_MAX_US = 60 * 1000 * 1000,
    CLOSE_US = 2 * 1000 * 1000,         /* what the jobs of a worker may take to close */
    WORKERS_LIMIT = 1024,
};

/* ---- making and ending the pool ---- */

static int print_settings(struct pool *pool, struct err *err)
{
    pool->sent = *pool->o.settings;
    if (pool->sent.business)
        pool->sent.store = pool->sent.business;     /* a worker never learns where the store is */
    FILE *f = open_memstream(&pool->settings_text, &pool->settings_len);
    if (!f)
        return err_set(err, ERR_NOMEM, "out of memory for the workers' settings");
    int rc = settings_print(&pool->sent, f, false, true, err);
    bool is_whole = fclose(f) == 0 && pool->settings_text;
    return rc || is_whole ? rc : err_set(err, ERR_NOMEM, "out of memory for the workers' settings");
}

int pool_new(const struct pool_options *options, struct pool **out, struct err *err)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return err_set(err, ERR_NOMEM, "out of memory for the workers");
    pool->o = *options;
    if (!pool->o.program)
        pool->o.program = "/proc/self/exe";
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pool->usual = options->settings->workers ? options->settings->workers : (int)(cores > 0 ? cores : 1);
    pool->size = options->settings->workers_max > pool->usual ? options->settings->workers_max : pool->usual;
    if (pool->size > WORKERS_LIMIT)
        pool->size = WORKERS_LIMIT;
    /* A worker has one business connection, so this many workers is how their number is capped. */
    int connections = options->settings->business_connections;
    if (connections && pool->size > connections)
        pool->size = connections;
    if (pool->usual > pool->size)
        pool->usual = pool->size;
    pool->random = options->seed;
    pool->talk = (struct talk){ .room = TALK_BURST, .since_us = pool_now_us(pool) };
    pool->workers = calloc((size_t)pool->size, sizeof *pool->workers);
    pool->deaths = calloc((size_t)options->settings->njobs + 1, sizeof *pool->deaths);
    pool->usable = calloc((size_t)options->settings->njobs + 1, sizeof *pool->usable);
    int rc = pool->workers && pool->deaths && pool->usable
                 ? print_settings(pool, err)
                 : err_set(err, ERR_NOMEM, "out of memory for %d workers", pool->size);
    if (rc) {
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
    for (int i = 0; pool->workers && i < pool->size; i++) {
        struct pool_worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        pool_worker_signal(pool, w, SIGKILL);
        pool->o.spawner->bury(pool->o.spawner->ctx, w->child.pid);
        pool_worker_clear(w);
    }
    free(pool->workers);
    free(pool->pages);
    free(pool->deaths);
    free(pool->usable);
    free(pool->settings_text);
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
    pool->pages[pool->npages++] = page;
    return true;
}

void pool_forget(struct pool *pool, struct page *page)
{
    for (int i = 0; i < pool->size; i++)
        if (pool->workers[i].page == page)
            pool->workers[i].page = NULL;       /* it has nothing of it any more, and is about to say so */
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
    for (int i = 0; i < pool->size; i++)
        if (pool->workers[i].page == page)
            pool_worker_cut(&pool->workers[i]);
}

/* A worker whose trust had run out waits to be told; one that runs a check keeps its stopwatch. */
void pool_set_trust(struct pool *pool, const struct page *page)
{
    int64_t now = clock_boot_us(pool->o.clock);
    for (int i = 0; i < pool->size; i++) {
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

/* The worker opened less than was asked of it: jobs that workers have died of are not. */
static bool lacks_jobs(const struct pool *pool, const struct pool_worker *w)
{
    for (int i = 0; w->usable && i < pool->o.settings->njobs; i++)
        if (!w->usable[i] && pool->deaths[i] < DEATHS_ENOUGH)
            return true;
    return false;
}

/* The next check of the page for this worker; -1: none. */
static int next_for(const struct pool_worker *w, struct page *page)
{
    return w->lacks_some ? page_next_of(page, w->usable) : page_next(page);
}

static struct page *page_with_work(struct pool *pool, const struct pool_worker *w)
{
    for (int i = 0; i < pool->npages; i++) {
        struct page *p = pool->pages[i];
        if (page_waiting(p) > 0 && p->start_until_us > clock_boot_us(pool->o.clock) && next_for(w, p) >= 0)
            return p;
    }
    return NULL;
}

static void give(struct pool *pool, struct pool_worker *w, struct page *page)
{
    slab_reset(w->slab, page->now, page->start_until_us);
    int most = pool->o.settings->slab, n = 0;
    for (int i; n < most && n < SLAB_CHECKS_MAX && (i = next_for(w, page)) >= 0; n++) {
        const struct page_check *c = &page->checks[i];
        if (n > 0 && (c->single || page->checks[w->index[0]].single))
            /* a suspect has a slab of its own: what happens to the slab is its own doing */
            break;
        if (!slab_put(w->slab, &page->rows.checks[i], c->job, c->single))
            break;
        page_give(page, i);
        w->index[n] = i;
    }
    w->page = page;
    w->start_until_us = page->start_until_us;
    w->count = w->end = n;
    w->taken = w->claimed = 0;
    w->printed = 0;
    w->given_us = w->seen_us = pool_now_us(pool);
    w->state = WORKER_RUNNING;
    uint32_t generation = slab_generation(w->slab);
    FAILPOINT("before-run");
    slab_open(w->slab);
    if (message_send(w->child.sock, MESSAGE_RUN, &generation, sizeof generation, -1, NULL))
        w->gone = true;
}

/* It closes its jobs and exits, in a time that is bounded. */
static void retire(const struct pool *pool, struct pool_worker *w, const char *why)
{
    if (message_send(w->child.sock, MESSAGE_EXIT, NULL, 0, -1, NULL))
        pool_worker_signal(pool, w, SIGKILL);
    w->state = WORKER_DYING;
    w->retired = true;
    w->why = why;
    w->kill_us = pool_now_us(pool) + CLOSE_US;
}

/* Another one may open what it could not: a database that was away for a moment, a file that is
 * there again. One at a time, and ever more seldom; the others go on. */
static bool is_to_be_replaced(struct pool *pool, const struct pool_worker *w)
{
    int64_t now = pool_now_us(pool);
    if (!lacks_jobs(pool, w) || now < pool->reopen_us || pool_count(pool, WORKER_STARTING))
        return false;
    pool->reopen_pause_us = pool->reopen_pause_us < REOPEN_MAX_US / 2 ? pool->reopen_pause_us * 2
                                                                      : REOPEN_MAX_US;
    pool->reopen_us = now + pool->reopen_pause_us;
    return true;
}

/* What those say that are ready: while the only one is being replaced, nothing is known. */
static void count_ready(const struct pool *pool, int *whole, int *lacking)
{
    *whole = *lacking = 0;
    for (int i = 0; i < pool->size; i++)
        if (pool->workers[i].usable && pool->workers[i].state != WORKER_DYING)
            ++*(lacks_jobs(pool, &pool->workers[i]) ? lacking : whole);
}

/* From the moment at which the first one lacks a job. */
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
    for (int i = 0; i < pool->size; i++) {
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
        struct page *page = page_with_work(pool, w);
        if (page)
            give(pool, w, page);
    }
}

void pool_retire(struct pool *pool)
{
    pool->started = false;
    for (int i = 0; i < pool->size; i++)
        if (pool->workers[i].state == WORKER_IDLE)
            retire(pool, &pool->workers[i], "stopped");
}

bool pool_is_retired(const struct pool *pool)
{
    for (int i = 0; i < pool->size; i++)
        if (pool->workers[i].retired)
            return false;
    return true;
}

/* ---- the loop's side ---- */

/* A successor tells by itself what it can run, and while none could be started what is known
 * stays. But one that was started beside a worker that was stuck takes its place without a word. */
static void note_lost_one(struct pool *pool)
{
    int live = pool->size - pool_count(pool, WORKER_FREE);
    if (!pool->has_lost_one || live < pool->usual || pool_count(pool, WORKER_STARTING))
        return;
    pool->has_lost_one = false;
    pool_look_at_jobs(pool);
}

void pool_tick(struct pool *pool)
{
    int64_t now = pool_now_us(pool);
    pool_reap(pool);
    pool_reap_orphans(pool);
    for (int i = 0; i < pool->size; i++) {
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
    note_lost_one(pool);
    give_all(pool);
}

int64_t pool_next_us(const struct pool *pool)
{
    int64_t next = INT64_MAX, now = pool_now_us(pool);
    bool waiting = false;
    for (int i = 0; i < pool->npages; i++)
        waiting = waiting || page_waiting(pool->pages[i]) > 0;
    for (int i = 0; i < pool->size; i++) {
        const struct pool_worker *w = &pool->workers[i];
        int64_t at = w->state == WORKER_RUNNING || w->state == WORKER_DYING || w->gone ? now + WATCH_US
                     : w->state == WORKER_STARTING ? w->start_us + WORKER_STARTING_US
                                                   : INT64_MAX;
        next = at < next ? at : next;
    }
    if (pool->reopen_us > now && pool->reopen_us < next)
        next = pool->reopen_us;
    if (waiting && now < pool->spawn_after_us && pool->spawn_after_us < next)
        next = pool->spawn_after_us;
    return next;
}

int pool_poll_fds(const struct pool *pool, struct pollfd *out, int room)
{
    int n = 0;
    for (int i = 0; i < pool->size && n + 2 <= room; i++) {
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

bool pool_is_hungry(const struct pool *pool)
{
    for (int i = 0; i < pool->npages; i++)
        if (page_waiting(pool->pages[i]) > 0)
            return false;
    return pool_count(pool, WORKER_IDLE) > 0 || !pool->ready;
}

void pool_kill(struct pool *pool)
{
    for (int i = 0; i < pool->size; i++) {
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
