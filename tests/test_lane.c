/* test_lane.c - what a lane does next, decided from what it sees. */
#include "../engine/run/lane.h"
#include "../engine/run/plans.h"
#include "test.h"

static enum lane_action decide(struct lane_view v)
{
    return lane_decide(&v);
}

static void a_renewal_that_is_due_comes_before_everything(void)
{
    CU_ASSERT_EQUAL(decide((struct lane_view){ .has_leases = true,
                                               .renew_due = true,
                                               .settle_due = true,
                                               .can_read = true,
                                               .workers_idle = true }),
                    LANE_RENEW);
    CU_ASSERT_EQUAL(decide((struct lane_view){
                        .has_leases = true, .renew_due = true, .stopping = true, .has_pages = true }),
                    LANE_RENEW);
}

static void hungry_workers_are_fed_before_answers_are_written(void)
{
    CU_ASSERT_EQUAL(decide((struct lane_view){
                        .has_leases = true, .can_read = true, .workers_idle = true, .settle_due = true }),
                    LANE_READ);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .has_leases = true, .can_read = true, .settle_due = true }),
                    LANE_SETTLE);
}

static void a_page_is_read_ahead_while_workers_are_busy(void)
{
    CU_ASSERT_EQUAL(decide((struct lane_view){ .has_leases = true, .can_read = true, .has_pages = true }),
                    LANE_READ);
}

static void a_bucket_is_finished_before_another_slot_is_opened(void)
{
    CU_ASSERT_EQUAL(decide((struct lane_view){ .has_leases = true, .can_finish = true, .can_open = true }),
                    LANE_FINISH);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .can_open = true, .has_errand = true }), LANE_OPEN);
}

static void errands_wait_until_no_lease_is_held(void)
{
    CU_ASSERT_EQUAL(decide((struct lane_view){ .has_errand = true, .has_leases = true, .has_pages = true }),
                    LANE_WAIT);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .has_errand = true }), LANE_ERRAND);
}

static void an_answer_that_could_not_be_written_keeps_nothing_else_waiting(void)
{
    CU_ASSERT_EQUAL(decide((struct lane_view){
                        .has_leases = true, .has_pages = true, .last_due = true, .can_open = true }),
                    LANE_OPEN);
    CU_ASSERT_EQUAL(decide((struct lane_view){
                        .has_leases = true, .has_pages = true, .last_due = true, .can_finish = true }),
                    LANE_FINISH);
    CU_ASSERT_EQUAL(decide((struct lane_view){
                        .has_leases = true, .has_pages = true, .last_due = true, .has_errand = true }),
                    LANE_SETTLE);
    CU_ASSERT_EQUAL(decide((struct lane_view){
                        .has_leases = true, .has_pages = true, .last_due = true, .stopping = true }),
                    LANE_SETTLE);
}

static void a_stop_settles_what_is_answered_then_gives_leases_back(void)
{
    CU_ASSERT_EQUAL(decide((struct lane_view){
                        .stopping = true, .has_leases = true, .has_pages = true, .settle_due = true }),
                    LANE_SETTLE);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .stopping = true, .has_leases = true, .has_pages = true }),
                    LANE_WAIT);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .stopping = true, .has_leases = true }), LANE_RELEASE);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .stopping = true }), LANE_WAIT);
}

static void an_urgent_errand_comes_before_another_slot_whatever_leases_are_held(void)
{
    CU_ASSERT_EQUAL(
        decide((struct lane_view){
            .has_errand = true, .is_urgent = true, .can_open = true, .has_leases = true, .has_pages = true }),
        LANE_ERRAND);
    CU_ASSERT_EQUAL(decide((struct lane_view){
                        .has_errand = true, .is_urgent = true, .can_finish = true, .has_leases = true }),
                    LANE_FINISH);
}

static void without_workers_leases_are_given_back(void)
{
    CU_ASSERT_EQUAL(decide((struct lane_view){ .workers_broken = true, .has_leases = true }), LANE_RELEASE);
    CU_ASSERT_EQUAL(decide((struct lane_view){
                        .workers_broken = true, .has_leases = true, .has_pages = true, .settle_due = true }),
                    LANE_SETTLE);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .workers_broken = true, .has_errand = true }), LANE_ERRAND);
}

/* Every combination of what a lane can see: a stop takes nothing new, and no decision lacks what
 * it acts on. */
