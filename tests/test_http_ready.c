/* test_http_ready.c - whether the store can be asked is known by the last answer, while that is
 * new. */
#include "../engine/http/ready.h"
#include "test.h"

#define S INT64_C(1000000)

static void what_the_store_has_said_stands_for_five_seconds(void)
{
    struct ready r = { .asked_us = 100 * S };
    CU_ASSERT_EQUAL(ready_judge(&r, 100 * S, 100 * S), READY_YES);
    CU_ASSERT_EQUAL(ready_judge(&r, 105 * S, 105 * S), READY_YES);
    CU_ASSERT_EQUAL(ready_judge(&r, 105 * S + 1, 105 * S + 1), READY_SILENT);
    r.failed = true;
    CU_ASSERT_EQUAL(ready_judge(&r, 101 * S, 101 * S), READY_AWAY);
    CU_ASSERT_EQUAL(ready_judge(&r, 106 * S, 106 * S), READY_SILENT);
}

static void who_comes_before_the_first_answer_waits_for_it(void)
{
    struct ready r = { 0 };
    CU_ASSERT_EQUAL(ready_judge(&r, 100 * S, 100 * S), READY_WAITS);
    CU_ASSERT_EQUAL(ready_judge(&r, 105 * S - 1, 100 * S), READY_WAITS);
    CU_ASSERT_EQUAL(ready_judge(&r, 105 * S, 100 * S), READY_SILENT);
}

static const struct test tests[] = {
    TEST(what_the_store_has_said_stands_for_five_seconds),
    TEST(who_comes_before_the_first_answer_waits_for_it),
    { NULL, NULL },
};

const struct suite suite_http_ready = { .name = "http_ready", .tests = tests };
