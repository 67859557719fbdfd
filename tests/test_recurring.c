/* test_recurring.c - checks of schedules in the engine: run, moved on, or begun anew. */
#include <string.h>

#include "../engine/rules/bucket.h"
#include "../engine/rules/phase.h"
#include "../engine/rules/slot.h"
#include "../engine/run/verdict.h"
#include "lane_env_fixture.h"

static struct lane_env_fixture x;

/* A page of one check with these terms, read just now. */
static struct page *page_of(const char *terms)
{
    struct page *page = fixture_page(&x, 1);
    page->rows.checks[0].terms = terms;
    return page;
}

static void take_in(struct page *page)
{
    verdict_take_in(&x.env, page, fixture_now_us);
}

static struct settlement *answer(struct page *page, enum answer_kind kind)
{
    struct raw_answer raw = { .at = page->now + 100, .began_us = fixture_now_us, .run_us = 1000 };
    if (page->checks[0].state == CHECK_WAITING)
        page_give(page, 0);
    verdict_answered(&x.env, page, 0, kind, &raw, fixture_now_us);
    return &page->checks[0].settlement;
}

#define EVERY "schedule \"s\" every 3600 bias 0"
/* the slot is 1970-01-11T10:00:00Z, a Sunday; the one before it is running at FROM */
#define DAILY_AT_10 "schedule \"s\" cron \"0 10 * * *\" from 899999"
#define DAILY_AT_12 "schedule \"s\" cron \"0 12 * * *\" from 899999"
enum { HOUR = 3600 };
#define LATE_KEY "x"                    /* of part 60 of its slot */

static void done_begins_the_next_occurrence(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of(EVERY);
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    struct settlement *s = answer(page, ANSWER_DONE);
    CU_ASSERT_TRUE(s->renews);
    CU_ASSERT_FALSE(s->ends);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_DONE);
    CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + HOUR + FIXTURE_LENGTH_S);    /* not before an hour */
    page_free(page);
    lane_env_end(&x);
}

/* When the next occurrence is, if the check is run so long after its slot. */
static int64_t next_of_spread(const char *terms, const char *key, int32_t pace_s, int64_t after_s)
{
    lane_env_begin(&x, "");
    x.clocks.pace_s = pace_s;
    clocks_set(&x.clocks, (FIXTURE_SLOT + after_s) * INT64_C(1000000), FIXTURE_LENGTH_S, 0, fixture_now_us);
    struct page *page = page_of(terms);
    page->rows.checks[0].entity_key = key;
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    int64_t next = answer(page, ANSWER_DONE)->next_at;
    page_free(page);
    lane_env_end(&x);
    return next;
}

/* Else a time after each run would add up with the time that its part of the slot comes later. */
static void where_slots_are_spread_occurrences_are_as_far_apart_as_ever(void)
{
    static const char *const terms[] = { "schedule \"s\" every 900 bias 0.1", DAILY_AT_10,
                                         "schedule \"s\" cron \"*/15 * * * *\" missed skip" };
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        int32_t phase_s = phase_begins_s(bucket_of("e", LATE_KEY), FIXTURE_LENGTH_S);
        CU_ASSERT(phase_s > FIXTURE_LENGTH_S / 2);
        int64_t next = next_of_spread(terms[i], LATE_KEY, 0, 1);
        CU_ASSERT_EQUAL(next_of_spread(terms[i], LATE_KEY, FIXTURE_LENGTH_S, phase_s + 1), next);
    }
}

/* A run that comes late may end in the slot of the next occurrence, before its part of that. */
static void an_occurrence_whose_slot_has_begun_waits_for_its_part_of_it(void)
{
    enum { LATE_S = FIXTURE_LENGTH_S + 10 };
    static const char minutely[] = "schedule \"s\" every 60 bias 0";
    int32_t phase_s = phase_begins_s(bucket_of("e", LATE_KEY), FIXTURE_LENGTH_S);
    int64_t next = next_of_spread(minutely, LATE_KEY, FIXTURE_LENGTH_S, LATE_S);
    CU_ASSERT_EQUAL(next, FIXTURE_SLOT + FIXTURE_LENGTH_S + phase_s);
    next = next_of_spread(minutely, LATE_KEY, FIXTURE_LENGTH_S, FIXTURE_LENGTH_S + phase_s - 60);
    CU_ASSERT_EQUAL(next, FIXTURE_SLOT + 2 * FIXTURE_LENGTH_S);
}

