/* test_verdict.c - what becomes of the checks of a page: run, moved on, or left behind. */
#include <string.h>

#include "../engine/rules/slot.h"
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

/* It was filed for a later second of this slot, which is not spread so far any more. */
static void a_check_that_comes_up_early_waits_for_the_next_slot(void)
{
    static const struct { int64_t deferred_after_s; bool waits; } is[] = {
        { 300, true }, { 2, true }, { 1, false }, { 0, false }, { -900, false },
        { 900, false },                                 /* it was asked for sooner than that */
    };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        lane_env_begin(&x, "");
        struct page *page = fixture_page(&x, 1);
        page->rows.checks[0].deferred_at = FIXTURE_SLOT + is[i].deferred_after_s;
        take_in(page);
        const struct settlement *s = &page->checks[0].settlement;
        CU_ASSERT_EQUAL(page->counts[CHECK_WAITING], !is[i].waits);
        if (is[i].waits) {
            CU_ASSERT_EQUAL(s->outcome, OUTCOME_RESLOTTED);
            CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + FIXTURE_LENGTH_S);
            CU_ASSERT_EQUAL(s->check_count, 0);
            CU_ASSERT_EQUAL(s->put_off_at, 0);
            CU_ASSERT_FALSE(s->ran);
        }
        page_free(page);
        lane_env_end(&x);
    }
}

static struct pause pause_list[] = {
    { SLOT_PAUSES_FROM, PAUSE_JOB, "j", true, false },
    { SLOT_PAUSES_FROM + 86400, PAUSE_ENTITY, "e", true, false },
};

/* They are on from now on; the check is read in this slot. */
static struct page *page_under(const struct pause *first, int n, int64_t slot)
{
    pause_list[0] = first[0];
    x.pausing.pauses = (struct pauses){ .all = pause_list, .n = n };
    pauses_sort(&x.pausing.pauses);
    x.bucket.lease.slot = x.target.slot = slot;
    struct page *page = fixture_page(&x, 1);
    page->rows.checks[0].next_check_at = slot;
    return page;
}

static const struct pause on = { SLOT_PAUSES_FROM, PAUSE_JOB, "j", true, false };
static const struct pause ending = { SLOT_PAUSES_FROM, PAUSE_JOB, "j", false, false };
static const struct pause reslotted = { SLOT_PAUSES_FROM, PAUSE_JOB, "j", false, true };

static void a_paused_check_moves_to_its_pause_whatever_its_job_and_its_slot(void)
{
    static const enum target_kind kinds[] = { TARGET_SLOT, TARGET_MISSED, TARGET_RELOOK, TARGET_SWEEP,
                                              TARGET_RESLOT };
    for (int i = 0; i < 10; i++) {
        lane_env_begin(&x, "");
        x.jobs.watched[0].is_usable = i % 2;
        x.target.kind = kinds[i / 2];
        struct page *page = page_under(&on, 1, FIXTURE_SLOT);
        page->rows.checks[0].put_off_at = FIXTURE_SLOT - 900;
        take_in(page);
        const struct settlement *s = &page->checks[0].settlement;
        CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 1);
        CU_ASSERT(s->next_at == SLOT_PAUSES_FROM && s->outcome == OUTCOME_PAUSED && !s->ends && !s->ran);
        CU_ASSERT(!s->put_off_at && !s->check_count && !s->failure_count);
        page_free(page);
        lane_env_end(&x);
    }
}

static void what_waits_is_paused_and_what_runs_is_not(void)
{
    lane_env_begin(&x, "");
    struct page *page = fixture_page(&x, 3);
    take_in(page);
    page_give(page, 1);
    x.pausing.pauses = (struct pauses){ .all = pause_list, .n = 1 };
    pause_list[0] = on;
    verdict_pause(&x.env, page, fixture_now_us);
    CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 2);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_GIVEN);
    page_free(page);
    lane_env_end(&x);
}

