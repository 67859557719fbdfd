/* test_guard.c - the table of guards, line by line. That it does so for all inputs is in
 * test_guard_promises.c. */
#include "test.h"

#include <stdint.h>
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

/* It comes up 225 seconds after its slots. */
static struct verdict judge_spread(enum answer_kind answer, int64_t at, int64_t now)
{
    return guard_judge(&usual, &(struct guard_input){
        .answer = answer, .at = at, .now = now, .slot = NOW, .phase_s = 225, .random = 0 });
}

/* Else a check that looks once a slot would do so in each second one. */
static void a_check_that_comes_up_later_in_its_slot_keeps_to_that(void)
{
    struct verdict v = judge_spread(ANSWER_AGAIN, NOW + 225 + 900, NOW + 225);
    CU_ASSERT_EQUAL(v.next_at, NOW + 900);
    CU_ASSERT_EQUAL(v.deferred_at, NOW + 225 + 900);
    v = judge_spread(ANSWER_AGAIN, NOW + 226 + 900, NOW + 225);
    CU_ASSERT_EQUAL(v.next_at, NOW + 1800);
    CU_ASSERT_EQUAL(v.deferred_at, 0);
    v = judge_spread(ANSWER_AGAIN, NOW + 230, NOW + 225);       /* not back into its slot */
    CU_ASSERT_EQUAL(v.next_at, NOW + 900);
    CU_ASSERT_EQUAL(v.deferred_at, 0);
    v = judge_spread(ANSWER_AGAIN, NOW + 910, NOW + 901);       /* it was run late */
    CU_ASSERT_EQUAL(v.next_at, NOW + 1800);
    v = judge_spread(ANSWER_FAIL, 0, NOW + 225);
    CU_ASSERT_EQUAL(v.next_at, NOW + 900);
}

static struct verdict judge_fine(enum answer_kind answer, int64_t at)
{
    return guard_judge(&usual, &(struct guard_input){
        .answer = answer, .at = at, .now = NOW + 60, .slot = NOW + 59, .random = 0 });
}

static void a_check_that_has_run_in_a_fine_slot_moves_by_seconds(void)
{
    CU_ASSERT_EQUAL(judge_fine(ANSWER_AGAIN, NOW + 65).next_at, NOW + 65);
    CU_ASSERT_EQUAL(judge_fine(ANSWER_AGAIN, NOW + 61).next_at, NOW + 61);
    CU_ASSERT_EQUAL(judge_fine(ANSWER_AGAIN, NOW + 900).next_at, NOW + 901);
    CU_ASSERT_EQUAL(judge_fine(ANSWER_DEFER, NOW + 30).next_at, NOW + 61);
    CU_ASSERT_EQUAL(judge_fine(ANSWER_FAIL, 0).next_at, NOW + 60 + 450);
}

