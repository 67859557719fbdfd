/* test_recurrence.c - the next slot of a schedule, first times, and what becomes of those that were
 * missed. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include "../engine/base/cleanup.h"
#include "../engine/base/moment.h"
#include "../engine/base/zone.h"
#include "../engine/rules/occurrence.h"
#include "../engine/rules/recurrence.h"
#include "../engine/rules/slot.h"
#include "../engine/rules/terms.h"

#define NOON 1772366400 /* 2026-03-01T12:00:00Z, a Sunday */
#define HOUR_S 3600

static struct zone *utc;

static int setup(void)
{
    return zone_read("UTC", &utc, NULL);
}

static int teardown(void)
{
    zone_free(utc);
    return 0;
}

static struct recurrence rule(const char *text)
{
    struct terms t = { 0 };
    struct err err = { 0 };
    if (terms_parse(text, &t, &err) < 0) {
        printf("%s: %s\n", text, err.text);
        CU_FAIL_FATAL("terms are refused");
    }
    return t.recurrence;
}

static struct recurrence_grid grid(int32_t slot_length_s)
{
    return (struct recurrence_grid){ utc, slot_length_s };
}

/* ---- every ---- */

static int64_t after_every(const struct recurrence *r, int32_t slot_length_s, int64_t nominal,
                           int64_t ended_at)
{
    struct recurrence_grid g = grid(slot_length_s);
    return recurrence_after(r, &g, &(struct recurrence_run){ nominal, nominal, ended_at });
}

static void five_minutes_stay_five_minutes(void)
{
    struct recurrence r = rule("schedule a every 300");
    CU_ASSERT_EQUAL(recurrence_bias_s(&r), 20);
    for (int64_t i = 0; i < 1000; i++)
        if (after_every(&r, 60, NOON + 60 * i, NOON + 60 * i + 1) != NOON + 60 * i + 300)
            CU_FAIL_FATAL("not five minutes");
    CU_ASSERT_EQUAL(recurrence_becomes_s(&r, 60), 300);
}

static void it_counts_from_the_end_of_the_run(void)
{
    struct recurrence r = rule("schedule a every 300 bias 0");
    CU_ASSERT_EQUAL(after_every(&r, 60, NOON, NOON + 900), NOON + 1200);
    CU_ASSERT_EQUAL(after_every(&r, 1, NOON, NOON + 7), NOON + 307);
}

static void it_is_never_before_the_end_and_the_time_less_the_bias(void)
{
    static const int32_t lengths[] = { 1, 10, 60, 300, 900, 86400 };
    static const char *const texts[] = { "schedule a every 300", "schedule b every 1",
                                         "schedule c every 59 bias 0.5", "schedule d every 86400 bias 0",
                                         "schedule e every 3600 bias 0.25" };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int64_t i = 0; i < 500; i++) {
                struct recurrence r = rule(texts[t]);
                int64_t nominal = slot_floor(NOON + 77 * i, lengths[l]), ended_at = nominal + i % 70;
                int64_t next = after_every(&r, lengths[l], nominal, ended_at);
                int64_t bias_s = recurrence_bias_s(&r);
                bool early = next < ended_at + r.every_s - bias_s || next <= nominal;
                bool late = next > ended_at + r.every_s + bias_s + lengths[l];
                if (early || late || next % lengths[l])
                    CU_FAIL_FATAL("early, late, or no slot");
            }
    CU_PASS("all in time");
}

/* In fine slots the draw shows: over the whole width, and the same for the same occurrence. */
static void the_bias_is_drawn_by_name_and_occurrence(void)
{
    struct recurrence a = rule("schedule a every 300"), b = rule("schedule b every 300");
    int seen[41] = { 0 }, different = 0;
    for (int64_t i = 0; i < 4100; i++) {
        int64_t nominal = NOON + i, next = after_every(&a, 1, nominal, nominal);
        int64_t shift = next - nominal - 300;
        CU_ASSERT_FATAL(shift >= -20 && shift <= 20);
        seen[shift + 20]++;
        different += next != after_every(&b, 1, nominal, nominal);
        if (next != after_every(&a, 1, nominal, nominal))
            CU_FAIL_FATAL("two draws of one occurrence");
    }
    for (int i = 0; i < 41; i++)
        CU_ASSERT_TRUE(seen[i] > 50 && seen[i] < 170);
    CU_ASSERT_TRUE(different > 3800);
}

