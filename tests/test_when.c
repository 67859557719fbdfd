/* test_when.c - times as people type them: words, zones, what clocks skip or show twice, and what
 * is refused with which words. */
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../engine/base/moment.h"
#include "../engine/base/when.h"
#include "../engine/base/zone_here.h"

#define NOW 1772370900          /* Sunday, 2026-03-01T13:15:00Z */

static struct zone *berlin, *new_york, *kiritimati;

static int setup(void)
{
    bool are_there = zone_read("Europe/Berlin", &berlin, NULL) == 0 &&
                     zone_read("America/New_York", &new_york, NULL) == 0 &&
                     zone_read("Pacific/Kiritimati", &kiritimati, NULL) == 0;
    return are_there ? 0 : -1;
}

static int teardown(void)
{
    zone_free(berlin);
    zone_free(new_york);
    zone_free(kiritimati);
    return 0;
}

static void reads_as(const struct when *when, const char *text, const char *expected)
{
    char found[MOMENT_TEXT] = "refused";
    int64_t at;
    struct err err = { 0 };
    if (when_parse(text, when, &at, &err) == 0)
        moment_format(at, found);
    if (strcmp(found, expected) != 0)
        printf("\"%s\" is %s, expected %s; %s\n", text, found, expected, err.text);
    CU_ASSERT_STRING_EQUAL(found, expected);
}

/* What a text is at NOW, as RFC 3339. */
static void is_in(const struct zone *zone, const char *text, const char *expected)
{
    reads_as(&(struct when){ NOW, zone, false }, text, expected);
}

static void is(const char *text, const char *expected)
{
    is_in(NULL, text, expected);
}

static void refused(const char *text, const char *why)
{
    int64_t at = 77;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(when_parse(text, &(struct when){ .now = NOW }, &at, &err), ERR_INPUT);
    CU_ASSERT_EQUAL(at, 77);
    bool told = strstr(err.text, why) && strstr(err.text, "expected a time such as 2026-03-01T13:15:00Z") &&
                strstr(err.text, "tomorrow 09:00");
    if (!told)
        printf("\"%s\" was refused as: %s\n", text, err.text);
    CU_ASSERT_TRUE(told);
}

static void what_programs_write_is_read_as_before(void)
{
    is("2026-03-01T13:15:00Z", "2026-03-01T13:15:00Z");
    is("2026-03-01 13:15", "2026-03-01T13:15:00Z");
    is("2026-03-01T15:15+02:00", "2026-03-01T13:15:00Z");
    is("2026-03-01t13:14:59.5z", "2026-03-01T13:15:00Z");
    is("2026-03-01", "2026-03-01T00:00:00Z");
    is("1772370900", "2026-03-01T13:15:00Z");
    is("@1772370900", "2026-03-01T13:15:00Z");
    is("+3h", "2026-03-01T16:15:00Z");
    is("-15m", "2026-03-01T13:00:00Z");
    is("now", "2026-03-01T13:15:00Z");
    is("0", "1970-01-01T00:00:00Z");
}

static void a_duration_counts_from_now_on(void)
{
    is("3h", "2026-03-01T16:15:00Z");
    is("1h30m", "2026-03-01T14:45:00Z");
    is("+2w", "2026-03-15T13:15:00Z");
    is("2w", "2026-03-15T13:15:00Z");
    is("1w2d", "2026-03-10T13:15:00Z");
    is("0.1s", "2026-03-01T13:15:01Z");
    is("in 3h", "2026-03-01T16:15:00Z");
    is("3h ago", "2026-03-01T10:15:00Z");
    is("  3d   AGO ", "2026-02-26T13:15:00Z");
}

static void where_people_look_back_it_counts_backwards(void)
{
    int64_t at = 0;
    const struct when back = { NOW, NULL, true };
    CU_ASSERT_EQUAL(when_parse("3h", &back, &at, NULL), 0);
    CU_ASSERT_EQUAL(at, NOW - 3 * 3600);
    CU_ASSERT_EQUAL(when_parse("in 3h", &back, &at, NULL), 0);
    CU_ASSERT_EQUAL(at, NOW + 3 * 3600);
    CU_ASSERT_EQUAL(when_parse("+3h", &back, &at, NULL), 0);
    CU_ASSERT_EQUAL(at, NOW + 3 * 3600);
}

