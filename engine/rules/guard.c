/* guard.c - what becomes of a check after its answer: one function per kind of answer, in a table.
 * Total: for any input, a check either ends or moves to a slot that has not begun. */
#include "guard.h"

#include "../base/saturate.h"
#include "retry.h"
#include "slot.h"

/* The check as it was read: every verdict begins with it. A check that has run is no longer put
 * off. */
static struct verdict as_read(const struct guard_input *in)
{
    return (struct verdict){
        .check_count = in->check_count,
        .failure_count = in->failure_count,
        .deferred_at = in->deferred_at,
    };
}

static struct verdict ends(struct verdict v, enum outcome outcome)
{
    v.ends = true;
    v.outcome = outcome;
    v.next_at = 0;
    return v;
}

static struct verdict moves(struct verdict v, enum outcome outcome, int64_t at,
                            const struct guard_policy *policy, int64_t now)
{
    v.ends = false;
    v.outcome = outcome;
    v.next_at = slot_for(at < MOMENT_MAX ? at : MOMENT_MAX, now, policy->slot_length_s);
    return v;
}

/* The farthest moment that a check may wait for: the horizon, or the last moment that can be
 * written. */
static int64_t farthest(const struct guard_policy *policy, int64_t now)
{
    int64_t at = saturate_add(now, policy->horizon_s);
    return at < MOMENT_MAX ? at : MOMENT_MAX;
}

static struct verdict judge_done(const struct guard_policy *policy, const struct guard_input *in)
{
    (void)policy;
    return ends(as_read(in), OUTCOME_DONE);
}

static struct verdict judge_again(const struct guard_policy *policy, const struct guard_input *in)
{
    struct verdict v = as_read(in);
    if (in->at <= in->now)
        return ends(v, OUTCOME_PAST);
    if (in->at > farthest(policy, in->now))
        return ends(v, OUTCOME_BEYOND_HORIZON);
    if (in->check_count >= policy->max_checks)
        return ends(v, OUTCOME_MAX_CHECKS);
    v.check_count++;
    v.failure_count = 0;
    v.deferred_at = 0;
    return moves(v, OUTCOME_AGAIN, in->at, policy, in->now);
}

static struct verdict judge_defer(const struct guard_policy *policy, const struct guard_input *in)
{
    struct verdict v = as_read(in);
    bool first = in->deferred_at == 0;
    if (!first && saturate_sub(in->now, in->deferred_at) > policy->horizon_s)
        return ends(v, OUTCOME_DEFERRED_OUT);
    if (first)
        v.deferred_at = in->now ? in->now : 1;          /* 0 would mean never */
    int64_t limit = farthest(policy, in->now);
    return moves(v, OUTCOME_DEFERRED, in->at < limit ? in->at : limit, policy, in->now);
}

static struct verdict judge_failure(const struct guard_policy *policy, const struct guard_input *in,
                                    enum outcome kind)
{
    struct verdict v = as_read(in);
    if (v.failure_count < INT32_MAX)
        v.failure_count++;
    if (in->failure_count >= policy->max_failures)
        return ends(v, kind);
    int64_t base = policy->backoff_s > 0 ? policy->backoff_s : policy->slot_length_s;
    int64_t delay = retry_delay(base, policy->backoff_max_s, in->failure_count, in->random);
    return moves(v, kind, saturate_add(in->now, delay), policy, in->now);
}

static struct verdict judge_fail(const struct guard_policy *policy, const struct guard_input *in)
{
    return judge_failure(policy, in, OUTCOME_FAILED);
}

static struct verdict judge_timeout(const struct guard_policy *policy, const struct guard_input *in)
{
    return judge_failure(policy, in, OUTCOME_TIMEOUT);
}

static struct verdict judge_crash(const struct guard_policy *policy, const struct guard_input *in)
{
    return judge_failure(policy, in, OUTCOME_CRASHED);
}

static struct verdict judge_bad(const struct guard_policy *policy, const struct guard_input *in)
{
    return judge_failure(policy, in, OUTCOME_BAD_ANSWER);
}

static struct verdict (*const judges[])(const struct guard_policy *, const struct guard_input *) = {
    [ANSWER_DONE] = judge_done,
    [ANSWER_AGAIN] = judge_again,
    [ANSWER_DEFER] = judge_defer,
    [ANSWER_FAIL] = judge_fail,
    [ANSWER_TIMEOUT] = judge_timeout,
    [ANSWER_CRASH] = judge_crash,
    [ANSWER_BAD] = judge_bad,
};

struct verdict guard_judge(const struct guard_policy *policy, const struct guard_input *in)
{
    unsigned kind = in->answer;
    return kind < sizeof judges / sizeof *judges ? judges[kind](policy, in) : judge_bad(policy, in);
}

int64_t guard_late_since(const struct guard_input *in)
{
    if (in->put_off_at)
        return in->put_off_at;
    return in->slot ? in->slot : 1;                     /* 0 would mean that it was not put off */
}

struct verdict guard_put_off(const struct guard_policy *policy, const struct guard_input *in,
                             enum outcome why, int64_t at)
{
    struct verdict v = as_read(in);
    bool was_late = in->put_off_at != 0;
    if (was_late && why == OUTCOME_UNKNOWN_JOB && saturate_sub(in->now, in->put_off_at) > policy->horizon_s)
        return ends(v, OUTCOME_UNKNOWN_JOB);
    if (was_late || why != OUTCOME_RESLOTTED)
        v.put_off_at = guard_late_since(in);
    return moves(v, why, at, policy, in->now);
}