static void the_bias_is_rounded_to_whole_seconds(void)
{
    static const struct {
        const char *text;
        int64_t bias_s;
    } all[] = {
        { "schedule a every 300", 20 },
        { "schedule a every 100", 7 },
        { "schedule a every 7", 0 },
        { "schedule a every 8", 1 },
        { "schedule a every 31622400", 2109214 },
        { "schedule a every 3 bias 0.5", 2 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct recurrence r = rule(all[i].text);
        CU_ASSERT_EQUAL(recurrence_bias_s(&r), all[i].bias_s);
    }
}

/* Rounding to the nearest slot makes a time neither longer nor shorter in the mean. */
static void five_minutes_are_five_minutes_in_the_mean(void)
{
    struct recurrence r = rule("schedule a every 300 bias 0.5");
    int64_t runs = 20000, sum = 0;
    for (int64_t i = 0; i < runs; i++)
        sum += after_every(&r, 60, NOON + i, NOON + i) - (NOON + i);
    CU_ASSERT_TRUE(sum / runs > 295 && sum / runs < 305);
}

static void an_every_shorter_than_a_slot_becomes_a_slot(void)
{
    static const struct {
        const char *text;
        int32_t slot_length_s;
        int64_t becomes_s;
    } all[] = {
        { "schedule a every 1", 900, 900 },       { "schedule a every 300", 900, 900 },
        { "schedule a every 300", 60, 300 },      { "schedule a every 300 bias 0", 60, 360 },
        { "schedule a every 90", 60, 120 },       { "schedule a every 5", 1, 6 },
        { "schedule a every 80", 60, 120 },       { "schedule a every 1200", 900, 1800 },
        { "schedule a every 86400", 900, 86400 }, { "schedule a cron @daily", 900, 0 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct recurrence r = rule(all[i].text);
        int64_t becomes_s = recurrence_becomes_s(&r, all[i].slot_length_s);
        if (becomes_s != all[i].becomes_s)
            printf("%s in slots of %d s: %lld\n", all[i].text, all[i].slot_length_s, (long long)becomes_s);
        CU_ASSERT_EQUAL(becomes_s, all[i].becomes_s);
    }
}

static void first_times_are_spread_over_one_period(void)
{
    enum { SCHEDULES = 10000, SLOTS = 5 };
    int in_slot[SLOTS] = { 0 };
    struct recurrence_grid g = grid(60);
    for (int i = 0; i < SCHEDULES; i++) {
        char text[80];
        snprintf(text, sizeof text, "schedule tenant-%d every 300", i);
        struct recurrence r = rule(text);
        int64_t first = recurrence_first(&r, &g, NOON);
        CU_ASSERT_FATAL(first > NOON && first <= NOON + 300 && first % 60 == 0);
        in_slot[(first - NOON) / 60 - 1]++;
    }
    for (int i = 0; i < SLOTS; i++)
        CU_ASSERT_TRUE(in_slot[i] < SCHEDULES / SLOTS * 105 / 100);
}

/* At 09:00, before the occurrence of noon. */
static void a_run_that_was_asked_for_takes_no_time_of_a_cron_text_away(void)
{
    static const char *const words[] = { "run_once", "run_all", "skip" };
    struct recurrence_grid g = grid(900);
    struct recurrence_run early = { NOON, NOON - 3 * HOUR_S, NOON - 3 * HOUR_S + 5 },
                          over_noon = { NOON, NOON - 1, NOON + HOUR_S },
                          late = { NOON, NOON + 2, NOON + 3 };
    for (int i = 0; i < 3; i++) {
        char text[100];
        snprintf(text, sizeof text, "schedule a cron \"0 12 * * *\" missed %s", words[i]);
        struct recurrence r = rule(text);
        CU_ASSERT_EQUAL(recurrence_after(&r, &g, &early), NOON);
        CU_ASSERT_EQUAL(recurrence_after(&r, &g, &over_noon), NOON);
        CU_ASSERT_EQUAL(recurrence_after(&r, &g, &late), NOON + 24 * HOUR_S);
    }
}

/* The check was moved (reschedule) to noon, or a bit later; times before that do not come back. */
static void a_run_that_was_asked_for_brings_no_time_back(void)
{
    struct recurrence r = rule("schedule a cron \"50 * * * *\"");
    struct recurrence_grid g = grid(900);
    struct recurrence_run run = { NOON, NOON - 3 * HOUR_S, NOON - 3 * HOUR_S + 5 };
    CU_ASSERT_EQUAL(recurrence_after(&r, &g, &run), NOON);
    run.nominal = NOON + 900;
    CU_ASSERT_EQUAL(recurrence_after(&r, &g, &run), NOON + HOUR_S);
}

static void every_counts_from_the_end_of_a_run_that_was_asked_for(void)
{
    struct recurrence r = rule("schedule a every 3600 bias 0");
    struct recurrence_grid g = grid(60);
    int64_t at = NOON - 1800;
    for (int i = 0; i < 3; i++, at += 2) {
        struct recurrence_run run = { NOON + i * HOUR_S, at, at + 1 };
        CU_ASSERT_EQUAL(recurrence_after(&r, &g, &run), NOON + 1800 + 60);
    }
}

static void what_has_not_come_waits_on(void)
{
    struct recurrence cron = rule("schedule a cron \"0 * * * *\"");
    struct recurrence_grid g = grid(60);
    struct recurrence_verdict v = recurrence_judge(&cron, &g, NOON, NOON - HOUR_S);
    CU_ASSERT_FALSE(v.runs);
    CU_ASSERT_EQUAL(v.nominal, NOON);
}

static void nothing_recurs_behind_the_year_8999(void)
{
    struct recurrence every = rule("schedule a every 86400"), cron = rule("schedule a cron @yearly");
    struct recurrence_grid g = grid(900);
    struct recurrence_run run = { CRON_LAST - 10, CRON_LAST - 10, CRON_LAST - 10 };
    CU_ASSERT_EQUAL(recurrence_after(&every, &g, &run), 0);
    CU_ASSERT_EQUAL(recurrence_after(&cron, &g, &run), 0);
    CU_ASSERT_EQUAL(recurrence_first(&every, &g, INT64_MAX), 0);
    CU_ASSERT_EQUAL(recurrence_first(&cron, &g, INT64_MAX), 0);
    cron = rule("schedule a cron \"59 23 31 12 *\"");
    CU_ASSERT_EQUAL(recurrence_after(&cron, &g, &run), 0);
}

/* ---- cron on slots ---- */

static void a_time_between_slots_runs_in_the_next_one(void)
{
    struct recurrence r = rule("schedule a cron \"5,9,20 9 * * *\"");
    struct recurrence_grid g = grid(900);
    int64_t nine = NOON - 3 * HOUR_S;
    CU_ASSERT_EQUAL(recurrence_first(&r, &g, NOON - 12 * HOUR_S), nine + 900);
    CU_ASSERT_EQUAL(recurrence_first(&r, &g, nine + 300), nine + 900);
    CU_ASSERT_EQUAL(recurrence_first(&r, &g, nine + 540), nine + 1800);
    struct recurrence_run run = { nine + 900, nine + 900 + 7 * 60, nine + 2 * HOUR_S };
    CU_ASSERT_EQUAL(recurrence_after(&r, &g, &run), nine + 1800);
    run = (struct recurrence_run){ nine + 1800, nine + 1800, nine + 1801 };
    CU_ASSERT_EQUAL(recurrence_after(&r, &g, &run), nine + 900 + 24 * HOUR_S);
}

/* 12:00 ran late at 12:03; 12:02 rounds up to 12:15, which has not begun. */
static void a_time_that_passed_in_a_running_slot_is_not_lost(void)
{
    struct recurrence r = rule("schedule a cron \"2,50 * * * *\"");
    struct recurrence_grid g = grid(900);
    struct recurrence_run run = { NOON, NOON + 180, NOON + 200 };
    CU_ASSERT_EQUAL(recurrence_after(&r, &g, &run), NOON + 900);
}

/* An occurrence that comes up while the last one runs is late, not lost. */
static void an_occurrence_that_comes_up_during_a_run_is_next(void)
{
    struct recurrence r = rule("schedule a cron @hourly");
    struct recurrence_grid g = grid(900);
    struct recurrence_run run = { NOON, NOON + 5, NOON + HOUR_S + 20 };
    CU_ASSERT_EQUAL(recurrence_after(&r, &g, &run), NOON + HOUR_S);
}

/* ---- missed ---- */

static void judged(const char *text, int64_t now, struct recurrence_verdict wanted)
{
    struct recurrence r = rule(text);
    struct recurrence_grid g = grid(900);
    struct recurrence_verdict v = recurrence_judge(&r, &g, NOON, now);
    bool good = v.runs == wanted.runs && v.nominal == wanted.nominal && v.passed_over == wanted.passed_over;
    if (!good)
        printf("%s, %lld s later: runs %d, %lld s later, %lld passed over\n", text, (long long)(now - NOON),
               v.runs, (long long)(v.nominal - NOON), (long long)v.passed_over);
    CU_ASSERT_TRUE(good);
}

static void what_is_in_its_slot_is_not_missed(void)
{
    static const char *const words[] = { "run_once", "run_all", "skip" };
    for (int i = 0; i < 3; i++) {
        char text[100];
        snprintf(text, sizeof text, "schedule a cron @hourly missed %s", words[i]);
        judged(text, NOON, (struct recurrence_verdict){ true, NOON, 0 });
        judged(text, NOON + 899, (struct recurrence_verdict){ true, NOON, 0 });
    }
}

static void run_once_runs_late_and_stands_for_all(void)
{
    const char *text = "schedule a cron @hourly";
    judged(text, NOON + 900, (struct recurrence_verdict){ true, NOON, 0 });
    judged(text, NOON + 3 * HOUR_S, (struct recurrence_verdict){ true, NOON, 0 });
    judged(text, NOON + 5000 * HOUR_S, (struct recurrence_verdict){ true, NOON, 0 });
    struct recurrence r = rule(text);
    struct recurrence_grid g = grid(900);
    struct recurrence_run run = { NOON, NOON + 3 * HOUR_S + 10, NOON + 3 * HOUR_S + 12 };
    CU_ASSERT_EQUAL(recurrence_after(&r, &g, &run), NOON + 4 * HOUR_S);
}

static void skip_moves_to_the_first_that_is_not_over(void)
{
    const char *text = "schedule a cron @hourly missed skip";
    judged(text, NOON + 900, (struct recurrence_verdict){ false, NOON + HOUR_S, 1 });
    judged(text, NOON + 3 * HOUR_S + 899, (struct recurrence_verdict){ false, NOON + 3 * HOUR_S, 3 });
    judged(text, NOON + 3 * HOUR_S + 900, (struct recurrence_verdict){ false, NOON + 4 * HOUR_S, 4 });
    judged("schedule a cron \"* * * * *\" missed skip", NOON + 1799,
           (struct recurrence_verdict){ false, NOON + 900, 1 });
}

static void run_all_takes_one_after_the_other(void)
{
    struct recurrence r = rule("schedule a cron @hourly missed run_all");
    struct recurrence_grid g = grid(900);
    int64_t now = NOON + 50 * HOUR_S + 10, nominal = NOON;
    int runs = 0;
    for (; nominal <= now; runs++) {
        struct recurrence_verdict v = recurrence_judge(&r, &g, nominal, now);
        CU_ASSERT_TRUE(v.runs && v.nominal == nominal && v.passed_over == 0);
        nominal = recurrence_after(&r, &g, &(struct recurrence_run){ nominal, now, now });
    }
    CU_ASSERT_EQUAL(runs, 51);
    CU_ASSERT_EQUAL(nominal, NOON + 51 * HOUR_S);
}

static void run_all_takes_the_newest_hundred(void)
{
    const char *text = "schedule a cron @hourly missed run_all";
    judged(text, NOON + 99 * HOUR_S, (struct recurrence_verdict){ true, NOON, 0 });
    judged(text, NOON + 100 * HOUR_S, (struct recurrence_verdict){ false, NOON + HOUR_S, 1 });
    judged(text, NOON + 500 * HOUR_S, (struct recurrence_verdict){ false, NOON + 401 * HOUR_S, 401 });
    int64_t years = 10 * 365 * 24;
    judged(text, NOON + years * HOUR_S,
           (struct recurrence_verdict){ false, NOON + (years - 99) * HOUR_S, RECURRENCE_COUNT_MAX });
    struct recurrence r = rule(text);
    struct recurrence_grid g = grid(900);
    int64_t now = NOON + 500 * HOUR_S;
    struct recurrence_verdict v = recurrence_judge(&r, &g, NOON + 401 * HOUR_S, now);
    CU_ASSERT_TRUE(v.runs);
}

/* The newest hundred lie in one hour of a year ago. */
static void run_all_finds_the_newest_however_long_ago_they_were(void)
{
    struct recurrence r = rule("schedule a cron \"* 0-1 1 3 *\" missed run_all");
    struct recurrence_grid g = grid(60);
    int64_t begun = NOON - 12 * HOUR_S;
    struct recurrence_verdict v = recurrence_judge(&r, &g, begun, begun + 300 * 24 * HOUR_S);
    CU_ASSERT_FALSE(v.runs);
    CU_ASSERT_EQUAL(v.nominal, begun + 20 * 60);
    CU_ASSERT_EQUAL(v.passed_over, 20);
}

static void of_an_every_one_occurrence_can_be_missed(void)
{
    int64_t now = NOON + 10 * HOUR_S;
    judged("schedule a every 3600", now, (struct recurrence_verdict){ true, NOON, 0 });
    judged("schedule a every 3600 missed run_all", now, (struct recurrence_verdict){ true, NOON, 0 });
    judged("schedule a every 3600 missed skip", now, (struct recurrence_verdict){ false, now + HOUR_S, 1 });
    judged("schedule a every 3600 missed skip", NOON + 899, (struct recurrence_verdict){ true, NOON, 0 });
}

/* ---- what comes ---- */

/* The times as seconds from NOON on, of slots of a minute. */
static void ahead(const char *text, struct occurrence o, int64_t again_at, int64_t now, const char *wanted)
{
    struct terms terms = { 0 };
    struct recurrence_grid g = grid(60);
    int64_t at[4];
    char found[128] = "";
    CU_ASSERT_EQUAL_FATAL(terms_parse(text, &terms, &(struct err){ 0 }), 0);
    o.terms = &terms;
    o.grid = &g;
    int n = occurrence_ahead(o, again_at, now, at, 4);
    for (int i = 0; i < n; i++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%d", i ? " " : "", (int)(at[i] - NOON));
    }
    if (strcmp(found, wanted) != 0)
        printf("%s: %s, expected %s\n", text, found, wanted);
    CU_ASSERT_STRING_EQUAL(found, wanted);
}

static struct occurrence filed(int64_t first_at, int64_t next_at)
{
    return (struct occurrence){ .first_check_at = NOON + first_at, .next_check_at = NOON + next_at };
}

static void times_that_come_are_those_at_which_an_engine_runs_it(void)
{
    struct occurrence begun = filed(300, 330);
    begun.has_begun = true;
    ahead("schedule a every 300 bias 0", filed(300, 300), 0, NOON, "300 660 1020 1380");
    ahead("schedule a every 300 bias 0", filed(300, 300), 0, NOON + 400, "400 720 1080 1440");
    ahead("schedule a every 300 bias 0", begun, 0, NOON, "330 660 1020 1380");
    ahead("schedule a cron \"*/5 * * * *\"", filed(300, 300), 0, NOON, "300 600 900 1200");
    ahead("schedule a cron \"*/5 * * * *\"", filed(300, 300), 0, NOON + 3000, "3000 3300 3600 3900");
    ahead("schedule a cron \"*/5 * * * *\" missed skip", filed(300, 300), 0, NOON + 1000,
          "1200 1500 1800 2100");
    ahead("schedule a cron \"*/5 * * * *\" missed skip", filed(300, 300), 0, NOON + 3030,
          "3031 3300 3600 3900");
    ahead("schedule a cron \"*/5 * * * *\" missed run_all", filed(300, 300), 0, NOON + 1000,
          "1000 1001 1002 1200");
    ahead("schedule a cron \"0 0 * * *\"", filed(60, 60), NOON + 120, NOON + 70, "70 120 43200 129600");
    ahead("schedule a cron \"0 0 * * *\"", filed(60, 60), NOON + 120, NOON, "60 120 43200 129600");
    ahead("schedule a cron \"0 0 * * *\"", filed(60, 60), NOON + 120, NOON + 150, "150 180 43200 129600");
}

static void a_rule_that_has_not_begun_is_run_from_its_first_time_on(void)
{
    char text[128];
    snprintf(text, sizeof text, "schedule a cron \"7,9 * * * *\" from %d", NOON + 10);
    ahead(text, filed(60, 60), 0, NOON + 10, "420 540 4020 4140");
}

static void times_end_with_the_last_year(void)
{
    struct terms terms = { 0 };
    struct recurrence_grid g = grid(86400);
    int64_t at[4], last = slot_floor(CRON_LAST, 86400);
    CU_ASSERT_EQUAL_FATAL(terms_parse("schedule a cron \"0 0 * * *\"", &terms, &(struct err){ 0 }), 0);
    struct occurrence o = { .terms = &terms, .grid = &g, .first_check_at = last, .next_check_at = last };
    CU_ASSERT_EQUAL(occurrence_ahead(o, 0, NOON, at, 4), 1);
    CU_ASSERT_EQUAL(at[0], last);
}

static const struct test tests[] = {
    TEST(times_that_come_are_those_at_which_an_engine_runs_it),
    TEST(a_rule_that_has_not_begun_is_run_from_its_first_time_on),
    TEST(times_end_with_the_last_year),
    TEST(five_minutes_stay_five_minutes),
    TEST(it_counts_from_the_end_of_the_run),
    TEST(it_is_never_before_the_end_and_the_time_less_the_bias),
    TEST(the_bias_is_drawn_by_name_and_occurrence),
    TEST(the_bias_is_rounded_to_whole_seconds),
    TEST(five_minutes_are_five_minutes_in_the_mean),
    TEST(an_every_shorter_than_a_slot_becomes_a_slot),
    TEST(first_times_are_spread_over_one_period),
    TEST(a_run_that_was_asked_for_takes_no_time_of_a_cron_text_away),
    TEST(a_run_that_was_asked_for_brings_no_time_back),
    TEST(every_counts_from_the_end_of_a_run_that_was_asked_for),
    TEST(what_has_not_come_waits_on),
    TEST(nothing_recurs_behind_the_year_8999),
    TEST(a_time_between_slots_runs_in_the_next_one),
    TEST(a_time_that_passed_in_a_running_slot_is_not_lost),
    TEST(an_occurrence_that_comes_up_during_a_run_is_next),
    TEST(what_is_in_its_slot_is_not_missed),
    TEST(run_once_runs_late_and_stands_for_all),
    TEST(skip_moves_to_the_first_that_is_not_over),
    TEST(run_all_takes_one_after_the_other),
    TEST(run_all_takes_the_newest_hundred),
    TEST(run_all_finds_the_newest_however_long_ago_they_were),
    TEST(of_an_every_one_occurrence_can_be_missed),
    { NULL, NULL },
};

const struct suite suite_recurrence = { "recurrence", setup, teardown, tests };
