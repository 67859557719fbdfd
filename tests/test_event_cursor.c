/* test_event_cursor.c - what a cursor is, and its numbers. */
#include "../engine/rules/event_cursor.h"
#include "test.h"

static void a_cursor_has_three_numbers(void)
{
    struct event_cursor c;
    CU_ASSERT_TRUE(event_cursor_split("1772370900-18446744073709551615-999999999999999999", &c));
    CU_ASSERT_STRING_EQUAL(c.numbers[0], "1772370900");
    CU_ASSERT_STRING_EQUAL(c.numbers[1], "18446744073709551615");
    CU_ASSERT_STRING_EQUAL(c.numbers[2], "999999999999999999");
    CU_ASSERT_TRUE(event_cursor_split(EVENT_CURSOR_FIRST, &c));
}

static void one_of_two_numbers_is_of_the_first_generation(void)
{
    struct event_cursor c;
    CU_ASSERT_TRUE(event_cursor_split("7301-15", &c));
    CU_ASSERT_STRING_EQUAL(c.numbers[0], "0");
    CU_ASSERT_STRING_EQUAL(c.numbers[1], "7301");
    CU_ASSERT_STRING_EQUAL(c.numbers[2], "15");
}

static void all_else_is_no_cursor(void)
{
    static const char *const others[] = { "", "-", "--", "1", "now", "1-", "-1", "1-2-", "1--2", "1-2-3-4",
                                          "1-2-x", "1 -2-3", "1-2-3 ", "1-+2-3", "1-2-1000000000000000000",
                                          "1000000000000000000-2-3", "1-000000000000000000001-3" };
    struct event_cursor c;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        CU_ASSERT_FALSE(event_cursor_split(others[i], &c));
}

static const struct test tests[] = {
    TEST(a_cursor_has_three_numbers),
    TEST(one_of_two_numbers_is_of_the_first_generation),
    TEST(all_else_is_no_cursor),
    { NULL, NULL },
};

const struct suite suite_event_cursor = { .name = "event_cursor", .tests = tests };
