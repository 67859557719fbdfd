/* test_pace.c - from how many checks on a slot is split. */
#include "../engine/run/pace.h"
#include "test.h"

/* 64 leases, settles and ends cost as much as thousands of checks that do nothing: slots of 2,010
 * took five times as long as those of 1,990. */
static void a_slot_of_quick_checks_is_split_later(void)
{
    struct pace pace = { 0 };
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 2000);
    for (int i = 0; i < 999; i++)
        pace_add(&pace, 0);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 2000);      /* too few to tell */
    pace_add(&pace, 0);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 20000);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 10), 100);
    CU_ASSERT_EQUAL(pace_split_at(&pace, INT32_MAX), INT32_MAX);
}

static void a_slot_of_slower_checks_is_shared(void)
{
    struct pace pace = { 0 };
    for (int i = 0; i < 2000; i++)
        pace_add(&pace, 45);
    int at = pace_split_at(&pace, 2000);
    CU_ASSERT(at >= 4000 && at <= 4100);
    for (int i = 0; i < 2000; i++)
        pace_add(&pace, 100000);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 2000);
    for (int i = 0; i < 2000; i++)
        pace_add(&pace, 0);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 20000);
}

static const struct test tests[] = {
    TEST(a_slot_of_quick_checks_is_split_later),
    TEST(a_slot_of_slower_checks_is_shared),
    { NULL, NULL },
};
const struct suite suite_pace = { "pace", NULL, NULL, tests };
