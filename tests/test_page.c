/* test_page.c - checks on their way through a page: counts always add up, jobs stay side by side.
 */
#include "../engine/pool/page.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static int job_of(void *ctx, const char *name)
{
    (void)ctx;
    return name[0] == '?' ? -1 : name[0] - 'a';
}

/* One check a letter: its job. */
static struct page *page_of(const char *jobs)
{
    static const char *const names[] = { "a", "b", "c" };
    int n = (int)strlen(jobs);
    struct check *checks = calloc((size_t)n + 1, sizeof *checks);
    for (int i = 0; i < n; i++)
        checks[i] = (struct check){ .id = i + 1,
                                    .entity_name = "orders",
                                    .entity_name_len = 6,
                                    .job_exec_len = 1,
                                    .entity_key = "1",
                                    .job_exec = jobs[i] == '?' ? "?" : names[jobs[i] - 'a'] };
    struct check_rows rows = { .checks = checks, .n = n };
    return page_new(&rows, job_of, NULL, 1000);
}

static void give_next(struct page *p, const char *expected)
{
    for (; *expected; expected++) {
        int i = page_next(p, *expected - 'a', PAGE_ALL);
        CU_ASSERT_FATAL(i >= 0);
        CU_ASSERT_EQUAL(p->rows.checks[i].job_exec[0], *expected);
        page_give(p, i);
    }
}

/* By the places in the page, up to -1. */
static void gives(struct page *p, int job, const int *order)
{
    int i;
    do {
        i = page_next(p, job, PAGE_ALL);
        CU_ASSERT_EQUAL(i, *order);
        if (i >= 0)
            page_give(p, i);
    } while (*order++ >= 0 && i >= 0);
}

static void checks_of_one_job_are_given_side_by_side(void)
{
    struct page *p = page_of("abcabca");
    give_next(p, "aaabbcc");
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_ALL), -1);
    CU_ASSERT_EQUAL(p->counts[CHECK_GIVEN], 7);
    page_free(p);
}

/* In a slot that is not split they are read bucket by bucket. */
static void lower_priorities_are_given_first(void)
{
    struct check *checks = calloc(6, sizeof *checks);
    static const struct {
        const char *job;
        int32_t priority;
    } is[] = { { "b", 5 }, { "a", 9 }, { "a", -3 }, { "b", 9 }, { "a", 5 }, { "a", 9 } };
    for (int i = 0; i < 6; i++)
        checks[i] = (struct check){ .id = i + 1,
                                    .entity_name = "orders",
                                    .entity_name_len = 6,
                                    .job_exec_len = 1,
                                    .entity_key = "1",
                                    .job_exec = is[i].job,
                                    .priority = is[i].priority };
    struct check_rows rows = { .checks = checks, .n = 6 };
    struct page *p = page_new(&rows, job_of, NULL, 1000);
    gives(p, 0, (int[]){ 2, 4, 1, 5, -1 });
    gives(p, 1, (int[]){ 0, 3, -1 });
    page_free(p);
}

static void deliveries_can_be_given_apart_from_the_rest(void)
{
    struct page *p = page_of("abab");
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_DELIVERIES), -1);
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_OTHERS), 0);
    p->checks[0].is_delivery = p->checks[1].is_delivery = true;
    p->ndeliveries = 2;
    static const enum page_kinds kinds[] = { PAGE_OTHERS, PAGE_DELIVERIES, PAGE_ALL };
    static const int first_a[] = { 2, 0, 0 }, first_b[] = { 3, 1, 1 };
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(page_next(p, 0, kinds[i]), first_a[i]);
        CU_ASSERT_EQUAL(page_next(p, 1, kinds[i]), first_b[i]);
    }
    page_give(p, 0);
    page_give(p, 2);
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_ALL), -1);
    page_return(p, 0);
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_OTHERS), -1);
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_DELIVERIES), 0);
    page_free(p);
}

static void within_a_job_the_order_of_the_read_is_kept(void)
{
    struct page *p = page_of("baba");
    gives(p, 0, (int[]){ 1, 3, -1 });
    gives(p, 1, (int[]){ 0, 2, -1 });
    page_free(p);
}

static void tenants_of_a_job_take_turns(void)
{
    static const char *const names[] = { "big", "big", "big", "big", "small", "big", "small" };
    struct check *checks = calloc(7, sizeof *checks);
    for (int i = 0; i < 7; i++)
        checks[i] = (struct check){ .id = i + 1,
                                    .entity_name = names[i],
                                    .entity_name_len = (uint32_t)strlen(names[i]),
                                    .entity_key = "1",
                                    .job_exec = "a",
                                    .job_exec_len = 1 };
    struct check_rows rows = { .checks = checks, .n = 7 };
    struct page *p = page_new(&rows, job_of, NULL, 1000);
    gives(p, 0, (int[]){ 0, 4, 1, 6, 2, 3, 5, -1 });
    page_free(p);
}

/* Whose a check is, not what it is about. */
static void tenants_that_have_a_name_take_turns_whatever_their_entities(void)
{
    static const char *const tenants[] = { "big", "big", "big", NULL, "small", "big", NULL };
    struct check *checks = calloc(7, sizeof *checks);
    for (int i = 0; i < 7; i++)
        checks[i] = (struct check){ .id = i + 1,
                                    .entity_name = "big",
                                    .entity_name_len = 3,
                                    .tenant = tenants[i],
                                    .entity_key = "1",
                                    .job_exec = "a",
                                    .job_exec_len = 1 };
    struct check_rows rows = { .checks = checks, .n = 7 };
    struct page *p = page_new(&rows, job_of, NULL, 1000);
    gives(p, 0, (int[]){ 0, 3, 4, 1, 6, 2, 5, -1 });
    page_free(p);
}

