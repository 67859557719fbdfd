/* test_health.c - whether the store takes what is written to it. */
#include "../engine/run/health.h"
#include "test.h"

enum { S = 1000 * 1000 };

static void a_few_unwritable_answers_in_a_row_degrade_until_one_is_written(void)
{
    struct health h = { 0 };
    for (int i = 0; i < 4; i++)
        health_unwritable(&h);
    CU_ASSERT_FALSE(h.is_degraded);
    health_unwritable(&h);
    CU_ASSERT_TRUE(h.is_degraded);
    health_settled(&h, 7 * S);
    CU_ASSERT_FALSE(h.is_degraded);
    CU_ASSERT_EQUAL(h.unwritable, 0);
}

static void it_is_hopeless_only_when_nothing_was_ever_written(void)
{
    struct health never = { 0 }, once = { 0 };
    health_settled(&once, S);
    for (int i = 0; i < 12; i++) {
        CU_ASSERT_FALSE(health_is_hopeless(&never));
        health_unwritable(&never);
        health_unwritable(&once);
    }
    CU_ASSERT_TRUE(health_is_hopeless(&never));
    CU_ASSERT_FALSE(health_is_hopeless(&once));
}

static void a_lane_pauses_when_nothing_was_written_for_a_second(void)
{
    struct health h = { 0 };
    health_settled(&h, 5 * S);
    CU_ASSERT_FALSE(health_wants_pause(&h, 6 * S));
    CU_ASSERT_TRUE(health_wants_pause(&h, 6 * S + 1));
}

/* A call sent before another one was refused proves nothing, whenever its answer comes. */
static void a_lease_is_trusted_only_from_a_call_sent_after_the_last_refusal(void)
{
    struct health h = { 0 };
    CU_ASSERT_EQUAL(health_trust_until_us(&h, 10 * S, 9 * S), 19 * S);
    h.refused_boot_us = 11 * S;
    CU_ASSERT_EQUAL(health_trust_until_us(&h, 10 * S, 9 * S), 0);
    CU_ASSERT_EQUAL(health_trust_until_us(&h, 12 * S, 9 * S), 21 * S);
}

static const struct test tests[] = {
    TEST(a_few_unwritable_answers_in_a_row_degrade_until_one_is_written),
    TEST(it_is_hopeless_only_when_nothing_was_ever_written),
    TEST(a_lane_pauses_when_nothing_was_written_for_a_second),
    TEST(a_lease_is_trusted_only_from_a_call_sent_after_the_last_refusal),
    { NULL, NULL },
};
const struct suite suite_health = { "health", NULL, NULL, tests };
