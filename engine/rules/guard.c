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

static struct verdict moves(struct verdict v, enum outcome outcome, int64_t next_at)
{
    v.ends = false;
    v.outcome = outcome;
    v.next_at = next_at;
    return v;
}

/* A check that has run in a fine slot moves by seconds. One that comes up some time after its slot
 * may go to a slot before `at`, if that comes after `now`. */
static int64_t slot_after_run(const struct guard_policy *policy, const struct guard_input *in, int64_t at)
{
    int64_t wanted = at < MOMENT_MAX ? at : MOMENT_MAX;
    if (policy->first_retry_s || slot_is_fine(in->slot, policy->slot_length_s))
        return slot_fine_for(wanted, in->now, policy->slot_length_s);
    return slot_for(saturate_sub(wanted, in->phase_s), in->now, policy->slot_length_s);
}

/* The last moment whose slot, of any length, comes before those of pauses. */
static const int64_t farthest_asked = SLOT_PAUSES_FROM - SLOT_LENGTH_MAX_S;

/* The farthest moment that a check may wait for: the horizon, or the last moment that can be asked
 * for. */
static int64_t farthest(const struct guard_policy *policy, int64_t now)
{
    int64_t at = saturate_add(now, policy->horizon_s);
    return at < farthest_asked ? at : farthest_asked;
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
    if (in->check_count >= policy->max_checks && !in->is_recurring)
        return ends(v, OUTCOME_MAX_CHECKS);
    v.check_count++;
    v.failure_count = 0;
    int64_t slot = slot_after_run(policy, in, in->at);
    v.deferred_at = slot < in->at ? in->at : 0;
    return moves(v, OUTCOME_AGAIN, slot);
}

/* A receiver that asks for three seconds gets what was put off in three seconds: within the full
 * slot that runs, the seconds are its slots, as for attempts. A moment that is over would come
 * again each second. */
static int64_t slot_after_deferral(const struct guard_policy *policy, const struct guard_input *in,
                                   int64_t at)
{
    if (at > in->now && at < slot_next(in->now, policy->slot_length_s))
        return slot_fine_for(at, in->now, policy->slot_length_s);
    return slot_after_run(policy, in, at);
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
    return moves(v, OUTCOME_DEFERRED, slot_after_deferral(policy, in, in->at < limit ? in->at : limit));
}

static int32_t attempts_of(const struct guard_policy *policy)
{
    return policy->attempts.most < 1 ? 1 : policy->attempts.most;
}

/* The second of the next attempt, between the slot that runs and the next one. 0: the attempts are
 * used up, or the next slot would have begun by then. */
static int64_t next_attempt_at(const struct guard_policy *policy, const struct guard_input *in)
{
    int32_t failed = in->failure_count < 0 ? 0 : in->failure_count, n = failed % attempts_of(policy);
    if (n + 1 >= attempts_of(policy))
        return 0;
    int64_t ended_at = in->ended_at > in->now ? in->ended_at : in->now;
    int64_t at = saturate_add(ended_at, retry_attempt_delay_s(&policy->attempts, n, in->random));
    int64_t end = slot_next(in->now, policy->slot_length_s);
    return at < end && at <= MOMENT_MAX ? at : 0;
}

/* The back-off doubles with each slot whose attempts were used up, not with each attempt. */
static int64_t slot_after_back_off(const struct guard_policy *policy, const struct guard_input *in)
{
    int64_t base = policy->backoff_s > 0 ? policy->backoff_s : policy->slot_length_s;
    int32_t failures = in->failure_count / attempts_of(policy);
    if (policy->first_retry_s && in->failure_count < 1) {
        int64_t ended_at = in->ended_at > in->now ? in->ended_at : in->now;
        return slot_after_run(policy, in, saturate_add(ended_at, policy->first_retry_s));
    }
    failures -= policy->first_retry_s > 0;
    int64_t at = saturate_add(in->now, retry_delay(base, policy->backoff_max_s, failures, in->random));
    if (attempts_of(policy) == 1)
        return slot_after_run(policy, in, at);
    int64_t wanted = at < MOMENT_MAX ? at : MOMENT_MAX;
    return slot_for(saturate_sub(wanted, in->phase_s), in->now, policy->slot_length_s);
}

int64_t guard_failures_most(const struct guard_policy *policy)
{
    return attempts_of(policy) * (policy->max_failures + INT64_C(1)) + (policy->first_retry_s > 0);
}

