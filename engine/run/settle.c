/* settle.c - see settle.h. */
#include "settle.h"

#include <stdlib.h>

#include "../rules/about.h"
#include "../rules/digest.h"
#include "../rules/retry.h"
#include "../rules/slot.h"
#include "verdict.h"

enum {
    LOCKED_RETRY_US = 250 * 1000,
    LOCKED_RETRY_MAX_US = 750 * 1000,
    LOCKED_LONG_US = 30 * 1000 * 1000,
    LOCKED_SHORT_US = 1000 * 1000,      /* at a stop, and where others wait for what such rows take up */
    UNWRITABLE_TRIES = 3,
    UNWRITABLE_RETRY_MAX_US = 10 * 1000 * 1000
};

void settler_release(struct settler *s)
{
    free(s->batch);
    free(s->index);
    *s = (struct settler){ 0 };
}

/* ---- which page ---- */

static bool comes_last(const struct page *p)
{
    return p->met_locked || page_is_all_isolated(p) || p->bucket->target->puts_off;
}

struct page *settle_due(struct page *pages, int64_t settle_after_us, int64_t now_us, bool last)
{
    for (struct page *p = pages; p; p = p->following)
        if (page_settle_at_us(p, settle_after_us) <= now_us && comes_last(p) == last)
            return p;
    return NULL;
}

void settle_set_alarm(const struct lane_env *env, struct page *page)
{
    agenda_set(page->bucket->settles, &page->settle,
               page_settle_at_us(page, env->settings->settle_after_us));
}

/* ---- which of its answers ---- */

static bool make_room(struct settler *s, int n)
{
    if (s->room >= n)
        return true;
    struct settlement *batch = realloc(s->batch, (size_t)n * sizeof *batch);
    if (batch)
        s->batch = batch;
    int *index = realloc(s->index, (size_t)n * sizeof *index);
    if (index)
        s->index = index;
    if (!batch || !index)
        return false;
    s->room = n;
    return true;
}

struct place { int64_t id; int index; };

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct place *)a)->id, y = ((const struct place *)b)->id;
    return (x > y) - (x < y);
}

/* One isolated check whose time has come, when there is nothing else to send. */
static int gather_isolated(const struct page *p, int64_t now_us, struct place *out)
{
    for (int i = 0; p->nisolated && i < p->rows.n; i++)
        if (p->checks[i].state == CHECK_ANSWERED && p->checks[i].retry_us <= now_us) {
            *out = (struct place){ p->rows.checks[i].id, i };
            return 1;
        }
    return 0;
}

/* Of two with one id the second waits for the next settle: a page of several buckets or priorities
 * can hold both (a sequence that was set back). */
static int without_twins(struct place *places, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (kept == 0 || places[kept - 1].id != places[i].id)
            places[kept++] = places[i];
    return kept;
}

/* The store takes so many digests at once: those beyond wait for the next settle. */
static int without_more_digests(const struct page *p, struct place *places, int n)
{
    int kept = 0, ndigests = 0;
    for (int i = 0; i < n; i++) {
        const struct settlement *s = &p->checks[places[i].index].settlement;
        bool is_digest = s->digest || digest_is_forgotten(s);
        ndigests += is_digest;
        if (!is_digest || ndigests <= SETTLE_DIGESTS_MAX)
            places[kept++] = places[i];
    }
    return kept;
}

/* What a plain INSERT gave an id of its own, far above the others, waits for the next settle. */
static int without_far_ids(const struct place *places, int n)
{
    int kept = n;
    while (kept > 1 && (uint64_t)places[kept - 1].id - (uint64_t)places[0].id >= SETTLE_IDS_SPAN)
        kept--;
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
        if (p->checks[i].state != CHECK_ANSWERED || p->checks[i].isolated)
            continue;
        out[n] = (struct place){ p->rows.checks[i].id, i };
        sorted = sorted && (n == 0 || out[n - 1].id < out[n].id);
        n++;
    }
    if (!n)
        return gather_isolated(p, now_us, out);
    if (!sorted) {
        qsort(out, (size_t)n, sizeof *out, by_id);
        n = without_twins(out, n);
    }
    n = without_more_digests(p, out, without_far_ids(out, n));
    return n < most ? n : most;
}

static enum keep_runs keep_runs_of(const struct settings *s)
{
    switch (s->keep_runs[0]) {
    case 'a': return KEEP_RUNS_ALL;
    case 'p': return KEEP_RUNS_PROBLEMS;
    default: return KEEP_RUNS_NONE;
    }
}

/* Going around rows that are held locks rows first, which costs a fifth more: it is not the
 * ordinary form. */
