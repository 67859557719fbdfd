/* test_pass_counts.c - counts of passes are added up, and put into words. */
#include "test.h"

#include <string.h>

#include "../engine/rules/pass_counts.h"
#include "../engine/run/counts.h"

/* Each count is another number. */
static struct pass_counts numbered(int64_t first)
{
    struct pass_counts c = { .late_us = first, .took_us = 100 - first };
#define PASS_COUNT(name, words) c.name = first++;
    PASS_COUNTS(PASS_COUNT)
#undef PASS_COUNT
    return c;
}

static void every_count_is_added_and_the_longer_time_stands(void)
{
    struct pass_counts sum = numbered(1), more = numbered(20);
    int64_t expected = 1 + 20;
    pass_counts_add(&sum, &more);
#define PASS_COUNT(name, words)                                                                              \
    CU_ASSERT_EQUAL(sum.name, expected);                                                                     \
    expected += 2;
    PASS_COUNTS(PASS_COUNT)
#undef PASS_COUNT
    CU_ASSERT_EQUAL(sum.late_us, 20);
    CU_ASSERT_EQUAL(sum.took_us, 99);
}

static void counts_with_the_same_words_are_told_as_one(void)
{
    char text[PASS_COUNTS_TEXT];
    struct pass_counts c = { .run = 10, .done = 7, .failed = 3, .held_back = 2, .unknown_job = 4 };
    c.locked = 9;
    CU_ASSERT_STRING_EQUAL(pass_counts_format(&c, text),
                           "10 run, 7 done, 0 again, 3 failed, 0 timeout, 0 crashed, 0 ended by a guard, "
                           "0 deferred, "
                           "6 put off, 0 busy, 0 superseded");
}

static void each_settlement_adds_to_the_count_of_its_outcome(void)
{
    struct pass_counts c = { 0 };
    for (int o = 0; o < OUTCOME_COUNT; o++)
        counts_add_settled(&c, &(struct settlement){ .outcome = (enum outcome)o, .ran = true });
    counts_add_settled(&c, &(struct settlement){ .outcome = OUTCOME_HELD_BACK });
    /* put off for too long: a guard ended it */
    counts_add_settled(&c, &(struct settlement){ .outcome = OUTCOME_UNKNOWN_JOB, .ends = true });
    CU_ASSERT_EQUAL(c.run, OUTCOME_COUNT);
    CU_ASSERT_EQUAL(c.done, 1);
    CU_ASSERT_EQUAL(c.guarded, 6);
    CU_ASSERT_EQUAL(c.failed, 2);
    CU_ASSERT_EQUAL(c.timeout, 1);
    CU_ASSERT_EQUAL(c.crashed, 1);
    CU_ASSERT_EQUAL(c.again, 1);
    CU_ASSERT_EQUAL(c.deferred, 1);
    /* of them two of a pause, in and out, and one of a broken job */
    CU_ASSERT_EQUAL(c.held_back, 7);
    CU_ASSERT_EQUAL(c.unknown_job, 1);
    CU_ASSERT_EQUAL(c.busy, 1);
    CU_ASSERT_EQUAL(c.superseded + c.locked, 0);
}

static void the_longest_numbers_fit(void)
{
    char text[PASS_COUNTS_TEXT];
    struct pass_counts c = { .run = INT64_MIN };
#define PASS_COUNT(name, words) c.name = INT64_MIN / 4;
    PASS_COUNTS(PASS_COUNT)
#undef PASS_COUNT
    CU_ASSERT(strlen(pass_counts_format(&c, text)) < PASS_COUNTS_TEXT - 1);
}

static const struct test tests[] = {
    TEST(every_count_is_added_and_the_longer_time_stands),
    TEST(counts_with_the_same_words_are_told_as_one),
    TEST(each_settlement_adds_to_the_count_of_its_outcome),
    TEST(the_longest_numbers_fit),
    { NULL, NULL },
};

const struct suite suite_pass_counts = { "pass_counts", NULL, NULL, tests };
