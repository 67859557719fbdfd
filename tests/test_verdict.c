/* test_verdict.c - what becomes of the checks of a page: run, moved on, or left behind. */
#include <string.h>

#include "../engine/run/verdict.h"
#include "lane_env_fixture.h"

static struct lane_env_fixture x;

static void take_in(struct page *page)
{
    verdict_take_in(&x.env, page, fixture_now_us);
}

/* A worker has answered check `index`. */
static bool answers(struct page *page, int index, enum answer_kind kind)
{
    struct raw_answer raw = { .at = page->now + 100, .began_us = fixture_now_us, .run_us = 1000 };
    if (page->checks[index].state == CHECK_WAITING)
        page_give(page, index);
    return verdict_answered(&x.env, page, index, kind, &raw, fixture_now_us);
}

static void checks_wait_to_be_run(void)
{
    lane_env_begin(&x, "");
    struct page *page = fixture_page(&x, 3);
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 3);
    CU_ASSERT_FALSE(x.bucket.finish_anyway);
    page_free(page);
    lane_env_end(&x);
}

static void a_row_that_a_transaction_has_touched_stays_for_a_second_look(void)
{
    lane_env_begin(&x, "");
    struct page *page = fixture_page(&x, 2);
    page->rows.checks[1].kept = true;
    take_in(page);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_OVER);
    CU_ASSERT_EQUAL(x.bucket.counts.locked, 1);
    CU_ASSERT_FALSE(x.bucket.finish_anyway);
    page_free(page);
    lane_env_end(&x);
}

/* Another engine may know the job; only the sweep, an hour later, moves its checks on. */
static void checks_of_an_unknown_job_are_left_to_others_and_put_off_by_a_sweep(void)
{
    lane_env_begin(&x, "horizon = \"1h\";");
    x.jobs.watched[0].is_usable = false;
    struct page *page = fixture_page(&x, 2);
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_OVER], 2);
    CU_ASSERT_EQUAL(x.bucket.nunknown_jobs, 1);
    CU_ASSERT_STRING_EQUAL(x.bucket.unknown_jobs[0], "j");
    page_free(page);
    x.target.kind = TARGET_SWEEP;
    page = fixture_page(&x, 2);
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 2);
    CU_ASSERT_EQUAL(page->checks[0].settlement.outcome, OUTCOME_UNKNOWN_JOB);
    CU_ASSERT_FALSE(page->checks[0].settlement.ran);
    CU_ASSERT_EQUAL(page->checks[0].settlement.put_off_at, FIXTURE_SLOT);
    page_free(page);
    /* a database that refuses that has not run it either */
    page = fixture_page(&x, 1);
    take_in(page);
    verdict_refused_by_database(&x.env, page, 0, "no");
    CU_ASSERT_EQUAL(page->checks[0].settlement.outcome, OUTCOME_BAD_ANSWER);
    CU_ASSERT_EQUAL(page->checks[0].settlement.put_off_at, FIXTURE_SLOT);
    page_free(page);
    /* for as long as the default horizon, and then a guard ends them */
    page = fixture_page(&x, 2);
    page->rows.checks[0].put_off_at = page->now - x.settings.defaults.horizon_s;
    page->rows.checks[1].put_off_at = page->now - x.settings.defaults.horizon_s - 1;
    take_in(page);
    CU_ASSERT_FALSE(page->checks[0].settlement.ends);
    CU_ASSERT_TRUE(page->checks[1].settlement.ends);
    CU_ASSERT_EQUAL(page->checks[1].settlement.outcome, OUTCOME_UNKNOWN_JOB);
    CU_ASSERT_STRING_EQUAL(page->checks[1].settlement.note,
                           "no engine has had its job since 1970-01-11T09:00:00Z");
    page_free(page);
    lane_env_end(&x);
}

static void a_reslot_moves_all_to_the_next_slot_and_runs_none(void)
{
    lane_env_begin(&x, "");
    x.target.kind = TARGET_RESLOT;
    struct page *page = fixture_page(&x, 2);
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 2);
    CU_ASSERT_EQUAL(page->checks[1].settlement.next_at, FIXTURE_SLOT + FIXTURE_LENGTH_S);
    page_free(page);
    lane_env_end(&x);
}

/* Moved on or judged by its job's name it would not be either: its settle would match no row. */
static void a_check_that_cannot_be_is_left_and_logged_once(void)
{
    static const enum target_kind kinds[] = { TARGET_SLOT, TARGET_SWEEP, TARGET_RESLOT };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        lane_env_begin(&x, "");
        x.target.kind = kinds[i];
        struct page *page = fixture_page(&x, 1);
        page->rows.checks[0].check_count = -1;
        take_in(page);
        CU_ASSERT_EQUAL(page->checks[0].state, CHECK_OVER);
        CU_ASSERT_TRUE(x.bucket.finish_anyway);
        CU_ASSERT_TRUE(x.totals.skipped_some);
        CU_ASSERT_TRUE(fixture_logged(&x, "has a negative count"));
        page_free(page);
        lane_env_end(&x);
    }
}

