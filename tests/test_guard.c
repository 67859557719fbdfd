/* test_guard.c - the table of guards: told once more as rules read from top to bottom, tried over
 * all small inputs, and its promises (never the past, always a slot, an end to everything) under a
 * seeded generator. */
#include "test.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include "../engine/rules/guard.h"
#include "../engine/rules/retry.h"
#include "../engine/rules/slot.h"

static const struct guard_policy usual = {
    .slot_length_s = 900,
    .max_checks = 5,
    .horizon_s = 30 * 86400,
    .max_failures = 3,
    .backoff_s = 0,
    .backoff_max_s = 86400,
};
#define NOW 1772370900          /* a slot of 900 s */

static struct verdict judge(enum answer_kind answer, int64_t at, int32_t checks, int32_t failures)
{
    return guard_judge(
        &usual,
        &(struct guard_input){
            .answer = answer, .at = at, .now = NOW, .check_count = checks, .failure_count = failures });
}

/* ---- one line of the table each ---- */

static void done_ends_the_check(void)
{
    struct verdict v = judge(ANSWER_DONE, 0, 2, 1);
    CU_ASSERT_TRUE(v.ends);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_DONE);
    CU_ASSERT_EQUAL(v.next_at, 0);
    CU_ASSERT_EQUAL(v.check_count, 2);
    CU_ASSERT_EQUAL(v.failure_count, 1);
}

static void again_moves_to_the_slot_of_its_time_and_forgets_failures(void)
{
    struct verdict v = guard_judge(&usual, &(struct guard_input){ .answer = ANSWER_AGAIN,
                                                                  .at = NOW + 901,
                                                                  .now = NOW,
                                                                  .check_count = 4,
                                                                  .failure_count = 3,
                                                                  .deferred_at = NOW - 900 });
    CU_ASSERT_FALSE(v.ends);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_AGAIN);
    CU_ASSERT_EQUAL(v.next_at, NOW + 1800);
    CU_ASSERT_EQUAL(v.check_count, 5);
    CU_ASSERT_EQUAL(v.failure_count, 0);
    CU_ASSERT_EQUAL(v.deferred_at, 0);
}

static void again_not_later_than_now_ends_as_past(void)
{
    CU_ASSERT_EQUAL(judge(ANSWER_AGAIN, NOW, 0, 0).outcome, OUTCOME_PAST);
    CU_ASSERT_EQUAL(judge(ANSWER_AGAIN, INT64_MIN, 0, 0).outcome, OUTCOME_PAST);
    CU_ASSERT_TRUE(judge(ANSWER_AGAIN, NOW, 0, 0).ends);
    CU_ASSERT_FALSE(judge(ANSWER_AGAIN, NOW + 1, 0, 0).ends);
}

static void again_beyond_the_horizon_ends(void)
{
    CU_ASSERT_FALSE(judge(ANSWER_AGAIN, NOW + usual.horizon_s, 0, 0).ends);
    CU_ASSERT_EQUAL(judge(ANSWER_AGAIN, NOW + usual.horizon_s + 1, 0, 0).outcome, OUTCOME_BEYOND_HORIZON);
    CU_ASSERT_EQUAL(judge(ANSWER_AGAIN, INT64_MAX, 0, 0).outcome, OUTCOME_BEYOND_HORIZON);
}

static void again_is_granted_max_checks_times(void)
{
    CU_ASSERT_FALSE(judge(ANSWER_AGAIN, NOW + 900, 4, 0).ends);
    CU_ASSERT_EQUAL(judge(ANSWER_AGAIN, NOW + 900, 5, 0).outcome, OUTCOME_MAX_CHECKS);
    CU_ASSERT_EQUAL(judge(ANSWER_AGAIN, NOW + 900, 5, 0).check_count, 5);
    CU_ASSERT_EQUAL(judge(ANSWER_AGAIN, NOW + 900, INT32_MAX, 0).outcome, OUTCOME_MAX_CHECKS);
}

static void a_deferral_counts_neither_as_a_check_nor_as_a_failure(void)
{
    struct verdict v = judge(ANSWER_DEFER, NOW + 1000, 3, 2);
    CU_ASSERT_FALSE(v.ends);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_DEFERRED);
    CU_ASSERT_EQUAL(v.next_at, NOW + 1800);
    CU_ASSERT_EQUAL(v.check_count, 3);
    CU_ASSERT_EQUAL(v.failure_count, 2);
    CU_ASSERT_EQUAL(v.deferred_at, NOW);
}

static void a_deferral_into_the_past_gives_the_next_slot(void)
{
    CU_ASSERT_EQUAL(judge(ANSWER_DEFER, INT64_MIN, 0, 0).next_at, NOW + 900);
    CU_ASSERT_EQUAL(judge(ANSWER_DEFER, NOW, 0, 0).next_at, NOW + 900);
}

