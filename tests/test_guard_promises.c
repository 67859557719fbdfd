/* test_guard_promises.c - the table of guards, told once more as rules read from top to bottom and
 * tried over all small inputs; and its promises (never the past, always a slot, an end to
 * everything) under a seeded generator. */
#include "test.h"

#include <inttypes.h>
#include <stdint.h>
#include "../engine/base/random.h"
#include "../engine/rules/guard.h"
#include "../engine/rules/retry.h"
#include "../engine/rules/slot.h"

#define NOW 1772370900          /* a slot of 900 s */

/* ---- the table once more, as sentences: the first that holds decides. Slots are counted ---- */

struct story { const struct guard_policy *p; const struct guard_input *in; };

static bool says(const struct story *s, enum answer_kind kind) { return s->in->answer == kind; }
static bool was_done(const struct story *s) { return says(s, ANSWER_DONE); }
static bool fails_finally(const struct story *s) { return says(s, ANSWER_FAIL_FINAL); }
static bool asks_for_the_past(const struct story *s)
{
    return says(s, ANSWER_AGAIN) && !(s->in->at > s->in->now);
}
static bool asks_too_far(const struct story *s)
{
    return says(s, ANSWER_AGAIN) && s->in->at - s->in->now > s->p->horizon_s;
}
static bool asks_too_often(const struct story *s)
{
    return says(s, ANSWER_AGAIN) && s->p->max_checks - s->in->check_count <= 0;
}
static bool asks_again(const struct story *s) { return says(s, ANSWER_AGAIN); }
static bool defers_for_too_long(const struct story *s)
{
    return says(s, ANSWER_DEFER) && s->in->deferred_at != 0 &&
           s->in->deferred_at + s->p->horizon_s < s->in->now;
}
static bool defers(const struct story *s) { return says(s, ANSWER_DEFER); }
static bool defers_within_the_slot(const struct story *s)
{
    int64_t length = s->p->slot_length_s, last = s->in->now + s->p->horizon_s;
    int64_t until = s->in->at < last ? s->in->at : last;
    return says(s, ANSWER_DEFER) && until > s->in->now && until / length == s->in->now / length;
}
static int attempts_of(const struct guard_policy *p) { return p->attempts.most < 2 ? 1 : p->attempts.most; }
static int slots_used_up(const struct story *s) { return (s->in->failure_count + 1) / attempts_of(s->p); }
static bool has_a_try_left(const struct story *s) { return s->p->max_failures >= slots_used_up(s); }
static bool has_none_left(const struct story *s) { return !has_a_try_left(s); }
static int64_t attempt_at(const struct story *s)
{
    int64_t delay = s->p->attempts.interval_s;
    for (int n = s->in->failure_count % attempts_of(s->p); n > 0; n--)
        delay *= 2;
    if (delay > s->p->attempts.interval_max_s)
        delay = s->p->attempts.interval_max_s;
    int64_t from = s->in->now > s->in->ended_at ? s->in->now : s->in->ended_at;
    return from + delay + (int64_t)(s->in->random % (uint64_t)(s->p->attempts.jitter_s + 1));
}
static bool has_an_attempt_left(const struct story *s)
{
    bool is_last = s->in->failure_count % attempts_of(s->p) == attempts_of(s->p) - 1;
    int64_t length = s->p->slot_length_s;
    return has_a_try_left(s) && !is_last && attempt_at(s) / length == s->in->now / length;
}

static bool is_late_for_good(const struct story *s)
{
    return says(s, ANSWER_BROKEN) && s->in->put_off_at && s->in->now - s->in->put_off_at > s->p->horizon_s;
}
static bool is_broken_between_attempts(const struct story *s)
{
    bool is_last = s->in->failure_count % attempts_of(s->p) == attempts_of(s->p) - 1;
    int64_t length = s->p->slot_length_s;
    return says(s, ANSWER_BROKEN) && !is_last && attempt_at(s) / length == s->in->now / length;
}
static bool is_broken(const struct story *s) { return says(s, ANSWER_BROKEN); }
/* Half the time since it was due. */
static int64_t broken_again_at(const struct story *s)
{
    int64_t due = s->in->slot ? s->in->slot : 1;
    int64_t since = s->in->put_off_at ? s->in->put_off_at : due;
    int64_t half = (s->in->now - since) / 2, length = s->p->slot_length_s;
    return s->in->now + (half < length ? length : half);
}

enum then {
    ENDS,
    MOVES_TO_AT,
    MOVES_TO_AT_WITHIN_HORIZON,
    MOVES_TO_ITS_SECOND,
    MOVES_TO_ATTEMPT,
    MOVES_AS_LATE,
    MOVES_BACK_OFF
};

