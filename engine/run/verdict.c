/* verdict.c - what becomes of each check of a page: moved on, left behind, or run and judged. */
#include "verdict.h"

#include <string.h>

#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/slot.h"

/* what a worker reports of itself need not be true */
static const int64_t run_us_max = 365LL * 86400 * 1000000;

static struct guard_policy policy_of(const struct lane_env *env, int job)
{
    const struct job_settings *j = jobs_settings(env->jobs, job);
    return (struct guard_policy){
        .slot_length_s = env->clocks->slot_length_s,
        .max_checks = j->max_checks,
        .horizon_s = j->horizon_s,
        .max_failures = j->max_failures,
        .backoff_s = j->backoff_s,
        .backoff_max_s = j->backoff_max_s,
    };
}

static struct guard_input input_of(const struct lane_env *env, const struct page *page, int index)
{
    const struct check *c = &page->rows.checks[index];
    return (struct guard_input){
        .now = page->now,
        .check_count = c->check_count,
        .failure_count = c->failure_count,
        .deferred_at = c->deferred_at,
        .slot = c->next_check_at,
        .put_off_at = c->put_off_at,
        .random = random_next(env->random),
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
    s->put_off_at = v->put_off_at;
}

/* ---- checks that are not run ---- */

/* Moves a check on that was not run: held back, unknown here, or reslotted. */
static void put_off(const struct lane_env *env, struct page *page, int index, enum outcome why, int64_t at,
                    int64_t now_us)
{
    char since[MOMENT_TEXT];
    struct guard_policy policy = policy_of(env, page->checks[index].job);
    struct guard_input in = input_of(env, page, index);
    struct verdict v = guard_put_off(&policy, &in, why, at);
    struct settlement *s = &page->checks[index].settlement;
    apply(s, &v);
    if (v.ends)
        s->note = arena_printf(page->arena, "no engine has had its job since %s",
                               moment_format(in.put_off_at, since));
    page_answer(page, index, now_us);
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

void verdict_hold_back(const struct lane_env *env, struct page *page, int job, int64_t now_us)
{
    for (int i = 0; i < page->rows.n; i++)
        if (page->checks[i].job == job && page->checks[i].state == CHECK_WAITING)
            put_off_to_next_slot(env, page, i, OUTCOME_HELD_BACK, now_us);
}

void verdict_job_is_gone(const struct lane_env *env, struct page *page, int job, int64_t now_us)
{
    for (int i = 0; i < page->rows.n; i++)
        if (page->checks[i].job == job && page->checks[i].state == CHECK_WAITING)
            put_off_unknown(env, page, i, now_us);
}

/* The SQL functions and bulk load see to it, but a plain INSERT may put anything into the table.
 * Such a check would never fit into a slab, or its settle would match no row. One in a wrong bucket
 * is run: to hash each name here would cost half of what an engine does for a check (doctor does it
 * for some). Returns what is wrong; NULL: nothing. */
static const char *why_impossible(const struct check *c)
{
    if (c->check_count < 0 || c->failure_count < 0)
        return "has a negative count";
    if (c->entity_name_len > CHECK_NAME_MAX || c->entity_key_len > CHECK_NAME_MAX ||
        c->job_exec_len > CHECK_NAME_MAX)
        return "has a name that is too long";
    if (c->payload_len > CHECK_PAYLOAD_MAX)
        return "has a payload that is too large";
    return c->origin && strlen(c->origin) > ORIGIN_MAX ? "has an origin that is too long" : NULL;
}

static void skip_impossible(const struct lane_env *env, struct leased_bucket *bucket, const struct check *c,
                            int64_t now_us)
{
    if (cooldown_may_log(env->cooldowns, cooldown_of(COOLDOWN_CHECK, c->id), now_us))
        log_error(env->log,
                  "slot %lld: check %lld (%.*s, %.*s, %.*s) %s, as no call of prescient writes it; it is "
                  "not run and stays where it is: delete the row, and enqueue the check",
                  (long long)bucket->lease.slot, (long long)c->id, UTF8_SHOWN(c->entity_name),
                  UTF8_SHOWN(c->entity_key), UTF8_SHOWN(c->job_exec), why_impossible(c));
    env->totals->skipped_some = true;
    leased_bucket_skip(bucket, 1);
}

/* ---- a page comes in ---- */

enum way { WAY_RUN, WAY_STAY, WAY_RESLOT, WAY_UNKNOWN_JOB, WAY_OTHER_ENGINE, WAY_IMPOSSIBLE, WAY_COOLDOWN,
           WAY_HELD_BACK };

static enum way way_of(const struct lane_env *env, const struct leased_bucket *bucket, const struct check *c,
                       int job, int64_t now_us)
{
    enum target_kind kind = bucket->target->kind;
    if (why_impossible(c))
        return WAY_IMPOSSIBLE;
    if (c->kept)
        return WAY_STAY;
    if (kind == TARGET_RESLOT)
        return WAY_RESLOT;
    if (job < 0)
        return kind == TARGET_SWEEP ? WAY_UNKNOWN_JOB : WAY_OTHER_ENGINE;
    if (cooldown_is_check_on(env->cooldowns, c->id, now_us))
        return WAY_COOLDOWN;
    return jobs_is_held(env->jobs, job, bucket->lease.slot) ? WAY_HELD_BACK : WAY_RUN;
}

static void take_in(const struct lane_env *env, struct page *page, int i, int64_t now_us)
{
    struct leased_bucket *bucket = page->bucket;
    const struct check *c = &page->rows.checks[i];
    switch (way_of(env, bucket, c, page->checks[i].job, now_us)) {
    case WAY_RUN:
        return;
    case WAY_RESLOT:
        put_off_to_next_slot(env, page, i, OUTCOME_RESLOTTED, now_us);
        return;
    case WAY_HELD_BACK:
        put_off_to_next_slot(env, page, i, OUTCOME_HELD_BACK, now_us);
        return;
    case WAY_UNKNOWN_JOB:
        put_off_unknown(env, page, i, now_us);
        return;
    case WAY_STAY:                      /* a second look finds it when that transaction is over */
        bucket->counts.locked++;
        break;
    case WAY_OTHER_ENGINE:
        leased_bucket_skip_job(bucket, c->job_exec);
        break;
    case WAY_IMPOSSIBLE:
        skip_impossible(env, bucket, c, now_us);
        break;
    case WAY_COOLDOWN:
        leased_bucket_skip(bucket, 1);
        break;
    }
    page_over(page, i);
}

void verdict_take_in(const struct lane_env *env, struct page *page, int64_t now_us)
{
    for (int i = 0; i < page->rows.n; i++)
        take_in(env, page, i, now_us);
}

/* ---- answers ---- */

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
    struct guard_policy policy = policy_of(env, c->job);
    struct guard_input in = input_of(env, page, index);
    in.answer = kind;
    in.at = raw->at;
    struct verdict v = guard_judge(&policy, &in);
    struct settlement *s = &c->settlement;
    apply(s, &v);
    s->ran = true;
    s->run_us = raw->run_us < 0 || raw->run_us > run_us_max ? 0 : raw->run_us;
    s->run_at_us = env->clocks->virtual_now ? page->now * 1000000
                                            : clocks_of_boot_us(env->clocks, raw->began_us);
    s->note = raw->text;
    s->effects = raw->effects;
    s->neffects = raw->neffects;
    pace_add(env->pace, s->run_us);
    if (!bucket->has_run) {
        bucket->has_run = true;
        bucket->counts.late_us = s->run_at_us - bucket->lease.slot * 1000000;
    }
    return jobs_note_run(env->jobs, c->job, kind);
}

void verdict_refused_by_database(const struct lane_env *env, struct page *page, int index,
                                 const char *reason)
{
    struct page_check *c = &page->checks[index];
    struct guard_policy policy = policy_of(env, c->job);
    struct guard_input in = input_of(env, page, index);
    in.answer = ANSWER_BAD;
    struct verdict v = guard_judge(&policy, &in);
    if (!c->settlement.ran)
        v.put_off_at = guard_late_since(&in);
    apply(&c->settlement, &v);
    c->settlement.neffects = 0;
    c->settlement.note = arena_printf(page->arena, "the database refuses the answer: %.*s",
                                      (int)utf8_valid_bytes(reason, strlen(reason)), reason);
    c->answer_refused = true;
}
