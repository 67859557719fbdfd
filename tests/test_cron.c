/* test_cron.c - cron texts: what is read, what is refused and with which words, and what happens
 * when clocks are changed. tests/cron has a table of many more times. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include "../engine/base/cleanup.h"
#include "../engine/base/moment.h"
#include "../engine/rules/cron.h"
#include "tzif_fixture.h"

static struct zone *made(const char *footer)
{
    unsigned char bytes[TZIF_ROOM];
    struct zone *z = NULL;
    size_t size = tzif_write(&(struct tzif){ .footer = footer }, bytes);
    CU_ASSERT_EQUAL_FATAL(zone_parse("Test/Zone", bytes, size, &z, NULL), 0);
    return z;
}

static struct cron parsed(const char *text)
{
    struct cron c = { 0 };
    struct err err = { 0 };
    if (cron_parse(text, &c, &err) < 0) {
        printf("%s: %s\n", text, err.text);
        CU_FAIL_FATAL("a good text is refused");
    }
    return c;
}

static int64_t at(const char *text)
{
    int64_t moment = -1;
    CU_ASSERT_EQUAL(moment_parse(text, 0, &moment, NULL), 0);
    return moment;
}

/* The times after one, as they are written, with a comma between them. */
static bool times_are(const char *text, const char *footer, const char *after, const char *wanted)
{
    char found[1000] = "", room[MOMENT_TEXT];
    CLEANUP(zone_freep) struct zone *z = made(footer);
    struct cron c = parsed(text);
    int64_t moment = at(after);
    for (size_t used = 0; used < strlen(wanted); used = strlen(found)) {
        moment = cron_next(&c, z, moment);
        snprintf(found + used, sizeof found - used, "%s%.16s", used ? ", " : "", moment_format(moment, room));
    }
    if (strcmp(found, wanted) != 0)
        printf("%s in %s after %s:\n  %s, expected\n  %s\n", text, footer, after, found, wanted);
    return !strcmp(found, wanted);
}

static bool same(const char *a, const char *b)
{
    struct cron x = parsed(a), y = parsed(b);
    bool good = x.minutes == y.minutes && x.hours == y.hours && x.days == y.days && x.months == y.months &&
                x.weekdays == y.weekdays && x.follows_clock == y.follows_clock &&
                x.either_day == y.either_day;
    if (!good)
        printf("\"%s\" is not \"%s\"\n", a, b);
    return good;
}

/* ---- what is read ---- */

static void all_spellings_are_read(void)
{
    static const char *const pairs[][2] = {
        { "0 0 1 1 *", "@yearly" },
        { "0 0 1 1 *", "@annually" },
        { "0 0 1 * *", "@monthly" },
        { "0 0 * * 0", "@weekly" },
        { "0 0 * * *", "@daily" },
        { "0 0 * * *", "@midnight" },
        { "0 * * * *", " @HOURLY\t" },
        { "0 9 * * 1-5", "0 9 * * mon-fri" },
        { "0 9 * * 1-5", "  0\t9 *  * MON-Fri " },
        { "0 0 * jan,3,DEC *", "0 0 * 1,3,12 *" },
        { "0 0 * * 7", "0 0 * * sun" },
        { "0 0 * * 0", "0 0 * * 7" },
        { "0 0 * * 5-7", "0 0 * * fri-sun" },
        { "0 0 * * 5-0", "0 0 * * 5,6,0" },
        { "0 0 * * sun-tue", "0 0 * * 0-2" },
        { "0 0 * * 7-2", "0 0 * * 0-2" },
        { "0 0 * * 0-7", "0 0 * * 0-6" },
        { "0 0 * * 7-7", "0 0 * * 0" },
        { "0 0 * * */2", "0 0 * * *,0,2,4,6" },
        { "0-30/10 * * * *", "0,10,20,30 * * * *" },
        { "5-59/20 * * * *", "5,25,45 * * * *" },
        { "*/60 */24 * * *", "0 */24 * * *" },
        { "000 09 * * *", "0 9 * * *" },
        { "1-3,2-4,3 0 * * *", "1-4 0 * * *" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], "0 0 * * */2") != 0)
            CU_ASSERT_TRUE(same(pairs[i][0], pairs[i][1]));
    CU_ASSERT_EQUAL(parsed("0 0 * * */2").weekdays, 0x55);
}

