/* test_spread.c - into which slot of a span a check is drawn. */
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "../engine/base/err.h"
#include "../engine/rules/slot.h"
#include "../engine/rules/spread.h"

#define LENGTH 60
#define NOON INT64_C(1772366400)
#define BEFORE (NOON - 86400)
#define CHECKS 10000
#define MINUTE_US INT64_C(60000000)

static const struct spread_loads nothing = { 0 };

static int64_t draw(const struct spread_span *span, const struct spread_loads *loads, int key)
{
    char text[16];
    snprintf(text, sizeof text, "%d", key);
    struct spread_hash hash = spread_hash_of("orders", text, "look");
    return spread_draw(span, loads, &hash);
}

static void a_check_keeps_its_place_and_others_have_theirs(void)
{
    struct spread_hash one = spread_hash_of("a", "bc", "d"), other = spread_hash_of("ab", "c", "d");
    struct spread_hash again = spread_hash_of("a", "bc", "d");
    CU_ASSERT(one.place == again.place && one.share == again.share);
    CU_ASSERT(one.place != other.place && one.share != other.share && one.place != one.share);
    CU_ASSERT(one.place >> 48 == 0 && one.share >> 48 == 0);
}

static void what_is_due_at_noon_lies_over_the_slots_of_the_span(void)
{
    const struct spread_span span = { NOON, 300, BEFORE, LENGTH };
    int n[6] = { 0 };
    for (int i = 0; i < CHECKS; i++) {
        int64_t slot = draw(&span, &nothing, i);
        CU_ASSERT(slot % LENGTH == 0 && slot >= NOON && slot <= NOON + 300);
        n[(slot - NOON) / LENGTH]++;
    }
    for (int i = 0; i < 6; i++)
        CU_ASSERT(n[i] * 6 < CHECKS * 6 / 5 && n[i] * 6 > CHECKS * 4 / 5);
}

static void a_span_begins_with_the_first_slot_that_has_not_begun(void)
{
    static const struct { struct spread_span span; int64_t from, to; } all[] = {
        { { NOON + 1, 60, BEFORE, LENGTH }, NOON + 60, NOON + 60 },
        { { NOON, 60, BEFORE, LENGTH }, NOON, NOON + 60 },
        { { NOON, 119, BEFORE, LENGTH }, NOON, NOON + 60 },
        { { NOON, 300, NOON + 200, LENGTH }, NOON + 240, NOON + 300 },
        { { NOON, 300, NOON + 300, LENGTH }, NOON + 360, NOON + 360 },   /* it is over: the next one */
        { { NOON, 300, NOON + 9000, LENGTH }, NOON + 9060, NOON + 9060 },
        { { SLOT_PAUSES_FROM - 120, 86400, BEFORE, LENGTH }, SLOT_PAUSES_FROM - 120, SLOT_PAUSES_FROM - 60 },
        { { INT64_MAX, 86400, BEFORE, LENGTH }, INT64_MAX - 86400, INT64_MAX },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int key = 0; key < 50; key++) {
            int64_t slot = draw(&all[i].span, &nothing, key);
            CU_ASSERT(slot >= all[i].from && slot <= all[i].to);
        }
}

static void a_long_span_is_used_to_its_end(void)
{
    const struct spread_span span = { NOON, 366 * INT64_C(86400), BEFORE, LENGTH };
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t slot = draw(&span, &nothing, i);
        CU_ASSERT(slot % LENGTH == 0 && slot >= NOON && slot <= NOON + span.within_s);
        least = slot < least ? slot : least;
        most = slot > most ? slot : most;
    }
    CU_ASSERT(least < NOON + span.within_s / 50 && most > NOON + span.within_s / 50 * 49);
}

/* The fullest has a ninth of the share of an empty one, and never none. */
static void a_full_slot_is_drawn_seldom_and_an_empty_one_not_always(void)
{
    static const struct spread_load of[] = {
        { NOON - 60, 64000 }, { NOON, 8000 }, { NOON + 60, 4000 }, { NOON + 180, 8000 }, { NOON + 240, 9999 },
    };
    const struct spread_loads loads = { of, 5 };
    const struct spread_span span = { NOON, 180, BEFORE, LENGTH };
    int n[4] = { 0 };
    for (int i = 0; i < CHECKS; i++)
        n[(draw(&span, &loads, i) - NOON) / LENGTH]++;
    /* weights 1, 5, 9, 1 of 16 */
    CU_ASSERT(n[0] > 500 && n[0] < 750 && n[3] > 500 && n[3] < 750);
    CU_ASSERT(n[1] > 2900 && n[1] < 3350 && n[2] > 5350 && n[2] < 5900);
}

static void few_checks_hardly_count(void)
{
    static const struct spread_load of[] = { { NOON, 1 } };
    const struct spread_loads loads = { of, 1 };
    const struct spread_span span = { NOON, 60, BEFORE, LENGTH };
    int first = 0;
    for (int i = 0; i < CHECKS; i++)
        first += draw(&span, &loads, i) == NOON;
    CU_ASSERT(first > CHECKS * 45 / 100 && first < CHECKS * 55 / 100);
}

static void a_delay_shorter_than_a_slot_or_longer_than_a_year_is_refused(void)
{
    static const struct { int64_t within_us; int32_t length_s; const char *refused; } all[] = {
        { MINUTE_US, 60, NULL }, { SPREAD_WITHIN_MAX_S * 1000000, 86400, NULL },
        { MINUTE_US - 1, 60, "1m, the length" }, { 0, 60, "within is 0s" }, { -MINUTE_US, 60, "within is -" },
        { 10 * MINUTE_US, 900, "within is 10m, expected from 15m, the length of a slot, to 366 days" },
        { SPREAD_WITHIN_MAX_S * 1000000 + 1, 60, "366 days" }, { INT64_MAX, 60, "366 days" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct err err = { 0 };
        int rc = spread_check(all[i].within_us, all[i].length_s, &err);
        CU_ASSERT_EQUAL(rc, all[i].refused ? ERR_INPUT : 0);
        if (all[i].refused)
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, all[i].refused));
    }
}

static const struct test tests[] = {
    TEST(a_check_keeps_its_place_and_others_have_theirs),
    TEST(what_is_due_at_noon_lies_over_the_slots_of_the_span),
    TEST(a_span_begins_with_the_first_slot_that_has_not_begun),
    TEST(a_long_span_is_used_to_its_end),
    TEST(a_full_slot_is_drawn_seldom_and_an_empty_one_not_always),
    TEST(few_checks_hardly_count),
    TEST(a_delay_shorter_than_a_slot_or_longer_than_a_year_is_refused),
    { 0 }
};

const struct suite suite_spread = { "spread", NULL, NULL, tests };
