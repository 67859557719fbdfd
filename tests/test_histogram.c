/* test_histogram.c - durations are counted in classes, whose middle is close to each of them. */
#include "../engine/rules/histogram.h"
#include "test.h"

static void each_duration_is_near_the_middle_of_its_class(void)
{
    for (int64_t us = 0; us < INT64_C(1) << 50; us += 1 + us / 999) {
        int64_t off = histogram_middle_us(histogram_class(us)) - us;
        if (off * 16 > us || off * 16 < -us) {
            printf("      %lld us: off by %lld\n", (long long)us, (long long)off);
            CU_FAIL("a sixteenth at most");
            return;
        }
    }
}

static void classes_rise_one_by_one(void)
{
    int before = 0;
    for (int64_t us = 0; us < 1 << 20; us++) {
        int class = histogram_class(us);
        CU_ASSERT_FATAL(class == before || class == before + 1);
        before = class;
    }
}

static void the_middle_of_a_class_is_in_it(void)
{
    for (int class = 0; class < HISTOGRAM_CLASSES; class++)
        CU_ASSERT_EQUAL(histogram_class(histogram_middle_us(class)), class);
}

static void what_is_too_long_or_too_short_has_a_class(void)
{
    CU_ASSERT_EQUAL(histogram_class(-1), 0);
    CU_ASSERT_EQUAL(histogram_class(INT64_MIN), 0);
    CU_ASSERT_EQUAL(histogram_class(INT64_MAX), HISTOGRAM_CLASSES - 1);
}

/* A metric counts what lay below a bound: of two in one class both do, or none. */
static void a_bound_splits_no_class(void)
{
    for (int bound = 0; bound < HISTOGRAM_BOUNDS; bound++) {
        int64_t us = histogram_bound_us(bound);
        CU_ASSERT_EQUAL(histogram_bound(histogram_class(us - 1)), bound);
        CU_ASSERT_EQUAL(histogram_bound(histogram_class(us)), bound + 1);
    }
}

static void what_is_below_or_above_all_bounds_has_one(void)
{
    CU_ASSERT_EQUAL(histogram_bound(0), 0);
    CU_ASSERT_EQUAL(histogram_bound(HISTOGRAM_CLASSES - 1), HISTOGRAM_BOUNDS);
    CU_ASSERT_EQUAL(histogram_bound_us(0), 1024);
}

static const struct test tests[] = {
    TEST(a_bound_splits_no_class),
    TEST(what_is_below_or_above_all_bounds_has_one),
    TEST(each_duration_is_near_the_middle_of_its_class),
    TEST(classes_rise_one_by_one),
    TEST(the_middle_of_a_class_is_in_it),
    TEST(what_is_too_long_or_too_short_has_a_class),
    { NULL, NULL },
};

const struct suite suite_histogram = { .name = "histogram", .tests = tests };
