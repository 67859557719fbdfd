/* lane.c - what one store connection does next (a pure decision), how each call is begun, and what its end changes.
 * A lane carries one call at a time; between calls it decides anew, so a renewal never waits for more than one statement. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/asan.h"
#include "../base/failpoint.h"
#include "../base/moment.h"
#include "../rules/retry.h"
#include "engine.h"
#include "settle.h"

enum { BACKOFF_US = 100 * 1000, COLLIDED_US = 10 * 1000, BACKOFF_MAX_US = 10 * 1000 * 1000, NOT_BEGUN_US = 5000, NOT_BEGUN_MAX_US = 1000 * 1000,
       ERRAND_WAITS_US = 2 * 1000 * 1000, CLOCK_OFF_US = 1000 * 1000,
       DAMAGED_TRIES = 3 /* before a page of the store that cannot be read is believed to be damaged */ };

/* ---- the decision ---- */

enum lane_action lane_decide(const struct lane_view *v)
{
    if (v->renew_due && v->has_runs)
        return LANE_RENEW;
    if (v->stopping) {
        if (v->settle_due)
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
    if (v->has_errand && !v->has_runs)
        return LANE_ERRAND;
    return LANE_WAIT;
}

static struct bucket_run *run_to_read(const struct lane *l)
{
    for (int i = 0; i < l->nruns; i++)
        if (!l->runs[i]->exhausted)
            return l->runs[i];
    return NULL;
}

/* Which jobs can be run here is known once a worker has loaded them; moving checks on (reslot) needs none. */
static bool can_take_in(const struct lane *l, const struct bucket_run *run)
{
    return run && (run->target->kind == TARGET_RESLOT || (pool_is_ready(l->engine->pool) && !pool_broken(l->engine->pool)));
}

static struct bucket_run *run_to_finish(const struct lane *l)
{
    for (int i = 0; i < l->nruns; i++)
        if (l->runs[i]->exhausted && l->runs[i]->npages == 0)
            return l->runs[i];
    return NULL;
}

static int waiting_checks(const struct lane *l)
{
    int n = 0;
    for (const struct page *p = l->pages; p; p = p->following)
        n += page_waiting(p);
    return n;
}

/* Errands wait while there are slots to open, but not for ever: a slot that cannot be opened may be waiting for just this errand.
 * An index may take its time, and leases with it: only for one that nobody waits for. */
static bool is_urgent(const struct engine *e, int64_t now)
{
    return e->errand.kind == ERRAND_KEEP_DAYS || (e->errand.kind != ERRAND_INDEX_DAYS && now - e->errand.given_us > ERRAND_WAITS_US);
}

static struct lane_view look(const struct lane *l)
{
    struct engine *e = l->engine;
    const struct settings *s = e->o.settings;
    int64_t now = engine_mono_us(e);
    int64_t renew_every = (s->lease_us < s->trust_us ? s->lease_us : s->trust_us) / 3;
    return (struct lane_view){
        .stopping = e->stopping,
        .hungry = waiting_checks(l) == 0 && pool_is_hungry(e->pool),
        .renew_due = l->nruns && (l->in_doubt || now - l->renewed_us >= renew_every),
        .settle_due = settle_page_due(l, now) != NULL,
        .can_read = l->npages < LANE_PAGES && waiting_checks(l) < s->page && can_take_in(l, run_to_read(l)),
        .can_finish = run_to_finish(l) != NULL,
        .can_open = l->nruns < LANE_RUNS && !run_to_read(l) && e->has_clock && !pool_broken(e->pool) && engine_target_for(e),
        .has_errand = e->errand.kind && !e->errand.under_way,
        .is_urgent = is_urgent(e, now),
        .broken = pool_broken(e->pool) != NULL,
        .has_runs = l->nruns > 0,
        .has_pages = l->npages > 0,
    };
}

/* ---- pages and runs come and go ---- */

static void unlink_page(struct page **list, struct page *page)
{
    for (; *list; list = &(*list)->following)
        if (*list == page) {
            *list = page->following;
            page->following = NULL;
            return;
        }
}

static void page_done(struct lane *l, struct page *page)
{
    struct bucket_run *run = page->run;
    unlink_page(&l->pages, page);
    pool_forget(l->engine->pool, page);
    l->npages--;
    run->npages--;
    page_free(page);
}

/* Nothing of this page is believed any more. A check that still runs keeps the page as a zombie until it ends. */
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

static void bury_zombies(struct lane *l)
{
    for (struct page **at = &l->zombies; *at;) {
        struct page *p = *at;
        for (int i = 0; i < p->rows.n && p->counts[CHECK_WAITING]; i++)
            if (p->checks[i].state == CHECK_WAITING)
                page_over(p, i);
        if (!page_is_over(p)) {
            at = &p->following;
            continue;
        }
        *at = p->following;
        pool_forget(l->engine->pool, p);
        page_free(p);
    }
}

static void run_free(struct bucket_run *run)
{
    for (int i = 0; i < run->nleft; i++)
        free(run->left[i]);
    asan_forbid(run, sizeof *run);
}

static void run_over(struct lane *l, struct bucket_run *run)
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

static void run_lost(struct lane *l, struct bucket_run *run)
{
    int dropped = 0;
    for (const struct page *p = l->pages; p; p = p->following)
        if (p->run == run)
            dropped += p->rows.n - p->counts[CHECK_OVER];
    char slot[MOMENT_TEXT];
    log_warn(l->engine->o.log, "slot %s, bucket %d: the lease was taken over by another engine: %d checks of ours are dropped, nothing was changed",
             moment_format(run->lease.slot, slot), run->lease.bucket, dropped);
    run_over(l, run);
}

/* ---- failures ---- */

/* Failures that cannot heal by waiting: they end the engine. */
static bool is_final(int rc)
{
    return rc == ERR_SCHEMA || rc == ERR_SETTINGS || rc == ERR_INPUT;
}

/* However long the database was away: once it is back, that is noticed in well less than a lease's time, as a dead engine is. */
static void back_off(struct lane *l, const char *what, const struct err *err)
{
    struct engine *e = l->engine;
    if (is_final(err->code))
        return;
    int64_t third = e->o.settings->lease_us / 3, most = third < BACKOFF_MAX_US ? third : BACKOFF_MAX_US;
    int64_t wait = retry_delay(err->collided ? COLLIDED_US : BACKOFF_US, most, l->failures++, random_next(&e->random));
    l->retry_us = engine_mono_us(e) + wait;
    log_warn(e->o.log, "%s: %s; trying again in %lld ms", what, err->text, (long long)wait / 1000);
}

/* ---- trust ---- */

/* Until when checks may be started under a lease that was written by the call just ended. What was sent before another call was refused
 * shows nothing: it is asked again. */
static int64_t trust_until_us(const struct lane *l)
{
    const struct engine *e = l->engine;
    return l->sent_boot_us < e->refused_boot_us ? 0 : l->sent_boot_us + e->o.settings->trust_us;
}

static void set_trust(struct lane *l, struct bucket_run *run, int64_t start_until_us)
{
    run->start_until_us = start_until_us;
    for (struct page *p = l->pages; p; p = p->following)
        if (p->run == run) {
            p->start_until_us = start_until_us;
            pool_set_trust(l->engine->pool, p);
        }
}

/* The store is there and does not take what is written: what jobs would answer now could not be written down either. Nothing is started
 * any more, in no lane, before a renewal shows that it does. */
static void writes_refused(struct engine *e)
{
    e->refused_boot_us = clock_boot_us(e->o.clock);
    for (int i = 0; i < e->nlanes; i++) {
        struct lane *l = &e->lanes[i];
        for (int k = 0; k < l->nruns; k++)
            set_trust(l, l->runs[k], 0);
        l->in_doubt = true;
    }
}

/* ---- open ---- */

static void begin_open(struct lane *l)
{
    struct engine *e = l->engine;
    const struct settings *s = e->o.settings;
    struct target *t = engine_target_for(e);
    struct store_open_slot *o = &l->req.open;
    *o = (struct store_open_slot)STORE_OPEN_SLOT_INIT;
    o->slot = t->slot;
    o->now = e->virtual_now;
    o->split_at = s->split_at;
    o->owner = e->owner;
    o->lease_s = (int)((s->lease_us + 999999) / 1000000);
    o->want = LANE_RUNS - l->nruns < LANE_TAKE ? LANE_RUNS - l->nruns : LANE_TAKE;
    /* `again`: a bucket that was done holds rows again when a transaction committed late, or somebody put them there by hand. A
     * slot that is only being run for the first time is not asked: its buckets that are done have just been emptied. */
    bool any_job = t->kind == TARGET_SWEEP || t->kind == TARGET_RESLOT;
    o->again = !t->fresh;
    o->jobs = any_job ? NULL : e->job_names;
    o->njobs = any_job ? 0 : e->njob_names;
    o->nwatched = engine_watched(e, t->slot, l->watched, WATCHED_MAX);
    o->watched = l->watched;
    t->opening = true;
    l->opening = t;
    l->sent_boot_us = clock_boot_us(e->o.clock);
    FAILPOINT("before-lease");
    store_begin(l->store, &o->call);
}

/* There is room for it, since no more than that was asked for: a lease that is taken is not forgotten for want of memory. */
static void start_run(struct lane *l, struct target *t, const struct lease *lease, const struct lease_origin *origin)
{
    struct engine *e = l->engine;
    struct bucket_run *run = l->runs[l->nruns++];
    asan_allow(run, sizeof *run);
    *run = (struct bucket_run){ .lease = *lease, .target = t, .cursor = PAGE_START };
    if (!e->virtual_now)                /* of those who file by the real clock it says nothing */
        run->origin = *origin;
    run->start_until_us = trust_until_us(l);
    run->began_us = engine_mono_us(e);
    t->runs++;
    if (t->kind != TARGET_RESLOT)
        pool_start(e->pool);            /* an empty slot never gets here, and starts nobody */
}

/* By the database's clock the slot has not begun, or a lock was held. That is over in a moment, or the database's clock was set
 * back: then the slot is left, and comes again when it is its time. */
static void not_begun(struct lane *l, struct target *t)
{
    struct engine *e = l->engine;
    int64_t now = engine_mono_us(e);
    l->retry_us = now + NOT_BEGUN_US;
    if (!t->refused_us)
        t->refused_us = now;
    if (now - t->refused_us < NOT_BEGUN_MAX_US)
        return;
    t->exhausted = true;
    e->wants_clock = true;
    if (!t->runs)
        engine_target_run_over(e, t, NULL);
}

/* One of its rows, or what says that it was done, lies on a page of the database that cannot be read, and will not be by trying on: others are opened. */
static void cannot_be_opened(struct lane *l, struct target *t, const struct err *err)
{
    struct engine *e = l->engine;
    if (++t->damaged_opens < DAMAGED_TRIES)
        return;
    if (engine_gives_up_anew(e, given_up_slot(t->slot)))
        log_error(e->o.log, "slot %lld: it cannot be opened, and is left where it is: %s", (long long)t->slot, err->text);
    t->exhausted = e->left_some = true;
    if (!t->runs)
        engine_target_run_over(e, t, NULL);
}

/* Each answer here says what the database's clock showed while it was made. When that is not what we thought, the clock was set, or this machine slept:
 * we ask for it, with a question whose answer nothing can hold up. */
static void compare_clocks(struct lane *l, int64_t clock_us)
{
    struct engine *e = l->engine;
    int64_t now = engine_now_us(e), took = clock_boot_us(e->o.clock) - l->sent_boot_us;
    if (clock_us && !e->virtual_now && (clock_us > now + CLOCK_OFF_US || clock_us < now - took - CLOCK_OFF_US))
        e->wants_clock = true;
}

static bool is_ours(const struct engine *e, const struct lease *lease)
{
    for (int i = 0; i < e->nlanes; i++)
        for (int k = 0; k < e->lanes[i].nruns; k++)
            if (e->lanes[i].runs[k]->lease.token == lease->token)
                return true;
    return false;
}

static void opened(struct lane *l, int rc)
{
    struct engine *e = l->engine;
    struct store_open_slot *o = &l->req.open;
    struct target *t = l->opening;
    t->opening = false;
    l->opening = NULL;
    compare_clocks(l, o->clock_us);
    if (rc == ERR_BUSY) {
        not_begun(l, t);
        return;
    }
    if (rc) {
        e->writes_failed = true;
        back_off(l, "cannot open a slot", &o->call.err);
        if (o->call.err.damaged)
            cannot_be_opened(l, t, &o->call.err);
        return;
    }
    t->damaged_opens = 0;
    if (!l->nruns) {
        l->renewed_us = engine_mono_us(e);
        l->in_doubt = false;
    }
    l->in_doubt = l->in_doubt || !trust_until_us(l);
    if (o->ntaken)
        FAILPOINT("after-lease");
    for (int i = 0; i < o->ntaken; i++)
        start_run(l, t, &o->taken[i], &o->origin);
    t->fresh = t->fresh || o->state == SLOT_OPEN;
    t->held = 0;
    bool lost_reply = false;            /* taken by us, in a call whose answer never came: the next call takes it over */
    for (int i = 0; i < o->nheld; i++) {
        bool own = !memcmp(o->held[i].owner, e->owner, STORE_OWNER_SIZE);
        t->held += !own;
        lost_reply = lost_reply || (own && !is_ours(e, &o->held[i]));
    }
    engine_watch_leases(e, t->slot, o->held, o->nheld, is_ours);
    if (!lost_reply && (o->split == 1 || o->ntaken < o->want))
        t->exhausted = true;
    if (t->exhausted && !t->runs)
        engine_target_run_over(e, t, NULL);
}

/* ---- renew ---- */

static void begin_renew(struct lane *l)
{
    struct engine *e = l->engine;
    struct store_renew *r = &l->req.renew;
    *r = (struct store_renew)STORE_RENEW_INIT;
    for (int i = 0; i < l->nruns; i++)
        l->renewing[i] = l->runs[i]->lease;
    r->leases = l->renewing;
    r->n = l->nruns;
    r->lease_s = (int)((e->o.settings->lease_us + 999999) / 1000000);
    l->sent_boot_us = clock_boot_us(e->o.clock);
    store_begin(l->store, &r->call);
    FAILPOINT("after-renew-sent");
}

static void renewed(struct lane *l, int rc)
{
    struct store_renew *r = &l->req.renew;
    if (rc) {
        back_off(l, "cannot renew leases", &r->call.err);
        return;
    }
    l->renewed_us = engine_mono_us(l->engine);
    l->in_doubt = !trust_until_us(l);
    struct bucket_run *runs[LANE_RUNS];
    int n = l->nruns;
    memcpy(runs, l->runs, sizeof runs);
    for (int i = 0; i < n; i++) {
        if (r->lost[i]) {
            run_lost(l, runs[i]);
            continue;
        }
        runs[i]->lease.expires_us = r->leases[i].expires_us;
        set_trust(l, runs[i], trust_until_us(l));
    }
}

/* ---- read ---- */

static void begin_read(struct lane *l)
{
    const struct settings *s = l->engine->o.settings;
    struct store_read_page *r = &l->req.read;
    l->on = run_to_read(l);
    assert(l->on);                      /* or lane_decide() would have chosen something else */
    *r = (struct store_read_page)STORE_READ_PAGE_INIT;
    r->lease = l->on->lease;
    r->after = l->on->cursor;
    r->want = s->page;
    r->max_bytes = (size_t)s->page_bytes;
    r->origin = l->on->origin;
    store_begin(l->store, &r->call);
}

static void take_page(struct lane *l, struct bucket_run *run, struct store_page *rows)
{
    struct engine *e = l->engine;
    const struct check *last = &rows->checks[rows->n - 1];
    run->cursor = (struct page_cursor){ last->bucket, last->priority, last->id };
    run->nread += rows->n;
    struct page *page = page_new(rows, verdict_job_of, e, engine_now(e));
    if (!page) {
        log_error(e->o.log, "out of memory for a page: the rest of slot %lld, bucket %d is left for later", (long long)run->lease.slot, run->lease.bucket);
        run->exhausted = run->leave = e->left_some = true;
        return;
    }
    page->run = run;
    page->start_until_us = run->start_until_us;
    struct page **end = &l->pages;
    while (*end)
        end = &(*end)->following;
    *end = page;
    l->npages++;
    run->npages++;
    verdict_take_in(e, run, page);
    pool_offer(e->pool, page);
    if (page_is_over(page))
        page_done(l, page);
}

/* They stay where they are, visible as late, and whoever reads the log can mend or delete them. The log tells it again after growing pauses. */
static void leave_damaged(struct engine *e, struct bucket_run *run, const struct store_read_page *r)
{
    if (run->damaged_id == r->damaged_id)
        return;                         /* the page before told of the same ones */
    if (engine_gives_up_anew(e, r->damaged_id))
        log_error(e->o.log, "slot %lld: %d rows hold what no check can hold, the first has the id %lld: they are not run, and left where they are",
                  (long long)run->lease.slot, r->ndamaged, (long long)r->damaged_id);
    run->damaged_id = r->damaged_id;
    run->counts.locked += r->ndamaged;
    run->leave = e->left_some = true;
}

/* A page of the database itself cannot be read, and will not be by trying on: what is behind it is left, late and told, and all other slots are run. */
static void leave_unreadable(struct engine *e, struct bucket_run *run, const struct err *err)
{
    if (++run->damaged_reads < DAMAGED_TRIES)
        return;
    if (engine_gives_up_anew(e, given_up_slot(run->lease.slot)))
        log_error(e->o.log, "slot %lld, bucket %d: what cannot be read is left where it is: %s", (long long)run->lease.slot, run->lease.bucket, err->text);
    run->counts.locked++;
    run->exhausted = run->leave = e->left_some = true;
}

static void have_read(struct lane *l, int rc)
{
    struct store_read_page *r = &l->req.read;
    struct bucket_run *run = l->on;
    l->on = NULL;
    if (rc) {
        back_off(l, "cannot read a page", &r->call.err);
        if (r->call.err.damaged)
            leave_unreadable(l->engine, run, &r->call.err);
        return;
    }
    run->damaged_reads = 0;
    if (run->cursor.id == INT64_MIN)
        run->saw_all = r->is_complete;          /* then so do all that come after it */
    run->exhausted = !r->has_more;
    if (r->ndamaged)
        leave_damaged(l->engine, run, r);
    if (r->page.n > 0)
        take_page(l, run, &r->page);
    store_page_free(&r->page);
}

/* ---- finish and release ---- */

/* All that will ever be filed there was read, and all of it is known to be written down. */
static bool is_complete(const struct bucket_run *run)
{
    return run->saw_all && run->nread == run->ntouched && !run->leave && run->rounds < ROUNDS_MAX;
}

static void begin_finish(struct lane *l)
{
    struct engine *e = l->engine;
    struct bucket_run *run = l->on = run_to_finish(l);
    assert(run);
    struct store_finish *f = &l->req.finish;
    *f = (struct store_finish)STORE_FINISH_INIT;
    run->counts.took_us = engine_mono_us(e) - run->began_us;
    f->lease = run->lease;
    f->now = e->virtual_now;
    f->leave = run->leave || run->rounds >= ROUNDS_MAX;
    f->complete = is_complete(run);
    f->origin = run->origin;
    f->after = run->cursor;
    f->left = (const char *const *)run->left;
    f->nleft = run->nleft;
    f->counts = run->counts;
    FAILPOINT("before-finish");
    store_begin(l->store, &f->call);
}

static void finished(struct lane *l, int rc)
{
    struct store_finish *f = &l->req.finish;
    struct bucket_run *run = l->on;
    l->on = NULL;
    if (rc == ERR_FENCED)
        run_lost(l, run);
    else if (rc) {
        back_off(l, "cannot finish a bucket", &f->call.err);
        if (f->call.err.damaged && run->damaged_reads)
            run_over(l, run);           /* its lease ends by itself, or is taken anew with the next look */
    }
    else if (f->finished)
        run_over(l, run);
    else {                              /* rows came in meanwhile, behind the last one read */
        run->rounds = run->counts.run + run->counts.unknown_job + run->counts.held_back > run->settled ? 0 : run->rounds + 1;
        run->settled = run->counts.run + run->counts.unknown_job + run->counts.held_back;
        run->exhausted = false;
    }
}

static void begin_release(struct lane *l)
{
    FAILPOINT("before-release");
    struct store_release *r = &l->req.release;
    *r = (struct store_release)STORE_RELEASE_INIT;
    for (int i = 0; i < l->nruns; i++)
        l->renewing[i] = l->runs[i]->lease;
    r->leases = l->renewing;
    r->n = l->nruns;
    store_begin(l->store, &r->call);
}

/* A release whose answer was lost may still be on its way: under these leases nothing may be run again, although workers may have got
 * ready meanwhile. Those that it never reaches are ours to take anew. At a stop, when nothing is run any more, it is sent again. */
static void released(struct lane *l, int rc)
{
    if (rc) {
        back_off(l, "cannot give leases back", &l->req.release.call.err);
        if (l->engine->stopping || rc == ERR_BUSY)
            return;
    }
    while (l->nruns)
        run_over(l, l->runs[0]);
}

/* ---- settle ---- */

static void begin_settle(struct lane *l)
{
    FAILPOINT("before-settle");
    settle_begin(l, settle_page_due(l, engine_mono_us(l->engine)));
    FAILPOINT("after-settle-sent");
}

static void settled(struct lane *l, int rc)
{
    struct page *page = l->settling;
    struct bucket_run *run = page->run;
    if (!rc)
        FAILPOINT("after-settle");
    settle_ended(l, rc);
    if (rc == ERR_FENCED)
        run_lost(l, run);
    else if (rc && rc != ERR_BUSY && rc != ERR_DATA) {
        l->engine->writes_failed = true;
        back_off(l, "cannot settle a page", &l->req.settle.call.err);
    }
    else if (page_is_over(page))
        page_done(l, page);
}

/* ---- errands ---- */

static void begin_errand(struct lane *l)
{
    struct engine *e = l->engine;
    struct errand *r = &e->errand;
    r->under_way = true;
    switch (r->kind) {
    case ERRAND_KEEP_DAYS:
    case ERRAND_INDEX_DAYS:
        l->req.days = (struct store_keep_days)STORE_KEEP_DAYS_INIT;
        l->req.days.days = r->kind == ERRAND_KEEP_DAYS ? e->o.settings->history_days_ahead : 0;
        break;
    case ERRAND_RELOOK:
        l->req.relook = (struct store_relook)STORE_RELOOK_INIT;
        l->req.relook.now = e->virtual_now;
        l->req.relook.slots = calloc(STORE_BUCKETS, sizeof *l->req.relook.slots);
        l->req.relook.want = l->req.relook.slots ? STORE_BUCKETS : 0;
        break;
    case ERRAND_LATE_SLOT:
        l->req.late = (struct store_late_slot)STORE_LATE_SLOT_INIT;
        l->req.late.from = r->from;
        l->req.late.before = r->before;
        l->req.late.full = r->full;
        break;
    case ERRAND_MARK_SWEPT:
        l->req.swept = (struct store_mark_swept)STORE_MARK_SWEPT_INIT;
        l->req.swept.slot = r->before;
        break;
    default:
        l->req.hello = (struct store_hello)STORE_HELLO_INIT;
    }
    store_begin(l->store, &l->req.call);
}

static void errand_ended(struct lane *l, int rc)
{
    struct engine *e = l->engine;
    if (rc && e->errand.kind == ERRAND_INDEX_DAYS)
        log_warn(e->o.log, "a day of the history could not be indexed, which only makes lookups in it slower: %s", l->req.call.err.text);
    else if (rc)
        back_off(l, "cannot ask the store", &l->req.call.err);
    else if (e->errand.kind == ERRAND_HELLO)
        engine_set_clock(e, &l->req.hello);
    engine_errand_done(e, l, rc);
    if (l->req.call.op == STORE_RELOOK)
        free(l->req.relook.slots);
}

/* ---- driving ---- */

static const struct { void (*begin)(struct lane *l); void (*end)(struct lane *l, int rc); bool writes; } moves[] = {
    [LANE_OPEN] = { begin_open, opened, true },         [LANE_RENEW] = { begin_renew, renewed, true },
    [LANE_READ] = { begin_read, have_read, false },     [LANE_SETTLE] = { begin_settle, settled, true },
    [LANE_FINISH] = { begin_finish, finished, true },   [LANE_RELEASE] = { begin_release, released, true },
    [LANE_ERRAND] = { begin_errand, errand_ended, false },
};

/* With pages in hand there is something to go on with, however long it takes. With leases alone a command ends after a minute or so, and
 * with nothing after some tries (in ten seconds or so), sooner where leases are short; whoever called it, a cron, calls again. A daemon never
 * ends so. */
static bool gives_up(const struct lane *l)
{
    enum { TRIES_WITH_LEASES = 12 };
    const struct engine *e = l->engine;
    int pages = 0, runs = 0;
    for (int i = 0; i < e->nlanes; i++) {
        pages += e->lanes[i].npages;
        runs += e->lanes[i].nruns;
    }
    return !e->o.patient && !pages && l->failures >= (runs ? TRIES_WITH_LEASES : e->has_clock ? 8 : 5);
}

/* A host that does not take us is no failure while another one does, and still somebody's business: a password that is refused, a name that is gone. */
static void tell_passed_over(struct lane *l)
{
    struct engine *e = l->engine;
    const char *words = store_passed_over(l->store);
    if (!words || strcmp(words, e->passed_over) == 0)
        return;
    snprintf(e->passed_over, sizeof e->passed_over, "%.*s", (int)sizeof e->passed_over - 1, words);
    log_warn(e->o.log, "a host of the store was passed over: %s", words);
}

/* A call is over: its end is told, and a failure that cannot heal by waiting ends the engine. */
static void call_over(struct lane *l)
{
    struct engine *e = l->engine;
    enum lane_action was = l->doing;
    int rc = l->req.call.rc;
    struct err err = l->req.call.err;
    l->doing = LANE_WAIT;
    if (!rc && (was == l->failing || (was != LANE_RENEW && was != LANE_READ)))
        l->failures = 0;                /* else what fails would be tried without a pause for as long as leases can be renewed */
    if (rc)
        l->failing = was;
    l->in_doubt = l->in_doubt || rc == ERR_LOST;
    if (rc == ERR_LOST && err.refused && !err.damaged && moves[was].writes)
        writes_refused(e);              /* a damaged page says nothing of the others */
    tell_passed_over(l);
    moves[was].end(l, rc);
    if (is_final(rc))
        engine_end(e, rc, "%s", err.text);
    else if ((rc == ERR_LOST || (rc == ERR_BUSY && was == LANE_ERRAND)) && gives_up(l))
        engine_end(e, rc, "the store cannot be reached or written to: %s", err.text);
}

/* Stopping: what has not been started is left where it is; what runs may still answer. */
static void wind_down(struct lane *l)
{
    for (struct page *p = l->pages, *next; p; p = next) {
        next = p->following;
        pool_cut(l->engine->pool, p);
        for (int i = 0; i < p->rows.n && p->counts[CHECK_WAITING]; i++)
            if (p->checks[i].state == CHECK_WAITING)
                page_over(p, i);
        if (page_is_over(p))
            page_done(l, p);
    }
}

void lane_drive(struct lane *l)
{
    /* A bound, so that one lane with a fast store (SQLite answers at once) cannot keep workers from being looked after. */
    for (int i = 0; i < 8; i++) {
        bury_zombies(l);
        if (l->engine->stopping || pool_broken(l->engine->pool))
            wind_down(l);
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
        moves[action].begin(l);
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
        const struct settings *s = l->engine->o.settings;
        int64_t renew = l->renewed_us + (s->lease_us < s->trust_us ? s->lease_us : s->trust_us) / 3;
        next = renew < next ? renew : next;
    }
    return next;
}

bool lane_is_idle(const struct lane *l)
{
    return l->doing == LANE_WAIT && !l->nruns && !l->zombies;
}

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
        store_page_free(&l->req.read.page);
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
