/* lane_runs.c - what a lane holds: runs (a lease each) and the pages read under them, how they
 * come and go, and until when they are trusted. */
#include <stdlib.h>
#include <string.h>

#include "../base/asan.h"
#include "../base/moment.h"
#include "lane.h"

struct bucket_run *lane_run_to_read(const struct lane *l)
{
    for (int i = 0; i < l->nruns; i++)
        if (!l->runs[i]->exhausted)
            return l->runs[i];
    return NULL;
}

struct bucket_run *lane_run_to_finish(const struct lane *l)
{
    for (int i = 0; i < l->nruns; i++)
        if (l->runs[i]->exhausted && l->runs[i]->npages == 0)
            return l->runs[i];
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

static void unlink_page(struct page **list, struct page *page)
{
    for (; *list; list = &(*list)->following)
        if (*list == page) {
            *list = page->following;
            page->following = NULL;
            return;
        }
}

void lane_page_done(struct lane *l, struct page *page)
{
    struct bucket_run *run = page->run;
    unlink_page(&l->pages, page);
    pool_forget(l->engine->pool, page);
    l->npages--;
    run->npages--;
    page_free(page);
}

/* Nothing of this page is believed any more. A check that still runs keeps the page as a zombie
 * until it ends. */
static void drop_page(struct lane *l, struct page *page)
{
    struct bucket_run *run = page->run;
    pool_cut(l->engine->pool, page);
    page->dropped = true;
    for (int i = 0; i < page->rows.n; i++)
        if (page->checks[i].state != CHECK_GIVEN && page->checks[i].state != CHECK_OVER)
            page_over(page, i);
    unlink_page(&l->pages, page);
    l->npages--;
    run->npages--;
    page->run = NULL;
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
        pool_forget(l->engine->pool, p);
        page_free(p);
    }
}

void lane_wind_down(struct lane *l)
{
    int dropped = 0;
    for (struct page *p = l->pages, *next; p; p = next) {
        next = p->following;
        pool_cut(l->engine->pool, p);
        page_leave_waiting(p);
        if (l->engine->stopping && l->engine->is_wary && l->doing != LANE_SETTLE)
            dropped += page_drop_answers(p);
        if (page_is_over(p))
            lane_page_done(l, p);
    }
    l->engine->left_some = l->engine->left_some || dropped;
    if (dropped)
        log_warn(l->engine->o.log,
                 "%d answers cannot be written, and are dropped: these checks run again later", dropped);
}

/* ---- runs ---- */

void lane_start_run(struct lane *l, struct target *t, const struct lease *lease,
                    const struct lease_origin *origin)
{
    struct engine *e = l->engine;
    struct bucket_run *run = l->runs[l->nruns++];
    asan_allow(run, sizeof *run);
    *run = (struct bucket_run){ .lease = *lease, .target = t, .cursor = PAGE_START };
    if (!e->virtual_now)                /* of those who file by the real clock it says nothing */
        run->origin = *origin;
    run->start_until_us = lane_trust_until_us(l);
    run->began_us = engine_mono_us(e);
    t->runs++;
    if (t->kind != TARGET_RESLOT)
        pool_start(e->pool);            /* an empty slot never gets here, and starts nobody */
}

static void run_free(struct bucket_run *run)
{
    for (int i = 0; i < run->nleft; i++)
        free(run->left[i]);
    asan_forbid(run, sizeof *run);
}

void lane_run_over(struct lane *l, struct bucket_run *run)
{
    for (struct page *p = l->pages, *next; p; p = next) {
        next = p->following;
        if (p->run == run)
            drop_page(l, p);
    }
    for (int i = 0; i < l->nruns; i++)
        if (l->runs[i] == run) {
            l->runs[i] = l->runs[--l->nruns];
            l->runs[l->nruns] = run;
            break;
        }
    engine_target_run_over(l->engine, run->target, &run->counts);
    run_free(run);
}

void lane_run_lost(struct lane *l, struct bucket_run *run)
{
    int dropped = 0;
    for (const struct page *p = l->pages; p; p = p->following)
        if (p->run == run)
            dropped += p->rows.n - p->counts[CHECK_OVER];
    char slot[MOMENT_TEXT];
    log_warn(l->engine->o.log,
             "slot %s, bucket %d: the lease was taken over by another engine: %d checks of ours are dropped, "
             "nothing was changed",
             moment_format(run->lease.slot, slot), run->lease.bucket, dropped);
    lane_run_over(l, run);
}

/* ---- trust ---- */

/* What was sent before another call was refused shows nothing: it is asked again. */
int64_t lane_trust_until_us(const struct lane *l)
{
    const struct engine *e = l->engine;
    return l->sent_boot_us < e->refused_boot_us ? 0 : l->sent_boot_us + e->o.settings->trust_us;
}

void lane_set_trust(struct lane *l, struct bucket_run *run, int64_t start_until_us)
{
    run->start_until_us = start_until_us;
    for (struct page *p = l->pages; p; p = p->following)
        if (p->run == run) {
            p->start_until_us = start_until_us;
            pool_set_trust(l->engine->pool, p);
        }
}

void lane_writes_refused(struct engine *e)
{
    e->refused_boot_us = clock_boot_us(e->o.clock);
    for (int i = 0; i < e->nlanes; i++) {
        struct lane *l = &e->lanes[i];
        for (int k = 0; k < l->nruns; k++)
            lane_set_trust(l, l->runs[k], 0);
        l->in_doubt = true;
    }
}

/* ---- memory ---- */

void lane_init(struct lane *l, struct engine *e, int number)
{
    *l = (struct lane){ .engine = e, .number = number, .settle_limit = e->o.settings->page };
    for (int i = 0; i < LANE_RUNS; i++)
        l->runs[i] = &l->room[i];
    asan_forbid(l->room, sizeof l->room);
}

void lane_release_memory(struct lane *l)
{
    if (l->doing != LANE_WAIT)
        store_abandon(l->store);
    if (l->doing == LANE_ERRAND && l->req.call.op == STORE_RELOOK)
        free(l->req.relook.slots);
    if (l->doing == LANE_READ)
        check_rows_free(&l->req.read.page);
    struct page *lists[] = { l->pages, l->zombies };
    for (int i = 0; i < 2; i++)
        for (struct page *p = lists[i], *next; p; p = next) {
            next = p->following;
            page_free(p);
        }
    for (int i = 0; i < l->nruns; i++)
        run_free(l->runs[i]);
    asan_allow(l->room, sizeof l->room);
    free(l->batch);
    free(l->batch_index);
    store_free(l->store);
}
