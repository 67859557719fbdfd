/* test_plan_replay.c - the plan of a replay: what it has written does not stay locked while jobs
 * run. */
#include "../engine/run/plans.h"
#include "lane_env_fixture.h"

enum { MS = 1000 };

static struct lane_env_fixture x;
static struct plan_replay p;

static enum errand_kind tick(void)
{
    plan_replay.tick(&x.plan_env, &p);
    return x.errands.current.kind;
}

static void is_answered(int rc, const union errand_request *reply)
{
    struct errand_result result = { .errand = x.errands.current, .rc = rc, .reply = reply };
    x.errands.current = (struct errand){ 0 };
    plan_replay.errand_done(&x.plan_env, &p, &result);
}

/* A slot is a target, and its checks run. */
static void begin(void)
{
    static const union errand_request nothing;
    static const union errand_request found = { .late = { .slot = FIXTURE_SLOT } };
    lane_env_begin(&x, "");
    x.plan_env.pausing = &x.pausing;
    x.clocks.virtual_now = FIXTURE_SLOT - 1;
    p = (struct plan_replay){ .from = FIXTURE_SLOT, .to = FIXTURE_SLOT + FIXTURE_LENGTH_S };
    CU_ASSERT_EQUAL(tick(), ERRAND_KEEP_DAYS);
    is_answered(0, &nothing);
    CU_ASSERT_EQUAL(tick(), ERRAND_LATE_SLOT);
    is_answered(0, &found);
    CU_ASSERT_TRUE(targets_have(&x.targets, FIXTURE_SLOT));
}

/* A transaction of SQLite keeps all others from writing, also the job that the slot waits for. */
static void what_is_written_is_committed_four_times_a_second_while_jobs_run(void)
{
    static const union errand_request nothing;
    begin();
    CU_ASSERT_EQUAL(tick(), ERRAND_NONE);
    CU_ASSERT_EQUAL(x.wake_plan.at_us, fixture_now_us + 250 * MS);
    for (int i = 0; i < 3; i++) {
        fixture_now_us += 249 * MS;
        CU_ASSERT_EQUAL(tick(), ERRAND_NONE);
        fixture_now_us += 1 * MS;
        CU_ASSERT_EQUAL(tick(), ERRAND_HELLO);
        CU_ASSERT_TRUE(errands_are_urgent(&x.errands, fixture_now_us));
        is_answered(i == 1 ? ERR_BUSY : 0, &nothing);   /* after a failure, too */
        CU_ASSERT_EQUAL(tick(), ERRAND_NONE);
    }
    CU_ASSERT_EQUAL(x.fatal_rc, 0);
    CU_ASSERT_FALSE(x.shutdown.ended);
    lane_env_end(&x);
}

static const struct test tests[] = {
    TEST(what_is_written_is_committed_four_times_a_second_while_jobs_run),
    { NULL, NULL },
};

const struct suite suite_plan_replay = { "plan_replay", NULL, NULL, tests };