/* By the next slot a run that `missed skip` allows would be too late otherwise. */
static void an_occurrence_is_missed_a_slot_after_its_part_began(void)
{
    static const char terms[] = "schedule \"s\" cron \"*/15 * * * *\" missed skip";
    for (int is_late = 0; is_late < 2; is_late++) {
        lane_env_begin(&x, "");
        int32_t phase_s = phase_begins_s(bucket_of("e", LATE_KEY), FIXTURE_LENGTH_S);
        int64_t at = FIXTURE_SLOT + FIXTURE_LENGTH_S + (is_late ? phase_s : phase_s - 1);
        x.clocks.pace_s = FIXTURE_LENGTH_S;
        clocks_set(&x.clocks, at * INT64_C(1000000), FIXTURE_LENGTH_S, 0, fixture_now_us);
        struct page *page = page_of(terms);
        page->rows.checks[0].entity_key = LATE_KEY;
        take_in(page);
        CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], !is_late);
        page_free(page);
        lane_env_end(&x);
    }
}

static void a_guard_and_failures_end_the_occurrence_and_not_the_check(void)
{
    lane_env_begin(&x, "max_failures = 0; horizon = \"1m\";");
    struct page *page = page_of(EVERY);
    struct settlement *s = answer(page, ANSWER_FAIL);
    CU_ASSERT_TRUE(s->renews && s->ends);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_FAILED);
    CU_ASSERT(s->next_at > FIXTURE_SLOT);
    page_free(page);
    page = page_of(EVERY);
    s = answer(page, ANSWER_AGAIN);
    CU_ASSERT_TRUE(s->renews && s->ends);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_BEYOND_HORIZON);
    page_free(page);
    lane_env_end(&x);
}

#define EVENT                                                                                                \
    "event \"late\" of \"orders\" key \"1\" job \"look\" number 1 failures 0 first 1 listener \"hook\" at 5"

static void a_delivery_runs_and_is_over_when_it_is_done(void)
{
    lane_env_begin(&x, "max_checks = 0;");
    struct page *page = page_of(EVENT);
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    struct settlement *s = answer(page, ANSWER_DONE);
    CU_ASSERT_TRUE(s->ends);
    CU_ASSERT_FALSE(s->renews);
    page_free(page);
    page = page_of(EVENT);
    s = answer(page, ANSWER_AGAIN);
    CU_ASSERT_TRUE(s->ends && !s->renews);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_MAX_CHECKS);
    page_free(page);
    lane_env_end(&x);
}

static void a_delivery_whose_terms_cannot_be_read_is_left_to_other_engines(void)
{
    static const char *const terms[] = { "event late", "every 5 event late", EVENT " later 6" };
    lane_env_begin(&x, "");
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        struct page *page = page_of(terms[i]);
        take_in(page);
        CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 0);
        CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 0);
        page_free(page);
    }
    lane_env_end(&x);
}

static void failures_before_the_last_are_tried_again_in_the_same_occurrence(void)
{
    lane_env_begin(&x, "max_failures = 3;");
    struct page *page = page_of(EVERY);
    struct settlement *s = answer(page, ANSWER_FAIL);
    CU_ASSERT_FALSE(s->renews || s->ends);
    CU_ASSERT_EQUAL(s->failure_count, 1);
    page_free(page);
    lane_env_end(&x);
}

static void a_final_failure_ends_the_occurrence_and_not_the_schedule(void)
{
    lane_env_begin(&x, "max_failures = 3; attempts = 3;");
    struct page *page = page_of(EVERY);
    struct settlement *s = answer(page, ANSWER_FAIL_FINAL);
    CU_ASSERT_TRUE(s->renews && s->ends);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_FAILED);
    page_free(page);
    lane_env_end(&x);
}

static void max_checks_does_not_apply(void)
{
    lane_env_begin(&x, "max_checks = 2;");
    struct page *page = page_of(EVERY);
    page->rows.checks[0].check_count = 1000;
    struct settlement *s = answer(page, ANSWER_AGAIN);
    CU_ASSERT_FALSE(s->renews || s->ends);
    CU_ASSERT_EQUAL(s->check_count, 1001);
    page_free(page);
    lane_env_end(&x);
}

static void an_answer_that_the_database_refuses_does_not_end_the_check(void)
{
    lane_env_begin(&x, "max_failures = 0;");
    struct page *page = page_of(EVERY);
    answer(page, ANSWER_DONE);
    verdict_refused_by_database(&x.env, page, 0, "no");
    struct settlement *s = &page->checks[0].settlement;
    CU_ASSERT_TRUE(s->renews && s->ends);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_BAD_ANSWER);
    page_free(page);
    lane_env_end(&x);
}