static const struct sentence {
    bool (*when)(const struct story *s);
    enum then then;
    int outcome;                /* -1: the kind of the failure */
    int checks_more;
    bool failures_forgotten, fails;
} sentences[] = {
    { was_done, ENDS, OUTCOME_DONE, 0, false, false },
    { asks_for_the_past, ENDS, OUTCOME_PAST, 0, false, false },
    { asks_too_far, ENDS, OUTCOME_BEYOND_HORIZON, 0, false, false },
    { asks_too_often, ENDS, OUTCOME_MAX_CHECKS, 0, false, false },
    { asks_again, MOVES_TO_AT, OUTCOME_AGAIN, 1, true, false },
    { defers_for_too_long, ENDS, OUTCOME_DEFERRED_OUT, 0, false, false },
    { defers_within_the_slot, MOVES_TO_ITS_SECOND, OUTCOME_DEFERRED, 0, false, false },
    { defers, MOVES_TO_AT_WITHIN_HORIZON, OUTCOME_DEFERRED, 0, false, false },
    { fails_finally, ENDS, OUTCOME_FAILED, 0, false, true },
    { is_late_for_good, ENDS, OUTCOME_FAILED, 0, false, false },
    { is_broken_between_attempts, MOVES_TO_ATTEMPT, OUTCOME_JOB_BROKEN, 0, false, true },
    { is_broken, MOVES_AS_LATE, OUTCOME_JOB_BROKEN, 0, false, false },
    { has_an_attempt_left, MOVES_TO_ATTEMPT, -1, 0, false, true },
    { has_a_try_left, MOVES_BACK_OFF, -1, 0, false, true },
    { has_none_left, ENDS, -1, 0, false, true },
};

static int64_t first_open_slot_from(int64_t at, int64_t now, int32_t length)
{
    int64_t slot = -1000 / length * length;
    while (slot <= now || slot < at)
        slot += length;
    return slot;
}

static bool is_as_told(const struct sentence *told, const struct story *s, const struct verdict *v)
{
    static const int failures[] = { [ANSWER_FAIL] = OUTCOME_FAILED,
                                    [ANSWER_TIMEOUT] = OUTCOME_TIMEOUT,
                                    [ANSWER_CRASH] = OUTCOME_CRASHED,
                                    [ANSWER_BAD] = OUTCOME_BAD_ANSWER };
    const struct guard_input *in = s->in;
    int64_t last = in->now + s->p->horizon_s,
            first_delay = s->p->backoff_s ? s->p->backoff_s : s->p->slot_length_s, delay = first_delay;
    for (int i = attempts_of(s->p); i <= in->failure_count; i += attempts_of(s->p))
        delay *= 2;
    if (delay > s->p->backoff_max_s)
        delay = s->p->backoff_max_s;
    int64_t from = in->at, to = in->at;
    if (told->then == MOVES_TO_AT_WITHIN_HORIZON && from > last)
        from = to = last;
    if (told->then == MOVES_BACK_OFF) {
        from = in->now + delay / 2;
        to = in->now + delay;
    }
    if (told->then == MOVES_AS_LATE)
        from = to = broken_again_at(s);
    int64_t earliest = first_open_slot_from(from, in->now, s->p->slot_length_s),
            latest = first_open_slot_from(to, in->now, s->p->slot_length_s);
    if (told->then == MOVES_TO_ATTEMPT)
        earliest = latest = attempt_at(s);
    if (told->then == MOVES_TO_ITS_SECOND)
        earliest = latest = in->at < last ? in->at : last;
    if (told->then == ENDS)
        earliest = latest = 0;
    int outcome = told->outcome < 0 ? failures[in->answer] : told->outcome;
    int failure_count = in->failure_count + told->fails;
    if (told->then == MOVES_AS_LATE)
        failure_count -= failure_count % attempts_of(s->p);
    int64_t deferred_at = in->deferred_at;
    if (told->outcome == OUTCOME_DEFERRED && in->deferred_at == 0)
        deferred_at = in->now;
    if (told->failures_forgotten) {
        failure_count = 0;
        deferred_at = 0;
    }
    return v->ends == (told->then == ENDS) && (int)v->outcome == outcome &&
           v->next_at >= earliest && v->next_at <= latest &&
           v->check_count == in->check_count + told->checks_more &&
           v->failure_count == failure_count && v->deferred_at == deferred_at;
}

