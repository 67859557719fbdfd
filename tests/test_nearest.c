/* test_nearest.c - the distance of two words, and which known word a misspelt one is taken for. */
#include "test.h"

#include <string.h>
#include "../engine/base/nearest.h"

static void distance_counts_changes_and_swaps(void)
{
    CU_ASSERT_EQUAL(nearest_distance("list", "list"), 0);
    CU_ASSERT_EQUAL(nearest_distance("lsit", "list"), 1);
    CU_ASSERT_EQUAL(nearest_distance("", "list"), 4);
    CU_ASSERT_EQUAL(nearest_distance("enque", "enqueue"), 2);
}

static void distance_is_the_same_in_both_directions(void)
{
    CU_ASSERT_EQUAL(nearest_distance("workers_max", "worker_max"), 1);
    CU_ASSERT_EQUAL(nearest_distance("worker_max", "workers_max"), 1);
}

static void words_of_any_length_are_compared(void)
{
    char a[200], b[200];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    a[199] = b[199] = '\0';
    CU_ASSERT_EQUAL(nearest_distance(a, a), 0);
    CU_ASSERT_EQUAL(nearest_distance(a, b), 40);
}

static const char *meant(const char *wanted)
{
    static const char *const known[] = { "list", "slots", "enqueue", "reschedule" };
    struct nearest near = { .wanted = wanted };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        nearest_look(&near, known[i]);
    return nearest_word(&near);
}

static void the_nearest_word_is_suggested(void)
{
    CU_ASSERT_STRING_EQUAL(meant("lsit"), "list");
    CU_ASSERT_STRING_EQUAL(meant("enque"), "enqueue");
    CU_ASSERT_STRING_EQUAL(meant("shedule"), "reschedule");
}

static void a_word_that_is_far_from_all_suggests_nothing(void)
{
    CU_ASSERT_PTR_NULL(meant("frobnicate"));
    CU_ASSERT_PTR_NULL(meant("lo"));
}

static void nothing_known_suggests_nothing(void)
{
    struct nearest near = { .wanted = "list" };
    CU_ASSERT_PTR_NULL(nearest_word(&near));
}

static const struct test tests[] = {
    TEST(distance_counts_changes_and_swaps),
    TEST(distance_is_the_same_in_both_directions),
    TEST(words_of_any_length_are_compared),
    TEST(the_nearest_word_is_suggested),
    TEST(a_word_that_is_far_from_all_suggests_nothing),
    TEST(nothing_known_suggests_nothing),
    { NULL, NULL },
};

const struct suite suite_nearest = { .name = "nearest", .tests = tests };