static void days_have_names(void)
{
    is("today", "2026-03-01T00:00:00Z");
    is("tomorrow", "2026-03-02T00:00:00Z");
    is("yesterday", "2026-02-28T00:00:00Z");
    is("tomorrow 09:00", "2026-03-02T09:00:00Z");
    is("Tomorrow 09:00:30", "2026-03-02T09:00:30Z");
    is("today 09:00 +02:00", "2026-03-01T07:00:00Z");
    is("today 09:00+02:00", "2026-03-01T07:00:00Z");
    is("today 09:00 Z", "2026-03-01T09:00:00Z");
}

/* Today is a Sunday. */
static void weekdays_lie_next_to_today(void)
{
    is("next monday", "2026-03-02T00:00:00Z");
    is("next Mon 09:00", "2026-03-02T09:00:00Z");
    is("next saturday", "2026-03-07T00:00:00Z");
    is("next sunday", "2026-03-08T00:00:00Z");
    is("last sunday", "2026-02-22T00:00:00Z");
    is("last monday 17:30", "2026-02-23T17:30:00Z");
    is("LAST SAT", "2026-02-28T00:00:00Z");
}

static void a_zone_may_be_named(void)
{
    is("2026-12-01 09:00 Europe/Berlin", "2026-12-01T08:00:00Z");
    is("2026-07-01T09:00 Europe/Berlin", "2026-07-01T07:00:00Z");
    is("2026-12-01 Europe/Berlin", "2026-11-30T23:00:00Z");
    is("tomorrow 09:00 America/New_York", "2026-03-02T14:00:00Z");
    is("next monday Europe/Berlin", "2026-03-01T23:00:00Z");
    is("2026-12-01 09:00 UTC", "2026-12-01T09:00:00Z");
}

/* At NOW it is the 2nd of March there, a Monday. */
static void which_day_it_is_is_asked_in_the_zone(void)
{
    is("today 09:00 Pacific/Kiritimati", "2026-03-01T19:00:00Z");
    is("tomorrow Pacific/Kiritimati", "2026-03-02T10:00:00Z");
    is("next monday Pacific/Kiritimati", "2026-03-08T10:00:00Z");
}

static void is_at(const char *now, const struct zone *zone, const char *text, const char *expected)
{
    struct when when = { .zone = zone };
    CU_ASSERT_EQUAL_FATAL(moment_parse(now, 0, &when.now, NULL), 0);
    reads_as(&when, text, expected);
}

/* Near midnight the day at the offset is not that of UTC, or of the zone of the caller. */
static void which_day_it_is_is_asked_in_the_offset(void)
{
    static const char late[] = "2026-03-01T23:30:00Z";       /* a Sunday */
    is_at(late, NULL, "tomorrow 09:00+09:00", "2026-03-03T00:00:00Z");
    is_at(late, NULL, "tomorrow 09:00 +09:00", "2026-03-03T00:00:00Z");
    is_at(late, NULL, "tomorrow 9:00 +0900", "2026-03-03T00:00:00Z");
    is_at(late, NULL, "tomorrow +09", "2026-03-02T15:00:00Z");
    is_at(late, NULL, "tomorrow 09:00 Asia/Tokyo", "2026-03-03T00:00:00Z");
    is_at(late, NULL, "next monday 09:00+02:00", "2026-03-09T07:00:00Z");
    is_at(late, NULL, "yesterday 09:00+00:29", "2026-02-28T08:31:00Z");
    is_at(late, NULL, "yesterday 09:00+00:30", "2026-03-01T08:30:00Z");
    is_at("2026-03-01T00:30:00Z", NULL, "today 22:00-05:00", "2026-03-01T03:00:00Z");
    is_at(late, berlin, "today 23:50Z", "2026-03-01T23:50:00Z");
    is_at(late, berlin, "today 23:50z", "2026-03-01T23:50:00Z");
    is_at(late, berlin, "today 23:50", "2026-03-02T22:50:00Z");
    is_at(late, berlin, "tomorrow 09:00-05:00", "2026-03-02T14:00:00Z");
    is_at(late, NULL, "2026-12-01 09:00+09:00", "2026-12-01T00:00:00Z");
    refused("tomorrow 09:00+99:00", "there is no such zone");
}