static struct verdict judge_failure(const struct guard_policy *policy, const struct guard_input *in,
                                    enum outcome kind)
{
    struct verdict v = as_read(in);
    int64_t most = guard_failures_most(policy);
    if (v.failure_count < INT32_MAX)
        v.failure_count++;
    if (in->failure_count + INT64_C(1) >= most)
        return ends(v, kind);
    int64_t attempt_at = next_attempt_at(policy, in);
    v.is_attempt = attempt_at != 0;
    return moves(v, kind, v.is_attempt ? attempt_at : slot_after_back_off(policy, in));
}

static struct verdict judge_fail(const struct guard_policy *policy, const struct guard_input *in)
{
    return judge_failure(policy, in, OUTCOME_FAILED);
}

/* Attempts and later slots are for what may work next time. */
static struct verdict judge_fail_final(const struct guard_policy *policy, const struct guard_input *in)
{
    struct verdict v = as_read(in);
    (void)policy;
    if (v.failure_count < INT32_MAX)
        v.failure_count++;
    return ends(v, OUTCOME_FAILED);
}

/* Whether a check whose job no engine can run has been late for so long that it ends. */
static bool is_late_for_good(const struct guard_policy *policy, const struct guard_input *in)
{
    return in->put_off_at && saturate_sub(in->now, in->put_off_at) > policy->horizon_s;
}

/* No fault of the check: it is late, and what it has counted stays. Attempts are made all the same,
 * for a database that is away for seconds. */
static struct verdict judge_broken(const struct guard_policy *policy, const struct guard_input *in)
{
    struct verdict v = as_read(in);
    int64_t attempt_at = next_attempt_at(policy, in), since = guard_late_since(in);
    if (is_late_for_good(policy, in))
        return ends(v, OUTCOME_FAILED);
    v.is_attempt = attempt_at != 0 && v.failure_count < INT32_MAX;
    if (v.is_attempt) {
        v.failure_count++;
        v.put_off_at = in->put_off_at;
        return moves(v, OUTCOME_JOB_BROKEN, attempt_at);
    }
    if (v.failure_count > 0)
        v.failure_count -= v.failure_count % attempts_of(policy);
    v.put_off_at = since;
    int64_t at = saturate_add(in->now, retry_broken_job_delay_s(since, in->now, policy->slot_length_s));
    return moves(v, OUTCOME_JOB_BROKEN, slot_for(at < MOMENT_MAX ? at : MOMENT_MAX, in->now,
                                                 policy->slot_length_s));
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
    [ANSWER_FAIL_FINAL] = judge_fail_final,
    [ANSWER_BROKEN] = judge_broken,
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
    if (why == OUTCOME_UNKNOWN_JOB && is_late_for_good(policy, in))
        return ends(v, OUTCOME_UNKNOWN_JOB);
    if (why == OUTCOME_JOB_BROKEN && is_late_for_good(policy, in))
        return ends(v, OUTCOME_FAILED);
    if (was_late || why != OUTCOME_RESLOTTED)
        v.put_off_at = guard_late_since(in);
    return moves(v, why, slot_for(at < MOMENT_MAX ? at : MOMENT_MAX, in->now, policy->slot_length_s));
}

/* Nobody waits for a paused check: it is not late, and the time does not count for the horizon. */
struct verdict guard_pause(const struct guard_input *in, int64_t slot)
{
    struct verdict v = as_read(in);
    v.deferred_at = 0;
    return moves(v, OUTCOME_PAUSED, slot);
}

struct verdict guard_busy(const struct guard_input *in, int32_t slot_length_s, int64_t at)
{
    struct verdict v = as_read(in);
    int64_t end = slot_next(in->now, slot_length_s);
    v.put_off_at = in->put_off_at;
    v.is_attempt = at > in->now && at < end;
    return moves(v, OUTCOME_BUSY, v.is_attempt ? slot_fine_for(at, in->now, slot_length_s) : end);
}

struct verdict guard_resume(const struct guard_input *in, int32_t slot_length_s, uint64_t place)
{
    int32_t length_s = slot_length_s < 1 ? 1 : slot_length_s;
    int64_t slot = slot_next(in->now, length_s) + (int64_t)(place % (uint64_t)length_s);
    return moves(as_read(in), OUTCOME_RESUMED, slot);
}