/* SQL has filed it under the next slot, and computes no times. */
static void a_check_between_occurrences_moves_on_unrun(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of(DAILY_AT_12);
    take_in(page);
    struct settlement *s = &page->checks[0].settlement;
    CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 1);
    CU_ASSERT_TRUE(s->renews);
    CU_ASSERT_FALSE(s->ends || s->ran);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_RESLOTTED);
    CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + 2 * HOUR);
    page_free(page);
    lane_env_end(&x);
}

static void an_occurrence_between_the_edit_and_the_slot_is_run(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of(DAILY_AT_10);
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    struct settlement *s = answer(page, ANSWER_DONE);
    CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + 24 * HOUR);
    page_free(page);
    lane_env_end(&x);
}

/* The rule was edited there, or slots were shorter: another slot is the first one after `from`. */
static void a_first_occurrence_is_looked_for_where_the_check_was_filed_for_that(void)
{
    static const char *const rules[] = {
        "schedule \"s\" cron \"0 12 * * *\" sought 900000 from 900020",
        "schedule \"s\" cron \"0 12 * * *\" missed skip sought 900000 from 900020",
        "schedule \"s\" cron \"0 12 * * *\" sought 900000 from 890000",
    };
    lane_env_begin(&x, "");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct page *page = page_of(rules[i]);
        take_in(page);
        struct settlement *s = &page->checks[0].settlement;
        CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 1);
        CU_ASSERT_EQUAL(s->outcome, OUTCOME_RESLOTTED);
        CU_ASSERT_EQUAL(s->first_at, FIXTURE_SLOT + 2 * HOUR);
        page_free(page);
    }
    struct page *page = page_of("schedule \"s\" cron \"0 10 * * *\" sought 900000 from 899000");
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    CU_ASSERT_EQUAL(answer(page, ANSWER_DONE)->first_at, FIXTURE_SLOT + 24 * HOUR);
    page_free(page);
    lane_env_end(&x);
}

/* Found and begun by the rule before, which was edited then. */
static void an_edit_beside_a_first_occurrence_that_runs_passes_over_none(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of("schedule \"s\" cron \"*/15 * * * *\" missed run_all sought 900000 "
                                "from 900020");
    page->rows.checks[0].failure_count = 1;
    page->rows.checks[0].next_check_at = FIXTURE_SLOT + FIXTURE_LENGTH_S;
    page->now = FIXTURE_SLOT + FIXTURE_LENGTH_S + 1;
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    CU_ASSERT_EQUAL(answer(page, ANSWER_DONE)->first_at, FIXTURE_SLOT + FIXTURE_LENGTH_S);
    page_free(page);
    lane_env_end(&x);
}

/* It is asked for beside an edit: the rule holds from there on. */
static void a_run_that_was_asked_for_beside_an_edit_is_run_where_the_rule_begins(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of("schedule \"s\" cron \"*/15 * * * *\" missed run_all from 900000");
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    CU_ASSERT_EQUAL(answer(page, ANSWER_DONE)->first_at, FIXTURE_SLOT + FIXTURE_LENGTH_S);
    page_free(page);
    lane_env_end(&x);
}

/* reschedule, replace, and `earlier`, which leaves the first slot as it was */
static void a_check_that_was_asked_for_elsewhere_runs_there(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of("schedule \"s\" cron \"0 12 * * *\" from 1000");
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    page_free(page);
    page = page_of("schedule \"s\" cron \"0 12 * * *\"");
    page->rows.checks[0].first_check_at = FIXTURE_SLOT + 2 * HOUR;
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    page_free(page);
    lane_env_end(&x);
}