static void a_deferral_beyond_the_horizon_is_cut_to_it(void)
{
    CU_ASSERT_EQUAL(judge(ANSWER_DEFER, INT64_MAX, 0, 0).next_at, NOW + usual.horizon_s);
}

static void the_first_deferral_is_kept_by_later_ones_and_by_failures(void)
{
    struct guard_input in = { .answer = ANSWER_DEFER, .at = NOW, .now = NOW, .deferred_at = NOW - 4242 };
    CU_ASSERT_EQUAL(guard_judge(&usual, &in).deferred_at, NOW - 4242);
    in.answer = ANSWER_FAIL;
    CU_ASSERT_EQUAL(guard_judge(&usual, &in).deferred_at, NOW - 4242);
}

static void a_deferral_at_the_epoch_is_remembered_all_the_same(void)
{
    struct guard_input in = { .answer = ANSWER_DEFER, .at = 1, .now = 0 };
    CU_ASSERT_NOT_EQUAL(guard_judge(&usual, &in).deferred_at, 0);
}

static void a_check_deferred_for_longer_than_the_horizon_ends(void)
{
    struct guard_input in = {
        .answer = ANSWER_DEFER, .at = NOW, .now = NOW, .deferred_at = NOW - usual.horizon_s
    };
    CU_ASSERT_FALSE(guard_judge(&usual, &in).ends);
    in.deferred_at--;
    CU_ASSERT_TRUE(guard_judge(&usual, &in).ends);
    CU_ASSERT_EQUAL(guard_judge(&usual, &in).outcome, OUTCOME_DEFERRED_OUT);
}

static void failures_are_tried_again_max_failures_times(void)
{
    static const struct { enum answer_kind answer; enum outcome outcome;
    } kinds[] = {
        { ANSWER_FAIL, OUTCOME_FAILED },
        { ANSWER_TIMEOUT, OUTCOME_TIMEOUT },
        { ANSWER_CRASH, OUTCOME_CRASHED },
        { ANSWER_BAD, OUTCOME_BAD_ANSWER },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct verdict v = judge(kinds[i].answer, 0, 1, 2);
        CU_ASSERT_FALSE(v.ends);
        CU_ASSERT_EQUAL(v.outcome, kinds[i].outcome);
        CU_ASSERT_EQUAL(v.failure_count, 3);
        CU_ASSERT_EQUAL(v.check_count, 1);
        v = judge(kinds[i].answer, 0, 1, 3);
        CU_ASSERT_TRUE(v.ends);
        CU_ASSERT_EQUAL(v.outcome, kinds[i].outcome);
        CU_ASSERT_EQUAL(v.failure_count, 4);
    }
}

static void back_off_doubles_and_begins_with_one_slot(void)
{
    CU_ASSERT_EQUAL(judge(ANSWER_FAIL, 0, 0, 0).next_at, NOW + 900);       /* half of 900 s, rounded up */
    CU_ASSERT_EQUAL(judge(ANSWER_FAIL, 0, 0, 2).next_at, NOW + 1800);      /* half of 3600 s */
    struct guard_policy slow = usual;
    slow.backoff_s = 86400;
    slow.backoff_max_s = 10 * 86400;
    struct guard_input in = { .answer = ANSWER_FAIL, .now = NOW, .failure_count = 1 };
    CU_ASSERT_EQUAL(guard_judge(&slow, &in).next_at, NOW + 86400);
}

static void an_answer_of_no_known_kind_is_a_bad_one(void)
{
    struct verdict v = judge((enum answer_kind)99, 0, 0, 0);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_BAD_ANSWER);
    CU_ASSERT_EQUAL(v.failure_count, 1);
}

static void what_was_put_off_counts_nothing(void)
{
    struct guard_input in = { .now = NOW, .check_count = 3, .failure_count = 2, .deferred_at = 77 };
    struct verdict v = guard_put_off(&usual, &in, OUTCOME_HELD_BACK, NOW + 901);
    CU_ASSERT_FALSE(v.ends);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_HELD_BACK);
    CU_ASSERT_EQUAL(v.next_at, NOW + 1800);
    CU_ASSERT_EQUAL(v.check_count, 3);
    CU_ASSERT_EQUAL(v.failure_count, 2);
    CU_ASSERT_EQUAL(v.deferred_at, 77);
    CU_ASSERT_EQUAL(guard_put_off(&usual, &in, OUTCOME_UNKNOWN_JOB, INT64_MIN).next_at, NOW + 900);
    CU_ASSERT_EQUAL(guard_put_off(&usual, &in, OUTCOME_RESLOTTED, INT64_MAX).next_at, MOMENT_MAX + 1);
}

