/* test_fine_pulse.c - the pulse: up to where it need not look any more. */
#include "../engine/run/fine_pulse.h"
#include "lane_env_fixture.h"

enum { LENGTH = 900 };
static const int64_t full = INT64_C(1772370900);

static struct fine_pulse p;

/* An answer so many seconds after the full slot: xmin, the next id, and the first slot found (0:
 * none). */
static void answer_of(int64_t server, int64_t at, int64_t xmin, int64_t next, int64_t found)
{
    struct store_fine_slots answer = { .clock_us = (full + at) * 1000000 + 10000,
                                       .xmin = xmin,
                                       .next_xid = next,
                                       .incarnation = server,
                                       .n = found ? 1 : 0 };
    if (found)
        answer.slots[0] = full + found;
    fine_pulse_note(&p, &answer, LENGTH);
}
static void answer(int64_t at, int64_t xmin, int64_t next, int64_t found)
{
    answer_of(7, at, xmin, next, found);
}

static void low_is(int64_t seconds)
{
    CU_ASSERT_EQUAL(p.low, full + seconds);
}

static void begin(void)
{
    p = (struct fine_pulse){ .low = full };
}

static void it_moves_up_to_the_pulse_before_when_nobody_writes(void)
{
    begin();
    answer(60, 100, 100, 0);
    low_is(0);
    answer(61, 100, 100, 0);
    low_is(60);
    answer(62, 100, 100, 0);
    low_is(61);
}

/* It read the clock in that second, and may commit at any time. */
static void it_waits_for_a_transaction_that_was_running(void)
{
    begin();
    answer(60, 90, 100, 0);
    answer(61, 90, 101, 0);
    answer(70, 99, 120, 0);
    low_is(0);
    answer(71, 100, 130, 0);
    low_is(60);
    answer(72, 129, 140, 0);
    low_is(60);
    answer(73, 130, 140, 0);
    low_is(71);
}

static void it_waits_for_what_nobody_has_opened(void)
{
    begin();
    answer(60, 100, 100, 58);
    answer(61, 101, 101, 58);
    low_is(0);
    answer(62, 101, 101, 61);
    low_is(60);
}

/* Of that second it may not have shown what is of other engines' jobs. */
static void it_does_not_pass_the_second_that_runs(void)
{
    begin();
    answer(60, 100, 100, 0);
    answer(60, 100, 100, 0);
    low_is(0);
    answer(61, 100, 100, 0);
    low_is(60);
}

static void it_begins_anew_on_another_server(void)
{
    begin();
    answer(60, 100, 100, 0);
    answer_of(8, 61, 100, 100, 0);
    low_is(0);
    answer_of(8, 62, 100, 100, 0);
    low_is(61);
}

static void it_begins_anew_when_the_clock_was_set_back(void)
{
    begin();
    answer(60, 100, 100, 0);
    answer(61, 100, 100, 0);
    low_is(60);
    answer(-300, 100, 100, 0);
    low_is(-900);
    answer(-299, 100, 100, 0);
    low_is(-300);
}

