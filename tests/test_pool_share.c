/* test_pool_share.c - what workers are given next, where several jobs and tenants wait: by turns,
 * by weight, and no more at a time than a worker does in a quarter of a second. Workers that hang
 * keep what they were given, so it can be counted. */
#include "../engine/pool/pool_state.h"
#include "pool_fixture.h"
#include "test.h"

#define SHARED(workers, weight_of_two)                                                                       \
    "workers = " workers "; workers_max = " workers "; slab = 1; plugin_dirs = [\"/nonexistent\"];\n"        \
    "jobs = { one = { plugin = \"x\"; timeout = \"1h\"; };"                                                  \
    "two = { plugin = \"y\"; timeout = \"1h\"; weight = " weight_of_two "; }; };\n"
#define SLABS_OF_20(workers)                                                                                 \
    "workers = " workers "; workers_max = " workers "; slab = 20; plugin_dirs = [\"/nonexistent\"];\n"       \
    "jobs = { one = { plugin = \"x\"; timeout = \"1h\"; }; two = { plugin = \"y\"; }; };\n"

static void hang(struct fake_worker *f)
{
    poolfx_say_ready(f);
    poolfx_sleep_for_ever();
}

static int given_of(const struct page *p, int job)
{
    int n = 0;
    for (int i = 0; i < p->rows.n; i++)
        n += p->checks[i].job == job && p->checks[i].state == CHECK_GIVEN;
    return n;
}

static struct page *another_page(const char *tenant, int32_t priority)
{
    poolfx.tenant = tenant;
    poolfx.priority = priority;
    poolfx_make_page();
    poolfx.tenant = NULL;
    poolfx.priority = 0;
    CU_ASSERT_FATAL(pool_offer(poolfx.pool, poolfx.page));
    return poolfx.page;
}

static void jobs_get_workers_by_their_weights(void)
{
    poolfx.has_both_jobs = true;
    poolfx_begin_with(SHARED("8", "300"), hang);
    poolfx.has_both_jobs = false;
    TURN_UNTIL(poolfx.page->counts[CHECK_GIVEN] == 8, 0);
    CU_ASSERT_EQUAL(given_of(poolfx.page, 0), 2);
    CU_ASSERT_EQUAL(given_of(poolfx.page, 1), 6);
    poolfx_end();
}

static void a_job_alone_gets_all_workers(void)
{
    poolfx_begin_with(SHARED("4", "10000"), hang);
    TURN_UNTIL(poolfx.page->counts[CHECK_GIVEN] == 4, 0);
    poolfx_end();
}

static void another_tenant_waits_for_no_more_than_a_slab(void)
{
    poolfx.runs_singly = true;
    poolfx_begin_with(SLABS_OF_20("3"), hang);
    struct page *big = poolfx.page, *small = another_page("small", 0);
    TURN_UNTIL(pool_count(poolfx.pool, WORKER_RUNNING) == 3, 0);
    CU_ASSERT_TRUE(big->counts[CHECK_GIVEN] > 0);
    CU_ASSERT_TRUE(small->counts[CHECK_GIVEN] > 0);
    poolfx_end();
    page_free(big);
    poolfx.runs_singly = false;
}

static void the_first_priority_of_all_pages_goes_first(void)
{
    poolfx_begin_with(SHARED("1", "100"), hang);
    struct page *usual = poolfx.page, *critical = another_page(NULL, -5);
    TURN_UNTIL(pool_count(poolfx.pool, WORKER_RUNNING) == 1, 0);
    CU_ASSERT_EQUAL(usual->counts[CHECK_GIVEN], 0);
    CU_ASSERT_EQUAL(critical->counts[CHECK_GIVEN], 1);
    poolfx_end();
    page_free(usual);
}

static void what_has_waited_for_a_minute_lets_no_priority_pass(void)
{
    poolfx_begin_with(SHARED("1", "100"), hang);
    poolfx.ahead_us += 61 * 1000000LL;
    struct page *usual = poolfx.page, *critical = another_page(NULL, -5);
    TURN_UNTIL(pool_count(poolfx.pool, WORKER_RUNNING) == 1, 0);
    CU_ASSERT_EQUAL(usual->counts[CHECK_GIVEN], 1);
    CU_ASSERT_EQUAL(critical->counts[CHECK_GIVEN], 0);
    poolfx_end();
    page_free(usual);
}