static bool try_one(const struct guard_policy *p, const struct guard_input *in)
{
    const struct story s = { p, in };
    const struct sentence *told = sentences;
    while (!told->when(&s))
        told++;
    struct verdict v = guard_judge(p, in);
    if (is_as_told(told, &s, &v))
        return true;
    printf("answer %d at %" PRId64 " now %" PRId64 " checks %d/%d failures %d/%d deferred %" PRId64
           " horizon %" PRId64 " length %d: ends %d as %s, "
           "next %" PRId64 ", counts %d %d; %d attempts, ended %" PRId64 "\n",
           in->answer, in->at, in->now, in->check_count, p->max_checks, in->failure_count, p->max_failures,
           in->deferred_at, p->horizon_s, p->slot_length_s, v.ends, outcome_name(v.outcome), v.next_at,
           v.check_count, v.failure_count, p->attempts.most, in->ended_at);
    return false;
}

/* The digits of `n`, one per range: every combination once. */
static int digit(long *n, int range)
{
    int d = (int)(*n % range);
    *n /= range;
    return d;
}

static void all_small_inputs_do_as_the_table_says(void)
{
    const long all = 9L * 2 * 2 * 3 * 2 * 12 * 7 * 4 * 4 * 6 * 2 * 4 * 2;
    for (long n = 0; n < all; n += test_is_brief() ? 397 : 7) {
        long rest = n;
        const struct guard_input base = { .answer = (enum answer_kind)digit(&rest, 9) };
        struct guard_policy p = { .backoff_s = 0, .backoff_max_s = 9 };
        p.slot_length_s = digit(&rest, 2) ? 4 : 1;
        p.max_checks = digit(&rest, 2) * 2;
        p.max_failures = digit(&rest, 3);
        p.horizon_s = digit(&rest, 2) ? 6 : 1;
        struct guard_input in = base;
        in.at = digit(&rest, 12) - 1;
        in.now = digit(&rest, 7) + 1;
        in.check_count = digit(&rest, 4);
        in.failure_count = digit(&rest, 4);
        in.deferred_at = digit(&rest, 6);
        in.random = digit(&rest, 2) ? 12345 : 2;
        p.attempts = (struct retry_attempts){ digit(&rest, 4), 1, 3, 1 };
        in.ended_at = digit(&rest, 2) ? in.now + 1 : 0;
        if (!try_one(&p, &in))
            CU_FAIL_FATAL("the table says otherwise");
    }
}

/* ---- promises, whatever comes in ---- */

static int64_t any_number(uint64_t *random)
{
    static const int64_t corners[] = { INT64_MIN, -1, 0, 1, NOW, MOMENT_MAX, INT64_MAX };
    uint64_t n = random_next(random);
    if (n % 4 == 0)
        return corners[n / 4 % 7];
    return (int64_t)(random_next(random) >> (n / 4 % 63)) * (n & 64 ? 1 : -1);
}

static int32_t any_count(uint64_t *random)
{
    static const int32_t corners[] = { INT32_MIN, -1, 0, 1, 2, 3, 5, INT32_MAX };
    return corners[random_next(random) % 8];
}

/* What has run in a fine slot moves to a fine one. With attempts a failure moves to a fine slot
 * before the next full one, or to a full one, and what is put off may do so without them. */
static bool is_slot_of_its_kind(const struct guard_policy *p, const struct guard_input *in,
                                const struct verdict *v, bool ran)
{
    bool is_fine = slot_is_fine(v->next_at, p->slot_length_s);
    bool is_soon = is_fine && v->next_at < slot_next(in->now, p->slot_length_s);
    if (ran && v->outcome == OUTCOME_DEFERRED && is_soon)
        return true;
    if (ran && v->outcome == OUTCOME_JOB_BROKEN)
        return !is_fine || (is_soon && p->attempts.most > 1);
    if (ran && p->attempts.most > 1 && outcome_is_problem(v->outcome))
        return !is_fine || v->next_at < slot_next(in->now, p->slot_length_s);
    return is_fine == (ran && slot_is_fine(in->slot, p->slot_length_s));
}

static bool keeps_its_promises(const struct guard_policy *p, const struct guard_input *in,
                               const struct verdict *v, bool ran)
{
    bool counts = v->check_count - (int64_t)in->check_count == (v->outcome == OUTCOME_AGAIN && !v->ends) &&
                  (v->failure_count == in->failure_count || v->failure_count == 0 ||
                   (v->outcome == OUTCOME_JOB_BROKEN && v->failure_count < in->failure_count) ||
                   v->failure_count - (int64_t)in->failure_count == 1);
    if (v->ends)
        return v->next_at == 0 && counts;
    int64_t length = p->slot_length_s < 1 ? 1 : p->slot_length_s;
    return counts && v->next_at > in->now && is_slot_of_its_kind(p, in, v, ran) &&
           v->next_at <= MOMENT_MAX + length;
}

