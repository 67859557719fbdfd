/* test_cooldown.c - what is left alone, until when, and why. */
#include "../engine/run/cooldown.h"
#include "test.h"

static const int64_t minute_us = 60 * INT64_C(1000000);

static void a_pause_begins_with_a_minute_and_doubles_up_to_an_hour(void)
{
    static const int minutes[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
    static struct cooldowns all;
    struct cooldown_key key = cooldown_of(COOLDOWN_CHECK, 5);
    int64_t now = 0;
    for (int i = 0; i < 8; i++) {
        cooldown_start(&all, key, COOLDOWN_REFUSED, now);
        CU_ASSERT_TRUE(cooldown_is_on(&all, key, now + minutes[i] * minute_us - 1));
        now += minutes[i] * minute_us;
        CU_ASSERT_FALSE(cooldown_is_on(&all, key, now));
    }
}

static void what_a_corrupt_block_keeps_is_left_alone_for_a_day(void)
{
    static struct cooldowns all;
    struct cooldown_key key = cooldown_of(COOLDOWN_CHECK, 5);
    cooldown_start(&all, key, COOLDOWN_CORRUPT, 0);
    CU_ASSERT_TRUE(cooldown_is_on(&all, key, 24 * 60 * minute_us - 1));
    CU_ASSERT_FALSE(cooldown_is_on(&all, key, 24 * 60 * minute_us));
}

/* A slot is a number, a check's id is, too: once one kept the other from being run. */
static void keys_of_different_kinds_are_different(void)
{
    static struct cooldowns all;
    cooldown_start(&all, cooldown_of(COOLDOWN_SLOT, 900), COOLDOWN_LOGGED, 0);
    CU_ASSERT_FALSE(cooldown_is_on(&all, cooldown_of(COOLDOWN_CHECK, 900), 1));
    CU_ASSERT_FALSE(cooldown_is_on(&all, cooldown_of(COOLDOWN_SLOT, 901), 1));
    CU_ASSERT_TRUE(cooldown_is_on(&all, cooldown_of(COOLDOWN_SLOT, 900), 1));
}

static void the_end_of_a_transaction_ends_only_what_was_held(void)
{
    static struct cooldowns all;
    struct cooldown_key held = cooldown_of(COOLDOWN_CHECK, 1), refused = cooldown_of(COOLDOWN_CHECK, 2);
    cooldown_start(&all, held, COOLDOWN_HELD, 0);
    cooldown_start(&all, refused, COOLDOWN_REFUSED, 0);
    cooldown_end_held(&all);
    CU_ASSERT_FALSE(cooldown_is_on(&all, held, 1));
    CU_ASSERT_TRUE(cooldown_is_on(&all, refused, 1));
}

static void a_line_may_be_logged_once_and_again_after_its_pause(void)
{
    static struct cooldowns all;
    struct cooldown_key key = cooldown_of(COOLDOWN_SLOT, 900);
    CU_ASSERT_TRUE(cooldown_may_log(&all, key, 0));
    CU_ASSERT_FALSE(cooldown_may_log(&all, key, minute_us - 1));
    CU_ASSERT_TRUE(cooldown_may_log(&all, key, minute_us));
    CU_ASSERT_FALSE(cooldown_may_log(&all, key, 3 * minute_us - 1));
}

static void without_room_what_would_be_over_first_is_forgotten(void)
{
    static struct cooldowns all;
    for (int i = 0; i < COOLDOWN_MAX; i++)
        cooldown_start(&all, cooldown_of(COOLDOWN_CHECK, i), COOLDOWN_HELD, i == 9 ? 0 : 1000 + i);
    cooldown_start(&all, cooldown_of(COOLDOWN_CHECK, 5000), COOLDOWN_HELD, 5000);
    CU_ASSERT_EQUAL(all.n, COOLDOWN_MAX);
    CU_ASSERT_FALSE(cooldown_is_on(&all, cooldown_of(COOLDOWN_CHECK, 9), 1));
    CU_ASSERT_TRUE(cooldown_is_on(&all, cooldown_of(COOLDOWN_CHECK, 10), 1));
    CU_ASSERT_TRUE(cooldown_is_on(&all, cooldown_of(COOLDOWN_CHECK, 5000), 5001));
}

static const struct test tests[] = {
    TEST(a_pause_begins_with_a_minute_and_doubles_up_to_an_hour),
    TEST(what_a_corrupt_block_keeps_is_left_alone_for_a_day),
    TEST(keys_of_different_kinds_are_different),
    TEST(the_end_of_a_transaction_ends_only_what_was_held),
    TEST(a_line_may_be_logged_once_and_again_after_its_pause),
    TEST(without_room_what_would_be_over_first_is_forgotten),
    { NULL, NULL },
};
const struct suite suite_cooldown = { "cooldown", NULL, NULL, tests };
