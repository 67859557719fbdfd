/* verdict.c - what becomes of each check of a page: moved on, left behind, or run and judged. */
#include "verdict.h"

#include <string.h>

#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/about.h"
#include "../rules/digest.h"
#include "../rules/slot.h"
#include "../rules/terms.h"
#include "hearing.h"
#include "phases.h"
#include "recurring.h"

/* what a worker reports of itself need not be true */
static const int64_t run_us_max = 365LL * 86400 * 1000000;

static const struct guard_policy *policy_of(const struct lane_env *env, const struct page *page, int index)
{
    int job = page->checks[index].job;
    if (check_is_delivery(&page->rows.checks[index]))
        return jobs_policy_of_deliveries(env->jobs, job, env->clocks->slot_length_s);
    return jobs_policy(env->jobs, job, env->clocks->slot_length_s);
}

static struct guard_input input_of(const struct lane_env *env, const struct page *page, int index)
{
    const struct check *c = &page->rows.checks[index];
    return (struct guard_input){
        .now = page->now,
        .check_count = c->check_count,
        .failure_count = c->failure_count,
        .deferred_at = c->deferred_at > c->next_check_at ? 0 : c->deferred_at,
        .is_recurring = check_recurs(c),
        .slot = c->next_check_at,
        .phase_s = phase_of_check_s(env->clocks, c),
        .put_off_at = c->put_off_at,
    };
}

static void apply(struct settlement *s, const struct verdict *v)
{
    s->ends = v->ends;
    s->renews = false;
    s->outcome = v->outcome;
    s->next_at = v->next_at;
    s->check_count = v->check_count;
    s->failure_count = v->failure_count;
    s->deferred_at = v->deferred_at;
    s->put_off_at = v->put_off_at;
    s->is_attempt = v->is_attempt;
    s->digest = NULL;
}

/* False: out of memory. An event that went out without its deliveries would be lost to those who
 * listen, so the check stays where it is, and is run again. */
static bool add_hearers(const struct lane_env *env, struct page *page, int index, bool is_note_good)
{
    struct settlement *s = &page->checks[index].settlement;
    if (hearing_add(env->settings, page->arena, is_note_good, s))
        return true;
    leased_bucket_skip(page->bucket, 1);
    page_over(page, index);
    return false;
}

/* ---- checks that are not run ---- */

/* Why it ends at last, although it has not run. */
static const char *why_late(enum outcome why)
{
    return why == OUTCOME_JOB_BROKEN ? "its job has been broken since" : "no engine has had its job since";
}

/* Moves a check on that was not run: held back, unknown here, or reslotted. */
static void put_off(const struct lane_env *env, struct page *page, int index, enum outcome why, int64_t at,
                    int64_t now_us)
{
    char since[MOMENT_TEXT];
    const struct guard_policy *policy = policy_of(env, page, index);
    struct guard_input in = input_of(env, page, index);
    struct verdict v = guard_put_off(policy, &in, why, at);
    struct settlement *s = &page->checks[index].settlement;
    apply(s, &v);
    if (v.ends)
        s->note = arena_printf(page->arena, "%s %s", why_late(why), moment_format(in.put_off_at, since));
    /* a digest that no settings have had for so long is over */
    bool recurs = check_recurs(s->check) && !check_is_digest(s->check);
    if (v.ends && recurs && !recurring_renew(env, page, s, now_us)) {
        s->next_at = slot_for(at, page->now, env->clocks->slot_length_s);
        s->put_off_at = in.put_off_at;
    }
    if (!s->ends || add_hearers(env, page, index, true))
        page_answer(page, index, now_us);
}

/* It was filed here to be run later in the slot, and the slot is not spread so far any more. One
 * that was asked for sooner meanwhile is in another slot. */