/* It waited for 12:00, and runs at 10:00. */
static void a_run_that_was_asked_for_leaves_the_next_occurrence_where_it_is(void)
{
    static const char *const rules[] = { "schedule \"s\" cron \"0 12 * * *\"",
                                         "schedule \"s\" cron \"0 12 * * *\" missed run_all",
                                         "schedule \"s\" cron \"0 12 * * *\" missed skip" };
    lane_env_begin(&x, "");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct page *page = page_of(rules[i]);
        page->rows.checks[0].first_check_at = FIXTURE_SLOT + 2 * HOUR;
        struct settlement *s = answer(page, ANSWER_DONE);
        CU_ASSERT_TRUE(s->renews);
        CU_ASSERT_EQUAL(s->first_at, FIXTURE_SLOT + 2 * HOUR);
        CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + 2 * HOUR);
        page_free(page);
    }
    struct page *page = page_of(EVERY);
    page->rows.checks[0].first_check_at = FIXTURE_SLOT + HOUR / 2;
    CU_ASSERT_EQUAL(answer(page, ANSWER_DONE)->next_at, FIXTURE_SLOT + HOUR + FIXTURE_LENGTH_S);
    page_free(page);
    lane_env_end(&x);
}

/* Pulled forward before an engine has looked for it: it was filed where that would be done. */
static void a_run_that_was_asked_for_before_the_first_occurrence_goes_on_to_that(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of("schedule \"s\" cron \"0 12 * * *\" from 900600");
    page->rows.checks[0].first_check_at = slot_next(900600, FIXTURE_LENGTH_S);
    struct settlement *s = answer(page, ANSWER_DONE);
    CU_ASSERT_EQUAL(s->first_at, FIXTURE_SLOT + 2 * HOUR);
    page_free(page);
    lane_env_end(&x);
}

static void an_occurrence_that_has_begun_is_not_judged_again(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of(DAILY_AT_12);
    page->rows.checks[0].failure_count = 1;
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    page_free(page);
    lane_env_end(&x);
}

/* Two hours late. */
static void missed_occurrences_are_run_once_or_skipped(void)
{
    lane_env_begin(&x, "");
    clocks_set(&x.clocks, (FIXTURE_SLOT + 2 * HOUR) * INT64_C(1000000), FIXTURE_LENGTH_S, 0, fixture_now_us);
    struct page *page = page_of("schedule \"s\" cron \"0 * * * *\"");
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    struct settlement *s = answer(page, ANSWER_DONE);
    CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + 3 * HOUR);
    page_free(page);
    page = page_of("schedule \"s\" cron \"0 * * * *\" missed run_all");
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    s = answer(page, ANSWER_DONE);
    CU_ASSERT_EQUAL(s->first_at, FIXTURE_SLOT + HOUR);
    CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + 2 * HOUR + 1);       /* at once: in a fine slot */
    page_free(page);
    page = page_of("schedule \"s\" cron \"0 * * * *\" missed skip");
    take_in(page);
    s = &page->checks[0].settlement;
    CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 1);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_SKIPPED);
    CU_ASSERT_TRUE(s->renews);
    CU_ASSERT_PTR_NOT_NULL(strstr(s->note, "not run"));
    page_free(page);
    lane_env_end(&x);
}

/* Two hours late, and the rule was edited a minute ago: nothing of it has been missed yet but the
 * occurrence of the rule before, which waits. */
#define EDITED "schedule \"s\" cron \"*/15 * * * *\" from 907140 missed "

static void a_rule_asks_for_nothing_that_was_before_it(void)
{
    lane_env_begin(&x, "");
    clocks_set(&x.clocks, (FIXTURE_SLOT + 2 * HOUR) * INT64_C(1000000), FIXTURE_LENGTH_S, 0, fixture_now_us);
    struct page *page = page_of(EDITED "run_all");
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    CU_ASSERT_EQUAL(answer(page, ANSWER_DONE)->first_at, FIXTURE_SLOT + 2 * HOUR);
    page_free(page);
    page = page_of(EDITED "run_once");
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    CU_ASSERT_EQUAL(answer(page, ANSWER_DONE)->first_at, FIXTURE_SLOT + 2 * HOUR + FIXTURE_LENGTH_S);
    page_free(page);
    page = page_of(EDITED "skip");
    take_in(page);
    struct settlement *s = &page->checks[0].settlement;
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_SKIPPED);
    CU_ASSERT_EQUAL(s->first_at, FIXTURE_SLOT + 2 * HOUR);
    CU_ASSERT_STRING_EQUAL(s->note, "missed: 1 occurrence is not run");
    page_free(page);
    lane_env_end(&x);
}

/* Its slot has not ended, so it is not missed. */
static void an_edit_beside_a_run_leaves_that_alone(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of("schedule \"s\" cron \"35 9 * * *\" from 900060 missed skip");
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    CU_ASSERT_EQUAL(answer(page, ANSWER_DONE)->first_at, FIXTURE_SLOT + 24 * HOUR - HOUR / 4);
    page_free(page);
    lane_env_end(&x);
}