static void a_resumed_check_leaves_its_pause_for_the_next_slot(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_under(&ending, 1, SLOT_PAUSES_FROM);
    take_in(page);
    CU_ASSERT_EQUAL(page->checks[0].settlement.outcome, OUTCOME_RESUMED);
    CU_ASSERT_EQUAL(page->checks[0].settlement.next_at, FIXTURE_SLOT + 900 + 1);    /* by its id */
    page_free(page);
    page = page_under(&reslotted, 1, SLOT_PAUSES_FROM);
    take_in(page);
    CU_ASSERT_EQUAL(page->checks[0].settlement.next_at, FIXTURE_SLOT + 900);
    page_free(page);
    lane_env_end(&x);
}

/* Else each look tries it again, and each failure doubles the time for which it is left alone. */
static void a_check_that_is_left_alone_is_neither_paused_nor_resumed(void)
{
    static const struct pause *const pauses[] = { &on, &ending };
    static const int64_t slots[] = { FIXTURE_SLOT, SLOT_PAUSES_FROM };
    lane_env_begin(&x, "");
    for (int i = 0; i < 2; i++) {
        struct page *page = page_under(pauses[i], 1, slots[i]);
        cooldown_start(&x.cooldowns, cooldown_of(COOLDOWN_CHECK, page->rows.checks[0].id), COOLDOWN_HELD,
                       fixture_now_us);
        take_in(page);
        CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 0);
        page_free(page);
    }
    lane_env_end(&x);
}

/* It has opened the slot, so the pause was resumed. */
static void an_engine_that_has_not_heard_of_it_resumes_all_the_same(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_under(&on, 1, SLOT_PAUSES_FROM);
    take_in(page);
    CU_ASSERT_EQUAL(page->checks[0].settlement.outcome, OUTCOME_RESUMED);
    page_free(page);
    lane_env_end(&x);
}

static void of_two_pauses_the_one_that_stays_on_keeps_the_check(void)
{
    lane_env_begin(&x, "");
    struct page *page = page_under(&ending, 2, SLOT_PAUSES_FROM);
    take_in(page);
    CU_ASSERT_EQUAL(page->checks[0].settlement.outcome, OUTCOME_PAUSED);
    CU_ASSERT_EQUAL(page->checks[0].settlement.next_at, SLOT_PAUSES_FROM + 86400);
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
    CU_ASSERT_TRUE(x.target.left_some);
    /* by its second round only: the first one runs what can be run */
    x.target.kind = TARGET_SWEEP;
    page = fixture_page(&x, 2);
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_OVER], 2);
    page_free(page);
    x.target.puts_off = true;
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

/* A replay, or `run --slot` of an old slot: no sweep will come and report them. */
static void checks_of_an_unknown_job_are_told_where_no_sweep_follows(void)
{
    lane_env_begin(&x, "");
    x.jobs.watched[0].is_usable = false;
    x.target.kind = TARGET_RELOOK;
    struct page *page = fixture_page(&x, 2);
    take_in(page);
    CU_ASSERT_FALSE(x.totals.skipped_some);
    page_free(page);
    x.target.is_final = true;
    page = fixture_page(&x, 2);
    take_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_OVER], 2);
    CU_ASSERT_TRUE(x.totals.skipped_some);
    trouble_tell(&x.trouble, NULL, 0);
    CU_ASSERT_TRUE(fixture_logged(&x, "2 checks wait for job 'j', which cannot be run here"));
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

static void a_failed_run_is_tried_again_within_its_slot_from_its_end_on(void)
{
    static const enum answer_kind kinds[] = { ANSWER_FAIL, ANSWER_TIMEOUT, ANSWER_CRASH, ANSWER_BAD };
    lane_env_begin(&x, "attempts = 3; attempt_jitter = 0;");
    struct page *page = fixture_page(&x, 4);
    for (int i = 0; i < 4; i++) {
        struct raw_answer raw = { .began_us = fixture_now_us - 500000, .run_us = 250000 };
        page_give(page, i);
        verdict_answered(&x.env, page, i, kinds[i], &raw, fixture_now_us);
        /* from FIXTURE_SLOT + 0.75 s, rounded up; the page was read at FIXTURE_SLOT + 1 */
        CU_ASSERT_EQUAL(page->checks[i].settlement.next_at, FIXTURE_SLOT + 11);
        CU_ASSERT_EQUAL(page->checks[i].settlement.failure_count, 1);
        CU_ASSERT_EQUAL(page->checks[i].settlement.check_count, 0);
    }
    page_free(page);
    page = fixture_page(&x, 1);
    page->rows.checks[0].failure_count = 1;
    struct raw_answer raw = { .began_us = fixture_now_us + 4000000, .run_us = 250000 };
    page_give(page, 0);
    verdict_answered(&x.env, page, 0, ANSWER_DONE, &raw, fixture_now_us);
    verdict_refused_by_database(&x.env, page, 0, "no");
    CU_ASSERT_EQUAL(page->checks[0].settlement.next_at, FIXTURE_SLOT + 6 + 20);
    page_free(page);
    lane_env_end(&x);
}

