/* test_retry.c - delays: doubling, capped, spread, and never an overflow. */
#include "test.h"

#include <stdint.h>
#include "../engine/rules/retry.h"

#define DAY_S 86400

static void the_delay_doubles_with_each_failure(void)
{
    for (int failures = 0; failures < 20; failures++) {
        int64_t full = INT64_C(1000) << failures;
        CU_ASSERT_EQUAL(retry_delay(1000, INT64_MAX, failures, 0), full / 2);
        CU_ASSERT_EQUAL(retry_delay(1000, INT64_MAX, failures, (uint64_t)full / 2), full);
    }
}

static void the_delay_stays_below_its_cap(void)
{
    for (int failures = 0; failures < 200; failures++)
        CU_ASSERT_TRUE(retry_delay(900, DAY_S, failures, UINT64_MAX) <= DAY_S);
    CU_ASSERT_EQUAL(retry_delay(900, DAY_S, 100, DAY_S / 2), DAY_S);
    CU_ASSERT_EQUAL(retry_delay(900, 600, 0, 300), 600);
}

static void the_delay_is_spread_over_its_upper_half(void)
{
    int64_t least = INT64_MAX, most = 0;
    uint64_t random = 42;
    for (int i = 0; i < 10000; i++) {
        int64_t delay = retry_delay(100, 1000, 1, random_next(&random));
        least = delay < least ? delay : least;
        most = delay > most ? delay : most;
    }
    CU_ASSERT_EQUAL(least, 100);
    CU_ASSERT_EQUAL(most, 200);
}

static void no_input_gives_less_than_one_or_an_overflow(void)
{
    const int64_t numbers[] = { INT64_MIN, -1, 0, 1, 2, 3, INT64_MAX / 2, INT64_MAX - 1, INT64_MAX };
    const int32_t failures[] = { INT32_MIN, -1, 0, 1, 61, 62, 63, 64, INT32_MAX };
    const uint64_t randoms[] = { 0, 1, UINT64_MAX / 2, UINT64_MAX };
    for (size_t b = 0; b < 9; b++)
        for (size_t m = 0; m < 9; m++)
            for (size_t f = 0; f < 9; f++)
                for (size_t r = 0; r < 4; r++) {
                    int64_t delay = retry_delay(numbers[b], numbers[m], failures[f], randoms[r]);
                    CU_ASSERT_TRUE(delay >= 1 && (delay <= numbers[m] || delay == 1));
                }
}

static const struct retry_attempts five = {
    .most = 5, .interval_s = 10, .interval_max_s = 60, .jitter_s = 7
};

static void an_attempt_waits_twice_as_long_as_the_one_before_and_some_seconds_at_random(void)
{
    static const int64_t delays[] = { 10, 20, 40, 60, 60 };
    for (int32_t n = 0; n < 5; n++) {
        CU_ASSERT_EQUAL(retry_attempt_delay_s(&five, n, 0), delays[n]);
        CU_ASSERT_EQUAL(retry_attempt_delay_s(&five, n, 7), delays[n] + 7);
        CU_ASSERT_EQUAL(retry_attempt_delay_s(&five, n, 8), delays[n]);
    }
    const struct retry_attempts steady = { .most = 5, .interval_s = 10, .interval_max_s = 60 };
    CU_ASSERT_EQUAL(retry_attempt_delay_s(&steady, 1, UINT64_MAX), 20);
}

static void the_jitter_draws_each_second_about_as_often(void)
{
    int times[8] = { 0 };
    uint64_t random = 42;
    for (int i = 0; i < 8000; i++)
        times[retry_attempt_delay_s(&five, 0, random_next(&random)) - 10]++;
    for (int i = 0; i < 8; i++)
        CU_ASSERT(times[i] > 800 && times[i] < 1200);
}