static void what_is_put_off_from_a_fine_slot_goes_to_a_full_one(void)
{
    struct guard_input in = { .now = NOW + 60, .slot = NOW + 59 };
    CU_ASSERT_EQUAL(guard_put_off(&usual, &in, OUTCOME_HELD_BACK, NOW + 61).next_at, NOW + 900);
    CU_ASSERT_EQUAL(guard_put_off(&usual, &in, OUTCOME_UNKNOWN_JOB, NOW + 901).next_at, NOW + 1800);
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

static void a_deferral_within_the_slot_that_runs_takes_no_longer_than_asked_for(void)
{
    CU_ASSERT_EQUAL(judge(ANSWER_DEFER, NOW + 3, 0, 0).next_at, NOW + 3);
    CU_ASSERT_EQUAL(judge(ANSWER_DEFER, NOW + 899, 0, 0).next_at, NOW + 899);
    CU_ASSERT_EQUAL(judge(ANSWER_DEFER, NOW + 900, 0, 0).next_at, NOW + 900);
    CU_ASSERT_EQUAL(judge(ANSWER_DEFER, NOW + 901, 0, 0).next_at, NOW + 1800);
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

static void a_final_failure_is_the_last_one_whatever_is_left(void)
{
    const struct guard_policy p = { .slot_length_s = 900, .max_failures = 9, .horizon_s = 86400,
                                    .attempts = { .most = 3, .interval_s = 10, .interval_max_s = 300 } };
    struct guard_input in = { .answer = ANSWER_FAIL_FINAL, .at = NOW + 900, .now = NOW, .check_count = 2,
                              .failure_count = 1, .deferred_at = 77, .put_off_at = NOW - 900 };
    struct verdict v = guard_judge(&p, &in);
    CU_ASSERT(v.ends && v.outcome == OUTCOME_FAILED && v.next_at == 0);
    CU_ASSERT(v.check_count == 2 && v.failure_count == 2 && v.deferred_at == 77 && v.put_off_at == 0);
    in.failure_count = INT32_MAX;
    CU_ASSERT_EQUAL(guard_judge(&p, &in).failure_count, INT32_MAX);
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

/* The first failure of a delivery costs none of max_failures. It is run again five seconds after
 * its end; the others wait by the doubling back-off; all of that in seconds, also behind a full
 * slot. */
static void a_delivery_that_fails_waits_five_seconds_and_then_by_its_back_off(void)
{
    struct guard_policy p = usual;
    p.first_retry_s = 5;
    p.backoff_s = 60;
    static const struct { int32_t failures; int64_t slot, from, to; } all[] = {
        { 0, NOW + 100, NOW + 107, NOW + 107 }, { 0, NOW, NOW + 107, NOW + 107 },
        { 1, NOW, NOW + 130, NOW + 160 },       { 2, NOW + 1, NOW + 160, NOW + 220 },
        { 3, NOW, NOW + 220, NOW + 340 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint64_t random = 0; random < 400; random += 57) {
            struct guard_input in = { .answer = ANSWER_TIMEOUT, .now = NOW + 100, .ended_at = NOW + 102,
                                      .slot = all[i].slot, .failure_count = all[i].failures,
                                      .random = random };
            struct verdict v = guard_judge(&p, &in);
            CU_ASSERT(!v.ends && v.failure_count == all[i].failures + 1);
            CU_ASSERT(v.next_at >= all[i].from && v.next_at <= all[i].to);
        }
    struct guard_input last = { .answer = ANSWER_FAIL, .now = NOW, .failure_count = p.max_failures + 1 };
    CU_ASSERT_TRUE(guard_judge(&p, &last).ends);
    last.failure_count--;
    CU_ASSERT_FALSE(guard_judge(&p, &last).ends);
    struct guard_input asks = { .answer = ANSWER_DEFER, .at = NOW + 3, .now = NOW, .slot = NOW };
    CU_ASSERT_EQUAL(guard_judge(&p, &asks).next_at, NOW + 3);
}

/* Three attempts in a slot: after 10 s and after 20 s, and up to 4 s more. */
static struct guard_policy attempts_policy(void)
{
    struct guard_policy p = usual;
    p.attempts = (struct retry_attempts){ .most = 3, .interval_s = 10, .interval_max_s = 300, .jitter_s = 4 };
    return p;
}

static void a_failure_moves_to_a_second_of_the_slot_while_there_are_attempts(void)
{
    static const enum answer_kind kinds[] = { ANSWER_FAIL, ANSWER_TIMEOUT, ANSWER_CRASH, ANSWER_BAD };
    const struct guard_policy p = attempts_policy();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct guard_input in = { .answer = kinds[i], .now = NOW, .check_count = 2, .deferred_at = 77 };
        struct verdict v = guard_judge(&p, &in);
        CU_ASSERT(!v.ends && v.next_at == NOW + 10 && v.failure_count == 1);
        CU_ASSERT(v.check_count == 2 && v.deferred_at == 77);
        in.failure_count = 1;
        in.random = 4;
        CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 24);
        in.failure_count = 2;                           /* used up: half of 900 s, rounded up */
        CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 900);
        in.slot = in.now = NOW + 30;                    /* also of the last attempt, in a fine slot */
        CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 900);
        in.slot = in.now = NOW;
        in.failure_count = 4;                           /* the second of the second slot */
        CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 24);
        in.random = 0;
        /* the back-off doubles with each slot: half of 3600 s */
        in.failure_count = 8;
        CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 1800);
    }
}

static void an_attempt_is_told_from_a_back_off(void)
{
    const struct guard_policy p = attempts_policy();
    struct guard_input in = { .answer = ANSWER_FAIL, .now = NOW };
    for (in.failure_count = 0; in.failure_count < 3; in.failure_count++)
        CU_ASSERT_EQUAL(guard_judge(&p, &in).is_attempt, in.failure_count < 2);
    in.failure_count = 0;
    CU_ASSERT_FALSE(guard_judge(&usual, &in).is_attempt);
}

static void an_attempt_waits_from_the_end_of_the_run(void)
{
    const struct guard_policy p = attempts_policy();
    struct guard_input in = { .answer = ANSWER_FAIL, .now = NOW + 1, .ended_at = NOW + 30 };
    CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 40);
    in.ended_at = NOW - 5;                              /* clocks that were set */
    CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 11);
}