static void what_was_put_off_is_late_from_the_slot_at_which_it_was_due(void)
{
    static const struct {
        enum outcome why;
        int64_t slot, before, after;
    } all[] = {
        { OUTCOME_UNKNOWN_JOB, NOW - 900, 0, NOW - 900 },
        { OUTCOME_HELD_BACK, NOW - 900, 0, NOW - 900 },
        { OUTCOME_UNKNOWN_JOB, NOW - 900, NOW - 9000, NOW - 9000 },
        { OUTCOME_HELD_BACK, NOW - 900, NOW - 9000, NOW - 9000 },
        /* an operator moved it on */
        { OUTCOME_RESLOTTED, NOW - 900, 0, 0 },
        { OUTCOME_RESLOTTED, NOW - 900, NOW - 9000, NOW - 9000 },
        /* 0 would mean that it was not put off */
        { OUTCOME_UNKNOWN_JOB, 0, 0, 1 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct guard_input in = { .now = NOW, .slot = all[i].slot, .put_off_at = all[i].before };
        struct verdict v = guard_put_off(&usual, &in, all[i].why, NOW);
        CU_ASSERT_FALSE(v.ends);
        CU_ASSERT_EQUAL(v.put_off_at, all[i].after);
    }
}

static void a_check_of_an_unknown_job_ends_when_it_was_late_for_the_horizon(void)
{
    struct guard_input in = { .now = NOW, .slot = NOW - 900, .check_count = 3, .failure_count = 2,
                              .put_off_at = NOW - usual.horizon_s };
    CU_ASSERT_FALSE(guard_put_off(&usual, &in, OUTCOME_UNKNOWN_JOB, NOW).ends);
    in.put_off_at--;
    struct verdict v = guard_put_off(&usual, &in, OUTCOME_UNKNOWN_JOB, NOW);
    CU_ASSERT_TRUE(v.ends);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_UNKNOWN_JOB);
    CU_ASSERT_EQUAL(v.next_at, 0);
    CU_ASSERT_EQUAL(v.check_count, 3);
    CU_ASSERT_EQUAL(v.failure_count, 2);
    /* only for want of a job; and not at the first look after an outage, however long */
    CU_ASSERT_FALSE(guard_put_off(&usual, &in, OUTCOME_HELD_BACK, NOW).ends);
    CU_ASSERT_FALSE(guard_put_off(&usual, &in, OUTCOME_RESLOTTED, NOW).ends);
    in.slot = in.put_off_at;
    in.put_off_at = 0;
    CU_ASSERT_FALSE(guard_put_off(&usual, &in, OUTCOME_UNKNOWN_JOB, NOW).ends);
}

static void a_check_that_has_run_is_late_no_more(void)
{
    for (int kind = ANSWER_DONE; kind <= ANSWER_BAD; kind++) {
        struct guard_input in = { .answer = (enum answer_kind)kind, .at = NOW + 900, .now = NOW,
                                  .slot = NOW, .put_off_at = NOW - 9000 };
        CU_ASSERT_EQUAL(guard_judge(&usual, &in).put_off_at, 0);
    }
}

/* ---- the table once more, as sentences: the first that holds decides. Slots are counted ---- */

struct story { const struct guard_policy *p; const struct guard_input *in; };

static bool says(const struct story *s, enum answer_kind kind) { return s->in->answer == kind; }
static bool was_done(const struct story *s) { return says(s, ANSWER_DONE); }
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
static bool has_a_try_left(const struct story *s) { return s->p->max_failures - s->in->failure_count > 0; }
static bool has_none_left(const struct story *s) { return !has_a_try_left(s); }

