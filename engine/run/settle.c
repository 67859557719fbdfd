/* settle.c - answers of a page into one settle, and its outcome back into the page. A page the
 * database refuses is halved down to the guilty check; rows that an application's transaction
 * holds are tried again for a while and then left, visible, for a later pass. So is a check one of
 * whose effects waits for such a row, and one beside a page of the database that cannot be read. */
#include "lane.h"
#include "settle.h"

#include <stdlib.h>

#include "../rules/retry.h"

enum {
    LOCKED_RETRY_US = 250 * 1000,
    LOCKED_RETRY_MAX_US = 750 * 1000,
    LOCKED_GIVE_UP_US = 30 * 1000 * 1000,
    LOCKED_SOON_US = 1000 * 1000 /* at a stop, and where others wait for what rows that wait take up */,
    AROUND_US = 5 * 1000 * 1000,
    STRUCK_TRIES = 3,
    STRIKES_WARY = 5,
    STRIKES_MAX = 12,
    STRUCK_RETRY_MAX_US = 10 * 1000 * 1000,
    RECENTLY_US = 1000 * 1000
};

/* A lock that is met costs the lock timeout, and who holds one row often holds others: for a while
 * all pages go around rows that are held. That form locks its rows first, which costs a fifth
 * more, so it is not the ordinary one. */
bool settle_goes_around(bool page_met, int64_t engine_met_us, int64_t now_us)
{
    return page_met || (engine_met_us && now_us - engine_met_us < AROUND_US);
}

/* When something of what is answered may be sent: at once, unless all of it stands apart. */
static int64_t ready_us(const struct page *p)
{
    int64_t at = p->has_apart ? INT64_MAX : 0;
    for (int i = 0; p->has_apart && i < p->rows.n; i++) {
        const struct page_check *c = &p->checks[i];
        int64_t mine = c->apart ? c->apart_us : 0;
        if (c->state == CHECK_ANSWERED && mine < at)
            at = mine;
    }
    return at;
}

static bool is_due(const struct engine *e, const struct page *p, int64_t now_us)
{
    if (!p->counts[CHECK_ANSWERED] || now_us < p->retry_us || now_us < ready_us(p))
        return false;
    bool all_in = p->counts[CHECK_WAITING] + p->counts[CHECK_GIVEN] == 0;
    return all_in || now_us - p->answered_us >= e->o.settings->settle_after_us;
}

static bool all_stands_apart(const struct page *p)
{
    for (int i = 0; i < p->rows.n; i++)
        if (p->checks[i].state == CHECK_ANSWERED && !p->checks[i].apart)
            return false;
    return true;
}

/* What was tried and is likely to fail again keeps nothing else waiting. */
static bool comes_last(const struct page *p)
{
    return p->met_locked || (p->has_apart && all_stands_apart(p));
}

static struct page *page_due(const struct lane *l, int64_t now_us, bool last)
{
    for (struct page *p = l->pages; p; p = p->following)
        if (is_due(l->engine, p, now_us) && comes_last(p) == last)
            return p;
    return NULL;
}

struct page *settle_page_due(const struct lane *l, int64_t now_us)
{
    return page_due(l, now_us, false);
}

struct page *settle_page_apart_due(const struct lane *l, int64_t now_us)
{
    return page_due(l, now_us, true);
}

int64_t settle_next_us(const struct lane *l)
{
    int64_t next = INT64_MAX;
    for (const struct page *p = l->pages; p; p = p->following) {
        if (!p->counts[CHECK_ANSWERED])
            continue;
        int64_t at = p->answered_us + l->engine->o.settings->settle_after_us, ready = ready_us(p);
        if (at < p->retry_us)
            at = p->retry_us;
        if (at < ready)
            at = ready;
        next = at < next ? at : next;
    }
    return next;
}

static bool make_room(struct lane *l, int n)
{
    if (l->batch_room >= n)
        return true;
    struct settlement *batch = realloc(l->batch, (size_t)n * sizeof *batch);
    if (batch)
        l->batch = batch;
    int *index = realloc(l->batch_index, (size_t)n * sizeof *index);
    if (index)
        l->batch_index = index;
    if (!batch || !index)
        return false;
    l->batch_room = n;
    return true;
}

