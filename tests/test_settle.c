/* test_settle.c - which answers go into a settle, and what becomes of them when it comes back. */
#include <string.h>

#include "../engine/rules/slot.h"
#include "../engine/run/settle.h"
#include "lane_env_fixture.h"

enum { S = 1000 * 1000, MS = 1000 };

static struct lane_env_fixture x;
static struct settler settler;
static struct store_settle request;
static struct page *page;

/* A page of `n` checks, all of them answered but for `open` at its end. */
static void begin(int n, int open)
{
    lane_env_begin(&x, "page = 8; settle_after = \"250ms\"; lease = \"10s\"; trust = \"9s\";");
    settler = (struct settler){ .limit = x.settings.page };
    page = fixture_page(&x, n);
    for (int i = 0; i < n - open; i++) {
        page->checks[i].settlement.ran = true;
        page_answer(page, i, fixture_now_us);
    }
}

static void end(void)
{
    page_free(page);
    settler_release(&settler);
    lane_env_end(&x);
}

static int fill(void)
{
    settle_fill(&settler, &x.env, page, fixture_now_us, &request);
    return request.n;
}

static bool comes_back(int rc)
{
    return settle_ended(&settler, &x.env, &request, rc, false, fixture_now_us);
}

/* The store took it; row `locked` (its id; 0: none) was held by another transaction. */
static void is_taken(int64_t locked)
{
    for (int i = 0; i < request.n; i++)
        settler.batch[i].state = settler.batch[i].check->id == locked ? SETTLE_LOCKED : SETTLE_TOUCHED;
    comes_back(0);
}

static bool fails(int rc, bool damaged)
{
    err_set(&request.call.err, rc, "it failed");
    request.call.err.reason = damaged ? ERR_REASON_DAMAGED : ERR_REASON_NONE;
    return comes_back(rc);
}

static int64_t next_settle_us(void)
{
    settle_set_alarm(&x.env, page);
    return agenda_next_us(&x.settles);
}

static bool is_due(bool last)
{
    return settle_due(page, x.settings.settle_after_us, fixture_now_us, last) != NULL;
}

static void a_page_is_due_when_all_is_answered_or_the_oldest_answer_has_waited(void)
{
    begin(3, 0);
    CU_ASSERT_TRUE(is_due(false));
    end();
    begin(3, 1);
    CU_ASSERT_FALSE(is_due(false));
    CU_ASSERT_EQUAL(next_settle_us(), fixture_now_us + 250 * MS);
    fixture_now_us += 250 * MS;
    CU_ASSERT_TRUE(is_due(false));
    end();
}

static void answers_are_sent_in_the_order_of_their_ids_and_twins_apart(void)
{
    begin(4, 0);
    static const int64_t ids[] = { 7, 3, 7, 5 };
    for (int i = 0; i < 4; i++)
        page->rows.checks[i].id = ids[i];
    CU_ASSERT_EQUAL_FATAL(fill(), 3);
    CU_ASSERT_EQUAL(settler.batch[0].check->id, 3);
    CU_ASSERT_EQUAL(settler.batch[2].check->id, 7);
    is_taken(0);
    CU_ASSERT_EQUAL(fill(), 1);
    is_taken(0);
    CU_ASSERT_TRUE(page_is_over(page));
    end();
}

static void ids_too_far_from_the_first_wait_for_the_next(void)
{
    begin(5, 0);
    static const int64_t ids[] = { INT64_MIN + 1, INT64_MIN + SETTLE_IDS_SPAN, 7, 7 + SETTLE_IDS_SPAN,
                                   6 + SETTLE_IDS_SPAN };
    for (int i = 0; i < 5; i++)
        page->rows.checks[i].id = ids[i];
    CU_ASSERT_EQUAL(fill(), 2);
    is_taken(0);
    CU_ASSERT_EQUAL(fill(), 2);
    CU_ASSERT_EQUAL(settler.batch[1].check->id, 6 + SETTLE_IDS_SPAN);
    is_taken(0);
    CU_ASSERT_EQUAL(fill(), 1);
    is_taken(0);
    CU_ASSERT_TRUE(page_is_over(page));
    end();
}

static void digests_beyond_those_of_one_settle_wait_for_the_next(void)
{
    static struct digest digests[2 * SETTLE_DIGESTS_MAX + 4];
    enum { N = sizeof digests / sizeof *digests, OTHERS = 3 };
    begin(N + OTHERS, 0);
    settler.limit = 2 * N;
    for (int i = 0; i < N; i++)
        page->checks[i].settlement.digest = &digests[i];
    CU_ASSERT_EQUAL(fill(), SETTLE_DIGESTS_MAX + OTHERS);
    is_taken(0);
    CU_ASSERT_TRUE(is_due(false));
    CU_ASSERT_EQUAL(fill(), SETTLE_DIGESTS_MAX);
    is_taken(0);
    CU_ASSERT_EQUAL(fill(), 4);
    is_taken(0);
    CU_ASSERT_TRUE(page_is_over(page));
    end();
}