enum then { ENDS, MOVES_TO_AT, MOVES_TO_AT_WITHIN_HORIZON, MOVES_BACK_OFF };

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
    { defers, MOVES_TO_AT_WITHIN_HORIZON, OUTCOME_DEFERRED, 0, false, false },
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
    for (int i = 0; i < in->failure_count; i++)
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
    int64_t earliest = first_open_slot_from(from, in->now, s->p->slot_length_s),
            latest = first_open_slot_from(to, in->now, s->p->slot_length_s);
    if (told->then == ENDS)
        earliest = latest = 0;
    int outcome = told->outcome < 0 ? failures[in->answer] : told->outcome;
    int failure_count = in->failure_count + told->fails;
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
           "next %" PRId64 ", counts %d %d\n",
           in->answer, in->at, in->now, in->check_count, p->max_checks, in->failure_count, p->max_failures,
           in->deferred_at, p->horizon_s, p->slot_length_s, v.ends, outcome_name(v.outcome), v.next_at,
           v.check_count, v.failure_count);
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
    const long all = 7L * 2 * 2 * 3 * 2 * 12 * 7 * 4 * 4 * 6 * 2;
    for (long n = 0; n < all; n += test_is_brief() ? 37 : 1) {
        long rest = n;
        const struct guard_input base = { .answer = (enum answer_kind)digit(&rest, 7) };
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

static bool keeps_its_promises(const struct guard_policy *p, const struct guard_input *in,
                               const struct verdict *v)
{
    bool counts = v->check_count - (int64_t)in->check_count == (v->outcome == OUTCOME_AGAIN && !v->ends) &&
                  (v->failure_count == in->failure_count || v->failure_count == 0 ||
                   v->failure_count - (int64_t)in->failure_count == 1);
    if (v->ends)
        return v->next_at == 0 && counts;
    int64_t length = p->slot_length_s < 1 ? 1 : p->slot_length_s;
    return counts && v->next_at > in->now && v->next_at % length == 0 && v->next_at <= MOMENT_MAX + length;
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
                                        .backoff_max_s = any_number(&random) };
        struct guard_input in = { .answer = (enum answer_kind)(random_next(&random) % 8),
                                  .at = any_number(&random),
                                  .now = any_number(&random),
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
        if (!keeps_its_promises(&p, &in, &v) || !keeps_its_promises(&p, &in, &put_off) || put_off.ends ||
            !keeps_its_promises(&p, &in, &unknown) || put_off.put_off_at == 0) {
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
        in.answer = (enum answer_kind)(random_next(random) % 6 + 1);            /* anything but DONE */
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
        struct guard_policy p = usual;
        p.max_checks = (int32_t)(random_next(&random) % 6);
        p.max_failures = (int32_t)(random_next(&random) % 4);
        p.horizon_s = (int64_t)(random_next(&random) % 20 + 2) * p.slot_length_s;
        /* per check number: its failures, the deferrals that fit into a horizon, and the run that
         * answers */
        int most = (p.max_checks + 1) * (p.max_failures + 1 + (int)(p.horizon_s / p.slot_length_s) + 2);
        if (runs_of_a_life(&p, &random, most) < 0) {
            printf("seed %" PRIu64 ", turn %d\n", seed, i);
            CU_FAIL_FATAL("a check lives for ever");
        }
    }
}

static void a_job_that_only_asks_again_runs_six_times_by_default(void)
{
    struct guard_input in = { .answer = ANSWER_AGAIN, .now = NOW };
    int runs = 0;
    struct verdict v;
    do {
        in.at = in.now + 1;
        v = guard_judge(&usual, &in);
        in.check_count = v.check_count;
        in.now = v.next_at;
    } while (++runs < 100 && !v.ends);
    CU_ASSERT_EQUAL(runs, 6);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_MAX_CHECKS);
}

static void a_job_that_only_fails_runs_four_times_by_default(void)
{
    struct guard_input in = { .answer = ANSWER_TIMEOUT, .now = NOW };
    int runs = 0;
    struct verdict v;
    do {
        v = guard_judge(&usual, &in);
        in.failure_count = v.failure_count;
        in.now = v.next_at;
    } while (++runs < 100 && !v.ends);
    CU_ASSERT_EQUAL(runs, 4);
    CU_ASSERT_EQUAL(v.failure_count, 4);
}

static const struct test tests[] = {
    TEST(done_ends_the_check),
    TEST(again_moves_to_the_slot_of_its_time_and_forgets_failures),
    TEST(again_not_later_than_now_ends_as_past),
    TEST(again_beyond_the_horizon_ends),
    TEST(again_is_granted_max_checks_times),
    TEST(a_deferral_counts_neither_as_a_check_nor_as_a_failure),
    TEST(a_deferral_into_the_past_gives_the_next_slot),
    TEST(a_deferral_beyond_the_horizon_is_cut_to_it),
    TEST(the_first_deferral_is_kept_by_later_ones_and_by_failures),
    TEST(a_deferral_at_the_epoch_is_remembered_all_the_same),
    TEST(a_check_deferred_for_longer_than_the_horizon_ends),
    TEST(failures_are_tried_again_max_failures_times),
    TEST(back_off_doubles_and_begins_with_one_slot),
    TEST(an_answer_of_no_known_kind_is_a_bad_one),
    TEST(what_was_put_off_counts_nothing),
    TEST(what_was_put_off_is_late_from_the_slot_at_which_it_was_due),
    TEST(a_check_of_an_unknown_job_ends_when_it_was_late_for_the_horizon),
    TEST(a_check_that_has_run_is_late_no_more),
    TEST(all_small_inputs_do_as_the_table_says),
    TEST(whatever_comes_in_a_check_ends_or_moves_to_a_later_slot),
    TEST(every_life_ends_within_the_runs_that_its_limits_allow),
    TEST(a_job_that_only_asks_again_runs_six_times_by_default),
    TEST(a_job_that_only_fails_runs_four_times_by_default),
    { NULL, NULL },
};

const struct suite suite_guard = { .name = "guard", .tests = tests };