struct place { int64_t id; int index; };

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct place *)a)->id, y = ((const struct place *)b)->id;
    return (x > y) - (x < y);
}

/* One check that stands apart and is due again, when there is nothing else to send. */
static int gather_apart(const struct page *p, int64_t now_us, struct place *out)
{
    for (int i = 0; p->has_apart && i < p->rows.n; i++)
        if (p->checks[i].state == CHECK_ANSWERED && p->checks[i].apart_us <= now_us) {
            *out = (struct place){ p->rows.checks[i].id, i };
            return 1;
        }
    return 0;
}

/* Of two with one id the second waits for the next settle: a page of several buckets or priorities
 * can hold both (a sequence that was set back). */
static int leave_twins(struct place *places, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (kept == 0 || places[kept - 1].id != places[i].id)
            places[kept++] = places[i];
    return kept;
}

/* The answered checks of the page, sorted by id: two settles then never wait for each other in a
 * circle. Rows of one priority of a split slot's page come in that order already; those of a whole
 * slot are ordered by bucket first. */
static int gather(const struct page *p, int most, int64_t now_us, struct place *out)
{
    int n = 0;
    bool sorted = true;
    for (int i = 0; i < p->rows.n; i++) {
        if (p->checks[i].state != CHECK_ANSWERED || p->checks[i].apart)
            continue;
        out[n] = (struct place){ p->rows.checks[i].id, i };
        sorted = sorted && (n == 0 || out[n - 1].id < out[n].id);
        n++;
    }
    if (!n)
        return gather_apart(p, now_us, out);
    if (!sorted) {
        qsort(out, (size_t)n, sizeof *out, by_id);
        n = leave_twins(out, n);
    }
    return n < most ? n : most;
}

void settle_begin(struct lane *l, struct page *page)
{
    const struct engine *e = l->engine;
    struct store_settle *s = &l->req.settle;
    *s = (struct store_settle)STORE_SETTLE_INIT;
    struct bucket_run *run = page->run;
    struct place *places = malloc((size_t)page->rows.n * sizeof *places);
    int n = places && make_room(l, page->rows.n) ? gather(page, l->settle_limit, engine_mono_us(e), places)
                                                 : 0;
    for (int i = 0; i < n; i++) {
        l->batch_index[i] = places[i].index;
        l->batch[i] = page->checks[places[i].index].settlement;
        page_settling(page, places[i].index);
    }
    free(places);
    if (!page->counts[CHECK_ANSWERED])
        page->answered_us = 0;
    l->settling = page;
    s->lease = run->lease;
    s->now = e->virtual_now;
    s->settlements = l->batch;
    s->n = n;
    s->skip_locked = settle_goes_around(page->skip_locked, e->lock_met_us, engine_mono_us(e));
    s->keep_runs = e->o.settings->keep_runs[0] == 'a'   ? KEEP_RUNS_ALL
                   : e->o.settings->keep_runs[0] == 'p' ? KEEP_RUNS_PROBLEMS
                                                        : KEEP_RUNS_NONE;
    lane_send(l, &s->call);
}

static void wait_again(struct lane *l, struct page *page, int index, bool unsure)
{
    page_unsettled(page, index);
    page->checks[index].unsure = page->checks[index].unsure || unsure;
    if (!page->answered_us)
        page->answered_us = engine_mono_us(l->engine);
}

static void all_wait_again(struct lane *l, bool unsure)
{
    for (int i = 0; i < l->req.settle.n; i++)
        wait_again(l, l->settling, l->batch_index[i], unsure);
}

/* Pages that only wait for such rows must not take the place of those that could be run; nor may a
 * daemon's later look at a slot keep its lease, and what is filed there late, from the next one. */
static bool is_worth_waiting(const struct lane *l, struct page_check *c, int64_t now)
{
    enum target_kind kind = ((const struct bucket_run *)l->settling->run)->target->kind;
    bool others_wait = l->npages >= LANE_PAGES ||
                       (l->engine->o.patient && (kind == TARGET_RELOOK || kind == TARGET_SWEEP));
    if (!c->locked_us)
        c->locked_us = now;
    return now - c->locked_us < (l->engine->stopping || others_wait ? LOCKED_SOON_US : LOCKED_GIVE_UP_US);
}

