/* lane_calls.c - each call of a lane to its store: how it is begun, and what its end changes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../base/failpoint.h"
#include "../base/moment.h"
#include "../rules/retry.h"
#include "lane.h"
#include "settle.h"

enum { NOT_BEGUN_US = 5000, NOT_BEGUN_MAX_US = 1000 * 1000, CLOCK_OFF_US = 1000 * 1000,
       LOCKED_US = 50 * 1000, LOCKED_MAX_US = 500 * 1000, LOCKED_LONG_US = 30 * 1000 * 1000,
       DAMAGED_TRIES = 3 /* before a page of the store that cannot be read is believed to be damaged */ };

/* The store counts a lease in whole seconds. */
static int lease_s(const struct engine *e) { return (int)((e->o.settings->lease_us + 999999) / 1000000); }

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
    o->split_at = pace_split_at(&e->pace, s->split_at);
    o->owner = e->owner;
    o->lease_s = lease_s(e);
    o->want = LANE_RUNS - l->nruns < LANE_TAKE ? LANE_RUNS - l->nruns : LANE_TAKE;
    /* `again`: a bucket that was done holds rows again when a transaction committed late, or
     * somebody put them there by hand. A slot that is only being run for the first time is not
     * asked: its buckets that are done have just been emptied. */
    bool any_job = t->kind == TARGET_SWEEP || t->kind == TARGET_RESLOT;
    o->again = !t->fresh;
    o->jobs = any_job ? NULL : e->job_names;
    o->njobs = any_job ? 0 : e->njob_names;
    o->left_out = t->left;
    o->nwatched = engine_watched(e, t->slot, l->watched, WATCHED_MAX);
    o->watched = l->watched;
    t->opening = true;
    l->opening = t;
    l->sent_boot_us = clock_boot_us(e->o.clock);
    FAILPOINT("before-lease");
    lane_send(l, &o->call);
}

/* It is over without having been opened; whoever asked for it sees that it is still to be done. */
static void drop_target(struct engine *e, struct target *t)
{
    t->exhausted = t->dropped = true;
    if (!t->runs)
        engine_target_run_over(e, t, NULL);
}

/* By the database's clock the slot has not begun. That is over in a moment, or the database's
 * clock was set back: then the slot is left, and comes again when it is its time. */
static void not_begun(struct lane *l, struct target *t)
{
    struct engine *e = l->engine;
    int64_t now = engine_mono_us(e);
    l->retry_us = now + NOT_BEGUN_US;
    if (!t->refused_us)
        t->refused_us = now;
    if (now - t->refused_us < NOT_BEGUN_MAX_US)
        return;
    e->wants_clock = true;
    drop_target(e, t);
}

/* A slot whose time it is waits for as long as a daemon lives, or until the next one begins. What
 * a command or a catch-up waits for may be an application's transaction that stays open for hours,
 * with others behind it: such a slot is left, in words. */
static bool waits_for_lock(const struct engine *e, const struct target *t, int64_t now)
{
    return (t->kind == TARGET_SLOT && e->o.patient) || now - t->locked_us < LOCKED_LONG_US;
}

/* Another transaction holds what its opening needs: the opening row itself, a table, a SQLite
 * file. It is opened as soon as that is over. Other slots and the leases that are held do not wait
 * for it. */
static void open_locked(struct lane *l, struct target *t, const struct err *err)
{
    struct engine *e = l->engine;
    int64_t now = engine_mono_us(e);
    char slot[MOMENT_TEXT];
    if (!t->locked_us) {
        t->locked_us = now;
        if (!engine_has_given_up(e, given_up_slot(t->slot)))
            log_warn(e->o.log, "slot %s cannot be opened yet, and is tried until it can: %s",
                     moment_format(t->slot, slot), err->text);
    }
    t->retry_us = now + retry_delay(LOCKED_US, LOCKED_MAX_US, t->locked_opens++, random_next(&e->random));
    if (waits_for_lock(e, t, now))
        return;
    if (engine_gives_up_anew(e, given_up_slot(t->slot)))
        log_error(e->o.log, "slot %s is left where it is: it could not be opened for %d s: %s",
                  moment_format(t->slot, slot), LOCKED_LONG_US / 1000000, err->text);
    t->counts.locked++;
    e->left_some = true;
    drop_target(e, t);
}

/* One of its rows, or what says that it was done, lies on a page of the database that cannot be
 * read, and will not be by trying on: others are opened. */
