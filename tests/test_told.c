/* test_told.c - times as people are told them: how far away, and in which zone, where clocks are
 * changed, too. */
#include "test.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include "../engine/base/when.h"
#include "../engine/base/zone.h"
#include "../engine/view/told.h"

#define NOW INT64_C(1772370900)         /* 2026-03-01T13:15:00Z */
enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

static struct zone *berlin, *monrovia;

static int setup(void)
{
    bool are_there = zone_read("Europe/Berlin", &berlin, NULL) == 0 &&
                     zone_read("Africa/Monrovia", &monrovia, NULL) == 0;
    return are_there ? 0 : -1;
}

static int teardown(void)
{
    zone_free(berlin);
    zone_free(monrovia);
    return 0;
}

static void apart(int64_t seconds, const char *expected)
{
    char out[MOMENT_TEXT];
    CU_ASSERT_STRING_EQUAL(told_distance(NOW + seconds, NOW, false, out), expected);
}

static void a_distance_is_told_in_one_unit(void)
{
    apart(0, "now");
    apart(1, "in 1 s");
    apart(119, "in 119 s");
    apart(2 * MINUTE, "in 2 min");
    apart(2 * HOUR - 1, "in 120 min");
    apart(2 * HOUR, "in 2 h");
    apart(2 * DAY - 1, "in 48 h");
    apart(2 * DAY, "in 2 d");
    apart(729 * DAY, "in 729 d");
    apart(730 * DAY, "in 2 y");
    apart(-1, "1 s ago");
    apart(-90 * MINUTE, "90 min ago");
    apart(-3 * DAY, "3 d ago");
}

static void it_is_rounded_to_the_nearest(void)
{
    apart(2 * HOUR + 29 * MINUTE, "in 2 h");
    apart(2 * HOUR + 30 * MINUTE, "in 3 h");
    apart(-(3 * DAY + 11 * HOUR), "3 d ago");
    apart(-(3 * DAY + 12 * HOUR), "4 d ago");
    apart(2 * MINUTE + 29, "in 2 min");
}

static void what_is_due_is_late_and_not_ago(void)
{
    char out[MOMENT_TEXT];
    CU_ASSERT_STRING_EQUAL(told_distance(NOW - 3 * DAY, NOW, true, out), "3 d late");
    CU_ASSERT_STRING_EQUAL(told_distance(NOW + 3 * DAY, NOW, true, out), "in 3 d");
    CU_ASSERT_STRING_EQUAL(told_distance(NOW, NOW, true, out), "now");
}

static void no_distance_is_too_large(void)
{
    char out[MOMENT_TEXT];
    CU_ASSERT_PTR_NOT_NULL(told_distance(INT64_MAX, INT64_MIN, false, out));
    CU_ASSERT_PTR_NOT_NULL(told_distance(INT64_MIN, INT64_MAX, true, out));
}

static void told(const struct zone *zone, bool is_short, int64_t at, const char *expected)
{
    char out[MOMENT_TEXT];
    CU_ASSERT_STRING_EQUAL(told_moment(at, &(struct telling){ zone, 0, is_short }, out), expected);
}

static void a_moment_has_the_offset_of_its_zone(void)
{
    told(NULL, false, NOW, "2026-03-01T13:15:00Z");
    told(berlin, false, NOW, "2026-03-01T14:15:00+01:00");
    told(NULL, true, NOW, "2026-03-01 13:15Z");
    told(berlin, true, NOW, "2026-03-01 14:15+01:00");
    told(berlin, true, NOW + 7, "2026-03-01 14:15:07+01:00");
    told(NULL, true, NOW - 15 * MINUTE, "2026-03-01 13:00Z");
}

/* Clocks go forward at 2026-03-29T01:00Z, and back at 2026-10-25T01:00Z. */
static void where_clocks_change_the_offset_does(void)
{
    told(berlin, false, 1774745999, "2026-03-29T01:59:59+01:00");
    told(berlin, false, 1774746000, "2026-03-29T03:00:00+02:00");
    told(berlin, true, 1792888200, "2026-10-25 02:30+02:00");
    told(berlin, true, 1792891800, "2026-10-25 02:30+01:00");
}