static void no_combination_leads_to_an_action_without_its_ground(void)
{
    for (unsigned bits = 0; bits < 1u << 13; bits++) {
        struct lane_view v = {
            .stopping = bits & 1,
            .workers_idle = bits & 2,
            .renew_due = bits & 4,
            .settle_due = bits & 8,
            .can_read = bits & 16,
            .can_finish = bits & 32,
            .can_open = bits & 64,
            .has_errand = bits & 128,
            .has_leases = bits & 256,
            .has_pages = bits & 512,
            .workers_broken = bits & 1024,
            .is_urgent = bits & 2048,
            .last_due = bits & 4096,
        };
        enum lane_action a = lane_decide(&v);
        bool ground[] = {
            [LANE_WAIT] = true,
            [LANE_OPEN] = v.can_open,
            [LANE_RENEW] = v.has_leases,
            [LANE_READ] = v.can_read,
            [LANE_SETTLE] = v.settle_due || v.last_due,
            [LANE_FINISH] = v.can_finish,
            [LANE_RELEASE] = v.has_leases && !v.has_pages && (v.stopping || v.workers_broken),
            [LANE_ERRAND] = v.has_errand,
        };
        CU_ASSERT(ground[a]);
        if (v.stopping)
            CU_ASSERT(a != LANE_OPEN && a != LANE_READ && a != LANE_ERRAND && a != LANE_FINISH);
        if (v.settle_due && !v.workers_idle)
            CU_ASSERT(a != LANE_WAIT && a != LANE_OPEN);
    }
}

/* Second looks came up to 15 s apart, however soon a transaction that they waited for had ended. */
static void a_pulse_calls_for_a_look_when_a_transaction_ended_or_more_is_waited_for(void)
{
    static const struct { struct pulse before, now; bool look;
    } all[] = {
        { { 0, 0, 0 }, { 0, 0, 0 }, false },     { { 0, 0, 0 }, { 70, 2, 60 }, true },
        { { 70, 2, 60 }, { 70, 2, 60 }, false }, { { 70, 2, 60 }, { 70, 1, 61 }, true },
        { { 70, 1, 61 }, { 70, 0, 0 }, true },   { { 70, 0, 0 }, { 70, 0, 0 }, false },
        { { 70, 1, 61 }, { 90, 3, 61 }, true },  { { 70, 1, 61 }, { 0, 0, 0 }, false },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_EQUAL(plan_pulse_says_look(&all[i].before, &all[i].now), all[i].look);
}

/* Each empty look over a million rows that are gone took a second, and was taken every 15 seconds.
 */
static void a_dear_look_is_followed_by_a_long_rest(void)
{
    enum { MS = 1000, S = 1000 * MS };
    CU_ASSERT_EQUAL(catchup_rest_us(0), 0);
    CU_ASSERT_EQUAL(catchup_rest_us(250 * MS), 0);
    CU_ASSERT_EQUAL(catchup_rest_us(1250 * MS), 10 * S);
    CU_ASSERT_EQUAL(catchup_rest_us(31 * S), 300 * S);
    CU_ASSERT_EQUAL(catchup_rest_us(INT64_MAX), 300 * S);
}

/* 64 leases, settles and ends cost as much as thousands of checks that do nothing: slots of 2,010
 * took five times as long as those of 1,990. */
static void a_slot_of_quick_checks_is_split_later(void)
{
    struct pace pace = { 0 };
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 2000);
    for (int i = 0; i < 999; i++)
        pace_add(&pace, 0);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 2000);      /* too few to tell */
    pace_add(&pace, 0);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 20000);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 10), 100);
    CU_ASSERT_EQUAL(pace_split_at(&pace, INT32_MAX), INT32_MAX);
}

static void a_slot_of_slower_checks_is_shared(void)
{
    struct pace pace = { 0 };
    for (int i = 0; i < 2000; i++)
        pace_add(&pace, 45);
    int at = pace_split_at(&pace, 2000);
    CU_ASSERT(at >= 4000 && at <= 4100);
    for (int i = 0; i < 2000; i++)
        pace_add(&pace, 100000);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 2000);
    for (int i = 0; i < 2000; i++)
        pace_add(&pace, 0);
    CU_ASSERT_EQUAL(pace_split_at(&pace, 2000), 20000);
}

static const struct test tests[] = {
    TEST(a_pulse_calls_for_a_look_when_a_transaction_ended_or_more_is_waited_for),
    TEST(a_dear_look_is_followed_by_a_long_rest),
    TEST(a_slot_of_quick_checks_is_split_later),
    TEST(a_slot_of_slower_checks_is_shared),
    TEST(a_renewal_that_is_due_comes_before_everything),
    TEST(hungry_workers_are_fed_before_answers_are_written),
    TEST(a_page_is_read_ahead_while_workers_are_busy),
    TEST(a_bucket_is_finished_before_another_slot_is_opened),
    TEST(errands_wait_until_no_lease_is_held),
    TEST(an_answer_that_could_not_be_written_keeps_nothing_else_waiting),
    TEST(a_stop_settles_what_is_answered_then_gives_leases_back),
    TEST(an_urgent_errand_comes_before_another_slot_whatever_leases_are_held),
    TEST(without_workers_leases_are_given_back),
    TEST(no_combination_leads_to_an_action_without_its_ground),
    { 0 }
};
const struct suite suite_lane = { "lane", NULL, NULL, tests };