static bool is_early(const struct lane_env *env, const struct page *page, const struct check *c)
{
    int32_t length_s = env->clocks->slot_length_s;
    bool is_of_its_slot = !slot_is_fine(c->next_check_at, length_s) && c->deferred_at > c->next_check_at &&
                          c->deferred_at - c->next_check_at < length_s;
    return is_of_its_slot && c->deferred_at > page->now;
}

static void put_off_unknown(const struct lane_env *env, struct page *page, int index, int64_t now_us)
{
    const struct check *c = &page->rows.checks[index];
    int64_t due_at = c->put_off_at ? c->put_off_at : c->next_check_at;
    int64_t delay_s = retry_unknown_job_delay_s(due_at, page->now, env->clocks->slot_length_s);
    put_off(env, page, index, OUTCOME_UNKNOWN_JOB, page->now + delay_s, now_us);
}

static void put_off_to_next_slot(const struct lane_env *env, struct page *page, int index, enum outcome why,
                                 int64_t now_us)
{
    put_off(env, page, index, why, slot_next(page->now, env->clocks->slot_length_s), now_us);
}

/* To the next slot; or later, when the job will hardly be mended by then. */
static void put_off_held_back(const struct lane_env *env, struct page *page, int index, int64_t now_us)
{
    const struct job_watch *watch = &env->jobs->watched[page->checks[index].job];
    struct guard_input in = input_of(env, page, index);
    if (!watch->is_broken) {
        put_off_to_next_slot(env, page, index, OUTCOME_HELD_BACK, now_us);
        return;
    }
    int64_t delay_s = retry_broken_job_delay_s(guard_late_since(&in), page->now, env->clocks->slot_length_s);
    put_off(env, page, index, OUTCOME_JOB_BROKEN, page->now + delay_s, now_us);
}

static void answer_unrun(struct page *page, int index, const struct verdict *v, int64_t now_us)
{
    apply(&page->checks[index].settlement, v);
    page_answer(page, index, now_us);
}

static void pause_check(const struct lane_env *env, struct page *page, int index, int64_t slot,
                        int64_t now_us)
{
    struct guard_input in = input_of(env, page, index);
    struct verdict v = guard_pause(&in, slot);
    answer_unrun(page, index, &v, now_us);
}

/* Ids that follow each other go to seconds that do. */
static void resume_check(const struct lane_env *env, struct page *page, int index, int64_t now_us)
{
    struct guard_input in = input_of(env, page, index);
    const struct pause *from = pauses_of_slot(&env->pausing->pauses, page->bucket->lease.slot);
    uint64_t place = from && from->is_reslotted ? 0 : (uint64_t)page->rows.checks[index].id;
    struct verdict v = guard_resume(&in, env->clocks->slot_length_s, place);
    answer_unrun(page, index, &v, now_us);
    if (check_recurs(&page->rows.checks[index]))
        recurring_resume(env, page, &page->checks[index].settlement, now_us);
}

void verdict_busy(const struct lane_env *env, struct page *page, int index, int64_t most_s, int64_t now_us)
{
    struct guard_input in = input_of(env, page, index);
    int64_t now = clocks_now(env->clocks, now_us);
    in.now = now > page->now ? now : page->now;
    int64_t at = in.now + 1 + (int64_t)(random_next(env->random) % (uint64_t)most_s);
    struct verdict v = guard_busy(&in, env->clocks->slot_length_s, at);
    answer_unrun(page, index, &v, now_us);
}

/* The slot of the pause that holds the check; 0: none. Never that in which it is: who reads there
 * has not heard yet that it was resumed. */
static int64_t pause_of(const struct lane_env *env, const struct leased_bucket *bucket, const struct check *c)
{
    if (!env->pausing->pauses.n)
        return 0;
    int64_t slot = pauses_find(&env->pausing->pauses, c);
    return slot == bucket->lease.slot ? 0 : slot;
}

void verdict_pause(const struct lane_env *env, struct page *page, int64_t now_us)
{
    for (int i = 0; i < page->rows.n; i++) {
        int64_t slot = page_is_unrun(page, i)
                           ? pause_of(env, page->bucket, &page->rows.checks[i]) : 0;
        if (slot)
            pause_check(env, page, i, slot, now_us);
    }
}