static const char HELD[] = "another transaction holds its row, or that of an effect";

/* It stays where it is, unsettled, visible as late. */
static void leave(struct bucket_run *run, struct page *page, int index)
{
    run->counts.locked++;
    run->leave = true;
    page_over(page, index);
}

/* Its answer cannot be written. Called after engine_give_up, which says for how long. */
static void drop_answer(struct lane *l, struct bucket_run *run, struct page *page, int index, const char *why)
{
    const struct check *row = &page->rows.checks[index];
    log_warn(l->engine->o.log, "check %s/%s (%s): %s: its answer is dropped, it runs again later",
             row->entity_name, row->entity_key, row->job_exec, why);
    leave(run, page, index);
}

static void give_up(struct lane *l, struct bucket_run *run, struct page *page, int index)
{
    engine_give_up_held(l->engine, page->rows.checks[index].id);
    drop_answer(l, run, page, index, HELD);
}

/* A row that an application's open transaction holds: again in a moment, and after half a minute
 * no more. */
static void locked(struct lane *l, struct bucket_run *run, struct page *page, int index, int64_t now)
{
    l->engine->lock_met_us = now;
    if (!is_worth_waiting(l, &page->checks[index], now)) {
        give_up(l, run, page, index);
        return;
    }
    int64_t waited = now - page->checks[index].locked_us;
    wait_again(l, page, index, false);
    page->retry_us = now + (waited < LOCKED_RETRY_US       ? LOCKED_RETRY_US
                            : waited < LOCKED_RETRY_MAX_US ? waited
                                                           : LOCKED_RETRY_MAX_US);
}

static void superseded(struct lane *l, struct bucket_run *run, struct page *page, int index)
{
    if (page->checks[index].unsure)     /* most likely by ourselves, in the settle whose answer was lost */
        verdict_settled(run, &page->checks[index].settlement);
    else {
        run->counts.superseded++;
        const struct check *row = &page->rows.checks[index];
        log_info(l->engine->o.log, "check %s/%s (%s) was changed while it ran: its new state stands",
                 row->entity_name, row->entity_key, row->job_exec);
    }
    page_over(page, index);
}

static void apply_states(struct lane *l)
{
    struct page *page = l->settling;
    struct bucket_run *run = page->run;
    int64_t now = engine_mono_us(l->engine);
    bool untouched = false, met_locked = false;
    for (int i = 0; i < l->req.settle.n; i++) {
        int index = l->batch_index[i];
        switch (l->batch[i].state) {
        case SETTLE_TOUCHED:
            run->ntouched++;
            verdict_settled(run, &l->batch[i]);
            page_over(page, index);
            break;
        case SETTLE_UNTOUCHED:
            untouched = true;
            wait_again(l, page, index, false);
            break;
        case SETTLE_LOCKED:
            untouched = met_locked = true;
            locked(l, run, page, index, now);
            break;
        case SETTLE_SUPERSEDED:
            superseded(l, run, page, index);
            break;
        }
    }
    page->skip_locked = untouched;
    page->met_locked = met_locked;
}

/* The database refuses a value: half as many next time; a single one is the guilty check. */
static void refused(struct lane *l)
{
    struct page *page = l->settling;
    struct bucket_run *run = page->run;
    int n = l->req.settle.n;
    all_wait_again(l, false);
    if (n > 1) {
        l->settle_limit = n / 2;
        return;
    }
    int index = l->batch_index[0];
    const struct check *row = &page->rows.checks[index];
    log_warn(l->engine->o.log, "check %s/%s (%s): the database refuses its answer: %s", row->entity_name,
             row->entity_key, row->job_exec, l->req.settle.call.err.text);
    if (!page->checks[index].bad) {
        verdict_refused_by_database(l->engine, page, index, l->req.settle.call.err.text);
        return;
    }
    engine_give_up(l->engine, row->id);
    leave(run, page, index);            /* even without its answer */
}

static bool has_effects(const struct lane *l)
{
    for (int i = 0; i < l->req.settle.n; i++)
        if (l->batch[i].neffects)
            return true;
    return false;
}