static void a_job_that_nothing_is_known_of_gets_few_at_first(void)
{
    poolfx.runs_singly = true;
    poolfx_begin_with(SLABS_OF_20("1"), hang);
    TURN_UNTIL(poolfx.page->counts[CHECK_GIVEN] == 16, 0);
    poolfx_end();
    poolfx.runs_singly = false;
}

/* Its times are of many at a time: they say nothing about how long a slab takes. */
static void a_job_that_takes_batches_gets_whole_slabs(void)
{
    poolfx_begin_with(SLABS_OF_20("1"), hang);
    TURN_UNTIL(poolfx.page->counts[CHECK_GIVEN] == 20, 0);
    poolfx_end();
}

static void answer_when_told(struct fake_worker *f)
{
    char body[MESSAGE_MAX + 1];
    poolfx_say_ready(f);
    poolfx_wait_for(f, MESSAGE_RUN);
    poolfx_hear(f, body);
    poolfx_answer_slab(f);
    poolfx_answer_all(f);
}

/* The pool sends CONTINUE, by which the test tells the worker to go on. */
static void tell_the_worker(void)
{
    poolfx.page->start_until_us = 0;
    pool_set_trust(poolfx.pool, poolfx.page);
    poolfx.page->start_until_us = clock_boot_us(&poolfx_clock) + 3600 * 1000000LL;
    pool_set_trust(poolfx.pool, poolfx.page);
}

static void a_slow_job_gets_one_check_at_a_time(void)
{
    poolfx.runs_singly = true;
    poolfx_begin_with(SLABS_OF_20("1"), answer_when_told);
    TURN_UNTIL(pool_count(poolfx.pool, WORKER_RUNNING) == 1, 0);
    poolfx.ahead_us += 1000 * 1000000LL;        /* that is how long the first slab takes */
    tell_the_worker();
    /* It is known when the slab is over, which may be later than its last answer. */
    TURN_UNTIL(pool_share_most(poolfx.pool, 0) == 1, 0);
    CU_ASSERT_TRUE(poolfx.ended[ANSWER_DONE] >= 16);
    CU_ASSERT_TRUE(pool_share_most(poolfx.pool, 1) == 16);
    TURN_UNTIL(page_is_over(poolfx.page), 0);
    poolfx_end();
    poolfx.runs_singly = false;
}

static void a_job_that_is_quick_again_gets_whole_slabs_again(void)
{
    poolfx.runs_singly = true;
    poolfx_begin_with(SLABS_OF_20("1"), poolfx_ready_and_answer_all);
    TURN_UNTIL(page_is_over(poolfx.page), 0);
    for (int i = 0; i < 20 && pool_share_most(poolfx.pool, 0) < 20; i++) {
        struct page *before = poolfx.page;
        another_page(NULL, 0);
        TURN_UNTIL(page_is_over(poolfx.page), 0);
        pool_forget(poolfx.pool, before);
        page_free(before);
    }
    CU_ASSERT_EQUAL(pool_share_most(poolfx.pool, 0), 20);
    poolfx_end();
    poolfx.runs_singly = false;
}

static const struct test tests[] = {
    TEST(jobs_get_workers_by_their_weights),
    TEST(a_job_alone_gets_all_workers),
    TEST(another_tenant_waits_for_no_more_than_a_slab),
    TEST(the_first_priority_of_all_pages_goes_first),
    TEST(what_has_waited_for_a_minute_lets_no_priority_pass),
    TEST(a_job_that_nothing_is_known_of_gets_few_at_first),
    TEST(a_job_that_takes_batches_gets_whole_slabs),
    TEST(a_slow_job_gets_one_check_at_a_time),
    TEST(a_job_that_is_quick_again_gets_whole_slabs_again),
    { 0 }
};
const struct suite suite_pool_share = { "pool_share", NULL, NULL, tests };