static void a_final_failure_ends_the_check_with_its_words_and_is_no_trouble(void)
{
    lane_env_begin(&x, "attempts = 3; max_failures = 9; hold_back_after = 1;");
    struct page *page = fixture_page(&x, 1);
    struct raw_answer raw = { .began_us = fixture_now_us, .run_us = 1, .text = "410 Gone" };
    page_give(page, 0);
    CU_ASSERT_FALSE(verdict_answered(&x.env, page, 0, ANSWER_FAIL_FINAL, &raw, fixture_now_us));
    const struct settlement *s = &page->checks[0].settlement;
    CU_ASSERT(s->ends && s->outcome == OUTCOME_FAILED && s->failure_count == 1);
    CU_ASSERT_STRING_EQUAL(s->note, "410 Gone");
    page_free(page);
    lane_env_end(&x);
}

static void in_virtual_time_a_run_takes_no_time(void)
{
    lane_env_begin(&x, "attempts = 3; attempt_jitter = 0;");
    x.clocks.virtual_now = FIXTURE_SLOT + 1;
    struct page *page = fixture_page(&x, 1);
    struct raw_answer raw = { .began_us = fixture_now_us, .run_us = 5000000 };
    page_give(page, 0);
    verdict_answered(&x.env, page, 0, ANSWER_FAIL, &raw, fixture_now_us);
    CU_ASSERT_EQUAL(page->checks[0].settlement.next_at, page->now + 10);
    page_free(page);
    lane_env_end(&x);
}

static const struct test tests[] = {
    TEST(checks_wait_to_be_run),
    TEST(a_paused_check_moves_to_its_pause_whatever_its_job_and_its_slot),
    TEST(what_waits_is_paused_and_what_runs_is_not),
    TEST(a_resumed_check_leaves_its_pause_for_the_next_slot),
    TEST(a_check_that_is_left_alone_is_neither_paused_nor_resumed),
    TEST(an_engine_that_has_not_heard_of_it_resumes_all_the_same),
    TEST(of_two_pauses_the_one_that_stays_on_keeps_the_check),
    TEST(a_check_that_comes_up_early_waits_for_the_next_slot),
    TEST(a_row_that_a_transaction_has_touched_stays_for_a_second_look),
    TEST(checks_of_an_unknown_job_are_left_to_others_and_put_off_by_a_sweep),
    TEST(checks_of_an_unknown_job_are_told_where_no_sweep_follows),
    TEST(a_reslot_moves_all_to_the_next_slot_and_runs_none),
    TEST(a_check_that_cannot_be_is_left_and_logged_once),
    TEST(a_check_that_is_left_alone_is_not_run),
    TEST(an_answer_becomes_a_settlement_by_the_databases_clock),
    TEST(nothing_is_believed_of_a_page_whose_lease_is_lost),
    TEST(a_job_that_the_stop_has_ended_has_not_crashed),
    TEST(a_job_is_held_back_after_troubles_in_a_row_only),
    TEST(an_answer_that_the_database_refuses_becomes_a_bad_one_without_effects),
    TEST(a_failed_run_is_tried_again_within_its_slot_from_its_end_on),
    TEST(a_final_failure_ends_the_check_with_its_words_and_is_no_trouble),
    TEST(in_virtual_time_a_run_takes_no_time),
    { NULL, NULL },
};
const struct suite suite_verdict = { "verdict", settings_fixture_setup, settings_fixture_teardown, tests };