void settle_fill(struct settler *s, const struct lane_env *env, struct page *page, int64_t now_us,
                 struct store_settle *request)
{
    struct place *places = malloc((size_t)page->rows.n * sizeof *places);
    int n = 0;
    if (places && make_room(s, page->rows.n))
        n = gather(page, s->limit, now_us, places);
    for (int i = 0; i < n; i++) {
        s->index[i] = places[i].index;
        s->batch[i] = page->checks[places[i].index].settlement;
        page_settling(page, places[i].index);
    }
    free(places);
    if (!page->counts[CHECK_ANSWERED])
        page->answered_us = 0;
    settle_set_alarm(env, page);
    s->page = page;
    *request = (struct store_settle)STORE_SETTLE_INIT;
    request->lease = page->bucket->lease;
    request->now = env->clocks->virtual_now;
    request->settlements = s->batch;
    request->n = n;
    request->skip_locked = page->skip_locked || health_met_lock_lately(env->health, now_us);
    request->keep_runs = keep_runs_of(env->settings);
}

/* ---- what became of it ---- */

/* A settle that has come back, while its end is taken in. */
struct ended {
    const struct lane_env *env;
    struct settler *s;
    struct page *page;
    struct leased_bucket *bucket;
    const struct store_settle *request;
    bool is_crowded;
    int64_t now_us;
};

static void try_again(struct ended *x, int index)
{
    page_unsettled(x->page, index);
    if (!x->page->answered_us)
        x->page->answered_us = x->now_us;
}

static void try_all_again(struct ended *x)
{
    for (int i = 0; i < x->request->n; i++)
        try_again(x, x->s->index[i]);
}

/* Its answer cannot be written: it stays where it is, unsettled and visible as late. */
static void drop_answer(struct ended *x, int index, enum cooldown_reason reason, const char *why)
{
    const struct check *row = &x->page->rows.checks[index];
    cooldown_start(x->env->cooldowns, cooldown_of(COOLDOWN_CHECK, row->id), reason, x->now_us);
    log_line_about(x->env->log, LOG_LEVEL_WARN, about_check(row),
                   "check %s/%s (%s): %s: its answer is dropped; it runs again later", row->entity_name,
                   row->entity_key, row->job_exec, why);
    leased_bucket_skip(x->bucket, 1);
    page_over(x->page, index);
}

/* Pages that only wait for such rows must not take the place of those that could be run; nor may a
 * daemon's later look at a slot keep its lease, and what is filed there late, from the next one. */
static bool is_worth_waiting(const struct ended *x, struct page_check *c)
{
    enum target_kind kind = x->bucket->target->kind;
    bool is_later_look = x->env->patient && kind != TARGET_SLOT && kind != TARGET_RESLOT;
    bool is_short = shutdown_hurries(x->env->shutdown) || x->is_crowded || is_later_look;
    if (!c->locked_since_us)
        c->locked_since_us = x->now_us;
    return x->now_us - c->locked_since_us < (is_short ? LOCKED_SHORT_US : LOCKED_LONG_US);
}

static const char held_by_other[] = "another transaction holds its row, or that of an effect";

/* A row that another transaction holds: again in a moment, and after half a minute no more. */
static void row_is_locked(struct ended *x, int index)
{
    struct page_check *c = &x->page->checks[index];
    x->env->health->lock_met_us = x->now_us;
    if (!is_worth_waiting(x, c)) {
        drop_answer(x, index, COOLDOWN_HELD, held_by_other);
        return;
    }
    int64_t pause_us = x->now_us - c->locked_since_us;
    if (pause_us < LOCKED_RETRY_US)
        pause_us = LOCKED_RETRY_US;
    if (pause_us > LOCKED_RETRY_MAX_US)
        pause_us = LOCKED_RETRY_MAX_US;
    try_again(x, index);
    x->page->retry_us = x->now_us + pause_us;
}

static bool files_delivery(const struct settlement *s)
{
    for (int i = 0; i < s->neffects; i++)
        if (s->effects[i].nhearers)
            return true;
    return s->digest && s->digest->files;
}

/* By how much a settle that came after a second, and so files into the next ones, is late. */
enum { AT_MOST_LATER_S = 2 };

/* What a `run` stays for. Where a settle came after the second of an attempt, the next seconds take
 * its place. A delivery is filed in the first of these, also where that lies behind the next full
 * slot. What else moves by seconds, after a back-off or because its job says so, may be minutes
 * away, and a `run` is to end. */
