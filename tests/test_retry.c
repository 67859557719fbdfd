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
    TEST(an_unknown_job_waits_half_its_age),
    TEST(an_unknown_job_waits_a_slot_at_least_and_a_day_at_most),
    TEST(the_generator_repeats_itself_from_the_same_seed),
    { NULL, NULL },
};

const struct suite suite_retry = { .name = "retry", .tests = tests };