/* Its last second is the first of the next slot, where all of that slot would be before it. */
static void an_attempt_past_the_end_of_the_slot_is_not_made(void)
{
    const struct guard_policy p = attempts_policy();
    struct guard_input in = { .answer = ANSWER_FAIL, .now = NOW + 889 };
    CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 899);
    in.now++;
    struct verdict v = guard_judge(&p, &in);
    CU_ASSERT_EQUAL(v.next_at, NOW + 1800);
    CU_ASSERT_EQUAL(v.failure_count, 1);
    in.now = NOW + 5;
    in.ended_at = NOW + 905;                            /* a job that hung over the end */
    CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 900);
    struct guard_policy seconds = p;
    seconds.slot_length_s = 1;                          /* no second between two slots */
    in = (struct guard_input){ .answer = ANSWER_FAIL, .now = NOW, .random = 7 };
    CU_ASSERT_EQUAL(guard_judge(&seconds, &in).next_at, NOW + 1);
}

static void failures_end_a_check_after_all_attempts_of_all_its_slots(void)
{
    const struct guard_policy p = attempts_policy();
    struct guard_input in = { .answer = ANSWER_CRASH, .now = NOW, .failure_count = 10 };
    CU_ASSERT_FALSE(guard_judge(&p, &in).ends);
    in.failure_count = 11;
    struct verdict v = guard_judge(&p, &in);
    CU_ASSERT(v.ends && v.outcome == OUTCOME_CRASHED && v.failure_count == 12);
}

static void a_deferral_costs_no_attempt(void)
{
    const struct guard_policy p = attempts_policy();
    struct guard_input in = { .answer = ANSWER_DEFER, .at = NOW + 1, .now = NOW, .failure_count = 1 };
    CU_ASSERT_EQUAL(guard_judge(&p, &in).failure_count, 1);
    in.answer = ANSWER_FAIL;
    CU_ASSERT_EQUAL(guard_judge(&p, &in).next_at, NOW + 20);
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
        int64_t late_since = kind == ANSWER_BROKEN ? NOW - 9000 : 0;    /* it could not be looked at */
        CU_ASSERT_EQUAL(guard_judge(&usual, &in).put_off_at, late_since);
    }
}

/* ---- whole lives ---- */

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

static void a_job_that_only_fails_uses_up_its_attempts_in_four_slots_by_default(void)
{
    const struct guard_policy p = attempts_policy();
    struct guard_input in = { .answer = ANSWER_FAIL, .now = NOW, .random = 3 };
    int runs = 0, slots = 0;
    struct verdict v;
    do {
        v = guard_judge(&p, &in);
        slots += v.ends || v.next_at % 900 == 0;
        in.failure_count = v.failure_count;
        in.now = v.next_at;
    } while (++runs < 100 && !v.ends);
    CU_ASSERT_EQUAL(runs, 12);
    CU_ASSERT_EQUAL(slots, 4);
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

static void a_check_of_a_broken_job_is_late_and_counts_nothing(void)
{
    struct guard_input in = { .answer = ANSWER_BROKEN, .now = NOW, .slot = NOW - 900, .check_count = 2,
                              .failure_count = 1 };
    struct verdict v = guard_judge(&usual, &in);
    CU_ASSERT_FALSE(v.ends);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_JOB_BROKEN);
    CU_ASSERT_EQUAL(v.next_at, NOW + 900);
    CU_ASSERT_EQUAL(v.put_off_at, NOW - 900);
    CU_ASSERT_EQUAL(v.failure_count, 1);
    CU_ASSERT_EQUAL(v.check_count, 2);
    in.put_off_at = NOW - 86400;
    v = guard_judge(&usual, &in);
    CU_ASSERT_EQUAL(v.put_off_at, NOW - 86400);
    CU_ASSERT_TRUE(v.next_at > NOW && v.next_at <= NOW + 3600);
    in.put_off_at = NOW - usual.horizon_s - 1;
    v = guard_judge(&usual, &in);
    CU_ASSERT_TRUE(v.ends);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_FAILED);
    v = guard_put_off(&usual, &in, OUTCOME_JOB_BROKEN, NOW + 900);
    CU_ASSERT_TRUE(v.ends);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_FAILED);
}

/* A database that is away for seconds is asked again within the slot; then its attempts count for
 * nothing. */