static void note_fine_slot(const struct ended *x, const struct settlement *s)
{
    int32_t length_s = x->env->clocks->slot_length_s;
    bool delivers = files_delivery(s), is_attempt = !s->ends && s->is_attempt;
    if (!delivers && !is_attempt)
        return;
    int64_t now = clocks_now(x->env->clocks, x->now_us);
    int64_t slot = is_attempt && s->next_at > now ? s->next_at : now + AT_MOST_LATER_S;
    if (delivers && slot < now + AT_MOST_LATER_S)
        slot = now + AT_MOST_LATER_S;
    if (delivers && slot > x->env->totals->delivered_until)
        x->env->totals->delivered_until = slot;
    if ((delivers || slot < slot_next(now, length_s)) && slot > x->env->totals->filed_until)
        x->env->totals->filed_until = slot;
}

/* A missed occurrence that is made up for is filed into a second of the full slot that runs, when
 * the one before is over. A `run` stays for these, up to the next full slot: with one of them a
 * call, it would never have made up for all. */
static void note_made_up(const struct ended *x, const struct settlement *s)
{
    int32_t length_s = x->env->clocks->slot_length_s;
    if (!s->renews || !slot_is_fine(s->next_at, length_s))
        return;
    int64_t now = clocks_now(x->env->clocks, x->now_us);
    int64_t slot = s->next_at > now ? s->next_at : now + AT_MOST_LATER_S;
    if (slot < slot_next(now, length_s) && slot > x->env->totals->made_up_until)
        x->env->totals->made_up_until = slot;
}

static int events_of(const struct settlement *s)
{
    int n = 0;
    for (int i = 0; i < s->neffects; i++)
        n += s->effects[i].kind == EFFECT_EMIT;
    return n;
}

static void count_written(struct ended *x, const struct settlement *s)
{
    note_fine_slot(x, s);
    note_made_up(x, s);
    x->env->totals->events += events_of(s);
    x->env->totals->ended_badly += s->ends && outcome_is_problem(s->outcome);
    counts_add_settled(&x->bucket->counts, s);
    bool went_well = s->outcome == OUTCOME_DONE || s->outcome == OUTCOME_AGAIN;
    if (!went_well && trouble_note(x->env->trouble, s))
        x->env->totals->skipped_some = true;
}

static void row_was_changed(struct ended *x, int index)
{
    const struct check *row = &x->page->rows.checks[index];
    const struct settlement *s = &x->page->checks[index].settlement;
    if (x->page->checks[index].maybe_settled) { /* most likely by us, in the settle whose answer was lost */
        count_written(x, s);
        run_hours_count(x->env->run_hours, x->env->clocks, s);
    } else {
        x->bucket->counts.superseded++;
        log_line_about(x->env->log, LOG_LEVEL_INFO, about_check(row),
                       "check %s/%s (%s) was changed while it ran; its new state stands", row->entity_name,
                       row->entity_key, row->job_exec);
    }
    page_over(x->page, index);
}

static void row_is_written(struct ended *x, int index, const struct settlement *s)
{
    x->bucket->ntouched++;
    count_written(x, s);
    page_over(x->page, index);
}

/* The store took it: each row has a state. */
static void was_taken(struct ended *x)
{
    bool met_untouched = false, met_locked = false;
    health_settled(x->env->health, x->now_us);
    run_hours_count_written(x->env->run_hours, x->env->clocks, x->s->batch, x->request->n);
    for (int i = 0; i < x->request->n; i++) {
        int index = x->s->index[i];
        switch (x->s->batch[i].state) {
        case SETTLE_TOUCHED:
            row_is_written(x, index, &x->s->batch[i]);
            break;
        case SETTLE_UNTOUCHED:
            met_untouched = true;
            try_again(x, index);
            break;
        case SETTLE_LOCKED:
            met_untouched = met_locked = true;
            row_is_locked(x, index);
            break;
        case SETTLE_SUPERSEDED:
            row_was_changed(x, index);
            break;
        }
    }
    x->page->skip_locked = met_untouched;
    x->page->met_locked = met_locked;
    if (x->s->limit < x->env->settings->page)
        x->s->limit *= 2;
}

/* The index of the only check of the settle; -1: it had several, the next one has half as many. */
static int only_one(struct ended *x)
{
    if (x->request->n == 1)
        return x->s->index[0];
    if (x->request->n > 1)
        x->s->limit = x->request->n / 2;
    return -1;
}

/* The database refuses a value. The guilty check's answer becomes a bad one; when even that is
 * refused, it is left without an answer. */
static void was_refused(struct ended *x)
{
    const char *why = x->request->call.err.text;
    try_all_again(x);
    int index = only_one(x);
    if (index < 0)
        return;
    const struct check *row = &x->page->rows.checks[index];
    log_line_about(x->env->log, LOG_LEVEL_WARN, about_check(row),
                   "check %s/%s (%s): the database refuses its answer: %s", row->entity_name, row->entity_key,
                   row->job_exec, why);
    if (!x->page->checks[index].answer_refused) {
        verdict_refused_by_database(x->env, x->page, index, why);
        return;
    }
    cooldown_start(x->env->cooldowns, cooldown_of(COOLDOWN_CHECK, row->id), COOLDOWN_REFUSED, x->now_us);
    leased_bucket_skip(x->bucket, 1);
    page_over(x->page, index);
}