static void whatever_comes_in_a_check_ends_or_moves_to_a_later_slot(void)
{
    uint64_t seed = 19700101, random = seed;
    for (int i = 0; i < (test_is_brief() ? 20000 : 500000); i++) {
        const struct guard_policy p = { .slot_length_s = any_count(&random),
                                        .max_checks = any_count(&random),
                                        .horizon_s = any_number(&random),
                                        .max_failures = any_count(&random),
                                        .backoff_s = any_number(&random),
                                        .backoff_max_s = any_number(&random),
                                        .attempts = { any_count(&random), any_number(&random),
                                                      any_number(&random), any_number(&random) } };
        struct guard_input in = { .answer = (enum answer_kind)(random_next(&random) % 10),
                                  .at = any_number(&random),
                                  .now = any_number(&random),
                                  .ended_at = any_number(&random),
                                  .check_count = any_count(&random),
                                  .failure_count = any_count(&random),
                                  .deferred_at = any_number(&random),
                                  .random = random_next(&random) };
        if (in.now > MOMENT_MAX)
            in.now = MOMENT_MAX;                        /* later than that no slot can be written */
        in.slot = any_number(&random);
        in.put_off_at = any_number(&random);
        struct verdict v = guard_judge(&p, &in), put_off = guard_put_off(&p, &in, OUTCOME_HELD_BACK, in.at);
        struct verdict unknown = guard_put_off(&p, &in, OUTCOME_UNKNOWN_JOB, in.at);
        if (!keeps_its_promises(&p, &in, &v, true) || !keeps_its_promises(&p, &in, &put_off, false) ||
            put_off.ends || !keeps_its_promises(&p, &in, &unknown, false) || put_off.put_off_at == 0) {
            printf("seed %" PRIu64 ", turn %d\n", seed, i);
            CU_FAIL_FATAL("a promise is broken");
        }
    }
}

/* Runs one check to its end with answers of the generator; returns the number of runs, or -1 when
 * there is no end. */
static int runs_of_a_life(const struct guard_policy *p, uint64_t *random, int most)
{
    struct guard_input in = { .now = NOW };
    for (int runs = 1; runs <= most; runs++) {
        in.answer = (enum answer_kind)(random_next(random) % 7 + 1);            /* anything but DONE */
        in.answer += in.answer >= ANSWER_BROKEN;        /* nor that, which only its horizon ends */
        in.at = in.now + (int64_t)(random_next(random) % (uint64_t)(2 * p->slot_length_s));
        in.random = random_next(random);
        if (random_next(random) % 64)
            in.at += in.at <= in.now;
        struct verdict v = guard_judge(p, &in);
        if (v.ends)
            return runs;
        in = (struct guard_input){ .now = v.next_at,
                                   .check_count = v.check_count,
                                   .failure_count = v.failure_count,
                                   .deferred_at = v.deferred_at };
    }
    return -1;
}

static void every_life_ends_within_the_runs_that_its_limits_allow(void)
{
    uint64_t seed = 99991231, random = seed;
    for (int i = 0; i < 20000; i++) {
        struct guard_policy p = { .slot_length_s = 900, .backoff_max_s = 86400 };
        p.max_checks = (int32_t)(random_next(&random) % 6);
        p.max_failures = (int32_t)(random_next(&random) % 4);
        p.attempts = (struct retry_attempts){ (int32_t)(random_next(&random) % 4), 1, 60, 30 };
        p.horizon_s = (int64_t)(random_next(&random) % 20 + 2) * p.slot_length_s;
        /* per check number: its failures, the deferrals that fit into a horizon, and the run that
         * answers */
        int failures = (p.max_failures + 1) * (p.attempts.most < 1 ? 1 : p.attempts.most);
        int most = (p.max_checks + 1) * (failures + (int)(p.horizon_s / p.slot_length_s) + 2);
        if (runs_of_a_life(&p, &random, most) < 0) {
            printf("seed %" PRIu64 ", turn %d\n", seed, i);
            CU_FAIL_FATAL("a check lives for ever");
        }
    }
}

static const struct test tests[] = {
    TEST(all_small_inputs_do_as_the_table_says),
    TEST(whatever_comes_in_a_check_ends_or_moves_to_a_later_slot),
    TEST(every_life_ends_within_the_runs_that_its_limits_allow),
    { NULL, NULL },
};

const struct suite suite_guard_promises = { .name = "guard_promises", .tests = tests };