void verdict_hold_back(const struct lane_env *env, struct page *page, int job, int64_t now_us)
{
    for (int i = 0; i < page->rows.n; i++)
        if (page->checks[i].job == job && page_is_unrun(page, i))
            put_off_held_back(env, page, i, now_us);
}

void verdict_job_is_gone(const struct lane_env *env, struct page *page, int job, int64_t now_us)
{
    for (int i = 0; i < page->rows.n; i++)
        if (page->checks[i].job == job && page_is_unrun(page, i))
            put_off_unknown(env, page, i, now_us);
}

/* The SQL functions and bulk load see to it, but a plain INSERT may put anything into the table.
 * Such a check would never fit into a slab, or its settle would match no row. One in a wrong bucket
 * is run: to hash each name here would cost half of what an engine does for a check (sweeps do it
 * for those that come next, mark_swept). Returns what is wrong; NULL: nothing. */
static const char *why_impossible(const struct check *c)
{
    if (c->is_garbled)
        return "has an origin with an end of line";
    if (c->check_count < 0 || c->failure_count < 0)
        return "has a negative count";
    if (c->entity_name_len > CHECK_NAME_MAX || c->entity_key_len > CHECK_NAME_MAX ||
        c->job_exec_len > CHECK_NAME_MAX)
        return "has a name that is too long";
    if (c->concurrency_key && (!*c->concurrency_key || strlen(c->concurrency_key) > CHECK_NAME_MAX))
        return "has a concurrency key that is empty or too long";
    if (c->tenant && (!*c->tenant || strlen(c->tenant) > CHECK_NAME_MAX))
        return "has a tenant that is empty or too long";
    if (c->payload_len > CHECK_PAYLOAD_MAX)
        return "has a payload that is too large";
    return c->origin && strlen(c->origin) > ORIGIN_MAX ? "has an origin that is too long" : NULL;
}

static void skip_impossible(const struct lane_env *env, struct leased_bucket *bucket, const struct check *c,
                            int64_t now_us)
{
    if (cooldown_may_log(env->cooldowns, cooldown_of(COOLDOWN_CHECK, c->id), now_us))
        log_line_about(
            env->log, LOG_LEVEL_ERROR, about_check(c),
            "slot %lld: check %lld (%.*s, %.*s, %.*s) %s, as no call of prescient writes it; it is "
            "not run and stays where it is: delete the row, and enqueue the check",
            (long long)bucket->lease.slot, (long long)c->id, UTF8_SHOWN(c->entity_name),
            UTF8_SHOWN(c->entity_key), UTF8_SHOWN(c->job_exec), why_impossible(c));
    env->totals->skipped_some = true;
    leased_bucket_skip(bucket, 1);
}

/* Its slot has just come, and another engine may have the job; else the sweep puts it off, and
 * reports it, once it has taken what can be run here. Where no sweep follows, it is reported here,
 * and a command reports at its end what no other engine is there for. */
static void leave_to_others(const struct lane_env *env, struct leased_bucket *bucket, const struct check *c)
{
    leased_bucket_skip_job(bucket, c->job_exec);
    bucket->target->left_some = true;
    if (bucket->target->kind == TARGET_SLOT && !env->patient)
        trouble_note_here(env->trouble, c);
    if (!bucket->target->is_final)
        return;
    trouble_note_left(env->trouble, c);
    env->totals->skipped_some = true;
}

/* ---- a page comes in ---- */

enum way { WAY_RUN, WAY_STAY, WAY_PAUSE, WAY_RESUME, WAY_RESLOT, WAY_UNKNOWN_JOB, WAY_OTHER_ENGINE,
           WAY_IMPOSSIBLE, WAY_LEAVE, WAY_HELD_BACK, WAY_EARLY, WAY_MOVED_ON };