static void attempts_are_made_with_a_broken_job_and_forgotten(void)
{
    struct guard_policy p = usual;
    p.attempts = (struct retry_attempts){ .most = 3, .interval_s = 5, .interval_max_s = 60 };
    struct guard_input in = { .answer = ANSWER_BROKEN, .now = NOW, .slot = NOW };
    struct verdict v = guard_judge(&p, &in);
    CU_ASSERT_TRUE(v.is_attempt);
    CU_ASSERT_EQUAL(v.next_at, NOW + 5);
    CU_ASSERT_EQUAL(v.failure_count, 1);
    in.failure_count = 2;
    v = guard_judge(&p, &in);
    CU_ASSERT_FALSE(v.is_attempt);
    CU_ASSERT_EQUAL(v.failure_count, 0);
    CU_ASSERT_EQUAL(v.put_off_at, NOW);
}

static void a_busy_check_moves_within_its_slot_or_to_the_next_and_counts_nothing(void)
{
    struct guard_input in = { .now = NOW, .slot = NOW, .check_count = 3, .failure_count = 2 };
    struct verdict v = guard_busy(&in, usual.slot_length_s, NOW + 7);
    CU_ASSERT_EQUAL(v.outcome, OUTCOME_BUSY);
    CU_ASSERT_FALSE(v.ends);
    CU_ASSERT_EQUAL(v.next_at, NOW + 7);
    CU_ASSERT_TRUE(v.is_attempt);
    CU_ASSERT_EQUAL(v.check_count, 3);
    CU_ASSERT_EQUAL(v.failure_count, 2);
    CU_ASSERT_EQUAL(v.put_off_at, 0);
    int64_t next = slot_next(NOW, usual.slot_length_s);
    v = guard_busy(&in, usual.slot_length_s, next + 7);
    CU_ASSERT_EQUAL(v.next_at, next);
    CU_ASSERT_FALSE(v.is_attempt);
    v = guard_busy(&in, 1, NOW + 7);
    CU_ASSERT_EQUAL(v.next_at, NOW + 1);
}

static const struct test tests[] = {
    TEST(a_busy_check_moves_within_its_slot_or_to_the_next_and_counts_nothing),
    TEST(a_check_of_a_broken_job_is_late_and_counts_nothing),
    TEST(attempts_are_made_with_a_broken_job_and_forgotten),
    TEST(done_ends_the_check),
    TEST(again_moves_to_the_slot_of_its_time_and_forgets_failures),
    TEST(a_check_that_has_run_in_a_fine_slot_moves_by_seconds),
    TEST(what_is_put_off_from_a_fine_slot_goes_to_a_full_one),
    TEST(again_not_later_than_now_ends_as_past),
    TEST(again_beyond_the_horizon_ends),
    TEST(again_is_granted_max_checks_times),
    TEST(a_deferral_counts_neither_as_a_check_nor_as_a_failure),
    TEST(a_deferral_within_the_slot_that_runs_takes_no_longer_than_asked_for),
    TEST(a_deferral_into_the_past_gives_the_next_slot),
    TEST(a_deferral_beyond_the_horizon_is_cut_to_it),
    TEST(the_first_deferral_is_kept_by_later_ones_and_by_failures),
    TEST(a_deferral_at_the_epoch_is_remembered_all_the_same),
    TEST(a_check_deferred_for_longer_than_the_horizon_ends),
    TEST(failures_are_tried_again_max_failures_times),
    TEST(a_final_failure_is_the_last_one_whatever_is_left),
    TEST(back_off_doubles_and_begins_with_one_slot),
    TEST(a_delivery_that_fails_waits_five_seconds_and_then_by_its_back_off),
    TEST(a_failure_moves_to_a_second_of_the_slot_while_there_are_attempts),
    TEST(an_attempt_is_told_from_a_back_off),
    TEST(an_attempt_waits_from_the_end_of_the_run),
    TEST(an_attempt_past_the_end_of_the_slot_is_not_made),
    TEST(failures_end_a_check_after_all_attempts_of_all_its_slots),
    TEST(a_deferral_costs_no_attempt),
    TEST(an_answer_of_no_known_kind_is_a_bad_one),
    TEST(what_was_put_off_counts_nothing),
    TEST(what_was_put_off_is_late_from_the_slot_at_which_it_was_due),
    TEST(a_check_of_an_unknown_job_ends_when_it_was_late_for_the_horizon),
    TEST(a_check_that_has_run_is_late_no_more),
    TEST(a_check_that_comes_up_later_in_its_slot_keeps_to_that),
    TEST(a_job_that_only_asks_again_runs_six_times_by_default),
    TEST(a_job_that_only_fails_runs_four_times_by_default),
    TEST(a_job_that_only_fails_uses_up_its_attempts_in_four_slots_by_default),
    { NULL, NULL },
};

const struct suite suite_guard = { .name = "guard", .tests = tests };
