/* test_process.c - when a process makes something of a SIGHUP, and does not wait for it in a loop
 * that turns without a pause. */
#include "../engine/run/process.h"
#include "test.h"

static struct process with(int n, enum process_stage last)
{
    struct process p = { .n = n, .wants_renewal = true };
    for (int i = 0; i < n; i++)
        p.all[i].stage = i < n - 1 ? STAGE_LEAVING : last;
    return p;
}

static void settings_are_read_at_once_where_one_engine_serves(void)
{
    struct process p = with(1, STAGE_SERVING);
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NOW);
    p.wants_renewal = false;
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NONE);
}

static void a_signal_waits_for_the_engine_that_proves_itself(void)
{
    struct process p = with(2, STAGE_PROVING);
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NONE);
    p.all[1].stage = STAGE_SERVING;
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NOW);
}

static void a_signal_before_the_end_is_never_answered(void)
{
    struct process p = with(1, STAGE_SERVING);
    p.is_ending = true;
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NONE);
}

static void of_so_many_engines_one_is_over_first(void)
{
    struct process p = with(PROCESS_ENGINES, STAGE_SERVING);
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_LACKS_ROOM);
    p.n--;
    CU_ASSERT_EQUAL(process_renewal(&p), RENEWAL_NOW);
}

static const struct test tests[] = {
    TEST(settings_are_read_at_once_where_one_engine_serves),
    TEST(a_signal_waits_for_the_engine_that_proves_itself),
    TEST(a_signal_before_the_end_is_never_answered),
    TEST(of_so_many_engines_one_is_over_first),
    { NULL, NULL },
};

const struct suite suite_process = { "process", NULL, NULL, tests };
