/* test_http_share.c - one peer never takes the last places. */
#include "../engine/http/share.h"
#include "test.h"

enum { MOST = 64, KEPT = MOST / SHARE_KEPT };

static void a_peer_alone_gets_all_but_the_last_places(void)
{
    int own = 0;
    while (share_is_left(MOST, own, own))
        own++;
    CU_ASSERT_EQUAL(own, MOST - KEPT);
}

static void beside_it_others_get_those(void)
{
    int own = 0;
    while (share_is_left(MOST, MOST - KEPT + own, own))
        own++;
    CU_ASSERT_EQUAL(own, KEPT);
}

static void of_two_that_have_half_each_none_gets_the_last_ones(void)
{
    int half = (MOST - KEPT) / 2;
    CU_ASSERT_FALSE(share_is_left(MOST, 2 * half, half));
    CU_ASSERT(share_is_left(MOST, 2 * half, 0));
}

static void what_is_all_taken_is_left_to_nobody(void)
{
    CU_ASSERT_FALSE(share_is_left(MOST, MOST, 0));
    CU_ASSERT_FALSE(share_is_left(0, 0, 0));
}

static const struct test tests[] = {
    TEST(a_peer_alone_gets_all_but_the_last_places),
    TEST(beside_it_others_get_those),
    TEST(of_two_that_have_half_each_none_gets_the_last_ones),
    TEST(what_is_all_taken_is_left_to_nobody),
    { NULL, NULL },
};

const struct suite suite_http_share = { .name = "http_share", .tests = tests };