/* One of these cannot be written: half as many next time, and a single one stands apart from now
 * on, so that the others are. That one is returned, else NULL. */
static struct page_check *set_apart(struct lane *l, int64_t *now_us)
{
    *now_us = engine_mono_us(l->engine);
    if (l->req.settle.n > 1) {
        l->settle_limit = l->req.settle.n / 2;
        return NULL;
    }
    struct page_check *c = &l->settling->checks[l->batch_index[0]];
    c->apart = l->settling->has_apart = true;
    c->apart_us = *now_us + LOCKED_RETRY_US;
    return c;
}

/* A lock that going around rows does not help against: one that an effect needs. */
static void held_up(struct lane *l)
{
    int64_t now;
    all_wait_again(l, false);
    struct page_check *c = has_effects(l) ? set_apart(l, &now) : NULL;
    if (c && !is_worth_waiting(l, c, now))
        give_up(l, l->settling->run, l->settling, l->batch_index[0]);
}

/* When others were written since it was first tried, it is its own misfortune. When none was,
 * because all are or because there were no others, that shows after a while by trying some, one by
 * one. */
static bool is_hopeless(const struct engine *e, const struct page_check *c, int64_t now)
{
    int64_t most = e->stopping ? LOCKED_SOON_US : e->o.settings->lease_us;
    return c->struck >= STRUCK_TRIES && (e->settled_us > c->struck_us || now - c->struck_us >= most);
}

/* To write it, a page of the database has to be read that cannot be, and waiting does not help
 * against that. Where nothing is written at all, the lane has to pause, and a command that has
 * written nothing yet to end. */
static bool struck(struct lane *l)
{
    struct engine *e = l->engine;
    struct page *page = l->settling;
    const struct check *row = &page->rows.checks[l->batch_index[0]];
    const char *why = l->req.settle.call.err.text;
    int64_t now;
    all_wait_again(l, false);
    struct page_check *c = set_apart(l, &now);
    if (!c)
        return false;
    e->is_wary = ++e->strikes >= STRIKES_WARY;
    if (!e->o.patient && !e->settled_us && e->strikes >= STRIKES_MAX)
        engine_end(e, ERR_LOST, "no answer can be written: %s", why);
    if (!c->struck) {
        c->struck_us = now;
        if (!e->is_wary)
            log_warn(e->o.log, "check %s/%s (%s): its answer cannot be written, and is tried again: %s",
                     row->entity_name, row->entity_key, row->job_exec, why);
    }
    c->apart_us = now + retry_delay(LOCKED_RETRY_US, STRUCK_RETRY_MAX_US, c->struck, random_next(&e->random));
    c->struck += c->struck < UINT8_MAX;
    if (!is_hopeless(e, c, now))
        return now - e->settled_us > RECENTLY_US;
    engine_give_up_for_long(e, row->id);
    e->left_some = true;
    drop_answer(l, page->run, page, l->batch_index[0], why);
    return false;
}

bool settle_ended(struct lane *l, int rc)
{
    struct page *page = l->settling;
    bool waits = false;
    if (rc == 0) {
        l->engine->settled_us = engine_mono_us(l->engine);
        l->engine->strikes = 0;
        l->engine->is_wary = false;
        apply_states(l);
        if (l->settle_limit < l->engine->o.settings->page)
            l->settle_limit *= 2;
    } else if (rc == ERR_DATA)
        refused(l);
    else if (rc == ERR_BUSY && l->req.settle.skip_locked)
        held_up(l);
    else if (rc == ERR_LOST && l->req.settle.call.err.reason == ERR_REASON_DAMAGED)
        waits = struck(l);
    else {
        waits = rc != ERR_FENCED && rc != ERR_BUSY;
        all_wait_again(l, rc == ERR_LOST && l->req.settle.call.err.reason != ERR_REASON_COLLIDED);
        if (rc == ERR_BUSY)
            l->engine->lock_met_us = engine_mono_us(l->engine);
        if (rc == ERR_BUSY || rc == ERR_LOST)
            page->skip_locked = true;
    }
    l->settling = NULL;
    return waits;
}
