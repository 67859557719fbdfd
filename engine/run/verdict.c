/* verdict.c - from an answer to a settlement: the guard is asked, jobs in trouble are held back,
 * and everything is counted. No I/O: pages in, settlements out. */
#include <stdlib.h>
#include <string.h>

#include "../base/utf8.h"
#include "../rules/retry.h"
#include "../rules/slot.h"
#include "engine.h"

/* what a worker says of itself need not be true */
static const int64_t RUN_US_MAX = 365LL * 86400 * 1000000;

static const struct job_settings *job_settings(const struct engine *e, int job)
{
    const struct settings *s = e->o.settings;
    return job >= 0 && job < s->njobs ? &s->jobs[job] : &s->defaults;
}

static struct guard_policy policy_of(const struct engine *e, int job)
{
    const struct job_settings *j = job_settings(e, job);
    return (struct guard_policy){
        .slot_length_s = e->slot_length_s,
        .max_checks = j->max_checks,
        .horizon_s = j->horizon_s,
        .max_failures = j->max_failures,
        .backoff_s = j->backoff_s,
        .backoff_max_s = j->backoff_max_s,
    };
}

static struct guard_input input_of(struct engine *e, const struct page *page, int index)
{
    const struct check *c = &page->rows.checks[index];
    return (struct guard_input){
        .now = page->now,
        .check_count = c->check_count,
        .failure_count = c->failure_count,
        .deferred_at = c->deferred_at,
        .random = random_next(&e->random),
    };
}

static void apply(struct settlement *s, const struct verdict *v)
{
    s->ends = v->ends;
    s->outcome = v->outcome;
    s->next_at = v->next_at;
    s->check_count = v->check_count;
    s->failure_count = v->failure_count;
    s->deferred_at = v->deferred_at;
}

/* Moves a check that was not run: held back, unknown here, or reslotted. */
static void put_off(struct engine *e, struct page *page, int index, enum outcome why, int64_t at)
{
    struct guard_policy policy = policy_of(e, page->checks[index].job);
    struct guard_input in = input_of(e, page, index);
    struct verdict v = guard_put_off(&policy, &in, why, at);
    apply(&page->checks[index].settlement, &v);
    page_answer(page, index, engine_mono_us(e));
}

/* ---- jobs in trouble ---- */

static bool is_held_back(const struct engine *e, int job, int64_t slot)
{
    return job >= 0 && e->jobs[job].held_slot == slot;
}

static void hold_back(struct engine *e, int job, int64_t slot)
{
    if (!is_held_back(e, job, slot))
        log_warn(e->o.log,
                 "job %s: %d timeouts or crashes in a row: held back for this pass, its other checks are put "
                 "off uncounted",
                 e->o.settings->jobs[job].name, e->jobs[job].in_a_row);
    e->jobs[job].held_slot = slot;
    for (int i = 0; i < e->nlanes; i++)
        for (struct page *p = e->lanes[i].pages; p; p = p->following) {
            const struct bucket_run *run = p->run;
            if (p->dropped || run->lease.slot != slot)
                continue;
            pool_cut(e->pool, p);
            for (int k = 0; k < p->rows.n; k++)
                if (p->checks[k].job == job && p->checks[k].state == CHECK_WAITING)
                    put_off(e, p, k, OUTCOME_HELD_BACK, slot_next(p->now, e->slot_length_s));
        }
}

static void watch_trouble(struct engine *e, int job, int64_t slot, enum answer_kind kind)
{
    if (job < 0)
        return;
    struct job_watch *w = &e->jobs[job];
    w->in_a_row = kind == ANSWER_TIMEOUT || kind == ANSWER_CRASH ? w->in_a_row + 1 : 0;
    if (w->in_a_row >= e->o.settings->hold_back_after)
        hold_back(e, job, slot);
}

/* ---- answers ---- */

/* By the database's clock, as all that is written down: the machine's own may show anything. No
 * clock is read for it, since every check has one, and between the two of the machine only a
 * suspend makes a difference. */
static int64_t moment_us(const struct engine *e, int64_t boot_us)
{
    return boot_us - e->asleep_us + e->clock_offset_us;
}

void verdict_answered(void *engine, struct page *page, int index, enum answer_kind kind,
                      const struct raw_answer *raw)
{
    struct engine *e = engine;
    struct page_check *c = &page->checks[index];
    page_answer(page, index, engine_mono_us(e));
    bool ended_by_us = e->killed && (kind == ANSWER_CRASH || kind == ANSWER_TIMEOUT);
    if (page->dropped || ended_by_us) {
        page_over(page, index);
        return;
    }
    struct bucket_run *run = page->run;
    struct guard_policy policy = policy_of(e, c->job);
    struct guard_input in = input_of(e, page, index);
    in.answer = kind;
    in.at = raw->at;
    struct verdict v = guard_judge(&policy, &in);
    struct settlement *s = &c->settlement;
    apply(s, &v);
    s->ran = true;
    s->run_us = raw->run_us < 0 || raw->run_us > RUN_US_MAX ? 0 : raw->run_us;
    pace_add(&e->pace, s->run_us);
    s->run_at_us = e->virtual_now ? page->now * 1000000 : moment_us(e, raw->began_us);
    s->note = raw->text;
    s->effects = raw->effects;
    s->neffects = raw->neffects;
    if (!run->ran) {
        run->ran = true;
        run->counts.late_us = s->run_at_us - run->lease.slot * 1000000;
    }
    watch_trouble(e, c->job, run->lease.slot, kind);
}