static void no_attempt_waits_less_than_one_second_or_overflows(void)
{
    const int64_t numbers[] = { INT64_MIN, -1, 0, 1, INT64_MAX - 1, INT64_MAX };
    const int32_t counts[] = { INT32_MIN, -1, 0, 62, 63, 64, INT32_MAX };
    for (size_t i = 0; i < 6; i++)
        for (size_t m = 0; m < 6; m++)
            for (size_t j = 0; j < 6; j++)
                for (size_t n = 0; n < 7; n++) {
                    const struct retry_attempts a = { 3, numbers[i], numbers[m], numbers[j] };
                    CU_ASSERT_TRUE(retry_attempt_delay_s(&a, counts[n], UINT64_MAX) >= 1);
                    struct retry_sum sum = retry_attempts_sum(&a, numbers[j]);
                    CU_ASSERT_TRUE(sum.all_us >= sum.waits_us && sum.waits_us >= 3000000);
                    CU_ASSERT_TRUE(sum.jitter_us >= 0 && sum.timeouts_us >= 0);
                }
}

static void the_sum_has_the_delay_the_jitter_and_the_timeout_of_each_attempt(void)
{
    struct retry_sum sum = retry_attempts_sum(&five, 30500000);
    CU_ASSERT_EQUAL(sum.waits_us, 190 * INT64_C(1000000));
    CU_ASSERT_EQUAL(sum.jitter_us, 35 * INT64_C(1000000));
    CU_ASSERT_EQUAL(sum.timeouts_us, 152500000);
    CU_ASSERT_EQUAL(sum.all_us, 377500000);
    const struct retry_attempts none = { .interval_s = 10, .interval_max_s = 60 };
    CU_ASSERT_EQUAL(retry_attempts_sum(&none, 1000000).all_us, 11000000);
}

static void an_unknown_job_waits_half_its_age(void)
{
    CU_ASSERT_EQUAL(retry_unknown_job_delay_s(1000000, 1007200, 900), 3600);
}

static void an_unknown_job_waits_a_slot_at_least_and_a_day_at_most(void)
{
    CU_ASSERT_EQUAL(retry_unknown_job_delay_s(1000000, 1000000, 900), 900);
    CU_ASSERT_EQUAL(retry_unknown_job_delay_s(1000000, 900000, 900), 900);
    CU_ASSERT_EQUAL(retry_unknown_job_delay_s(0, 1700000000, 900), DAY_S);
    CU_ASSERT_EQUAL(retry_unknown_job_delay_s(INT64_MIN, INT64_MAX, DAY_S), DAY_S);
    CU_ASSERT_EQUAL(retry_unknown_job_delay_s(INT64_MAX, INT64_MIN, 0), 1);
}

static void the_generator_repeats_itself_from_the_same_seed(void)
{
    uint64_t a = 7, b = 7, c = 8;
    uint64_t first = random_next(&a);
    CU_ASSERT_EQUAL(first, random_next(&b));
    CU_ASSERT_NOT_EQUAL(first, random_next(&c));
    CU_ASSERT_NOT_EQUAL(first, random_next(&a));
}

static const struct test tests[] = {
    TEST(the_delay_doubles_with_each_failure),
    TEST(the_delay_stays_below_its_cap),
    TEST(the_delay_is_spread_over_its_upper_half),
    TEST(no_input_gives_less_than_one_or_an_overflow),
    TEST(an_attempt_waits_twice_as_long_as_the_one_before_and_some_seconds_at_random),
    TEST(the_jitter_draws_each_second_about_as_often),
    TEST(no_attempt_waits_less_than_one_second_or_overflows),
    TEST(the_sum_has_the_delay_the_jitter_and_the_timeout_of_each_attempt),
    TEST(an_unknown_job_waits_half_its_age),
    TEST(an_unknown_job_waits_a_slot_at_least_and_a_day_at_most),
    TEST(the_generator_repeats_itself_from_the_same_seed),
    { NULL, NULL },
};

const struct suite suite_retry = { .name = "retry", .tests = tests };