static void what_is_told_is_read_back(void)
{
    char out[MOMENT_TEXT];
    for (int i = 0; i < 2; i++)
        for (int64_t at = 1774700000; at < 1774800000; at += 977) {
            int64_t back = 0;
            told_moment(at, &(struct telling){ berlin, 0, i }, out);
            CU_ASSERT_EQUAL(when_parse(out, &(struct when){ .now = NOW }, &back, NULL), 0);
            CU_ASSERT_EQUAL(back, at);
        }
}

/* RFC 3339 has no seconds in an offset. */
static void an_offset_with_seconds_is_told_in_utc(void)
{
    told(monrovia, false, 86400, "1970-01-02T00:00:00Z");
    told(monrovia, false, NOW, "2026-03-01T13:15:00Z");
}

static void cell(const struct telling *t, enum cell_kind kind, const char *text, const char *expected)
{
    struct arena *a = arena_new(1024);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    const char *shown = told_cell(a, t, kind, text, true);
    CU_ASSERT_STRING_EQUAL(shown ? shown : "NULL", expected);
    arena_free(a);
}

static void a_cell_says_both(void)
{
    const struct telling terminal = { NULL, NOW, true }, plain = { NULL, 0, false };
    const struct telling piped = { berlin, 0, false };
    cell(&terminal, CELL_MOMENT, "1772378100", "2026-03-01 15:15Z (in 2 h)");
    cell(&terminal, CELL_MOMENT, "1772111700", "2026-02-26 13:15Z (3 d late)");
    cell(&terminal, CELL_MOMENT_US, "1772370893123456", "2026-03-01 13:14:53Z (7 s late)");
    cell(&plain, CELL_MOMENT, "1772378100", "2026-03-01T15:15:00Z");
    cell(&plain, CELL_MOMENT_US, "1772370893123456", "2026-03-01T13:14:53.123Z");
    cell(&piped, CELL_MOMENT, "1772378100", "2026-03-01T16:15:00+01:00");
    cell(&piped, CELL_MOMENT_US, "1772370893123456", "2026-03-01T14:14:53.123+01:00");
    cell(&terminal, CELL_DURATION_US, "90000000", "1m30s");
    cell(&terminal, CELL_MOMENT, "Infinity", "never");
    cell(&terminal, CELL_MOMENT, "221845392000", "paused");
    cell(&terminal, CELL_MOMENT, "hello", "hello");
    cell(&terminal, CELL_TEXT, "1772378100", "1772378100");
    cell(&terminal, CELL_MOMENT, NULL, "NULL");
}

/* What a store has put together has its times in UTC; all else in it stays. */
static void moments_within_a_text_are_told_like_others(void)
{
    static const struct { const char *text, *told; } all[] = {
        { "the slot 2026-03-01T13:15:00Z, by shop-1", "the slot 2026-03-01 14:15+01:00, by shop-1" },
        { "2026-03-01T13:15:00Z", "2026-03-01 14:15+01:00" },
        { "from 2026-03-01T13:15:00Z to 2026-07-01T13:15:30Z.",
          "from 2026-03-01 14:15+01:00 to 2026-07-01 15:15:30+02:00." },
        { "3 rows", "3 rows" },
        { "2026-03-01 13:15:00", "2026-03-01 13:15:00" },
        { "2026-13-01T13:15:00Z", "2026-13-01T13:15:00Z" },
        { "x2026-03-01T13:15:00Z", "x2026-03-01T13:15:00Z" },
        { "2026-03-01T13:15:0", "2026-03-01T13:15:0" },
        { "", "" },
    };
    struct arena *a = arena_new(1024);
    struct zone *zone = NULL;
    CU_ASSERT_EQUAL_FATAL(zone_read("Europe/Berlin", &zone, NULL), 0);
    const struct telling t = { .zone = zone, .is_short = true };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_STRING_EQUAL(told_text(a, &t, all[i].text), all[i].told);
    zone_free(zone);
    arena_free(a);
}

static const struct test tests[] = {
    TEST(a_distance_is_told_in_one_unit),
    TEST(it_is_rounded_to_the_nearest),
    TEST(what_is_due_is_late_and_not_ago),
    TEST(no_distance_is_too_large),
    TEST(a_moment_has_the_offset_of_its_zone),
    TEST(where_clocks_change_the_offset_does),
    TEST(what_is_told_is_read_back),
    TEST(an_offset_with_seconds_is_told_in_utc),
    TEST(a_cell_says_both),
    TEST(moments_within_a_text_are_told_like_others),
    { NULL, NULL },
};

const struct suite suite_told = { .name = "told", .setup = setup, .teardown = teardown, .tests = tests };
