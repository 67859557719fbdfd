/* test_slot.c - slots: rounding, the next one that has not begun, and the ends of int64_t. */
#include "test.h"

#include <string.h>

#include <stdint.h>
#include "../engine/rules/retry.h"
#include "../engine/rules/slot.h"

#define AT_13_05 1772370300     /* 2026-03-01T13:05:00Z */
#define AT_13_15 1772370900
#define AT_13_30 1772371800

static const int32_t lengths[] = { 1, 7, 60, 300, 900, 3600, 86400 };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void a_moment_between_slots_is_rounded_up(void)
{
    CU_ASSERT_EQUAL(slot_ceil(AT_13_05, 900), AT_13_15);
    CU_ASSERT_EQUAL(slot_ceil(AT_13_15 - 1, 900), AT_13_15);
    CU_ASSERT_EQUAL(slot_floor(AT_13_05, 900), AT_13_05 - 300);
}

static void a_moment_on_the_boundary_stays(void)
{
    CU_ASSERT_EQUAL(slot_ceil(AT_13_15, 900), AT_13_15);
    CU_ASSERT_EQUAL(slot_floor(AT_13_15, 900), AT_13_15);
    CU_ASSERT_EQUAL(slot_ceil(0, 900), 0);
}

static void the_next_slot_is_never_the_running_one(void)
{
    CU_ASSERT_EQUAL(slot_next(AT_13_05, 900), AT_13_15);
    CU_ASSERT_EQUAL(slot_next(AT_13_15, 900), AT_13_30);
    CU_ASSERT_EQUAL(slot_next(AT_13_15 - 1, 900), AT_13_15);
}

/* What was wanted before now, and would have been run already. */
static void a_time_has_passed_when_its_slot_has_begun(void)
{
    CU_ASSERT_TRUE(slot_has_passed(AT_13_05, AT_13_15, 900));
    CU_ASSERT_TRUE(slot_has_passed(AT_13_15, AT_13_15 + 1, 900));
    CU_ASSERT_FALSE(slot_has_passed(AT_13_05, AT_13_05 + 1, 900));      /* its slot is the next one */
    CU_ASSERT_FALSE(slot_has_passed(AT_13_05, AT_13_05, 900));
    CU_ASSERT_FALSE(slot_has_passed(AT_13_15, AT_13_15, 900));          /* now is not before now */
    CU_ASSERT_FALSE(slot_has_passed(AT_13_30, AT_13_15, 900));
    CU_ASSERT_TRUE(slot_has_passed(0, AT_13_15, 900));
}

static void a_check_is_never_filed_into_a_slot_that_has_begun(void)
{
    CU_ASSERT_EQUAL(slot_for(AT_13_05, AT_13_05 - 600, 900), AT_13_15);
    CU_ASSERT_EQUAL(slot_for(AT_13_05, AT_13_05, 900), AT_13_15);
    CU_ASSERT_EQUAL(slot_for(AT_13_15, AT_13_15, 900), AT_13_30);
    CU_ASSERT_EQUAL(slot_for(0, AT_13_15, 900), AT_13_30);
    CU_ASSERT_EQUAL(slot_for(AT_13_30, AT_13_15, 900), AT_13_30);
    CU_ASSERT_EQUAL(slot_for(INT64_MIN, AT_13_15, 900), AT_13_30);
}

static void moments_before_1970_round_up_as_well(void)
{
    CU_ASSERT_EQUAL(slot_ceil(-1, 900), 0);
    CU_ASSERT_EQUAL(slot_floor(-1, 900), -900);
    CU_ASSERT_EQUAL(slot_ceil(-900, 900), -900);
    CU_ASSERT_EQUAL(slot_next(-900, 900), 0);
}

static void the_last_slots_of_the_calendar_do_not_overflow(void)
{
    CU_ASSERT_EQUAL(slot_ceil(MOMENT_MAX, 900), MOMENT_MAX + 1);
    CU_ASSERT_EQUAL(slot_next(MOMENT_MAX, 900), MOMENT_MAX + 1);
    CU_ASSERT_EQUAL(slot_for(MOMENT_MAX, MOMENT_MAX, 86400), MOMENT_MAX + 1);
}