static void the_zone_of_the_caller_is_for_times_that_name_none(void)
{
    is_in(berlin, "2026-12-01 09:00", "2026-12-01T08:00:00Z");
    is_in(berlin, "2026-12-01", "2026-11-30T23:00:00Z");
    is_in(berlin, "tomorrow 09:00", "2026-03-02T08:00:00Z");
    is_in(berlin, "2026-12-01 09:00 America/New_York", "2026-12-01T14:00:00Z");
    is_in(berlin, "2026-12-01T09:00Z", "2026-12-01T09:00:00Z");
    is_in(berlin, "2026-12-01 09:00+05:00", "2026-12-01T04:00:00Z");
    is_in(berlin, "3h", "2026-03-01T16:15:00Z");
    is_in(berlin, "1772370900", "2026-03-01T13:15:00Z");
    is_in(kiritimati, "today", "2026-03-01T10:00:00Z");
}

/* Clocks go from 02:00 to 03:00 on 2026-03-29 in Berlin, at 01:00Z. */
static void a_time_that_clocks_skip_is_the_first_moment_after_the_gap(void)
{
    is_in(berlin, "2026-03-29 01:59:59", "2026-03-29T00:59:59Z");
    is_in(berlin, "2026-03-29 02:00", "2026-03-29T01:00:00Z");
    is_in(berlin, "2026-03-29 02:30", "2026-03-29T01:00:00Z");
    is_in(berlin, "2026-03-29 03:00", "2026-03-29T01:00:00Z");
    is_in(berlin, "2026-03-29 03:01", "2026-03-29T01:01:00Z");
    is("2026-03-08 02:30 America/New_York", "2026-03-08T07:00:00Z");
    /* Samoa left out a whole day */
    is("2011-12-30 12:00 Pacific/Apia", "2011-12-30T10:00:00Z");
    /* and here midnight itself is skipped */
    is("2018-11-04 America/Sao_Paulo", "2018-11-04T03:00:00Z");
}

/* Clocks go from 03:00 back to 02:00 on 2026-10-25 in Berlin, at 01:00Z. */
static void of_a_time_that_comes_twice_the_first_is_meant(void)
{
    is_in(berlin, "2026-10-25 01:59", "2026-10-24T23:59:00Z");
    is_in(berlin, "2026-10-25 02:00", "2026-10-25T00:00:00Z");
    is_in(berlin, "2026-10-25 02:59", "2026-10-25T00:59:00Z");
    is_in(berlin, "2026-10-25 03:00", "2026-10-25T02:00:00Z");
    is("2026-11-01 01:30 America/New_York", "2026-11-01T05:30:00Z");
    is_in(berlin, "2026-10-25 02:30+01:00", "2026-10-25T01:30:00Z");      /* the second */
    /* by the rule behind the file's table */
    is_in(berlin, "2150-10-25 02:30", "2150-10-25T00:30:00Z");
}

static void a_day_is_24_hours_where_clocks_change(void)
{
    int64_t at = 0;
    const struct when before = { 1774692000, berlin, false };       /* 2026-03-28T10:00Z, 11:00 there */
    CU_ASSERT_EQUAL(when_parse("1d", &before, &at, NULL), 0);
    CU_ASSERT_EQUAL(at, before.now + 86400);
    CU_ASSERT_EQUAL(when_parse("tomorrow 11:00", &before, &at, NULL), 0);
    CU_ASSERT_EQUAL(at, before.now + 23 * 3600);
}

static void an_hour_may_have_one_digit(void)
{
    is("tomorrow 9:00", "2026-03-02T09:00:00Z");
    is("next monday 9:05:30", "2026-03-02T09:05:30Z");
    is("2026-12-01 9:00", "2026-12-01T09:00:00Z");
    is("2026-12-01T9:00", "2026-12-01T09:00:00Z");
    is("2026-12-01 9:00+02:00", "2026-12-01T07:00:00Z");
    is("2026-12-01 9:00 Europe/Berlin", "2026-12-01T08:00:00Z");
}