static bool has_effects(const struct ended *x)
{
    for (int i = 0; i < x->request->n; i++)
        if (x->s->batch[i].neffects || x->s->batch[i].digest)
            return true;
    return false;
}

/* A lock that going around rows does not help against: an effect needs it. */
static void effect_is_locked(struct ended *x)
{
    bool may_be_ours = has_effects(x);
    try_all_again(x);
    int index = may_be_ours ? only_one(x) : -1;
    if (index < 0)
        return;
    page_isolate(x->page, index, x->now_us + LOCKED_RETRY_US);
    if (!is_worth_waiting(x, &x->page->checks[index]))
        drop_answer(x, index, COOLDOWN_HELD, held_by_other);
}

/* If other answers have been written since its first try, only this check is affected. If none has,
 * that is not known: it is tried for the time of a lease. */
static bool is_hopeless(const struct ended *x, const struct page_check *c)
{
    const struct lane_env *env = x->env;
    int64_t most_us = shutdown_hurries(env->shutdown) ? LOCKED_SHORT_US : env->settings->lease_us;
    bool others_are_written = env->health->settled_us > c->unwritable_since_us;
    return c->unwritable_tries >= UNWRITABLE_TRIES &&
           (others_are_written || x->now_us - c->unwritable_since_us >= most_us);
}

/* Writing an answer needs a corrupt block; waiting does not help. The check is isolated, so that
 * the others are written. Where nothing is written at all, the lane has to pause, and a command
 * that has written nothing yet has to end. */
static bool met_corrupt_block(struct ended *x)
{
    const struct lane_env *env = x->env;
    const char *why = x->request->call.err.text;
    try_all_again(x);
    int index = only_one(x);
    if (index < 0)
        return false;
    struct page_check *c = &x->page->checks[index];
    const struct check *row = &x->page->rows.checks[index];
    health_unwritable(env->health);
    if (!env->patient && health_is_hopeless(env->health)) {
        struct err err;
        err_set(&err, ERR_LOST, "no answer can be written: %s", why);
        env->events.fatal(env->events.ctx, ERR_LOST, err.text);
    }
    if (!c->unwritable_tries) {
        c->unwritable_since_us = x->now_us;
        if (!env->health->is_degraded)
            log_line_about(env->log, LOG_LEVEL_WARN, about_check(row),
                           "check %s/%s (%s): its answer cannot be written; retrying: %s", row->entity_name,
                           row->entity_key, row->job_exec, why);
    }
    int64_t pause_us = retry_delay(LOCKED_RETRY_US, UNWRITABLE_RETRY_MAX_US, c->unwritable_tries,
                                   random_next(env->random));
    page_isolate(x->page, index, x->now_us + pause_us);
    if (c->unwritable_tries < UINT8_MAX)
        c->unwritable_tries++;
    if (!is_hopeless(x, c))
        return health_wants_pause(env->health, x->now_us);
    env->totals->skipped_some = true;
    drop_answer(x, index, COOLDOWN_CORRUPT, why);
    return false;
}

/* Lost on its way, fenced, or held up by a lock: nothing is known to be written. */
static bool was_not_taken(struct ended *x, int rc)
{
    bool may_be_written = rc == ERR_LOST && x->request->call.err.reason != ERR_REASON_COLLIDED;
    try_all_again(x);
    for (int i = 0; may_be_written && i < x->request->n; i++)
        x->page->checks[x->s->index[i]].maybe_settled = true;
    if (rc == ERR_BUSY)
        x->env->health->lock_met_us = x->now_us;
    if (rc == ERR_BUSY || rc == ERR_LOST)
        x->page->skip_locked = true;
    return rc != ERR_FENCED && rc != ERR_BUSY;
}

bool settle_ended(struct settler *s, const struct lane_env *env, const struct store_settle *request, int rc,
                  bool is_crowded, int64_t now_us)
{
    struct ended x = { env, s, s->page, s->page->bucket, request, is_crowded, now_us };
    bool pauses = false;
    s->page = NULL;
    if (!rc)
        was_taken(&x);
    else if (rc == ERR_DATA)
        was_refused(&x);
    else if (rc == ERR_BUSY && request->skip_locked)
        effect_is_locked(&x);
    else if (rc == ERR_LOST && request->call.err.reason == ERR_REASON_DAMAGED)
        pauses = met_corrupt_block(&x);
    else
        pauses = was_not_taken(&x, rc);
    settle_set_alarm(env, x.page);
    return pauses;
}