static void what_is_written_is_counted_and_over(void)
{
    begin(3, 0);
    x.health.unwritable = 7;
    x.health.is_degraded = true;
    fill();
    is_taken(0);
    CU_ASSERT_TRUE(page_is_over(page));
    CU_ASSERT_EQUAL(x.bucket.counts.run, 3);
    CU_ASSERT_EQUAL(x.bucket.ntouched, 3);
    CU_ASSERT_FALSE(x.health.is_degraded);
    CU_ASSERT_EQUAL(x.health.settled_us, fixture_now_us);
    end();
}

/* A `run` stays for what it makes up for itself, and not for what comes in the next full slot. */
static void a_missed_occurrence_that_was_filed_into_this_full_slot_is_noted(void)
{
    static const struct { bool renews; int64_t later_s; bool is_noted; } all[] = {
        { true, 5, true }, { false, 5, false }, { true, 900, false }, { true, 905, false },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        begin(1, 0);
        int64_t slot = slot_floor(clocks_now(&x.clocks, fixture_now_us), x.clocks.slot_length_s);
        fixture_now_us += (slot + x.clocks.slot_length_s) * S - clocks_now_us(&x.clocks, fixture_now_us);
        slot += x.clocks.slot_length_s;
        page->checks[0].settlement.renews = all[i].renews;
        page->checks[0].settlement.next_at = slot + all[i].later_s;
        fill();
        is_taken(0);
        CU_ASSERT_EQUAL(x.totals.made_up_until, all[i].is_noted ? slot + all[i].later_s : 0);
        CU_ASSERT_EQUAL(x.totals.filed_until, 0);
        end();
    }
}

static void a_locked_row_is_tried_for_half_a_minute_and_then_left_alone(void)
{
    begin(2, 0);
    int64_t from_us = fixture_now_us;
    fill();
    is_taken(2);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_ANSWERED);
    CU_ASSERT_FALSE(is_due(true));
    while (!page_is_over(page) && fixture_now_us - from_us < 60 * S) {
        fixture_now_us += 250 * MS;
        if (!is_due(true))
            continue;
        CU_ASSERT_FALSE(is_due(false)); /* it keeps no other page waiting */
        CU_ASSERT_EQUAL(fill(), 1);
        CU_ASSERT_TRUE(request.skip_locked);
        is_taken(2);
    }
    CU_ASSERT(fixture_now_us - from_us >= 30 * S && fixture_now_us - from_us <= 31 * S);
    CU_ASSERT_TRUE(cooldown_is_on(&x.cooldowns, cooldown_of(COOLDOWN_CHECK, 2), fixture_now_us));
    CU_ASSERT_TRUE(x.bucket.finish_anyway);
    CU_ASSERT_EQUAL(x.bucket.counts.locked, 1);
    CU_ASSERT_TRUE(fixture_logged(&x, "its answer is dropped"));
    end();
}

static void at_a_stop_a_locked_row_is_left_after_a_second(void)
{
    begin(1, 0);
    fill();
    is_taken(1);
    x.shutdown.stopping = true;
    fixture_now_us += S;
    fill();
    is_taken(1);
    CU_ASSERT_TRUE(page_is_over(page));
    end();
}

/* The database reports no row: it is found by halves. Its answer becomes a bad one, and when even
 * that is refused, the check is left alone. */
static void a_refused_value_is_found_by_halving(void)
{
    enum { GUILTY = 6 };
    begin(8, 0);
    int calls = 0;
    for (bool bad_answer_sent = false; !page_is_over(page) && calls < 50; calls++) {
        bool has_guilty = false;
        fill();
        for (int i = 0; i < request.n; i++)
            has_guilty = has_guilty || settler.batch[i].check->id == GUILTY;
        bad_answer_sent = bad_answer_sent || (has_guilty && page->checks[GUILTY - 1].answer_refused);
        if (has_guilty)
            fails(ERR_DATA, false);
        else
            is_taken(0);
    }
    CU_ASSERT(calls < 16);
    CU_ASSERT_EQUAL(x.bucket.ntouched, 7);
    CU_ASSERT_TRUE(page->checks[GUILTY - 1].answer_refused);
    CU_ASSERT_TRUE(cooldown_is_on(&x.cooldowns, cooldown_of(COOLDOWN_CHECK, GUILTY), fixture_now_us));
    end();
}

/* The answer may have been lost on its way back: then the row was changed by us. */
static void a_row_that_was_changed_after_a_lost_settle_is_counted_as_ours(void)
{
    begin(2, 0);
    fill();
    CU_ASSERT_TRUE(fails(ERR_LOST, false));
    CU_ASSERT_TRUE(page->skip_locked);
    fill();
    for (int i = 0; i < 2; i++)
        settler.batch[i].state = SETTLE_SUPERSEDED;
    comes_back(0);
    CU_ASSERT_EQUAL(x.bucket.counts.run, 2);
    CU_ASSERT_EQUAL(x.bucket.counts.superseded, 0);
    end();
    begin(1, 0);
    fill();
    settler.batch[0].state = SETTLE_SUPERSEDED;
    comes_back(0);
    CU_ASSERT_EQUAL(x.bucket.counts.superseded, 1);
    end();
}

