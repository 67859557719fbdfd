/* test_measuring.c - when an engine asks for metrics, and what is written when no answer comes. */
#include "../engine/run/measuring.h"
#include "test.h"

#define S INT64_C(1000000)
#define MINUTE (60 * S)

static struct { int written, away; } seen;

static void note(void *ctx, const struct store_rows *rows)
{
    (void)ctx;
    seen.written += rows != NULL;
    seen.away += rows == NULL;
}

static struct measuring begin(void)
{
    struct measuring m;
    seen.written = seen.away = 0;
    CU_ASSERT_EQUAL_FATAL(measuring_init(&m, &(struct metrics_writer){ .write = note }), 0);
    return m;
}

static void a_daemon_begins_with_it_and_goes_on_each_minute(void)
{
    struct measuring m = begin();
    struct store_rows rows = { 0 };
    CU_ASSERT_TRUE(measuring_is_due(&m, 5 * S, true));
    measuring_came(&m, 6 * S, &rows);
    CU_ASSERT_FALSE(measuring_is_due(&m, 6 * S + MINUTE - 1, true));
    CU_ASSERT_TRUE(measuring_is_due(&m, 6 * S + MINUTE, true));
    CU_ASSERT(seen.written == 1 && seen.away == 0);
    measuring_release(&m);
}

static void a_command_waits_a_minute(void)
{
    struct measuring m = begin();
    CU_ASSERT_FALSE(measuring_is_due(&m, 5 * S, false));
    CU_ASSERT_TRUE(measuring_is_due(&m, 5 * S + MINUTE, false));
    measuring_release(&m);
}

/* A lane that backs off asks nothing: what was written before would stand there for ever. */
static void without_an_answer_for_a_minute_the_store_is_away(void)
{
    struct measuring m = begin();
    struct store_rows rows = { 0 };
    CU_ASSERT_TRUE(measuring_is_due(&m, 5 * S, true));
    CU_ASSERT_TRUE(measuring_is_due(&m, 5 * S + MINUTE - 1, true));
    CU_ASSERT_EQUAL(seen.away, 0);
    CU_ASSERT_TRUE(measuring_is_due(&m, 5 * S + MINUTE, true));
    CU_ASSERT_TRUE(measuring_is_due(&m, 5 * S + MINUTE + 1, true));
    CU_ASSERT_EQUAL(seen.away, 1);
    CU_ASSERT_TRUE(measuring_is_due(&m, 5 * S + 2 * MINUTE, true));
    CU_ASSERT_EQUAL(seen.away, 2);
    measuring_came(&m, 5 * S + 2 * MINUTE, &rows);
    CU_ASSERT_EQUAL(seen.written, 1);
    measuring_release(&m);
}

static void a_failure_is_tried_again_in_a_minute(void)
{
    struct measuring m = begin();
    CU_ASSERT_TRUE(measuring_is_due(&m, 5 * S, true));
    measuring_came(&m, 5 * S, NULL);
    CU_ASSERT_EQUAL(seen.away, 1);
    CU_ASSERT_FALSE(measuring_is_due(&m, 6 * S, true));
    CU_ASSERT_TRUE(measuring_is_due(&m, 5 * S + MINUTE, true));
    measuring_release(&m);
}

static void who_does_not_want_it_is_never_asked(void)
{
    struct measuring m;
    CU_ASSERT_EQUAL(measuring_init(&m, &(struct metrics_writer){ 0 }), 0);
    CU_ASSERT_FALSE(measuring_is_wanted(&m));
    CU_ASSERT_FALSE(measuring_is_due(&m, 5 * S, true));
    CU_ASSERT_FALSE(measuring_is_due(&m, 5 * S + 10 * MINUTE, true));
    measuring_release(&m);
}

static const struct test tests[] = {
    TEST(a_daemon_begins_with_it_and_goes_on_each_minute),
    TEST(a_command_waits_a_minute),
    TEST(without_an_answer_for_a_minute_the_store_is_away),
    TEST(a_failure_is_tried_again_in_a_minute),
    TEST(who_does_not_want_it_is_never_asked),
    { NULL, NULL },
};

const struct suite suite_measuring = { .name = "measuring", .tests = tests };