static void the_ends_of_the_number_range_give_multiples(void)
{
    const int64_t ends[] = { INT64_MIN,       INT64_MIN + 1, INT64_MIN + 899,
                             INT64_MAX - 899, INT64_MAX - 1, INT64_MAX };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int n = 0; n < LENGTHS; n++) {
            CU_ASSERT_EQUAL(slot_floor(ends[i], lengths[n]) % lengths[n], 0);
            CU_ASSERT_EQUAL(slot_ceil(ends[i], lengths[n]) % lengths[n], 0);
            CU_ASSERT_EQUAL(slot_next(ends[i], lengths[n]) % lengths[n], 0);
            CU_ASSERT_EQUAL(slot_for(ends[i], ends[i], lengths[n]) % lengths[n], 0);
        }
}

static void a_length_that_is_no_length_counts_as_a_second(void)
{
    CU_ASSERT_EQUAL(slot_ceil(AT_13_05 + 1, 0), AT_13_05 + 1);
    CU_ASSERT_EQUAL(slot_floor(AT_13_05 + 1, -900), AT_13_05 + 1);
    CU_ASSERT_EQUAL(slot_next(AT_13_05, INT32_MIN), AT_13_05 + 1);
}

/* ---- fine slots ---- */

static void seconds_between_full_slots_are_fine(void)
{
    CU_ASSERT_FALSE(slot_is_fine(AT_13_15, 900));
    CU_ASSERT_TRUE(slot_is_fine(AT_13_15 + 1, 900));
    CU_ASSERT_TRUE(slot_is_fine(AT_13_15 - 1, 900));
    CU_ASSERT_FALSE(slot_is_fine(AT_13_15 + 1, 1));
    CU_ASSERT_FALSE(slot_is_fine(0, 900));
}

static void at_once_is_the_next_second_that_is_no_full_slot(void)
{
    CU_ASSERT_EQUAL(slot_fine_next(AT_13_05, 900), AT_13_05 + 1);
    CU_ASSERT_EQUAL(slot_fine_next(AT_13_15, 900), AT_13_15 + 1);
    CU_ASSERT_EQUAL(slot_fine_next(AT_13_15 - 1, 900), AT_13_15 + 1);
    CU_ASSERT_EQUAL(slot_fine_next(AT_13_15 - 1, 1), AT_13_15);
    CU_ASSERT_EQUAL(slot_fine_next(AT_13_15, 2), AT_13_15 + 1);
    CU_ASSERT_EQUAL(slot_fine_next(AT_13_15 + 1, 2), AT_13_15 + 3);
    CU_ASSERT_EQUAL(slot_fine_for(AT_13_15 + 7, AT_13_15, 900), AT_13_15 + 7);
    CU_ASSERT_EQUAL(slot_fine_for(AT_13_15 + 900, AT_13_15, 900), AT_13_15 + 901);
    CU_ASSERT_EQUAL(slot_fine_for(AT_13_15 - 7, AT_13_15, 900), AT_13_15 + 1);
}

static int64_t moved(int64_t wanted, int64_t left, int64_t now, bool is_attempt)
{
    return slot_moved(&(struct slot_move){ wanted, left, now, is_attempt }, 900);
}

static void a_check_that_moves_leaves_its_slot(void)
{
    CU_ASSERT_EQUAL(moved(AT_13_15 + 1800, AT_13_15, AT_13_15 + 1, false), AT_13_15 + 1800);
    CU_ASSERT_EQUAL(moved(AT_13_15 - 900, AT_13_15, AT_13_15 + 1, false), AT_13_15 + 900);
    /* the clock was set back by a slot, or by more */
    CU_ASSERT_EQUAL(moved(AT_13_15, AT_13_15, AT_13_05, false), AT_13_15 + 900);
    CU_ASSERT_EQUAL(moved(AT_13_15 - 900, AT_13_15, AT_13_05, false), AT_13_15 + 900);
    CU_ASSERT_EQUAL(moved(AT_13_15, AT_13_15, AT_13_05 - 3600, false), AT_13_15 + 900);
    CU_ASSERT_EQUAL(moved(AT_13_15 - 1800, AT_13_15, AT_13_05 - 3600, false), AT_13_15 - 1800);
    CU_ASSERT_EQUAL(moved(AT_13_15 + 5, AT_13_15 + 5, AT_13_15 + 4, false), AT_13_15 + 6);
    CU_ASSERT_EQUAL(moved(AT_13_15 - 1, AT_13_15 + 1, AT_13_15 - 1, false), AT_13_15 + 2);
}