/* What people write beside what is taken. */
static void what_was_probably_meant_is_offered(void)
{
    static const struct { const char *text, *offer; } all[] = {
        { "2026-12-01 09:00 America/New York", "2026-12-01 09:00 America/New_York" },
        { "tomorrow 9:00 America/Argentina/Rio Gallegos", "tomorrow 09:00 America/Argentina/Rio_Gallegos" },
        { "tomorrow America/Port of Spain", "tomorrow America/Port_of_Spain" },
        { "tomorrow 9", "tomorrow 09:00" },
        { "2026-03-01 13", "2026-03-01 13:00" },
        { "tomorrow 9am", "tomorrow 09:00" },
        { "tomorrow 9 pm", "tomorrow 21:00" },
        { "tomorrow 12am", "tomorrow 00:00" },
        { "tomorrow 12:30 p.m.", "tomorrow 12:30" },
        { "tomorrow 9.30", "tomorrow 09:30" },
        { "tomorrow 9h", "tomorrow 09:00" },
        { "tomorrow at 9", "tomorrow 09:00" },
        { "09:00 tomorrow", "tomorrow 09:00" },
        { "9am tomorrow Europe/Berlin", "tomorrow 09:00 Europe/Berlin" },
        { "9:00 next monday", "next monday 09:00" },
        { "09:00", "today 09:00" },
        { "9:00", "today 09:00" },
        { "tomorow 09:00", "tomorrow 09:00" },
        { "next mondy", "next monday" },
        { "monday", "next monday" },
        { "fri 9:00", "next friday 09:00" },
        { "2026-12-1", "2026-12-01" },
        { "2026/12/01 09:00", "2026-12-01 09:00" },
        { "1.12.2026", "2026-12-01" },
        { "2026-12-01, 09:00", "2026-12-01 09:00" },
        { "2026-12-01 09:00 +2", "2026-12-01 09:00 +02:00" },
        { "2026-12-01 09:00 UTC+2", "2026-12-01 09:00 +02:00" },
        { "in 3 hours", "in 3h" },
        { "3 days ago", "3d ago" },
        { "3 hours", "+3h" },
        { "3hours ago", "3h ago" },
    };
    int64_t at;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct err err;
        char words[200];
        CU_ASSERT_EQUAL(when_parse(all[i].text, &(struct when){ .now = NOW }, &at, &err), ERR_INPUT);
        snprintf(words, sizeof words, "; did you mean %s)", all[i].offer);
        if (!strstr(err.text, words))
            printf("\"%s\" was refused as: %s\n", all[i].text, err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, words));
        CU_ASSERT_EQUAL(when_parse(all[i].offer, &(struct when){ .now = NOW }, &at, NULL), 0);
    }
}

/* 12/01 is a day in January to some, and in December to others. */
static void what_has_two_meanings_is_not_offered(void)
{
    static const char *const all[] = { "12/01/2026", "01/12/2026 09:00", "soon", "next week", "3 months",
                                       "tomorrow 25:00", "2026-02-30 9am", "tomorrow 09:00 09:00",
                                       "tomorrow 09:00 Europe/Berlin please", "a b c d e f g h i j" };
    int64_t at;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct err err;
        CU_ASSERT_EQUAL(when_parse(all[i], &(struct when){ .now = NOW }, &at, &err), ERR_INPUT);
        if (strstr(err.text, "did you mean"))
            printf("\"%s\" was refused as: %s\n", all[i], err.text);
        CU_ASSERT_PTR_NULL(strstr(err.text, "did you mean"));
    }
}

static void mistakes_say_what_was_expected(void)
{
    refused("", "that is not a time");
    refused("soon", "that is not a time");
    refused("tomorow 09:00", "did you mean tomorrow");
    refused("monday", "did you mean next monday");
    refused("fri 09:00", "did you mean next friday");
    refused("09:00", "did you mean today 09:00");
    refused("3 hours", "did you mean +3h");
    refused("tomorrow 25:00", "there is no such time of day");
    refused("2026-02-30 09:00 Europe/Berlin", "that month has no such day");
    refused("2026-12-01 09:00 Europe/Berln", "did you mean Europe/Berlin?");
    refused("2026-12-01 09:00 ../etc/passwd", "that is not a time");
    refused("2026-12-01 09:00Z Europe/Berlin", "it has an offset, and a zone");
    refused("tomorrow 9", "that is not a time");
    refused("tomorrow 09:00 09:00", "that is not a time");
    refused("tomorrow 09:00 Europe/Berlin please", "that is not a time");
    refused("next", "that is not a time");
    refused("next week", "that is not a time");
    refused("9000000d", "between the years 1970 and 9999");
    refused("100w ago ago", "that is not a time");
    refused("3000w ago", "between the years 1970 and 9999");
    refused("2026-03-01T", "that is not a time");
    refused("2026-03-01 13", "that is not a time");
}