static void a_lock_makes_all_pages_go_around_held_rows_for_a_while(void)
{
    begin(1, 0);
    fill();
    CU_ASSERT_FALSE(request.skip_locked);
    CU_ASSERT_FALSE(fails(ERR_BUSY, false));
    page->skip_locked = false;
    fill();
    CU_ASSERT_TRUE(request.skip_locked);
    fails(ERR_FENCED, false);
    fixture_now_us += 6 * S;
    fill();
    CU_ASSERT_FALSE(request.skip_locked);
    end();
}

/* What an effect waits for cannot be gone around: the check is sent alone. */
static void a_check_whose_effect_meets_a_lock_is_isolated(void)
{
    begin(2, 0);
    page->checks[1].settlement.neffects = 1;
    page->skip_locked = true;
    fill();
    fails(ERR_BUSY, false);
    CU_ASSERT_EQUAL(settler.limit, 1);
    CU_ASSERT_EQUAL(fill(), 1);
    is_taken(0);
    page->skip_locked = true;
    CU_ASSERT_EQUAL(fill(), 1);
    fails(ERR_BUSY, false);
    CU_ASSERT_TRUE(page->checks[1].isolated);
    CU_ASSERT_FALSE(is_due(true));
    CU_ASSERT_EQUAL(next_settle_us(), fixture_now_us + 250 * MS);
    end();
}

static void a_check_beside_a_corrupt_block_is_isolated_and_left_when_others_are_written(void)
{
    begin(2, 0);
    settler.limit = 1;
    CU_ASSERT_EQUAL(fill(), 1);
    CU_ASSERT_TRUE(fails(ERR_LOST, true)); /* nothing is written yet: the lane pauses */
    CU_ASSERT_TRUE(page->checks[0].isolated);
    CU_ASSERT_TRUE(is_due(false)); /* the other one */
    CU_ASSERT_EQUAL(fill(), 1);
    fixture_now_us += 1;
    is_taken(0);
    for (int tries = 1; tries < 3; tries++) {
        CU_ASSERT_EQUAL(page->checks[0].state, CHECK_ANSWERED);
        fixture_now_us = page->isolated_retry_us;
        CU_ASSERT_TRUE(is_due(true));
        CU_ASSERT_EQUAL(fill(), 1);
        fails(ERR_LOST, true);
    }
    CU_ASSERT_TRUE(page_is_over(page));
    CU_ASSERT_TRUE(x.totals.skipped_some);
    CU_ASSERT_TRUE(
        cooldown_is_on(&x.cooldowns, cooldown_of(COOLDOWN_CHECK, 1), fixture_now_us + 3600 * (int64_t)S));
    CU_ASSERT_EQUAL(x.fatal_rc, 0);
    end();
}

static void a_command_that_can_write_nothing_ends(void)
{
    begin(1, 0);
    x.env.patient = false;
    for (int i = 0; i < 12 && !page_is_over(page); i++) {
        CU_ASSERT_EQUAL(x.fatal_rc, 0);
        x.settings.lease_us = INT64_MAX; /* it is tried for that long */
        fill();
        fails(ERR_LOST, true);
        fixture_now_us = page->isolated_retry_us;
    }
    CU_ASSERT_EQUAL(x.fatal_rc, ERR_LOST);
    end();
}

static const struct test tests[] = {
    TEST(a_page_is_due_when_all_is_answered_or_the_oldest_answer_has_waited),
    TEST(answers_are_sent_in_the_order_of_their_ids_and_twins_apart),
    TEST(ids_too_far_from_the_first_wait_for_the_next),
    TEST(digests_beyond_those_of_one_settle_wait_for_the_next),
    TEST(what_is_written_is_counted_and_over),
    TEST(a_missed_occurrence_that_was_filed_into_this_full_slot_is_noted),
    TEST(a_locked_row_is_tried_for_half_a_minute_and_then_left_alone),
    TEST(at_a_stop_a_locked_row_is_left_after_a_second),
    TEST(a_refused_value_is_found_by_halving),
    TEST(a_row_that_was_changed_after_a_lost_settle_is_counted_as_ours),
    TEST(a_lock_makes_all_pages_go_around_held_rows_for_a_while),
    TEST(a_check_whose_effect_meets_a_lock_is_isolated),
    TEST(a_check_beside_a_corrupt_block_is_isolated_and_left_when_others_are_written),
    TEST(a_command_that_can_write_nothing_ends),
    { NULL, NULL },
};
const struct suite suite_settle = { "settle", settings_fixture_setup, settings_fixture_teardown, tests };
