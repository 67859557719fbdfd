/* test_withheld.c - when a reader of events that stays is told that some are withheld. */
#include "test.h"

#include "../engine/base/arena.h"
#include "../engine/cmd/withheld.h"

#define S INT64_C(1000000)

static void a_transaction_of_a_moment_is_not_told(void)
{
    struct withheld_watch w = { 0 };
    CU_ASSERT_TRUE(withheld_watch_is_due(&w, 1 * S));
    CU_ASSERT_FALSE(withheld_watch_saw(&w, "7301", 1 * S));
    CU_ASSERT_FALSE(withheld_watch_is_due(&w, 5 * S));
    CU_ASSERT_TRUE(withheld_watch_is_due(&w, 6 * S));
    CU_ASSERT_FALSE(withheld_watch_saw(&w, "7302", 6 * S));
    CU_ASSERT_FALSE(withheld_watch_saw(&w, NULL, 11 * S));
    CU_ASSERT_FALSE(withheld_watch_saw(&w, "7302", 16 * S));
}

static void one_that_stays_is_told_at_growing_pauses(void)
{
    struct withheld_watch w = { 0 };
    static const int64_t expected[] = { 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 8720, 12320 };
    size_t told = 0, all = sizeof expected / sizeof *expected;
    for (int64_t at = 0; at <= 12320 && told < all; at += 5) {
        if (!withheld_watch_saw(&w, "7301", 100 * S + at * S))
            continue;
        CU_ASSERT_EQUAL(at, expected[told]);
        told++;
    }
    CU_ASSERT_EQUAL(told, all);
}

static void another_one_begins_anew(void)
{
    struct withheld_watch w = { 0 };
    for (int64_t at = 0; at < 1000; at += 5)
        withheld_watch_saw(&w, "7301", at * S);
    CU_ASSERT_FALSE(withheld_watch_saw(&w, "9000", 1000 * S));
    CU_ASSERT_TRUE(withheld_watch_saw(&w, "9000", 1005 * S));
    CU_ASSERT_TRUE(withheld_watch_saw(&w, "9000", 1010 * S));
    CU_ASSERT_FALSE(withheld_watch_saw(&w, "9000", 1015 * S));
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *words(struct arena *a, const char *n, const char *by, const char *us)
{
    const char *names[] = { "events_withheld", "withheld_by", "withheld_us" };
    const char *cells[] = { n, by, us };
    enum cell_kind kinds[] = { CELL_NUMBER, CELL_TEXT, CELL_DURATION_US };
    struct store_rows rows = { .rows = 1, .columns = 3, .names = names, .kinds = kinds, .cells = cells };
    const char *said = withheld_words(a, &rows, " events");
    return said ? said : "none";
}

static void words_have_the_number_the_owner_and_the_age(void)
{
    struct arena *a = arena_new(1024);
    CU_ASSERT_STRING_EQUAL(words(a, "2", "process 15456", "8099999"), "2 events by process 15456, 8s");
    CU_ASSERT_STRING_EQUAL(words(a, "1000", "process 1", "90000000"),
                           "1000 or more events by process 1, 1m30s");
    CU_ASSERT_STRING_EQUAL(words(a, "3", "process 1", NULL),
                           "3 events by process 1, since when is not visible to this role");
    CU_ASSERT_STRING_EQUAL(words(a, "0", NULL, NULL), "none");
    arena_free(a);
}

static const struct test tests[] = {
    TEST(a_transaction_of_a_moment_is_not_told),
    TEST(one_that_stays_is_told_at_growing_pauses),
    TEST(another_one_begins_anew),
    TEST(words_have_the_number_the_owner_and_the_age),
    { NULL, NULL },
};
const struct suite suite_withheld = { .name = "withheld", .tests = tests };