static void every_value_of_every_field_is_read(void)
{
    static const int least[] = { 0, 0, 1, 1, 0 }, most[] = { 59, 23, 31, 12, 7 };
    for (int field = 0; field < 5; field++)
        for (int n = least[field] - 1; n <= most[field] + 1; n++) {
            char text[60] = "";
            struct cron c;
            for (int i = 0; i < 5; i++)
                snprintf(text + strlen(text), sizeof text - strlen(text), i == field ? "%d " : "* ", n);
            int rc = cron_parse(text, &c, NULL);
            bool good = n >= least[field] && n <= most[field];
            if ((rc == 0) != good)
                printf("%s: %d\n", text, rc);
            CU_ASSERT_EQUAL(rc == 0, good);
        }
}

/* ---- what is refused ---- */

static void refused(const char *text, const char *words)
{
    struct err err = { 0 };
    struct cron c = { .minutes = 77 };
    CU_ASSERT_EQUAL(cron_parse(text, &c, &err), ERR_INPUT);
    CU_ASSERT_EQUAL(c.minutes, 77);
    bool told = strstr(err.text, words) != NULL;
    if (!told)
        printf("\"%s\" was refused as: %s\n", text, err.text);
    CU_ASSERT_TRUE(told);
}

static void errors_name_field_column_and_what_was_expected(void)
{
    static const char *const all[][2] = {
        { "61 * * * *", "minute: 61 at column 1 is not between 0 and 59" },
        { "0 24 * * *", "hour: 24 at column 3 is not between 0 and 23" },
        { "0 0 0 * *", "day of month: 0 at column 5 is not between 1 and 31" },
        { "0 0 1,32 * *", "day of month: 32 at column 7 is not between 1 and 31" },
        { "0  0 1 13 *", "month: 13 at column 8 is not between 1 and 12" },
        { "0 0 * * 8", "weekday: 8 at column 9 is not between 0 and 7" },
        { "0 0 * * 1-8", "weekday: 8 at column 11 is not between 0 and 7" },
        { "99999999999999999999 * * * *", "minute: 99999999999999999999 at column 1 is not between" },
        { "x * * * *",
          "minute: \"x\" at column 1; expected 0 to 59, *, a range (0-30), a step (*/15) or a list" },
        { "5x * * * *", "minute: \"5x\" at column 1; expected 0 to 59" },
        { "-5 * * * *", "minute: \"-5\" at column 1; expected 0 to 59" },
        { "5- * * * *", "minute: nothing that can be read at column 3; expected 0 to 59" },
        { "1,,2 * * * *", "minute: nothing that can be read at column 3; expected 0 to 59" },
        { "1, * * * *", "minute: nothing that can be read at column 3; expected 0 to 59" },
        { "*5 * * * *", "minute: \"5\" at column 2; expected 0 to 59" },
        { "1-2-3 * * * *", "minute: \"-3\" at column 4; expected 0 to 59" },
        { "30-10 * * * *",
          "minute: the range 30-10 at column 1 runs backwards; expected the smaller end first, or "
          "two ranges with a comma, such as 30-59,0-10" },
        { "0 22-2 * * *", "hour: the range 22-2 at column 3 runs backwards" },
        { "0 0 * nov-feb *",
          "month: the range nov-feb at column 7 runs backwards; expected the smaller end first, "
          "or two ranges with a comma, such as 11-12,1-2" },
        { "0 0 * * fri-mon",
          "weekday: the range fri-mon at column 9 runs backwards; expected the smaller end first, "
          "or two ranges with a comma, such as 5-6,0-1" },
        { "5/10 * * * *",
          "minute: the step at column 2 stands behind one value; expected a range, such as 5-59/10" },
        { "*/0 * * * *", "minute: the step \"0\" at column 3; expected a number from 1 to 60" },
        { "*/61 * * * *", "minute: the step \"61\" at column 3; expected a number from 1 to 60" },
        { "*/ * * * *", "minute: the step \"\" at column 3; expected a number from 1 to 60" },
        { "0 */x * * *", "hour: the step \"x\" at column 5; expected a number from 1 to 24" },
        { "0 0 L * *",
          "day of month: \"L\" (L, W, # and ? are words of other crons) at column 5; expected 1 to 31" },
        { "0 0 15W * *", "day of month: \"15W\" (L, W, # and ? are words of other crons) at column 5" },
        { "0 0 ? * 1", "day of month: \"?\" (L, W, # and ? are words of other crons) at column 5" },
        { "0 0 * * 5#3", "weekday: \"5#3\" (L, W, # and ? are words of other crons) at column 9" },
        { "0 0 * * monday", "weekday: \"monday\" at column 9; expected the short name, mon" },
        { "0 0 * january *", "month: \"january\" at column 7; expected the short name, jan" },
        { "0 0 * mon *", "month: \"mon\" at column 7; expected 1 to 12, jan to dec" },
        { "0 9 * *",
          "weekday: nothing at column 8: this is field 5 of five; expected minute, hour, day of month" },
        { "", "minute: nothing at column 1: this is field 1 of five" },
        { "  ", "minute: nothing at column 3: this is field 1 of five" },
        { "0 0 9 * * 1",
          "\"1\" at column 11 is a sixth field; expected five: there are no seconds and no years" },
        { "@dayly",
          "\"@dayly\" at column 1; expected @yearly, @annually, @monthly, @weekly, @daily, @midnight or "
          "@hourly; did you mean @daily" },
        { "@reboot", "\"@reboot\" at column 1; expected @yearly" },
        { "@daily Europe/Amsterdam", "\"Europe/Amsterdam\" at column 8: nothing may follow @daily" },
        { "0 0 * * *\n", "weekday: nothing that can be read at column 10" },
        { "0 0 * * \xff", "weekday: nothing that can be read at column 9" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        refused(all[i][0], all[i][1]);
    char text[CRON_TEXT_MAX + 2];
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = '\0';
    refused(text, "a cron text of 500 bytes; expected at most 499");
}

static void dates_that_never_come_are_refused(void)
{
    refused("0 0 31 2 *", "day of month: 31 at column 5: none of the months at column 8 has that day");
    refused("0 0 30 2 *", "day of month: 30 at column 5: none of the months at column 8 has that day");
    refused("0 0 30,31 feb */2", "would never run");
    refused("0 0 31 4,6,9,11 *", "would never run");
    parsed("0 0 29 2 *");
    parsed("0 0 31 2,3 *");
    parsed("0 0 31 2 1"); /* each Monday of February */
    parsed("0 0 29 2 */7");
}

/* ---- days ---- */

static void either_day_matches_when_both_are_restricted(void)
{
    CU_ASSERT_TRUE(times_are("0 0 13 * 5", "UTC0", "2026-03-01",
                             "2026-03-06T00:00, 2026-03-13T00:00, 2026-03-20T00:00, 2026-03-27T00:00, "
                             "2026-04-03T00:00, 2026-04-10T00:00, 2026-04-13T00:00"));
}

/* As in Vixie cron: a star with a step is a star. */
static void both_days_match_when_one_contains_a_star(void)
{
    CU_ASSERT_TRUE(times_are("0 0 */2 * 1", "UTC0", "2026-03-01",
                             "2026-03-09T00:00, 2026-03-23T00:00, 2026-04-13T00:00"));
    CU_ASSERT_TRUE(times_are("0 0 1-7 * */6", "UTC0", "2026-03-01T12:00",
                             "2026-03-07T00:00, 2026-04-04T00:00, 2026-04-05T00:00"));
    CU_ASSERT_TRUE(times_are("0 0 13 * 5,*", "UTC0", "2026-03-01", "2026-03-13T00:00, 2026-04-13T00:00"));
}

static void rare_dates_are_found(void)
{
    CU_ASSERT_TRUE(times_are("0 0 29 2 *", "UTC0", "2096-03-01", "2104-02-29T00:00, 2108-02-29T00:00"));
    CU_ASSERT_TRUE(times_are("0 0 29 2 */7", "UTC0", "2072-03-01", "2088-02-29T00:00, 2128-02-29T00:00"));
    CU_ASSERT_TRUE(times_are("59 23 31 12 *", "CET-1CEST,M3.5.0,M10.5.0/3", "8998-06-01",
                             "8998-12-31T22:59, 8999-12-31T22:59"));
}

static void the_ends_of_time_hold(void)
{
    CLEANUP(zone_freep) struct zone *z = made("UTC0");
    struct cron all = parsed("* * * * *");
    CU_ASSERT_EQUAL(cron_next(&all, z, INT64_MIN), 60);
    CU_ASSERT_EQUAL(cron_next(&all, z, -1), 60);
    CU_ASSERT_EQUAL(cron_next(&all, z, 60), 120);
    CU_ASSERT_EQUAL(cron_next(&all, z, 119), 120);
    CU_ASSERT_EQUAL(cron_next(&all, z, CRON_LAST - 60), CRON_LAST - 59);
    CU_ASSERT_EQUAL(cron_next(&all, z, CRON_LAST - 59), 0);
    CU_ASSERT_EQUAL(cron_next(&all, z, CRON_LAST), 0);
    CU_ASSERT_EQUAL(cron_next(&all, z, INT64_MAX), 0);
}

/* ---- when clocks are changed ---- */

#define AMSTERDAM "CET-1CEST,M3.5.0,M10.5.0/3"
#define LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"

static void a_time_that_is_skipped_happens_after_the_gap(void)
{
    CU_ASSERT_TRUE(times_are("30 2 * * *", AMSTERDAM, "2026-03-28", /* 02:30, 03:00 CEST, 02:30 CEST */
                             "2026-03-28T01:30, 2026-03-29T01:00, 2026-03-30T00:30"));
    CU_ASSERT_TRUE(times_are("*/20 2 * * *", AMSTERDAM, "2026-03-28T22:00",
                             "2026-03-29T01:00, 2026-03-30T00:00, 2026-03-30T00:20"));
    CU_ASSERT_TRUE(times_are("0 2,3 29 * *", AMSTERDAM, "2026-03-28", "2026-03-29T01:00, 2026-04-29T00:00"));
    CU_ASSERT_TRUE(
        times_are("10 2 * * *", LORD_HOWE, "2026-10-03T01:00", "2026-10-03T15:30, 2026-10-04T15:10"));
}

static void a_time_that_comes_twice_happens_the_first_time(void)
{
    CU_ASSERT_TRUE(
        times_are("30 2 * * *", AMSTERDAM, "2026-10-24T12:00", "2026-10-25T00:30, 2026-10-26T01:30"));
    CU_ASSERT_TRUE(times_are("*/30 2-3 25 10 *", AMSTERDAM, "2026-10-24T12:00",
                             "2026-10-25T00:00, 2026-10-25T00:30, 2026-10-25T02:00, 2026-10-25T02:30"));
    CU_ASSERT_TRUE(times_are("45 1 * * *", LORD_HOWE, "2026-04-04", "2026-04-04T14:45, 2026-04-05T15:15"));
}

/* Asked in the hour that comes again, a time of it is over. */
static void a_time_that_comes_twice_is_over_after_the_first(void)
{
    CU_ASSERT_TRUE(times_are("30 2 * * *", AMSTERDAM, "2026-10-25T00:30", "2026-10-26T01:30"));
    CU_ASSERT_TRUE(times_are("30 2 * * *", AMSTERDAM, "2026-10-25T01:10", "2026-10-26T01:30"));
    CU_ASSERT_TRUE(times_are("30 2 * * *", AMSTERDAM, "2026-03-29T01:00", "2026-03-30T00:30"));
}

static void a_star_in_the_hour_follows_the_clock(void)
{
    CU_ASSERT_TRUE(times_are("30 * * * *", AMSTERDAM, "2026-03-29", /* 01:30, 03:30, 04:30 */
                             "2026-03-29T00:30, 2026-03-29T01:30, 2026-03-29T02:30"));
    CU_ASSERT_TRUE(
        times_are("30 */2 * * *", AMSTERDAM, "2026-03-28T23:00", "2026-03-28T23:30, 2026-03-29T02:30"));
    CU_ASSERT_TRUE(times_are("30 */2 * * *", AMSTERDAM, "2026-10-25", /* 02:30, 02:30, 04:30 */
                             "2026-10-25T00:30, 2026-10-25T01:30, 2026-10-25T03:30"));
    CU_ASSERT_TRUE(times_are("*/15 * * * *", LORD_HOWE, "2026-04-04T14:25", /* 01:30, 01:45, 01:30 */
                             "2026-04-04T14:30, 2026-04-04T14:45, 2026-04-04T15:00, 2026-04-04T15:15"));
}

/* A zone that leaves out a day, as Samoa did: 24 hours forward at the end of the 29th. */
static void a_day_that_is_left_out_happens_at_its_end(void)
{
    struct tzif samoa = { .n = 1, .at = { 1325239200 }, .offset_s = { -36000, 50400 }, .footer = "<+14>-14" };
    unsigned char bytes[TZIF_ROOM];
    CLEANUP(zone_freep) struct zone *z = NULL;
    CU_ASSERT_EQUAL_FATAL(zone_parse("Test/Samoa", bytes, tzif_write(&samoa, bytes), &z, NULL), 0);
    struct cron nine = parsed("0 9 * * *");
    CU_ASSERT_EQUAL(cron_next(&nine, z, samoa.at[0] - 6 * 3600), samoa.at[0]);
    CU_ASSERT_EQUAL(cron_next(&nine, z, samoa.at[0]), samoa.at[0] + 9 * 3600);
    struct cron hourly = parsed("0 * * * *");
    CU_ASSERT_EQUAL(cron_next(&hourly, z, samoa.at[0] - 1), samoa.at[0]);
    CU_ASSERT_EQUAL(cron_next(&hourly, z, samoa.at[0]), samoa.at[0] + 3600);
}

/* Clocks that go back and forth within a day: each local time happens once, in spite of that. */
static void two_changes_within_hours_repeat_nothing(void)
{
    struct tzif odd = {
        .n = 3, .at = { 36000, 39600, 43200 }, .offset_s = { 0, -7200, 3600, 0 }, .footer = "UTC0"
    };
    unsigned char bytes[TZIF_ROOM];
    CLEANUP(zone_freep) struct zone *z = NULL;
    CU_ASSERT_EQUAL_FATAL(zone_parse("Test/Odd", bytes, tzif_write(&odd, bytes), &z, NULL), 0);
    struct cron named = parsed("0 0-23 1 1 *");
    int n = 0;
    int64_t moment = -1;
    while ((moment = cron_next(&named, z, moment)) && moment < 86400)
        n++;
    CU_ASSERT_EQUAL(n, 21); /* 00:00 is 1970 itself; 10:00, 11:00 and 12:00 are one moment */
}

static void offsets_of_odd_seconds_are_kept(void)
{
    CU_ASSERT_TRUE(
        times_are("0 9 * * *", "<+0545>-5:45", "2026-03-01", "2026-03-01T03:15, 2026-03-02T03:15"));
    CLEANUP(zone_freep) struct zone *z = made("LMT-0:19:32");
    struct cron nine = parsed("0 9 * * *");
    CU_ASSERT_EQUAL(cron_next(&nine, z, 0), 9 * 3600 - 1172);
}

static const struct test tests[] = {
    TEST(all_spellings_are_read),
    TEST(every_value_of_every_field_is_read),
    TEST(errors_name_field_column_and_what_was_expected),
    TEST(dates_that_never_come_are_refused),
    TEST(either_day_matches_when_both_are_restricted),
    TEST(both_days_match_when_one_contains_a_star),
    TEST(rare_dates_are_found),
    TEST(the_ends_of_time_hold),
    TEST(a_time_that_is_skipped_happens_after_the_gap),
    TEST(a_time_that_comes_twice_happens_the_first_time),
    TEST(a_time_that_comes_twice_is_over_after_the_first),
    TEST(a_star_in_the_hour_follows_the_clock),
    TEST(a_day_that_is_left_out_happens_at_its_end),
    TEST(two_changes_within_hours_repeat_nothing),
    TEST(offsets_of_odd_seconds_are_kept),
    { NULL, NULL },
};

const struct suite suite_cron = { .name = "cron", .tests = tests };
