/* test_plan_check.c - a plan that waits for one check: when it looks, when the check's slot is a
 * target here, and when it ends. */
#include "../engine/run/plans.h"
#include "lane_env_fixture.h"

enum { S = 1000 * 1000, AT_ONCE = FIXTURE_SLOT + 61 };

static struct lane_env_fixture x;
static struct plan_check p;
static struct check_look seen;

static struct check_look read_seen(const struct store_rows *rows, const char *job)
{
    (void)rows, (void)job;
    return seen;
}

static void tick(void)
{
    plan_check.tick(&x.plan_env, &p);
}

static void is_answered(int rc)
{
    static const union errand_request nothing;
    struct errand_result result = { .errand = x.errands.current, .rc = rc, .reply = &nothing };
    x.errands.current = (struct errand){ 0 };
    plan_check.errand_done(&x.plan_env, &p, &result);
}

/* It waits for a run under AT_ONCE, and its first look is due. */
static void begin(bool runs_here)
{
    lane_env_begin(&x, "stop_timeout = \"30s\";");
    seen = (struct check_look){ .waits = true, .id = 1, .slot = AT_ONCE };
    p = (struct plan_check){
        .watch = { .id = 1, .slot = AT_ONCE },
        .runs_here = runs_here,
        .within_us = 20 * S,
        .report = { .arena = arena_new(64) },
        .read = read_seen,
    };
    tick();
    CU_ASSERT_EQUAL(x.errands.current.kind, ERRAND_KEEP_DAYS);
    is_answered(0);
    tick();
}

static void end(void)
{
    arena_free(p.report.arena);
    lane_env_end(&x);
}

static void it_looks_a_few_times_a_second_and_after_a_failure_again(void)
{
    begin(true);
    CU_ASSERT_EQUAL(x.errands.current.kind, ERRAND_REPORT);
    CU_ASSERT_PTR_EQUAL(x.errands.current.report, &p.report);
    is_answered(ERR_LOST);
    tick();
    CU_ASSERT_EQUAL(x.errands.current.kind, ERRAND_NONE);
    fixture_now_us += S / 2;
    tick();
    CU_ASSERT_EQUAL(x.errands.current.kind, ERRAND_REPORT);
    end();
}

static void its_slot_is_a_target_once_it_has_begun(void)
{
    begin(true);
    is_answered(0);
    CU_ASSERT_FALSE(targets_have(&x.fine_targets, AT_ONCE));
    seen.has_begun = true;
    fixture_now_us += S;
    tick();
    is_answered(0);
    CU_ASSERT_TRUE(targets_have(&x.fine_targets, AT_ONCE));
    end();
}

/* Another engine holds it, or has left it: it is opened again, but not without a pause. */
static void its_slot_is_a_target_again_after_a_second(void)
{
    begin(true);
    seen.has_begun = true;
    is_answered(0);
    targets_remove(&x.fine_targets, x.fine_targets.first);
    fixture_now_us += S / 2;
    tick();
    is_answered(0);
    CU_ASSERT_FALSE(targets_have(&x.fine_targets, AT_ONCE));
    fixture_now_us += S;
    tick();
    is_answered(0);
    CU_ASSERT_TRUE(targets_have(&x.fine_targets, AT_ONCE));
    end();
}

static void without_its_job_no_slot_is_opened(void)
{
    begin(false);
    seen.has_begun = true;
    is_answered(0);
    CU_ASSERT_FALSE(targets_have(&x.fine_targets, AT_ONCE));
    end();
}

static void it_ends_when_the_check_has_run(void)
{
    begin(true);
    seen.waits = false;
    is_answered(0);
    CU_ASSERT_EQUAL(p.state, CHECK_WATCH_ENDED);
    tick();
    CU_ASSERT_FALSE(x.shutdown.stopping);           /* what is under way has two seconds */
    fixture_now_us += 3 * S;
    tick();
    CU_ASSERT_TRUE(x.shutdown.stopping);
    CU_ASSERT_FALSE(x.shutdown.ended);
    end();
}

static void it_ends_when_the_time_is_over(void)
{
    begin(true);
    fixture_now_us += 21 * S;
    tick();
    CU_ASSERT_EQUAL(p.state, CHECK_WATCH_WAITS);
    fixture_now_us += 3 * S;
    tick();
    CU_ASSERT_TRUE(x.shutdown.stopping);
    end();
}

static const struct test tests[] = {
    TEST(it_looks_a_few_times_a_second_and_after_a_failure_again),
    TEST(its_slot_is_a_target_once_it_has_begun),
    TEST(its_slot_is_a_target_again_after_a_second),
    TEST(without_its_job_no_slot_is_opened),
    TEST(it_ends_when_the_check_has_run),
    TEST(it_ends_when_the_time_is_over),
    { NULL, NULL },
};

const struct suite suite_plan_check = { "plan_check", settings_fixture_setup, settings_fixture_teardown,
                                        tests };