static enum way way_of(const struct lane_env *env, const struct page *page, int i, int64_t now_us)
{
    const struct leased_bucket *bucket = page->bucket;
    const struct check *c = &page->rows.checks[i];
    int job = page->checks[i].job;
    enum target_kind kind = bucket->target->kind;
    if (why_impossible(c))
        return WAY_IMPOSSIBLE;
    if (c->kept)
        return WAY_STAY;
    if (cooldown_is_check_on(env->cooldowns, c->id, now_us))
        return WAY_LEAVE;               /* nor is it moved: each try that fails doubles that time */
    if (env->leaves_deliveries && check_is_delivery(c))
        return WAY_LEAVE;
    if (pause_of(env, bucket, c))
        return WAY_PAUSE;
    if (slot_is_of_pause(bucket->lease.slot))
        return WAY_RESUME;
    if (kind == TARGET_RESLOT)
        return WAY_RESLOT;
    if (job < 0)
        return bucket->target->puts_off ? WAY_UNKNOWN_JOB : WAY_OTHER_ENGINE;
    if (is_early(env, page, c))
        return WAY_EARLY;
    return jobs_is_held(env->jobs, job, bucket->lease.slot) ? WAY_HELD_BACK : WAY_RUN;
}

/* One that could be run, but has terms. If they cannot be read here, it stays for an engine that
 * can read them, and moves on when its slot is over. */
static enum way way_of_recurring(const struct lane_env *env, struct page *page, int i, int64_t now_us)
{
    switch (recurring_take_in(env, page, i, now_us)) {
    case RECURRING_RUNS:
        return WAY_RUN;
    case RECURRING_MOVES_ON:
        return WAY_MOVED_ON;
    case RECURRING_UNREADABLE:
        break;
    }
    page->bucket->target->left_some = true;
    return page->bucket->target->puts_off ? WAY_UNKNOWN_JOB : WAY_LEAVE;
}

/* It stays where it is, and is counted in the last round, which reads it again. */
static bool is_left_to_last_round(const struct page *page, enum way way)
{
    static const bool stays[] = { [WAY_STAY] = true, [WAY_OTHER_ENGINE] = true, [WAY_IMPOSSIBLE] = true,
                                  [WAY_LEAVE] = true, [WAY_MOVED_ON] = false };
    return page->is_of_small && stays[way];
}

static void take_in(const struct lane_env *env, struct page *page, int i, int64_t now_us)
{
    struct leased_bucket *bucket = page->bucket;
    const struct check *c = &page->rows.checks[i];
    enum way way = way_of(env, page, i, now_us);
    if (way == WAY_RUN && c->terms)
        way = way_of_recurring(env, page, i, now_us);
    if (is_left_to_last_round(page, way)) {
        page_over(page, i);
        return;
    }
    switch (way) {
    case WAY_RUN:
    case WAY_MOVED_ON:
        return;
    case WAY_PAUSE:
        pause_check(env, page, i, pause_of(env, bucket, c), now_us);
        return;
    case WAY_RESUME:
        resume_check(env, page, i, now_us);
        return;
    case WAY_RESLOT:
        put_off_to_next_slot(env, page, i, OUTCOME_RESLOTTED, now_us);
        return;
    case WAY_EARLY:
        put_off(env, page, i, OUTCOME_RESLOTTED, c->deferred_at, now_us);
        return;
    case WAY_HELD_BACK:
        put_off_held_back(env, page, i, now_us);
        return;
    case WAY_UNKNOWN_JOB:
        put_off_unknown(env, page, i, now_us);
        return;
    case WAY_STAY:                      /* a second look finds it when that transaction is over */
        bucket->counts.locked++;
        break;
    case WAY_OTHER_ENGINE:
        leave_to_others(env, bucket, c);
        break;
    case WAY_IMPOSSIBLE:
        skip_impossible(env, bucket, c, now_us);
        break;
    case WAY_LEAVE:
        leased_bucket_skip(bucket, 1);
        break;
    }
    page_over(page, i);
}