/* The check has waited in the slot of a pause, and is read there three hours late. */
static struct settlement *resume(struct page *page)
{
    static struct pause ending = { SLOT_PAUSES_FROM, PAUSE_JOB, "j", false, false };
    x.pausing.pauses = (struct pauses){ .all = &ending, .n = 1 };
    x.bucket.lease.slot = x.target.slot = page->rows.checks[0].next_check_at = SLOT_PAUSES_FROM;
    page->now = FIXTURE_SLOT + 3 * HOUR + 1;
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 1);
    CU_ASSERT_EQUAL(page->checks[0].settlement.outcome, OUTCOME_RESUMED);
    return &page->checks[0].settlement;
}

static void the_time_of_a_pause_is_not_missed(void)
{
    static const char *const rules[] = {
        EVERY,
        "schedule \"s\" cron \"0 * * * *\"",
        "schedule \"s\" cron \"0 * * * *\" missed run_all",
        "schedule \"s\" cron \"0 * * * *\" missed skip",
        DAILY_AT_10 " missed skip",
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        lane_env_begin(&x, "");
        struct page *page = page_of(rules[i]);
        struct settlement *s = resume(page);
        int64_t slot = s->next_at;
        CU_ASSERT(s->renews && !s->ends && s->first_at == slot);
        CU_ASSERT(slot >= FIXTURE_SLOT + 3 * HOUR + FIXTURE_LENGTH_S &&
                  slot < FIXTURE_SLOT + 3 * HOUR + 2 * FIXTURE_LENGTH_S);
        page_free(page);
        /* there it runs, and so does nothing of what lies before it */
        x.bucket.lease.slot = x.target.slot = slot;
        page = page_of(rules[i]);
        page->rows.checks[0].first_check_at = page->rows.checks[0].next_check_at = slot;
        page->now = slot + 1;
        take_in(page);
        CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
        CU_ASSERT(answer(page, ANSWER_DONE)->next_at >= FIXTURE_SLOT + 4 * HOUR);
        page_free(page);
        lane_env_end(&x);
    }
}

static void what_has_not_come_when_a_pause_is_over_waits_for_its_time(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of("schedule \"s\" cron \"0 20 * * *\" from 899999");
    struct settlement *s = resume(page);
    CU_ASSERT_TRUE(s->renews);
    CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + 10 * HOUR);
    page_free(page);
    lane_env_end(&x);
}

static void an_occurrence_that_has_begun_goes_on_after_a_pause(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of(EVERY);
    page->rows.checks[0].failure_count = 1;
    struct settlement *s = resume(page);
    CU_ASSERT_FALSE(s->renews || s->ends);
    CU_ASSERT_EQUAL(s->failure_count, 1);
    page_free(page);
    page = page_of("schedule \"s\" cron \"0 * * * *\"");      /* pulled forward */
    page->rows.checks[0].first_check_at = FIXTURE_SLOT + 9 * HOUR;
    CU_ASSERT_FALSE(resume(page)->renews);
    page_free(page);
    page = page_of("words of a later version");
    CU_ASSERT_FALSE(resume(page)->renews);
    page_free(page);
    lane_env_end(&x);
}

/* By an hour, while the check ran: its own occurrence does not come again. */
static void a_clock_that_was_set_back_repeats_no_occurrence(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of("schedule \"s\" cron \"0 * * * *\"");
    page->now = FIXTURE_SLOT - HOUR;
    struct settlement *s = answer(page, ANSWER_DONE);
    CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + HOUR);
    page_free(page);
    lane_env_end(&x);
}

/* The slot has begun by the database's clock, or nobody would have opened it. */
static void an_engine_whose_clock_is_behind_runs_what_the_slot_holds(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_of("schedule \"s\" cron \"0 * * * *\"");
    page->now = FIXTURE_SLOT - 1;
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 1);
    struct settlement *s = answer(page, ANSWER_DONE);
    CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + HOUR);
    page_free(page);
    lane_env_end(&x);
}

