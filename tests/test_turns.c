/* test_turns.c - whose turn it is: by what each has had, and by weight. */
#include "../engine/rules/turns.h"
#include "test.h"

static int64_t tags[3];
static const int32_t weights[] = { 100, 200, 100 };

static struct turns begin(const int32_t *w)
{
    for (int i = 0; i < 3; i++)
        tags[i] = 0;
    return (struct turns){ .n = 3, .tags = tags, .weights = w };
}

/* One turn: who it was. */
static int turn(struct turns *t, const bool *waits, int64_t us)
{
    int who = turns_next(t, waits);
    if (who < 0)
        return who;
    turns_reach(t, turns_tag(t, who));
    turns_give(t, who, us);
    return who;
}

static void each_gets_its_part_by_weight(void)
{
    static const bool all[] = { true, true, true };
    struct turns t = begin(weights);
    int got[3] = { 0 };
    for (int i = 0; i < 400; i++)
        got[turn(&t, all, 1000)]++;
    CU_ASSERT_EQUAL(got[0], 100);
    CU_ASSERT_EQUAL(got[1], 200);
    CU_ASSERT_EQUAL(got[2], 100);
}

static void long_turns_are_fewer(void)
{
    static const bool two[] = { true, false, true };
    struct turns t = begin(NULL);
    int got[3] = { 0 };
    for (int i = 0; i < 500; i++) {
        int who = turns_next(&t, two);
        turns_reach(&t, turns_tag(&t, who));
        turns_give(&t, who, who == 0 ? 4000 : 1000);
        got[who]++;
    }
    CU_ASSERT_EQUAL(got[0], 100);
    CU_ASSERT_EQUAL(got[1], 0);
    CU_ASSERT_EQUAL(got[2], 400);
}

static void nobody_waits(void)
{
    static const bool none[] = { false, false, false };
    struct turns t = begin(weights);
    CU_ASSERT_EQUAL(turn(&t, none, 1), -1);
}

/* Else it would have all workers for as long as it has rested. */
static void rest_earns_nothing(void)
{
    static const bool one[] = { true, false, false }, both[] = { true, false, true };
    struct turns t = begin(NULL);
    for (int i = 0; i < 1000; i++)
        turn(&t, one, 1000);
    int got[3] = { 0 };
    for (int i = 0; i < 10; i++)
        got[turn(&t, both, 1000)]++;
    CU_ASSERT_TRUE(got[0] >= 4 && got[2] >= 5);
}

static void what_was_not_used_is_given_back(void)
{
    static const bool both[] = { true, false, true };
    struct turns t = begin(NULL);
    CU_ASSERT_EQUAL(turn(&t, both, 5000), 0);
    turns_give(&t, 0, -4999);
    CU_ASSERT_EQUAL(turn(&t, both, 1000), 2);
    CU_ASSERT_EQUAL(turn(&t, both, 1000), 0);
    CU_ASSERT_EQUAL(turns_tag(&t, 0), turns_cost(1, 1001));
}

static const struct test tests[] = {
    TEST(each_gets_its_part_by_weight),
    TEST(long_turns_are_fewer),
    TEST(nobody_waits),
    TEST(rest_earns_nothing),
    TEST(what_was_not_used_is_given_back),
    { 0 }
};
const struct suite suite_turns = { "turns", NULL, NULL, tests };
