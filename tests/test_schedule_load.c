/* test_schedule_load.c - how large the transactions of a load of schedules are. */
#include "../engine/cmd/schedule_load.h"
#include "test.h"

enum { MS = 1000, S = 1000 * MS };

static void a_quick_page_is_followed_by_a_larger_one_up_to_a_thousand(void)
{
    CU_ASSERT_EQUAL(schedule_load_next_page(100, 10 * MS), 200);
    CU_ASSERT_EQUAL(schedule_load_next_page(800, 10 * MS), 1000);
    CU_ASSERT_EQUAL(schedule_load_next_page(1000, 10 * MS), 1000);
}

static void a_slow_page_is_followed_by_a_smaller_one_down_to_ten(void)
{
    CU_ASSERT_EQUAL(schedule_load_next_page(1000, 3 * S), 500);
    CU_ASSERT_EQUAL(schedule_load_next_page(30, 60 * S), 15);
    CU_ASSERT_EQUAL(schedule_load_next_page(15, 60 * S), 10);
    CU_ASSERT_EQUAL(schedule_load_next_page(10, 60 * S), 10);
}

static void a_page_of_about_a_second_is_followed_by_one_of_its_size(void)
{
    CU_ASSERT_EQUAL(schedule_load_next_page(400, 600 * MS), 400);
    CU_ASSERT_EQUAL(schedule_load_next_page(400, 2 * S), 400);
}

/* Whatever a machine does with one schedule, from 100 us to a second. */
static void pages_settle_where_they_take_no_longer_than_two_seconds_or_have_ten(void)
{
    for (int64_t each_us = 100; each_us <= S; each_us *= 2) {
        int entries = 100;
        for (int i = 0; i < 20; i++)
            entries = schedule_load_next_page(entries, entries * each_us);
        CU_ASSERT(entries == 10 || entries * each_us <= 2 * S);
        CU_ASSERT(entries == 1000 || entries * each_us > S / 2);
    }
}

static const struct test tests[] = {
    TEST(a_quick_page_is_followed_by_a_larger_one_up_to_a_thousand),
    TEST(a_slow_page_is_followed_by_a_smaller_one_down_to_ten),
    TEST(a_page_of_about_a_second_is_followed_by_one_of_its_size),
    TEST(pages_settle_where_they_take_no_longer_than_two_seconds_or_have_ten),
    { NULL, NULL },
};

const struct suite suite_schedule_load = { "schedule_load", NULL, NULL, tests };