static void a_check_that_is_left_alone_is_not_run(void)
{
    lane_env_begin(&x, "");
    cooldown_start(&x.cooldowns, cooldown_of(COOLDOWN_CHECK, 2), COOLDOWN_HELD, fixture_now_us);
    struct page *page = fixture_page(&x, 3);
    take_in(page);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_OVER);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 2);
    CU_ASSERT_TRUE(x.bucket.finish_anyway);
    page_free(page);
    lane_env_end(&x);
}

static void an_answer_becomes_a_settlement_by_the_databases_clock(void)
{
    lane_env_begin(&x, "");
    struct page *page = fixture_page(&x, 1);
    x.clocks.suspended_us = 5000000;
    CU_ASSERT_FALSE(answers(page, 0, ANSWER_DONE));
    const struct settlement *s = &page->checks[0].settlement;
    CU_ASSERT_TRUE(s->ran && s->ends);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_DONE);
    CU_ASSERT_EQUAL(s->run_us, 1000);
    CU_ASSERT_EQUAL(s->run_at_us, (FIXTURE_SLOT + 1 - 5) * INT64_C(1000000));
    CU_ASSERT_EQUAL(x.bucket.counts.late_us, -4 * 1000000);
    CU_ASSERT_EQUAL(x.pace.seen, 1);
    page_free(page);
    lane_env_end(&x);
}

static void nothing_is_believed_of_a_page_whose_lease_is_lost(void)
{
    lane_env_begin(&x, "");
    struct page *page = fixture_page(&x, 1);
    page_give(page, 0);
    page->dropped = true;
    page->bucket = NULL;
    CU_ASSERT_FALSE(answers(page, 0, ANSWER_DONE));
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_OVER);
    page_free(page);
    lane_env_end(&x);
}

/* At the stop timeout we end them ourselves: that is no trouble of theirs, and they run again. */
static void a_job_that_the_stop_has_ended_has_not_crashed(void)
{
    lane_env_begin(&x, "");
    struct page *page = fixture_page(&x, 2);
    x.shutdown.jobs_killed = true;
    CU_ASSERT_FALSE(answers(page, 0, ANSWER_CRASH));
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_OVER);
    CU_ASSERT_FALSE(answers(page, 1, ANSWER_DONE));
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_ANSWERED);
    page_free(page);
    lane_env_end(&x);
}

static void a_job_is_held_back_after_troubles_in_a_row_only(void)
{
    lane_env_begin(&x, "hold_back_after = 3;");
    struct page *page = fixture_page(&x, 10);
    static const enum answer_kind kinds[] = { ANSWER_CRASH, ANSWER_TIMEOUT, ANSWER_DONE,
                                              ANSWER_CRASH, ANSWER_CRASH,   ANSWER_TIMEOUT };
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(answers(page, i, kinds[i]), i == 5);
    verdict_hold_back(&x.env, page, 0, fixture_now_us);
    CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], 0);
    CU_ASSERT_EQUAL(page->checks[9].settlement.outcome, OUTCOME_HELD_BACK);
    CU_ASSERT_EQUAL(page->checks[9].settlement.next_at, FIXTURE_SLOT + FIXTURE_LENGTH_S);
    page_free(page);
    x.jobs.watched[0].held_slot = FIXTURE_SLOT;
    page = fixture_page(&x, 1);
    take_in(page);
    CU_ASSERT_EQUAL(page->checks[0].settlement.outcome, OUTCOME_HELD_BACK);
    page_free(page);
    lane_env_end(&x);
}

static void an_answer_that_the_database_refuses_becomes_a_bad_one_without_effects(void)
{
    lane_env_begin(&x, "");
    struct page *page = fixture_page(&x, 1);
    answers(page, 0, ANSWER_DONE);
    page->checks[0].settlement.neffects = 1;
    verdict_refused_by_database(&x.env, page, 0, "value too long\xff");
    const struct settlement *s = &page->checks[0].settlement;
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_BAD_ANSWER);
    CU_ASSERT_EQUAL(s->neffects, 0);
    CU_ASSERT_STRING_EQUAL(s->note, "the database refuses the answer: value too long");
    CU_ASSERT_TRUE(page->checks[0].answer_refused);
    page_free(page);
    lane_env_end(&x);
}

static const struct test tests[] = {
    TEST(checks_wait_to_be_run),
    TEST(a_row_that_a_transaction_has_touched_stays_for_a_second_look),
    TEST(checks_of_an_unknown_job_are_left_to_others_and_put_off_by_a_sweep),
    TEST(a_reslot_moves_all_to_the_next_slot_and_runs_none),
    TEST(a_check_that_cannot_be_is_left_and_logged_once),
    TEST(a_check_that_is_left_alone_is_not_run),
    TEST(an_answer_becomes_a_settlement_by_the_databases_clock),
    TEST(nothing_is_believed_of_a_page_whose_lease_is_lost),
    TEST(a_job_that_the_stop_has_ended_has_not_crashed),
    TEST(a_job_is_held_back_after_troubles_in_a_row_only),
    TEST(an_answer_that_the_database_refuses_becomes_a_bad_one_without_effects),
    { NULL, NULL },
};
const struct suite suite_verdict = { "verdict", settings_fixture_setup, settings_fixture_teardown, tests };