static void a_move_to_a_slot_that_has_begun_goes_to_the_next_of_its_kind(void)
{
    CU_ASSERT_EQUAL(moved(AT_13_15 + 5, AT_13_15, AT_13_15 + 4, false), AT_13_15 + 5);
    CU_ASSERT_EQUAL(moved(AT_13_15 + 5, AT_13_15, AT_13_15 + 5, false), AT_13_15 + 6);
    CU_ASSERT_EQUAL(moved(AT_13_15 - 1, AT_13_05, AT_13_15 - 1, false), AT_13_15 + 1);
    CU_ASSERT_EQUAL(moved(AT_13_15, AT_13_05, AT_13_15 + 5, false), AT_13_15 + 900);
    /* an attempt goes on in its full slot, or with the checks of the next one */
    CU_ASSERT_EQUAL(moved(AT_13_15 + 5, AT_13_15, AT_13_15 + 5, true), AT_13_15 + 6);
    CU_ASSERT_EQUAL(moved(AT_13_15 - 2, AT_13_05, AT_13_15 - 1, true), AT_13_15);
    CU_ASSERT_EQUAL(moved(AT_13_15 - 2, AT_13_05, AT_13_15 + 5, true), AT_13_15 + 900);
    CU_ASSERT_EQUAL(moved(AT_13_15 + 899, AT_13_15 + 899, AT_13_15 + 898, true), AT_13_15 + 900);
}

static void any_moment_lies_between_its_slots(void)
{
    uint64_t seed = 20260301, random = seed;
    for (int i = 0; i < 200000; i++) {
        int64_t at = (int64_t)(random_next(&random) % (uint64_t)MOMENT_MAX) - MOMENT_MAX / 4;
        int32_t length = lengths[random_next(&random) % LENGTHS];
        int64_t below = slot_floor(at, length), above = slot_ceil(at, length), next = slot_next(at, length);
        bool good = below <= at && at - below < length && above >= at && above - at < length && next > at &&
                    next - at <= length && below % length == 0 && above % length == 0 && next % length == 0;
        if (!good) {
            printf("seed %llu, turn %d: %lld, length %d\n", (unsigned long long)seed, i, (long long)at,
                   (int)length);
            CU_FAIL_FATAL("a slot is off");
        }
    }
}

