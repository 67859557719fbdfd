/* test_engine_calls_settle.c - settles that meet a corrupt block, or rows that an application's
 * transaction holds. */
#include "calls_fixture.h"

/* It is found by halving, tried again, and left; others in the slot are written. */
static void a_settle_that_meets_a_corrupt_block_costs_the_row_beside_it_only(void)
{
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 20, .unwritable_id = 7 });
    CU_ASSERT_EQUAL(fake.settled, 19);
    CU_ASSERT_TRUE(ran.skipped_some);
    CU_ASSERT_TRUE(ran.holds_back_the_unwritable);
    CU_ASSERT_EQUAL(fake.single_reads, 0);
    CU_ASSERT(fake.now_us < 3 * 1000000);
}

/* Perhaps nothing can be written at all: then jobs must not be run as fast as answers are dropped.
 */
static void when_no_settle_is_taken_answers_are_dropped_after_a_lease_and_checks_read_one_by_one(void)
{
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 3, .unwritable_id = -1 });
    CU_ASSERT_EQUAL(fake.settled, 0);
    CU_ASSERT_TRUE(ran.skipped_some);
    CU_ASSERT(fake.now_us > 10 * 1000000);
    /* more than what is in hand when nothing is known yet */
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 2 * LANE_PAGES + 4, .unwritable_id = -1 });
    CU_ASSERT_EQUAL(fake.settled, 0);
    CU_ASSERT(fake.single_reads > 0);
}

/* Each page used to wait for the lock timeout before it was sent around them. */
static void rows_that_are_held_cost_the_lock_timeout_once_not_once_a_page(void)
{
    run_slot(
        (struct fake){ .kind = TARGET_RESLOT, .rows = 100, .held_every = 5, .held_until_us = 5 * 1000000 });
    CU_ASSERT_EQUAL(fake.settled, 100);
    CU_ASSERT_EQUAL(fake.waits, 1);
    CU_ASSERT_FALSE(ran.skipped_some);
    CU_ASSERT(fake.free_settled_us < 2 * 1000000);
    /* and those are written within a second of their transaction's end */
    CU_ASSERT(fake.now_us < 6 * 1000000);
}

/* A lane holds 64 pages: full of rows that are held, they kept all behind them waiting for half a
 * minute. */
static void pages_that_wait_for_held_rows_leave_room_for_others(void)
{
    enum { ROWS = 2 * 3 * LANE_PAGES };
    run_slot(
        (struct fake){ .kind = TARGET_RESLOT, .rows = ROWS, .held_every = 2, .held_until_us = 20 * 1000000 });
    CU_ASSERT_EQUAL(fake.free_settled, ROWS / 2);
    CU_ASSERT(fake.free_settled_us < 10 * 1000000);
}

static void a_settle_goes_around_held_rows_for_a_while_after_one_was_met(void)
{
    const struct health never = { 0 }, once = { .lock_met_us = 1000 };
    CU_ASSERT_FALSE(health_met_lock_lately(&never, 1000));
    CU_ASSERT_TRUE(health_met_lock_lately(&once, 1000 + 4 * 1000000));
    CU_ASSERT_FALSE(health_met_lock_lately(&once, 1000 + 6 * 1000000));
}

static const struct test tests[] = {
    TEST(a_settle_that_meets_a_corrupt_block_costs_the_row_beside_it_only),
    TEST(when_no_settle_is_taken_answers_are_dropped_after_a_lease_and_checks_read_one_by_one),
    TEST(rows_that_are_held_cost_the_lock_timeout_once_not_once_a_page),
    TEST(pages_that_wait_for_held_rows_leave_room_for_others),
    TEST(a_settle_goes_around_held_rows_for_a_while_after_one_was_met),
    { NULL, NULL },
};

const struct suite suite_engine_calls_settle = {
    "engine_calls_settle", settings_fixture_setup, settings_fixture_teardown, tests
};
