/* test_halving.c - a refused page is halved down to the guilty one, with pauses that grow. */
#include "../engine/rules/halving.h"
#include "test.h"

/* Hands over `n` things of which `guilty` is refused (-1: none). Returns how often it took until
 * all were taken or the guilty one was found, at *found. */
static int hand_over(struct halving *h, int n, int guilty, int *found)
{
    int at = 0, times = 0;
    *found = -1;
    while (at < n && times < 1000) {
        int size = h->size < n - at ? h->size : n - at;
        times++;
        if (guilty < at || guilty >= at + size) {
            halving_done(h, size);
            at += size;
        } else if (halving_failed(h, size) == HALVING_GUILTY) {
            *found = at;
            return times;
        }
    }
    return times;
}

static void all_is_handed_over_at_once(void)
{
    struct halving h;
    int found;
    halving_init(&h, 100, 1);
    CU_ASSERT_EQUAL(hand_over(&h, 250, -1, &found), 3);
    CU_ASSERT_EQUAL(found, -1);
}

static void the_guilty_one_is_found_wherever_it_is(void)
{
    for (int guilty = 0; guilty < 250; guilty++) {
        struct halving h;
        int found, times;
        halving_init(&h, 100, 1);
        times = hand_over(&h, 250, guilty, &found);
        CU_ASSERT_EQUAL(found, guilty);
        CU_ASSERT_TRUE(times <= 2 + 2 * 8);         /* pages before it, and two for each half */
    }
}

static void one_that_is_alone_is_tried_so_often(void)
{
    struct halving h;
    halving_init(&h, 4, 3);
    CU_ASSERT_EQUAL(halving_failed(&h, 4), HALVING_AGAIN);
    CU_ASSERT_EQUAL(h.size, 2);
    CU_ASSERT_EQUAL(halving_failed(&h, 2), HALVING_AGAIN);
    CU_ASSERT_EQUAL(halving_failed(&h, 1), HALVING_AGAIN);
    CU_ASSERT_EQUAL(halving_failed(&h, 1), HALVING_AGAIN);
    CU_ASSERT_EQUAL(halving_failed(&h, 1), HALVING_GUILTY);
}

static void behind_the_guilty_one_pages_are_whole_again(void)
{
    struct halving h;
    halving_init(&h, 8, 1);
    halving_failed(&h, 8);
    halving_done(&h, 4);
    CU_ASSERT_EQUAL(h.size, 2);                     /* it is among the other four */
    halving_failed(&h, 2);
    CU_ASSERT_EQUAL(halving_failed(&h, 1), HALVING_GUILTY);
    halving_done(&h, 1);                            /* left out */
    CU_ASSERT_EQUAL(h.size, 8);
}

static void pauses_double_up_to_a_bound(void)
{
    struct halving h;
    halving_init(&h, 100, 3);
    CU_ASSERT_EQUAL(halving_pause_us(&h, 10, 35), 0);
    static const int64_t expected[] = { 10, 20, 35, 35 };
    for (int i = 0; i < 4; i++) {
        halving_failed(&h, 100);
        CU_ASSERT_EQUAL(halving_pause_us(&h, 10, 35), expected[i]);
    }
    halving_done(&h, 1);
    CU_ASSERT_EQUAL(halving_pause_us(&h, 10, 35), 0);
    CU_ASSERT_EQUAL(halving_failed(&h, 1), HALVING_AGAIN);
    CU_ASSERT_EQUAL(halving_pause_us(&h, 50, 35), 35);
}

static const struct test tests[] = {
    TEST(all_is_handed_over_at_once),
    TEST(the_guilty_one_is_found_wherever_it_is),
    TEST(one_that_is_alone_is_tried_so_often),
    TEST(behind_the_guilty_one_pages_are_whole_again),
    TEST(pauses_double_up_to_a_bound),
    { NULL, NULL },
};

const struct suite suite_halving = { .name = "halving", .tests = tests };