void verdict_take_in(const struct lane_env *env, struct page *page, int64_t now_us)
{
    for (int i = 0; i < page->rows.n; i++)
        if (page_is_unrun(page, i))
            take_in(env, page, i, now_us);
}

/* ---- answers ---- */

static void note_run(const struct lane_env *env, const struct page *page, const struct raw_answer *raw,
                     struct settlement *s)
{
    s->ran = true;
    s->run_us = raw->run_us < 0 || raw->run_us > run_us_max ? 0 : raw->run_us;
    s->run_at_us = env->clocks->virtual_now ? page->now * 1000000
                                            : clocks_of_boot_us(env->clocks, raw->began_us);
}

/* When the run ended, in seconds, rounded up: no attempt is early. In virtual time a run takes no
 * time. 0: it has not run. */
static int64_t ended_at(const struct lane_env *env, const struct settlement *s)
{
    int64_t took_us = env->clocks->virtual_now ? 0 : s->run_us;
    return s->ran ? (s->run_at_us + took_us + 999999) / 1000000 : 0;
}

/* What decides when a check is tried again that has failed. */
static void add_failure(const struct lane_env *env, const struct settlement *s, struct guard_input *in)
{
    in->ended_at = ended_at(env, s);
    in->random = random_next(env->random);
}

bool verdict_answered(const struct lane_env *env, struct page *page, int index, enum answer_kind kind,
                      const struct raw_answer *raw, int64_t now_us)
{
    struct page_check *c = &page->checks[index];
    bool ended_by_us = env->shutdown->jobs_killed && (kind == ANSWER_CRASH || kind == ANSWER_TIMEOUT);
    page_answer(page, index, now_us);
    if (page->dropped || ended_by_us) {
        page_over(page, index);
        return false;
    }
    struct leased_bucket *bucket = page->bucket;
    struct settlement *s = &c->settlement;
    note_run(env, page, raw, s);
    const struct guard_policy *policy = policy_of(env, page, index);
    struct guard_input in = input_of(env, page, index);
    in.answer = kind;
    in.at = raw->at;
    if (kind >= ANSWER_FAIL)
        add_failure(env, s, &in);
    struct verdict v = guard_judge(policy, &in);
    apply(s, &v);
    s->note = raw->text;
    s->effects = raw->effects;
    s->neffects = raw->neffects;
    if (s->ends && check_recurs(s->check))
        recurring_renew(env, page, s, now_us);
    add_hearers(env, page, index, true);
    pace_add(env->pace, s->run_us);
    if (!bucket->has_run) {
        bucket->has_run = true;
        int64_t due_at = bucket->lease.slot + phase_of_check_s(env->clocks, s->check);
        bucket->counts.late_us = s->run_at_us - due_at * 1000000;
    }
    return jobs_note_run(env->jobs, c->job, kind);
}

void verdict_refused_by_database(const struct lane_env *env, struct page *page, int index,
                                 const char *reason)
{
    struct page_check *c = &page->checks[index];
    const struct guard_policy *policy = policy_of(env, page, index);
    struct guard_input in = input_of(env, page, index);
    in.answer = ANSWER_BAD;
    add_failure(env, &c->settlement, &in);
    struct verdict v = guard_judge(policy, &in);
    if (!c->settlement.ran)
        v.put_off_at = guard_late_since(&in);
    apply(&c->settlement, &v);
    c->settlement.neffects = 0;
    c->settlement.note = arena_printf(page->arena, "the database refuses the answer: %.*s",
                                      (int)utf8_valid_bytes(reason, strlen(reason)), reason);
    c->answer_refused = true;
    if (c->settlement.ends && check_recurs(c->settlement.check))
        recurring_renew(env, page, &c->settlement, clock_mono_us(env->clock));
    add_hearers(env, page, index, false);
}