static void cannot_be_opened(struct lane *l, struct target *t, const struct err *err)
{
    struct engine *e = l->engine;
    if (++t->damaged_opens < DAMAGED_TRIES)
        return;
    if (engine_gives_up_anew(e, given_up_slot(t->slot)))
        log_error(e->o.log, "slot %lld: it cannot be opened, and is left where it is: %s", (long long)t->slot,
                  err->text);
    t->exhausted = e->left_some = true;
    t->counts.locked++;
    if (!t->runs)
        engine_target_run_over(e, t, NULL);
}

/* Each answer here says what the database's clock showed while it was made. When that is not what
 * we thought, the clock was set, or this machine slept: we ask for it, with a question whose
 * answer nothing can hold up. */
static void compare_clocks(struct lane *l, int64_t clock_us)
{
    struct engine *e = l->engine;
    int64_t now = engine_now_us(e), took = clock_boot_us(e->o.clock) - l->sent_boot_us;
    if (clock_us && !e->virtual_now &&
        (clock_us > now + CLOCK_OFF_US || clock_us < now - took - CLOCK_OFF_US))
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
        if (o->not_begun)
            not_begun(l, t);
        else
            open_locked(l, t, &o->call.err);
        return;
    }
    if (rc) {
        e->writes_failed = true;
        lane_back_off(l, "cannot open a slot", &o->call.err);
        if (o->call.err.reason == ERR_REASON_DAMAGED)
            cannot_be_opened(l, t, &o->call.err);
        return;
    }
    t->damaged_opens = t->locked_opens = 0;
    t->refused_us = t->locked_us = 0;
    if (!l->nruns) {
        l->renewed_us = engine_mono_us(e);
        l->in_doubt = false;
    }
    l->in_doubt = l->in_doubt || !lane_trust_until_us(l);
    if (o->ntaken)
        FAILPOINT("after-lease");
    for (int i = 0; i < o->ntaken; i++)
        lane_start_run(l, t, &o->taken[i], &o->origin);
    t->fresh = t->fresh || o->state == SLOT_OPEN;
    t->held = 0;
    /* taken by us, in a call whose answer never came: the next call takes it over */
    bool lost_reply = false;
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
    r->lease_s = lease_s(e);
    l->sent_boot_us = clock_boot_us(e->o.clock);
    lane_send(l, &r->call);
    FAILPOINT("after-renew-sent");
}

static void renewed(struct lane *l, int rc)
{
    struct store_renew *r = &l->req.renew;
    if (rc) {
        lane_back_off(l, "cannot renew leases", &r->call.err);
        return;
    }
    l->renewed_us = engine_mono_us(l->engine);
    l->in_doubt = !lane_trust_until_us(l);
    struct bucket_run *runs[LANE_RUNS];
    int n = l->nruns;
    memcpy(runs, l->runs, sizeof runs);
    for (int i = 0; i < n; i++) {
        if (r->lost[i]) {
            lane_run_lost(l, runs[i]);
            continue;
        }
        runs[i]->lease.expires_us = r->leases[i].expires_us;
        lane_set_trust(l, runs[i], lane_trust_until_us(l));
    }
}

/* ---- read ---- */

static void begin_read(struct lane *l)
{
    const struct settings *s = l->engine->o.settings;
    struct store_read_page *r = &l->req.read;
    l->on = lane_run_to_read(l);
    assert(l->on);                      /* or lane_decide() would have chosen something else */
    *r = (struct store_read_page)STORE_READ_PAGE_INIT;
    r->lease = l->on->lease;
    r->after = l->on->cursor;
    r->want = l->engine->is_wary ? 1 : s->page;
    r->max_bytes = (size_t)s->page_bytes;
    r->origin = l->on->origin;
    lane_send(l, &r->call);
}

static void no_memory(struct engine *e, struct bucket_run *run)
{
    log_error(e->o.log, "out of memory for a page: the rest of slot %lld, bucket %d is left for later",
              (long long)run->lease.slot, run->lease.bucket);
    run->exhausted = run->leave = e->left_some = true;
}