static void what_counts_from_now_on_needs_no_clock(void)
{
    static const struct { const char *text; int64_t seconds; } all[] = {
        { "now", 0 }, { "3h", 10800 }, { "+3h", 10800 }, { "in 3h", 10800 }, { "-3h", -10800 },
        { "3h ago", -10800 }, { "0.5s", 1 }, { "-0.5s", 0 },
    };
    static const char *const others[] = { "tomorrow", "2026-03-01", "1772370900", "+", "3 h", "" };
    int64_t seconds;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        seconds = 77;
        CU_ASSERT_TRUE(when_is_after(all[i].text, &seconds));
        CU_ASSERT_EQUAL(seconds, all[i].seconds);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CU_ASSERT_FALSE(when_is_after(others[i], &seconds));
}

/* ---- the zone of this machine ---- */

static void here_is(const char *tz, const char *link, const char *expected)
{
    struct zone *z = NULL;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(zone_here(tz, link, &z, &err), 0);
    CU_ASSERT_STRING_EQUAL(z ? zone_name(z) : err.text, expected);
    zone_free(z);
}

static void the_zone_of_this_machine_is_that_of_tz_or_of_its_link(void)
{
    here_is("Europe/Berlin", "/nowhere", "Europe/Berlin");
    here_is(":Europe/Berlin", "/nowhere", "Europe/Berlin");
    here_is("/usr/share/zoneinfo/Asia/Tokyo", "/nowhere", "Asia/Tokyo");
    here_is("", "/nowhere", "UTC");
    here_is(NULL, "/nowhere", "UTC");
    char folder[] = "/tmp/prescient-when.XXXXXX", link[64];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(link, sizeof link, "%s/localtime", folder);
    CU_ASSERT_EQUAL_FATAL(symlink("../usr/share/zoneinfo/Europe/Oslo", link), 0);
    here_is(NULL, link, "Europe/Oslo");
    here_is("Asia/Tokyo", link, "Asia/Tokyo");
    char by_name[80];
    snprintf(by_name, sizeof by_name, ":%s", link);
    here_is(by_name, link, "Europe/Oslo");
    here_is(by_name + 1, link, "Europe/Oslo");
    unlink(link);
    rmdir(folder);
}

static void a_file_in_place_of_the_link_is_the_zone(void)
{
    struct zone *z = NULL;
    struct err err = { 0 };
    char folder[] = "/tmp/prescient-when.XXXXXX", file[64], line[200];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/localtime", folder);
    snprintf(line, sizeof line, "cp " ZONE_FOLDER "/Europe/Berlin %s", file);
    CU_ASSERT_EQUAL_FATAL(system(line), 0);
    CU_ASSERT_EQUAL_FATAL(zone_here(NULL, file, &z, &err), 0);
    is_in(z, "2026-07-02 09:00", "2026-07-02T07:00:00Z");
    is_in(z, "2026-12-02 09:00", "2026-12-02T08:00:00Z");
    zone_free(z);
    CU_ASSERT_EQUAL(truncate(file, 9), 0);
    CU_ASSERT_EQUAL(zone_here(NULL, file, &z, &err), ERR_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "set TZ, or use --zone"));
    unlink(file);
    rmdir(folder);
}

static void a_rule_is_no_zone_here(void)
{
    struct zone *z = NULL;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(zone_here("CET-1CEST,M3.5.0,M10.5.0/3", "/nowhere", &z, &err), ERR_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "expected the name of a zone"));
}

static const struct test tests[] = {
    TEST(what_programs_write_is_read_as_before),
    TEST(a_duration_counts_from_now_on),
    TEST(where_people_look_back_it_counts_backwards),
    TEST(days_have_names),
    TEST(weekdays_lie_next_to_today),
    TEST(a_zone_may_be_named),
    TEST(which_day_it_is_is_asked_in_the_zone),
    TEST(which_day_it_is_is_asked_in_the_offset),
    TEST(the_zone_of_the_caller_is_for_times_that_name_none),
    TEST(a_time_that_clocks_skip_is_the_first_moment_after_the_gap),
    TEST(of_a_time_that_comes_twice_the_first_is_meant),
    TEST(a_day_is_24_hours_where_clocks_change),
    TEST(an_hour_may_have_one_digit),
    TEST(what_was_probably_meant_is_offered),
    TEST(what_has_two_meanings_is_not_offered),
    TEST(mistakes_say_what_was_expected),
    TEST(what_counts_from_now_on_needs_no_clock),
    TEST(the_zone_of_this_machine_is_that_of_tz_or_of_its_link),
    TEST(a_file_in_place_of_the_link_is_the_zone),
    TEST(a_rule_is_no_zone_here),
    { NULL, NULL },
};

const struct suite suite_when = { .name = "when", .setup = setup, .teardown = teardown, .tests = tests };