/* A store that has none says 0, always: a file, which has no server either. */
static void without_transaction_ids_it_looks_at_a_whole_slot_and_what_runs(void)
{
    begin();
    p.low = full + 7;                   /* it began in the middle */
    for (int64_t at = 60; at < 2 * LENGTH; at += 60)
        answer_of(0, at, 0, 0, 0);
    low_is(7);
    answer_of(0, 2 * LENGTH, 0, 0, 0);
    low_is(LENGTH);
    answer_of(0, 3 * LENGTH - 1, 0, 0, 0);
    low_is(LENGTH);
    answer_of(0, 3 * LENGTH, 0, 0, 0);
    low_is(2 * LENGTH);
    answer_of(0, -300, 0, 0, 0);
    low_is(-LENGTH);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static struct lane_env_fixture x;

static void it_asks_once_a_second_just_after_it(void)
{
    lane_env_begin(&x, "");
    p = (struct fine_pulse){ 0 };
    fixture_now_us += 300 * 1000;
    fine_pulse_tick(&x.plan_env, &p, &x.fine_errands);
    CU_ASSERT_EQUAL(x.fine_errands.current.kind, ERRAND_FINE_SLOTS);
    CU_ASSERT_EQUAL(x.fine_errands.current.from, FIXTURE_SLOT);
    CU_ASSERT_PTR_EQUAL(x.fine_errands.current.jobs, &x.jobs);
    x.fine_errands.current = (struct errand){ 0 };
    fixture_now_us += 700 * 1000;
    fine_pulse_tick(&x.plan_env, &p, &x.fine_errands);
    CU_ASSERT_EQUAL(x.fine_errands.current.kind, ERRAND_NONE);
    fixture_now_us += 10 * 1000;
    fine_pulse_tick(&x.plan_env, &p, &x.fine_errands);
    CU_ASSERT_EQUAL(x.fine_errands.current.kind, ERRAND_FINE_SLOTS);
    lane_env_end(&x);
}

static void it_asks_nothing_where_slots_are_a_second_long_or_time_is_virtual(void)
{
    lane_env_begin(&x, "");
    p = (struct fine_pulse){ 0 };
    x.clocks.slot_length_s = 1;
    fine_pulse_tick(&x.plan_env, &p, &x.fine_errands);
    x.clocks.slot_length_s = LENGTH;
    x.clocks.virtual_now = FIXTURE_SLOT;
    fine_pulse_tick(&x.plan_env, &p, &x.fine_errands);
    CU_ASSERT_EQUAL(x.fine_errands.current.kind, ERRAND_NONE);
    lane_env_end(&x);
}

static void what_is_found_goes_to_the_lane_of_fine_slots(void)
{
    lane_env_begin(&x, "");
    p = (struct fine_pulse){ .low = FIXTURE_SLOT };
    union errand_request reply = { .fine = { .clock_us = (FIXTURE_SLOT + 9) * INT64_C(1000000),
                                             .slots = { FIXTURE_SLOT + 7, FIXTURE_SLOT + 8 },
                                             .n = 2 } };
    struct errand_result result = { .errand.kind = ERRAND_FINE_SLOTS, .reply = &reply };
    fine_pulse_errand_done(&x.plan_env, &p, &result);
    fine_pulse_errand_done(&x.plan_env, &p, &result);
    CU_ASSERT_TRUE(targets_have(&x.fine_targets, FIXTURE_SLOT + 7));
    CU_ASSERT_TRUE(targets_have(&x.fine_targets, FIXTURE_SLOT + 8));
    CU_ASSERT_PTR_NULL(x.targets.first);
    CU_ASSERT_TRUE(fine_pulse_has_seen(&p, FIXTURE_SLOT + 9));
    CU_ASSERT_FALSE(fine_pulse_has_seen(&p, FIXTURE_SLOT + 10));
    lane_env_end(&x);
}

static const struct test tests[] = {
    TEST(it_moves_up_to_the_pulse_before_when_nobody_writes),
    TEST(it_waits_for_a_transaction_that_was_running),
    TEST(it_waits_for_what_nobody_has_opened),
    TEST(it_does_not_pass_the_second_that_runs),
    TEST(it_begins_anew_on_another_server),
    TEST(it_begins_anew_when_the_clock_was_set_back),
    TEST(without_transaction_ids_it_looks_at_a_whole_slot_and_what_runs),
    TEST(it_asks_once_a_second_just_after_it),
    TEST(it_asks_nothing_where_slots_are_a_second_long_or_time_is_virtual),
    TEST(what_is_found_goes_to_the_lane_of_fine_slots),
    { NULL, NULL },
};

const struct suite suite_fine_pulse = { "fine_pulse", NULL, NULL, tests };
