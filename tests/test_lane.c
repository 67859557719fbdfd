/* test_lane.c - what a lane does next, decided from what it sees. */
#include "../engine/run/lane.h"
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

static void places_of_concurrency_keys_have_their_turns(void)
{
    CU_ASSERT_EQUAL(decide((struct lane_view){ .renew_places_due = true, .settle_due = true }),
                    LANE_RENEW_PLACES);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .renew_places_due = true, .stopping = true }),
                    LANE_RENEW_PLACES);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .take_places_due = true, .workers_idle = true,
                                               .settle_due = true, .can_read = true }),
                    LANE_TAKE_PLACES);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .take_places_due = true, .settle_due = true }), LANE_SETTLE);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .take_places_due = true, .return_places_due = true }),
                    LANE_RETURN_PLACES);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .take_places_due = true, .can_read = true }),
                    LANE_TAKE_PLACES);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .return_places_due = true, .stopping = true,
                                               .has_leases = true, .take_places_due = true }),
                    LANE_RETURN_PLACES);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .take_places_due = true, .stopping = true,
                                               .hurries = true }), LANE_WAIT);
}

static void idle_workers_are_fed_before_answers_are_written(void)
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

static void what_is_only_put_off_comes_after_all_that_may_be_run(void)
{
    struct lane_view v = { .has_leases = true, .only_puts_off = true, .can_put_off = true,
                           .workers_idle = true, .last_due = true, .has_pages = true };
    CU_ASSERT_EQUAL(decide(v), LANE_SETTLE);    /* a page at a time: no more are kept in memory */
    v.last_due = false;
    CU_ASSERT_EQUAL(decide(v), LANE_READ);
    v.last_due = v.has_errand = true;
    CU_ASSERT_EQUAL(decide(v), LANE_ERRAND);
    v.can_open = true;
    CU_ASSERT_EQUAL(decide(v), LANE_OPEN);
    v.only_puts_off = false;
    v.settle_due = true;
    CU_ASSERT_EQUAL(decide(v), LANE_SETTLE);
    v.can_read = true;
    CU_ASSERT_EQUAL(decide(v), LANE_READ);
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
    /* what the last runs were like */
    CU_ASSERT_EQUAL(decide((struct lane_view){ .stopping = true, .has_errand = true }), LANE_ERRAND);
    CU_ASSERT_EQUAL(decide((struct lane_view){ .stopping = true, .has_errand = true, .has_leases = true }),
                    LANE_RELEASE);
}

/* What is left under such a lease waits for its last run in any case. */
static void who_leaves_goes_on_under_leases_that_it_cannot_give_back(void)
{
    struct lane_view v = { .stopping = true, .has_leases = true, .has_pages = true, .can_read = true,
                           .can_open = true, .take_places_due = true, .has_errand = true };
    CU_ASSERT_EQUAL(decide(v), LANE_TAKE_PLACES);
    v.take_places_due = false;
    CU_ASSERT_EQUAL(decide(v), LANE_READ);
    v.settle_due = true;
    CU_ASSERT_EQUAL(decide(v), LANE_SETTLE);
    v.settle_due = v.can_read = false;
    v.can_give_back = true;
    CU_ASSERT_EQUAL(decide(v), LANE_GIVE_BACK);
    v.can_read = v.take_places_due = v.hurries = true;
    CU_ASSERT_EQUAL(decide(v), LANE_WAIT);
}

/* It may be at its last runs for hours. Who has to end soon has no time for it. */
static void who_stops_in_its_time_notes_things_beside_its_last_runs(void)
{
    struct lane_view v = { .stopping = true, .has_errand = true, .has_leases = true, .has_pages = true };
    CU_ASSERT_EQUAL(decide(v), LANE_ERRAND);
    v.hurries = true;
    CU_ASSERT_EQUAL(decide(v), LANE_WAIT);
    v.renew_due = true;
    CU_ASSERT_EQUAL(decide(v), LANE_RENEW);
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
    for (unsigned bits = 0; bits < 1u << 17; bits++) {
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
            .can_put_off = bits & 8192,
            .only_puts_off = bits & 16384,
            .can_give_back = bits & 32768,
            .hurries = bits & 65536,
        };
        enum lane_action a = lane_decide(&v);
        bool ground[] = {
            [LANE_WAIT] = true,
            [LANE_OPEN] = v.can_open,
            [LANE_RENEW] = v.has_leases,
            [LANE_READ] = v.can_read || v.can_put_off,
            [LANE_SETTLE] = v.settle_due || v.last_due,
            [LANE_FINISH] = v.can_finish,
            [LANE_GIVE_BACK] = v.can_give_back,
            [LANE_RELEASE] = v.has_leases && !v.has_pages && (v.stopping || v.workers_broken),
            [LANE_ERRAND] = v.has_errand,
        };
        CU_ASSERT(ground[a]);
        if (v.stopping)
            CU_ASSERT(a != LANE_OPEN && a != LANE_FINISH);
        if (v.stopping && v.hurries)
            CU_ASSERT(a != LANE_READ && a != LANE_GIVE_BACK && (a != LANE_ERRAND || !v.has_leases));
        if (v.settle_due && !v.workers_idle)
            CU_ASSERT(a != LANE_WAIT && a != LANE_OPEN);
    }
}

static const struct test tests[] = {
    TEST(a_renewal_that_is_due_comes_before_everything),
    TEST(places_of_concurrency_keys_have_their_turns),
    TEST(idle_workers_are_fed_before_answers_are_written),
    TEST(a_page_is_read_ahead_while_workers_are_busy),
    TEST(a_bucket_is_finished_before_another_slot_is_opened),
    TEST(errands_wait_until_no_lease_is_held),
    TEST(an_answer_that_could_not_be_written_keeps_nothing_else_waiting),
    TEST(what_is_only_put_off_comes_after_all_that_may_be_run),
    TEST(a_stop_settles_what_is_answered_then_gives_leases_back),
    TEST(who_leaves_goes_on_under_leases_that_it_cannot_give_back),
    TEST(who_stops_in_its_time_notes_things_beside_its_last_runs),
    TEST(an_urgent_errand_comes_before_another_slot_whatever_leases_are_held),
    TEST(without_workers_leases_are_given_back),
    TEST(no_combination_leads_to_an_action_without_its_ground),
    { 0 }
};
const struct suite suite_lane = { "lane", NULL, NULL, tests };
