/* test_moment.c - times and durations: what is read, what is refused and with which words, and
 * that writing reads back. */
#include "test.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include "../engine/base/moment.h"
#include "../engine/rules/retry.h"

#define NOW 1772370900          /* 2026-03-01T13:15:00Z */

static int64_t moment(const char *text)
{
    int64_t at = -1;
    struct err err = { 0 };
    int rc = moment_parse(text, NOW, &at, &err);
    if (rc < 0)
        printf("%s\n", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    return at;
}

static void refused(const char *text, const char *why)
{
    int64_t at = 77;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(moment_parse(text, NOW, &at, &err), ERR_INPUT);
    CU_ASSERT_EQUAL(at, 77);
    bool told = strstr(err.text, why) && strstr(err.text, "expected a time such as 2026-03-01T13:15:00Z") &&
                err.text[0] == '"';
    if (!told)
        printf("\"%s\" was refused as: %s\n", text, err.text);
    CU_ASSERT_TRUE(told);
}

static void rfc_3339_is_read_in_its_spellings(void)
{
    static const char *const spellings[] = {
        "2026-03-01T13:15:00Z",
        "2026-03-01 13:15:00Z",
        "2026-03-01t13:15:00z",
        "2026-03-01T13:15:00",
        "2026-03-01 13:15",
        "2026-03-01T13:15Z",
        "2026-03-01T15:15+02:00",
        "2026-03-01T15:15:00+0200",
        "2026-03-01 15:15:00+02",
        "2026-03-01T07:45:00-05:30",
        "2026-03-02T13:14:00+23:59",
        "2026-03-01T13:15:00.000Z",
        "2026-03-01T13:15:00-00:00",
        "2026-03-01T13:14:59.000000000001Z",
        "2026-03-01T13:14:59.99999999999999999999",
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        CU_ASSERT_EQUAL(moment(spellings[i]), NOW);
}

static void a_date_is_its_midnight_in_utc(void)
{
    CU_ASSERT_EQUAL(moment("2026-03-01"), NOW - 13 * 3600 - 15 * 60);
    CU_ASSERT_EQUAL(moment("1970-01-01"), 0);
    CU_ASSERT_EQUAL(moment("9999-12-31"), MOMENT_MAX + 1 - 86400);
}

static void a_fraction_of_a_second_rounds_up(void)
{
    CU_ASSERT_EQUAL(moment("2026-03-01T13:15:00.001Z"), NOW + 1);
    CU_ASSERT_EQUAL(moment("1772370900.000001"), NOW + 1);
    CU_ASSERT_EQUAL(moment("1772370900.0"), NOW);
    CU_ASSERT_EQUAL(moment("+0.1s"), NOW + 1);
    CU_ASSERT_EQUAL(moment("-0.1s"), NOW);
    CU_ASSERT_EQUAL(moment("-1.1s"), NOW - 1);
}

static void seconds_since_the_epoch_are_read(void)
{
    CU_ASSERT_EQUAL(moment("1772370900"), NOW);
    CU_ASSERT_EQUAL(moment("@1772370900"), NOW);
    CU_ASSERT_EQUAL(moment("0"), 0);
    CU_ASSERT_EQUAL(moment("253402300799"), MOMENT_MAX);
}

static void now_and_times_relative_to_it_are_read(void)
{
    CU_ASSERT_EQUAL(moment("now"), NOW);
    CU_ASSERT_EQUAL(moment("+3h"), NOW + 10800);
    CU_ASSERT_EQUAL(moment("-15m"), NOW - 900);
    CU_ASSERT_EQUAL(moment("+1d12h"), NOW + 129600);
    CU_ASSERT_EQUAL(moment("+90"), NOW + 90);
}

static void a_leap_second_is_the_first_of_the_next_day(void)
{
    CU_ASSERT_EQUAL(moment("2016-12-31T23:59:60Z"), moment("2017-01-01"));
    CU_ASSERT_EQUAL(moment("2017-01-01T00:59:60+01:00"), moment("2017-01-01"));
    refused("2016-12-31T13:15:60Z", "leap second");
}

static void days_that_do_not_exist_are_refused(void)
{
    refused("2026-02-29", "no such day");
    refused("2100-02-29", "no such day");
    refused("2026-04-31T00:00Z", "no such day");
    refused("2026-01-00", "no such day");
    refused("2026-00-10", "no such month");
    refused("2026-13-01", "no such month");
    CU_ASSERT_EQUAL(moment("2000-02-29"), 951782400);
    CU_ASSERT_EQUAL(moment("2028-02-29"), moment("2028-03-01") - 86400);
}

static void hours_and_zones_that_do_not_exist_are_refused(void)
{
    refused("2026-03-01T24:00:00Z", "no such time of day");
    refused("2026-03-01T13:60Z", "no such time of day");
    refused("2026-03-01T13:15:61Z", "no such time of day");
    refused("2026-03-01T13:15:00+24:00", "no such zone");
    refused("2026-03-01T13:15:00+02:60", "no such zone");
}

static void what_is_no_time_is_refused(void)
{
    static const char *const texts[] = {
        "",
        " ",
        "tomorrow",
        "Now",
        "NOW",
        "2026",
        "2026-3-1T00:00Z",
        "2026-03-01T",
        "2026-03-01T13",
        "2026-03-01T13:",
        "2026-03-01T13:1",
        "2026-03-01T13:15:0Z",
        "2026-03-01T13:15:00.Z",
        "2026-03-01T13:15:00ZZ",
        "2026-03-01T13:15:00 Z",
        " 2026-03-01",
        "2026-03-01 ",
        "2026-03-01X13:15",
        "2026-03-01T13:15:00+2",
        "2026-03-01T13:15:00+02:",
        "2026-03-01T13:15:00+02:0",
        "2026-03-01T13:15:00+020",
        "20260301T131500Z",
        "1772370900s",
        "1772370900.",
        ".5",
        "@",
        "@-1",
        "@now",
        "0x10",
        "1e9",
        "1.2.3",
        "12026-03-01",
        "2026-03-01T13:15:00+02:00:00",
        "\xff\xff",
        "2026-03-01\n",
        "١٧٧٢",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!strcmp(texts[i], "2026")) {
            CU_ASSERT_EQUAL(moment(texts[i]), 2026);        /* a number is a number of seconds */
            continue;
        }
        refused(texts[i], "that is not a time");
    }
    refused("+", "not a number with a unit");
    refused("+-3h", "never negative");
    refused("-3 h", "the units are");
}

/* What SQL takes, or what was mistyped, comes back in the spelling that is read here. */
static void what_was_meant_is_offered(void)
{
    static const struct { const char *text, *offer; } all[] = {
        { "3h", "did you mean +3h)" },
        { "3 hours", "did you mean +3h)" },
        { "+3 hours", "did you mean +3h)" },
        { "3 hourz", "did you mean +3h)" },
        { "-2 days", "did you mean -2d)" },
        { "+2 weeks", "did you mean +14d)" },
        { "10 min", "did you mean +10m)" },
        { "tomorrow", "did you mean +1d)" },
        { "NOW()", "did you mean now)" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        refused(all[i].text, all[i].offer);
    refused("3 months", "that is not a time)");
    refused("3 fortnights", "that is not a time)");
    refused("+", "not a number with a unit)");
}

static void moments_outside_of_the_calendar_are_refused(void)
{
    refused("1969-12-31T23:59:59Z", "between the years 1970 and 9999");
    refused("1970-01-01T00:00:00+00:01", "between the years 1970 and 9999");
    refused("9999-12-31T23:59:59-00:01", "between the years 1970 and 9999");
    refused("9999-12-31T23:59:59.1Z", "between the years 1970 and 9999");
    refused("0000-01-01", "between the years 1970 and 9999");
    refused("253402300800", "between the years 1970 and 9999");
    refused("9223372036854775807", "between the years 1970 and 9999");
    refused("99999999999999999999999999999", "between the years 1970 and 9999");
    refused("-36500d", "between the years 1970 and 9999");
    refused("+106751991d", "between the years 1970 and 9999");
    refused("+99999999999999d", "too long");
}

static void long_nonsense_is_cut_in_the_error(void)
{
    char text[400];
    struct err err = { 0 };
    int64_t at;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CU_ASSERT_EQUAL(moment_parse(text, NOW, &at, &err), ERR_INPUT);
    CU_ASSERT_TRUE(strlen(err.text) < 300);
}

static void the_calendar_agrees_with_the_one_of_the_c_library_day_by_day(void)
{
    /* a whole cycle of leap years later; then every 13th day */
    const int64_t year_2405 = 13727577600;
    for (int64_t at = 0; at <= MOMENT_MAX; at += at < year_2405 && !test_is_brief() ? 86400 : 13 * 86400) {
        char ours[MOMENT_TEXT], theirs[MOMENT_TEXT];
        time_t t = (time_t)at;
        struct tm tm;
        gmtime_r(&t, &tm);
        snprintf(theirs, sizeof theirs, "%04d-%02d-%02dT00:00:00Z", (tm.tm_year + 1900) % 10000,
                 (tm.tm_mon + 1) % 100, tm.tm_mday % 100);
        if (strcmp(moment_format(at, ours), theirs) != 0) {
            printf("%lld: %s, expected %s\n", (long long)at, ours, theirs);
            CU_FAIL_FATAL("the calendar is off");
        }
    }
}

static void a_moment_written_reads_back(void)
{
    uint64_t seed = 19700101, random = seed;
    for (int i = 0; i < (test_is_brief() ? 10000 : 200000); i++) {
        char text[MOMENT_TEXT];
        int64_t back,
            at = i < 2 ? i * MOMENT_MAX : (int64_t)(random_next(&random) % (uint64_t)(MOMENT_MAX + 1));
        if (moment_parse(moment_format(at, text), 0, &back, NULL) < 0 || back != at) {
            printf("seed %llu: %lld was written as %s\n", (unsigned long long)seed, (long long)at, text);
            CU_FAIL_FATAL("does not read back");
        }
    }
}

static void moments_of_any_number_can_be_written(void)
{
    char text[MOMENT_TEXT];
    CU_ASSERT_STRING_EQUAL(moment_format(-1, text), "1969-12-31T23:59:59Z");
    CU_ASSERT_STRING_EQUAL(moment_format(MOMENT_MAX + 1, text), "10000-01-01T00:00:00Z");
    CU_ASSERT_STRING_EQUAL(moment_format(INT64_MAX, text), "292277026596-12-04T15:30:07Z");
    CU_ASSERT_TRUE(strlen(moment_format(INT64_MIN, text)) < MOMENT_TEXT - 1);
    CU_ASSERT_STRING_EQUAL(moment_format_us(INT64_C(1772370900123999), text), "2026-03-01T13:15:00.123Z");
    CU_ASSERT_STRING_EQUAL(moment_format_us(-1, text), "1969-12-31T23:59:59.999Z");
    CU_ASSERT_STRING_EQUAL(moment_format_us(INT64_MAX, text), "294247-01-10T04:00:54.775Z");
    CU_ASSERT_TRUE(strlen(moment_format_us(INT64_MIN, text)) < MOMENT_TEXT - 1);
}

/* ---- durations ---- */

static void durations_are_read(void)
{
    static const struct { const char *text; int64_t us;
    } all[] = {
        { "250ms", 250000 },
        { "90s", 90000000 },
        { "15m", 900000000 },
        { "3h", INT64_C(10800000000) },
        { "30d", INT64_C(2592000000000) },
        { "1h30m", INT64_C(5400000000) },
        { "0.5", 500000 },
        { "90", 90000000 },
        { "0", 0 },
        { "0s", 0 },
        { "2.4ms", 2400 },
        { "7us", 7 },
        { "1.5h", INT64_C(5400000000) },
        { "1d2h3m4s5ms6us", INT64_C(93784005006) },
        { "1m0.5s", 60500000 },
        { "0.0000001", 1 },
        { "0.1us", 1 },
        { "00015m", 900000000 },
        { "0.0000000000000000000001s", 1 },
        { "106751991d", INT64_C(106751991) * 86400000000 },
        { "9223372036854775807us", INT64_MAX },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t us = -1;
        CU_ASSERT_EQUAL(duration_parse_us(all[i].text, &us, NULL), 0);
        if (us != all[i].us)
            printf("%s: %lld\n", all[i].text, (long long)us);
        CU_ASSERT_EQUAL(us, all[i].us);
    }
}

static void what_is_no_duration_is_refused(void)
{
    static const struct { const char *text, *why;
    } all[] = {
        { "", "not a number with a unit" },
        { "s", "not a number with a unit" },
        { "five", "not a number with a unit" },
        { "-5s", "never negative" },
        { "+5s", "not a number with a unit" },
        { "5x", "the units are" },
        { "5min", "the units are" },
        { "5S", "the units are" },
        { "5 s", "the units are" },
        { " 5s", "not a number with a unit" },
        { "5s ", "not a number with a unit" },
        { "5.", "not a number with a unit" },
        { ".5", "not a number with a unit" },
        { "1h30", "no unit" },
        { "30m1h", "from large to small" },
        { "1h1h", "from large to small" },
        { "1.5h30m", "only the last" },
        { "1e3s", "the units are" },
        { "0x10", "the units are" },
        { "106751992d", "too long" },
        { "9223372036854775808us", "too long" },
        { "99999999999999999999999999", "too long" },
        { "9223372036854775807us1", "no unit" },
        { "106751991d23h59m", "too long" },
        { "inf", "not a number" },
        { "nan", "not a number" },
        { "1,5s", "the units are" },
        { "5\xff", "the units are" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t us = 77;
        struct err err = { 0 };
        CU_ASSERT_EQUAL(duration_parse_us(all[i].text, &us, &err), ERR_INPUT);
        CU_ASSERT_EQUAL(us, 77);
        bool told = strstr(err.text, all[i].why) &&
                    strstr(err.text, "expected a duration such as 250ms, 90s, 15m, 3h, 30d");
        if (!told)
            printf("\"%s\" was refused as: %s\n", all[i].text, err.text);
        CU_ASSERT_TRUE(told);
    }
}

static void durations_are_written_as_people_do(void)
{
    static const struct { int64_t us; const char *text;
    } all[] = {
        { 0, "0s" },
        { 1, "1us" },
        { 999, "999us" },
        { 1000, "1ms" },
        { 2400, "2.4ms" },
        { 2345, "2.345ms" },
        { 250000, "250ms" },
        { 999999, "999.999ms" },
        { 1000000, "1s" },
        { 1500000, "1.5s" },
        { 2345678, "2.346s" },
        { 90000000, "1m30s" },
        { 900000000, "15m" },
        { INT64_C(5400000000), "1h30m" },
        { INT64_C(2592000000000), "30d" },
        { INT64_C(93784005000), "1d2h3m4.005s" },
        { 59999600, "1m" },
        { -2400, "-2.4ms" },
        { -1500000, "-1.5s" },
        { INT64_MAX, "106751991d4h54.776s" },
        { INT64_MIN, "-106751991d4h54.776s" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[MOMENT_TEXT];
        CU_ASSERT_STRING_EQUAL(duration_format_us(all[i].us, text), all[i].text);
        if (strcmp(text, all[i].text) != 0)
            printf("%s, expected %s\n", text, all[i].text);
    }
}

static void a_duration_of_whole_milliseconds_reads_back(void)
{
    uint64_t seed = 4711, random = seed;
    for (int i = 0; i < (test_is_brief() ? 10000 : 200000); i++) {
        char text[MOMENT_TEXT];
        int64_t back, us = (int64_t)(random_next(&random) >> (random_next(&random) % 50 + 1)) / 1000 * 1000;
        if (duration_parse_us(duration_format_us(us, text), &back, NULL) < 0 || back != us) {
            printf("seed %llu: %lld was written as %s\n", (unsigned long long)seed, (long long)us, text);
            CU_FAIL_FATAL("does not read back");
        }
    }
}

static void a_number_alone_has_no_unit(void)
{
    static const struct { const char *text; bool has; } all[] = {
        { "24h", true }, { "1h30m", true }, { "2.5s", true }, { "0", true }, { "0.0", true },
        { "24", false }, { "1", false },    { "10", false },  { "0.5", false },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_EQUAL(duration_has_unit(all[i].text), all[i].has);
}

static const struct test tests[] = {
    TEST(a_number_alone_has_no_unit),
    TEST(rfc_3339_is_read_in_its_spellings),
    TEST(a_date_is_its_midnight_in_utc),
    TEST(a_fraction_of_a_second_rounds_up),
    TEST(seconds_since_the_epoch_are_read),
    TEST(now_and_times_relative_to_it_are_read),
    TEST(a_leap_second_is_the_first_of_the_next_day),
    TEST(days_that_do_not_exist_are_refused),
    TEST(hours_and_zones_that_do_not_exist_are_refused),
    TEST(what_is_no_time_is_refused),
    TEST(what_was_meant_is_offered),
    TEST(moments_outside_of_the_calendar_are_refused),
    TEST(long_nonsense_is_cut_in_the_error),
    TEST(the_calendar_agrees_with_the_one_of_the_c_library_day_by_day),
    TEST(a_moment_written_reads_back),
    TEST(moments_of_any_number_can_be_written),
    TEST(durations_are_read),
    TEST(what_is_no_duration_is_refused),
    TEST(durations_are_written_as_people_do),
    TEST(a_duration_of_whole_milliseconds_reads_back),
    { NULL, NULL },
};

const struct suite suite_moment = { .name = "moment", .tests = tests };
