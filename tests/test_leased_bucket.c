/* test_leased_bucket.c - what is left behind in a bucket, and when its pass may end. */
#include <stdio.h>

#include "../engine/run/leased_bucket.h"
#include "test.h"

static void a_bucket_is_complete_when_all_that_was_read_is_written(void)
{
    struct leased_bucket b = { .saw_all = true, .nread = 7, .ntouched = 6 };
    CU_ASSERT_FALSE(leased_bucket_is_complete(&b));
    b.ntouched = 7;
    CU_ASSERT_TRUE(leased_bucket_is_complete(&b));
    b.saw_all = false;
    CU_ASSERT_FALSE(leased_bucket_is_complete(&b));
}

static void a_bucket_with_skipped_rows_ends_but_is_not_complete(void)
{
    struct leased_bucket b = { .saw_all = true };
    leased_bucket_skip(&b, 3);
    CU_ASSERT_EQUAL(b.counts.locked, 3);
    CU_ASSERT_TRUE(leased_bucket_ends_anyway(&b));
    CU_ASSERT_FALSE(leased_bucket_is_complete(&b));
    CU_ASSERT_FALSE(b.exhausted);
    leased_bucket_skip_rest(&b);
    CU_ASSERT_TRUE(b.exhausted);
}

/* Rows of other jobs were not read. */
static void a_bucket_of_which_only_own_jobs_were_read_ends_but_is_not_complete(void)
{
    struct leased_bucket b = { .saw_all = true, .nread = 7, .ntouched = 7, .reads_own = true };
    CU_ASSERT_TRUE(leased_bucket_ends_anyway(&b));
    CU_ASSERT_FALSE(leased_bucket_is_complete(&b));
}

/* The store is given their names, so that it knows that nothing else is left. */
static void unknown_jobs_are_named_once_each(void)
{
    struct leased_bucket b = { 0 };
    for (int i = 0; i < 100; i++)
        leased_bucket_skip_job(&b, i % 2 ? "a" : "b");
    CU_ASSERT_EQUAL(b.nunknown_jobs, 2);
    CU_ASSERT_FALSE(b.finish_anyway);
    leased_bucket_release(&b);
}

static void with_too_many_unknown_jobs_the_bucket_ends_whatever_is_in_it(void)
{
    struct leased_bucket b = { 0 };
    for (int i = 0; i <= UNKNOWN_JOBS_MAX; i++) {
        char name[16];
        CU_ASSERT_FALSE(b.finish_anyway);
        snprintf(name, sizeof name, "job%d", i);
        leased_bucket_skip_job(&b, name);
    }
    CU_ASSERT_EQUAL(b.nunknown_jobs, UNKNOWN_JOBS_MAX);
    CU_ASSERT_TRUE(b.finish_anyway);
    leased_bucket_release(&b);
}

/* A row that no settle moves would keep the lane at it for ever. */
static void a_bucket_goes_on_while_something_is_settled_and_ends_after_many_rounds_without(void)
{
    struct leased_bucket b = { .exhausted = true };
    for (int i = 0; i < 2 * ROUNDS_MAX; i++) {
        b.ntouched++;
        leased_bucket_go_on(&b);
        CU_ASSERT_FALSE(b.exhausted);
        CU_ASSERT_FALSE(leased_bucket_ends_anyway(&b));
    }
    for (int i = 0; i < ROUNDS_MAX; i++) {
        CU_ASSERT_FALSE(leased_bucket_ends_anyway(&b));
        leased_bucket_go_on(&b);
    }
    CU_ASSERT_TRUE(leased_bucket_ends_anyway(&b));
}

static const struct test tests[] = {
    TEST(a_bucket_is_complete_when_all_that_was_read_is_written),
    TEST(a_bucket_with_skipped_rows_ends_but_is_not_complete),
    TEST(a_bucket_of_which_only_own_jobs_were_read_ends_but_is_not_complete),
    TEST(unknown_jobs_are_named_once_each),
    TEST(with_too_many_unknown_jobs_the_bucket_ends_whatever_is_in_it),
    TEST(a_bucket_goes_on_while_something_is_settled_and_ends_after_many_rounds_without),
    { NULL, NULL },
};
const struct suite suite_leased_bucket = { "leased_bucket", NULL, NULL, tests };