void verdict_refused_by_database(struct engine *e, struct page *page, int index, const char *words)
{
    struct page_check *c = &page->checks[index];
    struct guard_policy policy = policy_of(e, c->job);
    struct guard_input in = input_of(e, page, index);
    in.answer = ANSWER_BAD;
    struct verdict v = guard_judge(&policy, &in);
    apply(&c->settlement, &v);
    c->settlement.neffects = 0;
    c->settlement.note = arena_printf(page->arena, "the database refuses the answer: %.*s",
                                      (int)utf8_valid_bytes(words, strlen(words)), words);
    c->bad = true;
}

/* ---- a page comes in ---- */

int verdict_job_of(void *engine, const char *name)
{
    const struct engine *e = engine;
    int index = -1;
    if (!settings_job(e->o.settings, name, &index) || !e->jobs[index].usable)
        return -1;
    return index;
}

static void leave_behind(struct bucket_run *run, const char *job)
{
    for (int i = 0; i < run->nleft; i++)
        if (!strcmp(run->left[i], job))
            return;
    char *name = run->nleft < LEFT_JOBS_MAX ? strdup(job) : NULL;
    if (name)
        run->left[run->nleft++] = name;
    else
        run->leave = true;              /* too many names to list: the sweep puts off what stays */
}

/* Constraints see to it; but a check that came in without them must not wait for a slab that it
 * would fit in, nor be run when no settle will know it again by its counts. */
static bool can_be_run(const struct check *c)
{
    return c->check_count >= 0 && c->failure_count >= 0 && c->entity_name_len <= CHECK_NAME_MAX &&
           c->entity_key_len <= CHECK_NAME_MAX && c->job_exec_len <= CHECK_NAME_MAX &&
           c->payload_len <= CHECK_PAYLOAD_MAX && (!c->origin || strlen(c->origin) <= ORIGIN_MAX);
}

static void leave_impossible(struct engine *e, struct bucket_run *run, const struct check *c)
{
    if (engine_gives_up_anew(e, c->id))
        log_error(e->o.log,
                  "slot %lld: the check with the id %lld has counts, a name or a payload that no check can "
                  "have: it is not run, and left where it is",
                  (long long)run->lease.slot, (long long)c->id);
    run->counts.locked++;
    run->leave = e->left_some = true;
}

static void put_off_unknown(struct engine *e, struct page *page, int index)
{
    const struct check *c = &page->rows.checks[index];
    put_off(e, page, index, OUTCOME_UNKNOWN_JOB,
            page->now + unknown_job_delay_s(c->first_check_at, page->now, e->slot_length_s));
}

void verdict_job_is_gone(struct engine *e, int job)
{
    for (int i = 0; i < e->nlanes; i++)
        for (struct page *p = e->lanes[i].pages; p; p = p->following)
            for (int k = 0; k < p->rows.n && !p->dropped; k++)
                if (p->checks[k].job == job && p->checks[k].state == CHECK_WAITING)
                    put_off_unknown(e, p, k);
}

void verdict_take_in(struct engine *e, struct bucket_run *run, struct page *page)
{
    enum target_kind kind = run->target->kind;
    for (int i = 0; i < page->rows.n; i++) {
        const struct check *c = &page->rows.checks[i];
        int job = page->checks[i].job;
        /* it stays in its slot, and a second look finds it when that transaction is over */
        if (c->kept) {
            run->counts.locked++;
            page_over(page, i);
        } else if (kind == TARGET_RESLOT)
            put_off(e, page, i, OUTCOME_RESLOTTED, slot_next(page->now, e->slot_length_s));
        else if (job < 0 && kind == TARGET_SWEEP)
            put_off_unknown(e, page, i);
        else if (job < 0) {
            leave_behind(run, c->job_exec);
            page_over(page, i);
        } else if (!can_be_run(c)) {
            leave_impossible(e, run, c);
            page_over(page, i);
        } else if (engine_has_given_up(e, c->id)) {
            run->counts.locked++;
            run->leave = true;
            page_over(page, i);
        } else if (is_held_back(e, job, run->lease.slot))
            put_off(e, page, i, OUTCOME_HELD_BACK, slot_next(page->now, e->slot_length_s));
    }
}

/* ---- counting ---- */

/* Which count an outcome adds to, besides `run`. */
static int64_t *count_of(struct pass_counts *c, enum outcome o)
{
    switch (o) {
    case OUTCOME_DONE: return &c->done;
    case OUTCOME_AGAIN: return &c->again;
    case OUTCOME_DEFERRED: return &c->deferred;
    case OUTCOME_FAILED: case OUTCOME_BAD_ANSWER: return &c->failed;
    case OUTCOME_TIMEOUT: return &c->timeout;
    case OUTCOME_CRASHED: return &c->crashed;
    case OUTCOME_HELD_BACK: case OUTCOME_RESLOTTED: return &c->held_back;
    case OUTCOME_UNKNOWN_JOB: return &c->unknown_job;
    default: return &c->guarded;
    }
}

void verdict_settled(struct bucket_run *run, const struct settlement *s)
{
    if (s->ran)
        run->counts.run++;
    ++*count_of(&run->counts, s->outcome);
}

void counts_add(struct pass_counts *sum, const struct pass_counts *more)
{
    int64_t late = more->late_us > sum->late_us ? more->late_us : sum->late_us;
    int64_t took = more->took_us > sum->took_us ? more->took_us : sum->took_us;
    int64_t *to = (int64_t *)sum;
    const int64_t *from = (const int64_t *)more;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
    sum->late_us = late;
    sum->took_us = took;
}