static void a_length_must_divide_a_day(void)
{
    const int64_t good[] = { 1, 2, 60, 300, 900, 1800, 3600, 43200, 86400 };
    const int64_t bad[] = { INT64_MIN, -900, 0, 7, 59, 901, 50000, 86399, 86401, 172800, INT64_MAX };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CU_ASSERT_TRUE(slot_length_is_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_FALSE(slot_length_is_valid(bad[i]));
}

static void moments_are_those_of_1970_to_9999(void)
{
    CU_ASSERT_TRUE(moment_is_valid(0));
    CU_ASSERT_TRUE(moment_is_valid(MOMENT_MAX));
    CU_ASSERT_FALSE(moment_is_valid(-1));
    CU_ASSERT_FALSE(moment_is_valid(MOMENT_MAX + 1));
    CU_ASSERT_FALSE(moment_is_valid(INT64_MIN));
}

static void a_server_serves_its_minutes_only(void)
{
    const int serve[] = { 0, 30 };
    CU_ASSERT_FALSE(slot_is_served(AT_13_15, serve, 2));
    CU_ASSERT_TRUE(slot_is_served(AT_13_30, serve, 2));
    CU_ASSERT_TRUE(slot_is_served(AT_13_30 + 59, serve, 2));
    CU_ASSERT_FALSE(slot_is_served(AT_13_30 + 60, serve, 2));
    CU_ASSERT_TRUE(slot_is_served(AT_13_30 + 1800, serve, 2));
    CU_ASSERT_TRUE(slot_is_served(-1800, serve, 2));
    CU_ASSERT_FALSE(slot_is_served(INT64_MAX, serve, 1));
}

static void a_server_without_minutes_serves_all(void)
{
    CU_ASSERT_TRUE(slot_is_served(AT_13_15, NULL, 0));
}

static void minutes_in_which_no_slot_begins_are_told(void)
{
    static const struct { int32_t length_s; int minute; bool begins;
    } cases[] = {
        { 900, 0, true },    { 900, 15, true },   { 900, 20, false }, { 1200, 20, true },
        { 1200, 30, false }, { 1200, 15, false }, { 60, 59, true },   { 20, 7, true },
        { 1, 59, true },     { 90, 1, true },     { 90, 2, false },   { 2700, 45, true },
        { 2700, 15, true },  { 2700, 20, false }, { 7200, 0, true },  { 7200, 30, false },
        { 86400, 0, true },  { 86400, 1, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(slot_begins_in_minute(cases[i].minute, cases[i].length_s), cases[i].begins);
    /* By all slots of some days, with the function that engines ask. */
    static const int32_t some[] = { 1, 20, 60, 90, 900, 1200, 2700, 5400, 86400 };
    for (size_t l = 0; l < sizeof some / sizeof *some; l++) {
        bool seen[60] = { false };
        for (int64_t slot = 0; slot < 3 * 86400; slot += some[l])
            seen[slot % 3600 / 60] = true;
        for (int minute = 0; minute < 60; minute++)
            CU_ASSERT_EQUAL(slot_begins_in_minute(minute, some[l]), seen[minute]);
    }
}

static void serve_minutes_that_name_no_slot_are_put_into_words(void)
{
    char words[512];
    CU_ASSERT_EQUAL(slot_serve_mistakes((int[]){ 0, 30 }, 2, 900, words, sizeof words), 0);
    CU_ASSERT_STRING_EQUAL(words, "");
    CU_ASSERT_EQUAL(slot_serve_mistakes(NULL, 0, 1200, words, sizeof words), 0);
    CU_ASSERT_EQUAL(slot_serve_mistakes((int[]){ 0, 30 }, 2, 1200, words, sizeof words), 1);
    CU_ASSERT_STRING_EQUAL(
        words, "serve names minutes in which no slot begins: 30; slots begin in the minutes 0, 20, 40");
    CU_ASSERT_EQUAL(slot_serve_mistakes((int[]){ 15, 45 }, 2, 1200, words, sizeof words), 2);
    CU_ASSERT_STRING_EQUAL(
        words, "serve names minutes in which no slot begins: 15, 45; slots begin in the minutes 0, 20, 40");
    char small[20];
    CU_ASSERT_EQUAL(slot_serve_mistakes((int[]){ 15, 45 }, 2, 1200, small, sizeof small), 2);
    CU_ASSERT_EQUAL(strlen(small), sizeof small - 1);
}

static const struct test tests[] = {
    TEST(a_time_has_passed_when_its_slot_has_begun),
    TEST(minutes_in_which_no_slot_begins_are_told),
    TEST(serve_minutes_that_name_no_slot_are_put_into_words),
    TEST(a_moment_between_slots_is_rounded_up),
    TEST(a_moment_on_the_boundary_stays),
    TEST(the_next_slot_is_never_the_running_one),
    TEST(a_check_is_never_filed_into_a_slot_that_has_begun),
    TEST(moments_before_1970_round_up_as_well),
    TEST(the_last_slots_of_the_calendar_do_not_overflow),
    TEST(the_ends_of_the_number_range_give_multiples),
    TEST(a_length_that_is_no_length_counts_as_a_second),
    TEST(seconds_between_full_slots_are_fine),
    TEST(at_once_is_the_next_second_that_is_no_full_slot),
    TEST(a_check_that_moves_leaves_its_slot),
    TEST(a_move_to_a_slot_that_has_begun_goes_to_the_next_of_its_kind),
    TEST(any_moment_lies_between_its_slots),
    TEST(a_length_must_divide_a_day),
    TEST(moments_are_those_of_1970_to_9999),
    TEST(a_server_serves_its_minutes_only),
    TEST(a_server_without_minutes_serves_all),
    { NULL, NULL },
};

const struct suite suite_slot = { .name = "slot", .tests = tests };