static void the_hour_that_a_zone_skips_is_made_up_for_and_the_one_it_repeats_comes_once(void)
{
    lane_env_begin(&x, "");
    static const struct { int64_t slot, next; } days[] = {
        { 1774661400, 1774746000 },     /* 28 March 2026 02:30, and 29 March 03:00: there is no 02:30 */
        { 1792801800, 1792888200 },     /* 24 October 02:30, and 25 October 02:30, the first one */
        { 1792888200, 1792978200 },     /* then 26 October: not 02:30 once more */
    };
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        clocks_set(&x.clocks, (days[i].slot + 1) * INT64_C(1000000), FIXTURE_LENGTH_S, 0, fixture_now_us);
        struct page *page = page_of("schedule \"s\" cron \"30 2 * * *\" zone \"Europe/Amsterdam\"");
        page->rows.checks[0].next_check_at = page->rows.checks[0].first_check_at = days[i].slot;
        struct settlement *s = answer(page, ANSWER_DONE);
        CU_ASSERT_EQUAL(s->next_at, days[i].next);
        page_free(page);
    }
    lane_env_end(&x);
}

static void terms_that_cannot_be_read_here_are_left_to_others_and_never_end(void)
{
    static const char *const terms[] = { "schedule \"s\" fortnightly 2", "schedule \"s\" cron \"0 0 31 2 *\"",
                                         "schedule \"s\" cron \"@daily\" zone \"Mars/Olympus\"", "" };
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        lane_env_begin(&x, "horizon = \"1h\";");
        struct page *page = page_of(terms[i]);
        take_in(page);
        CU_ASSERT_EQUAL(page->counts[CHECK_OVER], 1);
        CU_ASSERT_TRUE(fixture_logged(&x, "waits for an engine that can read this"));
        page_free(page);
        x.target.kind = TARGET_SWEEP;
        x.target.puts_off = true;
        page = page_of(terms[i]);
        page->rows.checks[0].put_off_at = 1;
        take_in(page);
        struct settlement *s = &page->checks[0].settlement;
        CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 1);
        CU_ASSERT_FALSE(s->ends || s->renews);
        CU_ASSERT_EQUAL(s->put_off_at, 1);
        CU_ASSERT(s->next_at > page->now);
        page_free(page);
        lane_env_end(&x);
    }
}

static const struct test tests[] = {
    TEST(done_begins_the_next_occurrence),
    TEST(where_slots_are_spread_occurrences_are_as_far_apart_as_ever),
    TEST(an_occurrence_whose_slot_has_begun_waits_for_its_part_of_it),
    TEST(an_occurrence_is_missed_a_slot_after_its_part_began),
    TEST(a_guard_and_failures_end_the_occurrence_and_not_the_check),
    TEST(a_delivery_runs_and_is_over_when_it_is_done),
    TEST(a_delivery_whose_terms_cannot_be_read_is_left_to_other_engines),
    TEST(failures_before_the_last_are_tried_again_in_the_same_occurrence),
    TEST(a_final_failure_ends_the_occurrence_and_not_the_schedule),
    TEST(max_checks_does_not_apply),
    TEST(an_answer_that_the_database_refuses_does_not_end_the_check),
    TEST(a_check_between_occurrences_moves_on_unrun),
    TEST(an_occurrence_between_the_edit_and_the_slot_is_run),
    TEST(a_first_occurrence_is_looked_for_where_the_check_was_filed_for_that),
    TEST(an_edit_beside_a_first_occurrence_that_runs_passes_over_none),
    TEST(a_run_that_was_asked_for_beside_an_edit_is_run_where_the_rule_begins),
    TEST(a_check_that_was_asked_for_elsewhere_runs_there),
    TEST(a_run_that_was_asked_for_leaves_the_next_occurrence_where_it_is),
    TEST(a_run_that_was_asked_for_before_the_first_occurrence_goes_on_to_that),
    TEST(an_occurrence_that_has_begun_is_not_judged_again),
    TEST(missed_occurrences_are_run_once_or_skipped),
    TEST(a_rule_asks_for_nothing_that_was_before_it),
    TEST(an_edit_beside_a_run_leaves_that_alone),
    TEST(the_time_of_a_pause_is_not_missed),
    TEST(what_has_not_come_when_a_pause_is_over_waits_for_its_time),
    TEST(an_occurrence_that_has_begun_goes_on_after_a_pause),
    TEST(a_clock_that_was_set_back_repeats_no_occurrence),
    TEST(an_engine_whose_clock_is_behind_runs_what_the_slot_holds),
    TEST(the_hour_that_a_zone_skips_is_made_up_for_and_the_one_it_repeats_comes_once),
    TEST(terms_that_cannot_be_read_here_are_left_to_others_and_never_end),
    { NULL, NULL },
};
const struct suite suite_recurring = { "recurring", settings_fixture_setup, settings_fixture_teardown,
                                       tests };