static void equal_names_of_neighbours_are_one_text(void)
{
    static const char jobs[][2] = { "a", "a", "b" }, entities[][3] = { "xy", "xz", "xz" };
    static const char tenants[][2] = { "t", "t" };
    struct check *checks = calloc(3, sizeof *checks);
    for (int i = 0; i < 3; i++)
        checks[i] = (struct check){ .id = i + 1,
                                    .entity_name = entities[i],
                                    .entity_name_len = 2,
                                    .job_exec = jobs[i],
                                    .job_exec_len = 1,
                                    .tenant = i < 2 ? tenants[i] : NULL };
    struct check_rows rows = { .checks = checks, .n = 3 };
    struct page *p = page_new(&rows, job_of, NULL, 1000);
    const struct check *c = p->rows.checks;
    CU_ASSERT(c[1].job_exec == c[0].job_exec && c[2].job_exec != c[1].job_exec);
    CU_ASSERT(c[1].entity_name != c[0].entity_name && c[2].entity_name == c[1].entity_name);
    CU_ASSERT(c[1].tenant == c[0].tenant && !c[2].tenant);
    CU_ASSERT(p->checks[1].job == 0 && p->checks[2].job == 1);
    page_free(p);
}

static void a_job_that_the_page_does_not_know_has_none(void)
{
    struct page *p = page_of("?a?");
    CU_ASSERT_EQUAL(page_next(p, 2, PAGE_ALL), -1);
    gives(p, 0, (int[]){ 1, -1 });
    page_free(p);
}

static void a_returned_check_is_given_again_and_only_once(void)
{
    struct page *p = page_of("aaa");
    give_next(p, "aaa");
    page_return(p, 1);
    CU_ASSERT_EQUAL(page_waiting(p), 1);
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_ALL), 1);
    page_give(p, 1);
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_ALL), -1);
    CU_ASSERT_EQUAL(p->counts[CHECK_GIVEN], 3);
    page_free(p);
}

static void a_returned_check_that_was_answered_meanwhile_is_not_given(void)
{
    struct page *p = page_of("aa");
    give_next(p, "aa");
    page_return(p, 0);
    page_answer(p, 0, 5);
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_ALL), -1);
    page_free(p);
}

static void a_check_decided_without_a_worker_is_passed_over(void)
{
    struct page *p = page_of("aaa");
    page_answer(p, 0, 5);
    page_over(p, 1);
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_ALL), 2);
    CU_ASSERT_EQUAL(p->answered_us, 5);
    page_free(p);
}

static void a_page_is_over_when_every_check_is(void)
{
    struct page *p = page_of("a?");
    page_over(p, 1);
    CU_ASSERT_FALSE(page_is_over(p));
    give_next(p, "a");
    page_answer(p, 0, 1);
    page_settling(p, 0);
    page_unsettled(p, 0);
    CU_ASSERT_EQUAL(p->counts[CHECK_ANSWERED], 1);
    page_settling(p, 0);
    page_over(p, 0);
    CU_ASSERT_TRUE(page_is_over(p));
    page_free(p);
}

static void nothing_of_a_dropped_page_waits(void)
{
    struct page *p = page_of("aaa");
    p->dropped = true;
    CU_ASSERT_EQUAL(page_waiting(p), 0);
    page_free(p);
}

static void an_empty_page_is_over_at_once(void)
{
    struct page *p = page_of("");
    CU_ASSERT_EQUAL(page_next(p, 0, PAGE_ALL), -1);
    CU_ASSERT_TRUE(page_is_over(p));
    page_free(p);
}

/* Answered, come back unrun, or over with the page: none of them outlasts anything any more, and
 * what is given later does not either. */
static void only_what_is_given_at_that_moment_outlasts_it(void)
{
    struct page *p = page_of("aaaaa");
    give_next(p, "aaa");
    page_note_outlasting(p);
    CU_ASSERT_EQUAL(p->noutlasting, 3);
    give_next(p, "a");
    page_answer(p, 3, 1000);
    CU_ASSERT_EQUAL(p->noutlasting, 3);
    page_answer(p, 0, 1000);
    page_return(p, 1);
    CU_ASSERT_EQUAL(p->noutlasting, 1);
    page_give(p, 1);
    page_over(p, 2);
    CU_ASSERT_EQUAL(p->noutlasting, 0);
    page_note_outlasting(p);
    CU_ASSERT_EQUAL(p->noutlasting, 1);
    page_answer(p, 1, 1000);
    CU_ASSERT_EQUAL(p->noutlasting, 0);
    page_free(p);
}

static const struct test tests[] = {
    TEST(checks_of_one_job_are_given_side_by_side),
    TEST(lower_priorities_are_given_first),
    TEST(deliveries_can_be_given_apart_from_the_rest),
    TEST(within_a_job_the_order_of_the_read_is_kept),
    TEST(tenants_of_a_job_take_turns),
    TEST(tenants_that_have_a_name_take_turns_whatever_their_entities),
    TEST(equal_names_of_neighbours_are_one_text),
    TEST(a_job_that_the_page_does_not_know_has_none),
    TEST(a_returned_check_is_given_again_and_only_once),
    TEST(a_returned_check_that_was_answered_meanwhile_is_not_given),
    TEST(a_check_decided_without_a_worker_is_passed_over),
    TEST(a_page_is_over_when_every_check_is),
    TEST(nothing_of_a_dropped_page_waits),
    TEST(an_empty_page_is_over_at_once),
    TEST(only_what_is_given_at_that_moment_outlasts_it),
    { 0 }
};
const struct suite suite_page = { "page", NULL, NULL, tests };
