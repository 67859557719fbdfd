/* test_http_parameters.c - how the looks of a request for rows of the past share its time. */
#include "../engine/http/parameters.h"

#include "test.h"

static void looks_have_equal_shares_and_what_others_have_left(void)
{
    CU_ASSERT_EQUAL(parameters_share_ms(200000, 1), 200);
    CU_ASSERT_EQUAL(parameters_share_ms(200000, 4), 50);
    /* the first of two was over at once, or has taken all of its share */
    CU_ASSERT_EQUAL(parameters_share_ms(199000, 1), 199);
    CU_ASSERT_EQUAL(parameters_share_ms(100000, 1), 100);
}

static void each_look_has_some_time(void)
{
    CU_ASSERT_EQUAL(parameters_share_ms(0, 3), PARAMETERS_PART_MS_LEAST);
    CU_ASSERT_EQUAL(parameters_share_ms(-70000, 1), PARAMETERS_PART_MS_LEAST);
    CU_ASSERT_EQUAL(parameters_share_ms(50000, 0), 50);
    CU_ASSERT_EQUAL(parameters_share_ms(50000, -2), 50);
}

static void a_request_gives_out_no_more_than_it_has(void)
{
    struct asking a = { .parts_looking = 3 };
    int64_t given = parameters_look_ms(&a) * 3;
    CU_ASSERT(given > 0 && given <= PARAMETERS_PARTS_MS);
    CU_ASSERT(parameters_look_ms(&a) <= PARAMETERS_PARTS_MS / 2);
    CU_ASSERT(parameters_look_ms(&a) <= PARAMETERS_PARTS_MS);
}

static const struct test tests[] = {
    TEST(looks_have_equal_shares_and_what_others_have_left),
    TEST(each_look_has_some_time),
    TEST(a_request_gives_out_no_more_than_it_has),
    { 0 }
};

const struct suite suite_http_parameters = { "http_parameters", NULL, NULL, tests };
