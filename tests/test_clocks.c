/* test_clocks.c - the database's clock against ours. */
#include "../engine/run/clocks.h"
#include "test.h"

enum { S = 1000 * 1000 };

static void no_time_is_known_before_the_database_was_asked(void)
{
    struct clocks c = { 0 };
    CU_ASSERT_EQUAL(clocks_now_us(&c, 5 * S), 0);
    clocks_set(&c, INT64_C(1000) * S, 900, 0, 5 * S);
    CU_ASSERT_EQUAL(clocks_now(&c, 7 * S), 1002);
    CU_ASSERT_EQUAL(c.slot_length_s, 900);
}

static void a_virtual_time_counts_in_place_of_the_databases(void)
{
    struct clocks c = { .virtual_now = 77 };
    clocks_set(&c, INT64_C(1000) * S, 900, 0, 5 * S);
    CU_ASSERT_EQUAL(clocks_now(&c, 500 * S), 77);
    CU_ASSERT_EQUAL(clocks_database_us(&c, 7 * S), INT64_C(1002) * S);
    clocks_compare(&c, INT64_C(5000) * S, 0, 6 * S);
    CU_ASSERT_FALSE(c.is_doubtful);
}

/* What the database shows may lie anywhere within its call, and a second beside it. */
static void a_clock_that_was_set_raises_doubt(void)
{
    static const struct {
        int64_t shown_s;
        bool doubt;
    } all[] = {
        { 1000, false }, { 1001, false }, { 1002, true }, { 996, false }, { 995, true }, { 0, false }
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct clocks c = { 0 };
        clocks_set(&c, INT64_C(1000) * S, 900, 0, 10 * S);
        clocks_compare(&c, all[i].shown_s * S, 3 * S, 10 * S);
        CU_ASSERT_EQUAL(c.is_doubtful, all[i].doubt);
    }
}

static void a_moment_before_a_suspend_is_told_from_one_after_it(void)
{
    struct clocks c = { .suspended_us = 30 * S };
    clocks_set(&c, INT64_C(1000) * S, 900, 0, 10 * S);
    CU_ASSERT_EQUAL(clocks_of_boot_us(&c, 40 * S), INT64_C(1000) * S);
}

static void a_full_look_is_wanted_after_an_hour_and_after_a_clock_was_set_back(void)
{
    static const struct {
        int64_t ago_s;
        bool wanted;
    } all[] = { { 0, false }, { 3599, false }, { 3600, true }, { -1, true } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct clocks c = { 0 };
        clocks_set(&c, INT64_C(100000) * S, 900, 100000 - all[i].ago_s, 0);
        CU_ASSERT_EQUAL(clocks_wants_full_look(&c, 0), all[i].wanted);
        clocks_note_full_look(&c, 0);
        CU_ASSERT_FALSE(clocks_wants_full_look(&c, 0));
    }
}

static const struct test tests[] = {
    TEST(no_time_is_known_before_the_database_was_asked),
    TEST(a_virtual_time_counts_in_place_of_the_databases),
    TEST(a_clock_that_was_set_raises_doubt),
    TEST(a_moment_before_a_suspend_is_told_from_one_after_it),
    TEST(a_full_look_is_wanted_after_an_hour_and_after_a_clock_was_set_back),
    { NULL, NULL },
};
const struct suite suite_clocks = { "clocks", NULL, NULL, tests };
