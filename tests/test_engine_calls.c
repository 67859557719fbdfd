/* test_engine_calls.c - which calls an engine makes, and in which order, against a store that
 * answers at once, as each test wants. */
#include "calls_fixture.h"

static void a_slot_is_opened_read_and_finished(void)
{
    static const enum store_op expected[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_READ_PAGE, STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT });
    calls_are(expected, sizeof expected / sizeof *expected);
}

/* The database may be another one by now, and the lease lost with what it had not yet been told. */
static void after_a_lost_connection_the_lease_is_renewed_before_it_is_used(void)
{
    static const enum store_op expected[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_READ_PAGE,
                                              STORE_RENEW, STORE_READ_PAGE, STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .lose_read = 1 });
    calls_are(expected, sizeof expected / sizeof *expected);
    /* meanwhile jobs may be started under it: another engine cannot have it yet */
    CU_ASSERT(fake.trust_us > 0);
}

/* A database that takes no writes could not take the answers either, however long the lease still
 * lasts. */
static void after_a_refused_write_nothing_is_started_before_the_lease_is_renewed(void)
{
    static const struct err read_only = { ERR_LOST, "25006", ERR_REASON_REFUSED,
                                          .text = "cannot execute DELETE in a read-only transaction" };
    static const enum store_op expected[] = { STORE_HELLO,  STORE_OPEN_SLOT, STORE_READ_PAGE,
                                              STORE_FINISH, STORE_RENEW,     STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &read_only });
    calls_are(expected, sizeof expected / sizeof *expected);
    CU_ASSERT_EQUAL(fake.trust_us, 0);
}

/* The database is there, and says itself that nothing was changed. */
static void after_a_collision_the_call_is_repeated_without_a_renewal(void)
{
    static const struct err collision = { ERR_LOST, "40P01", ERR_REASON_COLLIDED,
                                          .text = "deadlock detected" };
    static const enum store_op expected[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_READ_PAGE, STORE_FINISH,
                                              STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &collision });
    calls_are(expected, sizeof expected / sizeof *expected);
}

/* Once may be chance. A slot that stays so is skipped: others wait behind it. */
static void a_slot_whose_opening_meets_a_corrupt_block_is_tried_thrice_and_left(void)
{
    static const enum store_op once[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_OPEN_SLOT, STORE_READ_PAGE,
                                          STORE_FINISH };
    static const enum store_op ever[] = { STORE_HELLO, STORE_OPEN_SLOT, STORE_OPEN_SLOT, STORE_OPEN_SLOT };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .damaged_opens = 1 });
    calls_are(once, sizeof once / sizeof *once);
    CU_ASSERT_FALSE(ran.skipped_some);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .damaged_opens = 100 });
    calls_are(ever, sizeof ever / sizeof *ever);
    CU_ASSERT_TRUE(ran.skipped_some);
    CU_ASSERT_FALSE(ran.holds_back_its_namesake);
}

/* Beyond its lease (10 s) an engine has no use for an answer. One that was late may only be slow,
 * and must not be asked for in vain for ever. */
static void a_call_has_the_time_of_a_lease_and_twice_as_much_each_time_it_was_late(void)
{
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 5 });
    CU_ASSERT_EQUAL(fake.most_within_ms, 10000);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .rows = 5, .late_reads = 2 });
    CU_ASSERT_EQUAL(fake.settled, 5);
    static const int expected[] = { 10000, 20000, 40000, 10000 };
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(fake.read_within_ms[i], expected[i]);
    CU_ASSERT_EQUAL(fake.most_within_ms, 40000);
}

/* It used to be made in the first slot of an hour: a cron that calls at 13:10 never made it. The
 * clock is at 10:15:01 here. */
static void a_run_makes_the_full_look_when_the_last_one_was_an_hour_ago(void)
{
    static const struct {
        int64_t ago_s;
        int full;
    } looks[] = { { 0, 1 }, { 60, 0 }, { 3599, 0 }, { 3600, 1 }, { 86400, 1 }, { -7200, 1 } };
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        struct plan_run state = { 0 };
        run_plan((struct fake){ .is_command = true, .full_look_ago_s = looks[i].ago_s }, &plan_run, &state);
        CU_ASSERT_EQUAL(fake.full_looks, looks[i].full);
        CU_ASSERT_EQUAL(fake.full_notes, looks[i].full);
        CU_ASSERT_EQUAL(ran.ended_with, 0);
    }
}

/* Somebody's transaction is in the way: however long, the slot is opened when that is over, and
 * not at the next slot's time. */
static void a_slot_that_is_locked_is_opened_as_soon_as_it_is_free(void)
{
    run_slot((struct fake){ .locked_until_us = 300 * INT64_C(1000000) });
    CU_ASSERT_FALSE(ran.was_unopened);
    CU_ASSERT_FALSE(ran.skipped_some);
    CU_ASSERT(fake.now_us >= 300 * INT64_C(1000000) && fake.now_us < 301 * INT64_C(1000000));
    CU_ASSERT(fake.opens < 1300);       /* with pauses */
    run_slot((struct fake){ .locked_until_us = 10 * INT64_C(1000000), .is_command = true });
    CU_ASSERT_FALSE(ran.was_unopened);
    CU_ASSERT_FALSE(ran.skipped_some);
    CU_ASSERT(fake.now_us < 11 * INT64_C(1000000));
}

/* Its caller calls again; and behind what a catch-up has found other slots wait. That it is still
 * to be done, both are informed. */
static void a_slot_that_stays_locked_is_left_by_a_command_and_by_a_catch_up(void)
{
    static const struct fake ways[] = {
        { .is_command = true }, { .kind = TARGET_RELOOK }, { .kind = TARGET_SWEEP }, { .kind = TARGET_RESLOT }
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct fake how = ways[i];
        how.locked_until_us = INT64_MAX;
        run_slot(how);
        CU_ASSERT_TRUE(ran.was_unopened);
        CU_ASSERT_TRUE(ran.skipped_some);
        CU_ASSERT(fake.now_us > 30 * 1000000 && fake.now_us < 33 * 1000000);
    }
}

/* The database's clock was set back: the slot comes again when it is its time. */
static void a_slot_that_has_not_begun_for_a_second_is_dropped_and_told(void)
{
    run_slot((struct fake){ .early_until_us = 1500 * 1000 });
    CU_ASSERT_FALSE(ran.was_unopened);
    run_slot((struct fake){ .early_until_us = INT64_MAX });
    CU_ASSERT_TRUE(ran.was_unopened);
    CU_ASSERT(fake.now_us < 3 * 1000000);
}

static const struct test tests[] = {
    TEST(a_slot_is_opened_read_and_finished),
    TEST(after_a_lost_connection_the_lease_is_renewed_before_it_is_used),
    TEST(after_a_refused_write_nothing_is_started_before_the_lease_is_renewed),
    TEST(after_a_collision_the_call_is_repeated_without_a_renewal),
    TEST(a_slot_whose_opening_meets_a_corrupt_block_is_tried_thrice_and_left),
    TEST(a_call_has_the_time_of_a_lease_and_twice_as_much_each_time_it_was_late),
    TEST(a_run_makes_the_full_look_when_the_last_one_was_an_hour_ago),
    TEST(a_slot_that_is_locked_is_opened_as_soon_as_it_is_free),
    TEST(a_slot_that_stays_locked_is_left_by_a_command_and_by_a_catch_up),
    TEST(a_slot_that_has_not_begun_for_a_second_is_dropped_and_told),
    { NULL, NULL },
};

const struct suite suite_engine_calls = { "engine_calls", settings_fixture_setup, settings_fixture_teardown,
                                          tests };