static void take_page(struct lane *l, struct bucket_run *run, struct check_rows *rows)
{
    struct engine *e = l->engine;
    const struct check *last = &rows->checks[rows->n - 1];
    run->cursor = (struct page_cursor){ last->bucket, last->priority, last->id };
    run->nread += rows->n;
    struct page *page = page_new(rows, verdict_job_of, e, engine_now(e));
    if (!page) {
        no_memory(e, run);
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
    if (!pool_offer(e->pool, page)) {
        no_memory(e, run);
        page_leave_waiting(page);
    }
    if (page_is_over(page))
        lane_page_done(l, page);
}

/* They stay where they are, visible as late, and whoever reads the log can mend or delete them.
 * The log tells it again after growing pauses. */
static void leave_damaged(struct engine *e, struct bucket_run *run, const struct store_read_page *r)
{
    if (run->damaged_id == r->damaged_id)
        return;                         /* the page before told of the same ones */
    /* Of a page that cannot be read many buckets will tell: the first one's words are enough. */
    if (engine_gives_up_anew(e, *r->damage ? given_up_slot(run->lease.slot) : r->damaged_id))
        log_error(e->o.log,
                  "slot %lld, bucket %d: %d rows are not run and left where they are, the first has the id "
                  "%lld: %s",
                  (long long)run->lease.slot, run->lease.bucket, r->ndamaged, (long long)r->damaged_id,
                  *r->damage ? r->damage : "they hold what no check can hold");
    run->damaged_id = r->damaged_id;
    run->counts.locked += r->ndamaged;
    run->leave = e->left_some = true;
}

/* A page of the database itself cannot be read, and will not be by trying on: what is behind it is
 * left, late and told, and all other slots are run. */
static void leave_unreadable(struct engine *e, struct bucket_run *run, const struct err *err)
{
    if (++run->damaged_reads < DAMAGED_TRIES)
        return;
    if (engine_gives_up_anew(e, given_up_slot(run->lease.slot)))
        log_error(e->o.log, "slot %lld, bucket %d: what cannot be read is left where it is: %s",
                  (long long)run->lease.slot, run->lease.bucket, err->text);
    run->counts.locked++;
    run->exhausted = run->leave = e->left_some = true;
}

static void have_read(struct lane *l, int rc)
{
    struct store_read_page *r = &l->req.read;
    struct bucket_run *run = l->on;
    l->on = NULL;
    if (rc) {
        lane_back_off(l, "cannot read a page", &r->call.err);
        if (r->call.err.reason == ERR_REASON_DAMAGED)
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
    check_rows_free(&r->page);
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
    struct bucket_run *run = l->on = lane_run_to_finish(l);
    assert(run);
    struct store_finish *f = &l->req.finish;
    *f = (struct store_finish)STORE_FINISH_INIT;
    run->counts.took_us = engine_mono_us(e) - run->began_us;
    f->lease = run->lease;
    f->now = e->virtual_now;
    f->leave = run->leave || run->rounds >= ROUNDS_MAX;
    f->blind = run->target->blind;
    f->complete = is_complete(run);
    f->origin = run->origin;
    f->after = run->cursor;
    f->left = (const char *const *)run->left;
    f->nleft = run->nleft;
    f->counts = run->counts;
    FAILPOINT("before-finish");
    lane_send(l, &f->call);
}

/* Of this bucket no more is taken by this target, whatever is left in it. */
static void leave_bucket(struct lane *l, struct bucket_run *run)
{
    if (run->lease.bucket >= 0)
        run->target->left |= UINT64_C(1) << run->lease.bucket;
    lane_run_over(l, run);
}

/* What is left in it cannot be looked at, so the next try does not; or the end of the pass cannot
 * be written down either: then its lease is left to end by itself. */
static void cannot_be_finished(struct lane *l, struct bucket_run *run, const struct err *err)
{
    struct engine *e = l->engine;
    e->left_some = true;
    if (!run->leave || !run->target->blind) {
        run->target->blind = run->leave = true;
        return;
    }
    if (engine_gives_up_anew(e, given_up_slot(run->lease.slot)))
        log_error(e->o.log, "slot %lld: its end cannot be written down: %s", (long long)run->lease.slot,
                  err->text);
    run->counts.locked++;
    leave_bucket(l, run);
}

static void finished(struct lane *l, int rc)
{
    struct store_finish *f = &l->req.finish;
    struct bucket_run *run = l->on;
    l->on = NULL;
    if (rc == ERR_FENCED)
        lane_run_lost(l, run);
    else if (rc && f->call.err.reason == ERR_REASON_DAMAGED)
        cannot_be_finished(l, run, &f->call.err);
    else if (rc)
        lane_back_off(l, "cannot finish a bucket", &f->call.err);
    else if (f->finished && f->leave)
        leave_bucket(l, run);
    else if (f->finished)
        lane_run_over(l, run);
    else {                              /* rows came in meanwhile, behind the last one read */
        run->rounds = run->counts.run + run->counts.unknown_job + run->counts.held_back > run->settled
                          ? 0
                          : run->rounds + 1;
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
    lane_send(l, &r->call);
}

/* A release whose answer was lost may still be on its way: under these leases nothing may be run
 * again, although workers may have got ready meanwhile. Those that it never reaches are ours to
 * take anew. At a stop, when nothing is run any more, it is sent again. */
static void released(struct lane *l, int rc)
{
    if (rc) {
        lane_back_off(l, "cannot give leases back", &l->req.release.call.err);
        if (l->engine->stopping || rc == ERR_BUSY)
            return;
    }
    while (l->nruns)
        lane_run_over(l, l->runs[0]);
}

/* ---- settle ---- */

static void begin_settle(struct lane *l)
{
    FAILPOINT("before-settle");
    int64_t now = engine_mono_us(l->engine);
    struct page *page = settle_page_due(l, now);
    settle_begin(l, page ? page : settle_page_apart_due(l, now));
    FAILPOINT("after-settle-sent");
}

static void settled(struct lane *l, int rc)
{
    struct page *page = l->settling;
    struct bucket_run *run = page->run;
    if (!rc)
        FAILPOINT("after-settle");
    if (settle_ended(l, rc)) {
        if (l->req.settle.call.err.reason != ERR_REASON_DAMAGED)
            l->engine->writes_failed = true;
        lane_back_off(l, "cannot settle a page", &l->req.settle.call.err);
    }
    if (rc == ERR_FENCED)
        lane_run_lost(l, run);
    else if (page_is_over(page))
        lane_page_done(l, page);
}

/* ---- errands ---- */

static void begin_errand(struct lane *l)
{
    struct engine *e = l->engine;
    struct errand *r = &e->errand;
    r->under_way = true;
    r->sent_us = engine_mono_us(e);
    switch (r->kind) {
    case ERRAND_KEEP_DAYS:
    case ERRAND_INDEX_DAYS:
        l->req.days = (struct store_keep_days)STORE_KEEP_DAYS_INIT;
        l->req.days.days = r->kind == ERRAND_KEEP_DAYS ? e->o.settings->history_days_ahead : 0;
        break;
    case ERRAND_RELOOK:
    case ERRAND_RELOOK_SETTLED:
        l->req.relook = (struct store_relook)STORE_RELOOK_INIT;
        l->req.relook.now = e->virtual_now;
        l->req.relook.settled_only = r->kind == ERRAND_RELOOK_SETTLED;
        l->req.relook.slots = calloc(BUCKETS, sizeof *l->req.relook.slots);
        l->req.relook.want = l->req.relook.slots ? BUCKETS : 0;
        break;
    case ERRAND_PULSE:
        l->req.pulse = (struct store_pulse)STORE_PULSE_INIT;
        break;
    case ERRAND_LATE_SLOT:
    case ERRAND_LATE_BESIDE:
        l->req.late = (struct store_late_slot)STORE_LATE_SLOT_INIT;
        l->req.late.from = r->from;
        l->req.late.before = r->before;
        l->req.late.full = r->full;
        l->req.late.beside_opened = r->kind == ERRAND_LATE_BESIDE;
        break;
    case ERRAND_MARK_SWEPT:
        l->req.swept = (struct store_mark_swept)STORE_MARK_SWEPT_INIT;
        l->req.swept.slot = r->before;
        l->req.swept.full = r->full;
        break;
    case ERRAND_PRUNE:
        l->req.prune = (struct store_prune)STORE_PRUNE_INIT;
        l->req.prune.part = (enum prune_part)r->from;
        l->req.prune.wish = r->full ? PRUNE_CLAIM : PRUNE_DROP;
        l->req.prune.before = r->before;
        break;
    default:
        l->req.hello = (struct store_hello)STORE_HELLO_INIT;
    }
    lane_send(l, &l->req.call);
}

static void errand_ended(struct lane *l, int rc)
{
    struct engine *e = l->engine;
    if (rc && e->errand.kind == ERRAND_INDEX_DAYS)
        log_warn(e->o.log,
                 "a day of the history could not be indexed, which only makes lookups in it slower: %s",
                 l->req.call.err.text);
    else if (rc && e->errand.kind != ERRAND_PRUNE)       /* pruning.c says what there is to say of that */
        lane_back_off(l, "cannot ask the store", &l->req.call.err);
    else if (e->errand.kind == ERRAND_HELLO)
        engine_set_clock(e, &l->req.hello);
    else if (e->errand.kind == ERRAND_KEEP_DAYS && *l->req.days.noted)
        log_warn(e->o.log, "%s", l->req.days.noted);
    engine_errand_done(e, l, rc);
    if (l->req.call.op == STORE_RELOOK)
        free(l->req.relook.slots);
}

/* ---- which is which ---- */

const struct lane_move lane_moves[] = {
    [LANE_OPEN] = { begin_open, opened, true },         [LANE_RENEW] = { begin_renew, renewed, true },
    [LANE_READ] = { begin_read, have_read, false },     [LANE_SETTLE] = { begin_settle, settled, true },
    [LANE_FINISH] = { begin_finish, finished, true },   [LANE_RELEASE] = { begin_release, released, true },
    [LANE_ERRAND] = { begin_errand, errand_ended, false },
};
