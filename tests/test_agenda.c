/* test_agenda.c - which alarm rings first, whatever was set, moved and unset before. */
#include <stdlib.h>

#include "../engine/base/agenda.h"
#include "test.h"

static void an_empty_agenda_never_rings(void)
{
    struct agenda agenda = { 0 };
    struct alarm alarm = { 0 };
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), INT64_MAX);
    agenda_unset(&agenda, &alarm);
    agenda_ring(&agenda, INT64_MAX);
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), INT64_MAX);
}

static void the_earliest_alarm_rings_first(void)
{
    struct agenda agenda = { 0 };
    struct alarm alarms[4] = { 0 };
    static const int64_t at[] = { 30, 10, 40, 20 };
    for (int i = 0; i < 4; i++)
        agenda_set(&agenda, &alarms[i], at[i]);
    for (int64_t next = 10; next <= 40; next += 10) {
        CU_ASSERT_EQUAL(agenda_next_us(&agenda), next);
        agenda_ring(&agenda, next);
    }
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), INT64_MAX);
}

static void an_alarm_that_is_set_again_moves(void)
{
    struct agenda agenda = { 0 };
    struct alarm a = { 0 }, b = { 0 };
    agenda_set(&agenda, &a, 10);
    agenda_set(&agenda, &b, 20);
    agenda_set(&agenda, &a, 30);
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), 20);
    agenda_set(&agenda, &a, 5);
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), 5);
    agenda_set(&agenda, &a, INT64_MAX);
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), 20);
    agenda_unset(&agenda, &b);
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), INT64_MAX);
}

static void alarms_ring_once(void)
{
    struct agenda agenda = { 0 };
    struct alarm a = { 0 }, b = { 0 }, c = { 0 };
    agenda_set(&agenda, &a, 10);
    agenda_set(&agenda, &b, 10);
    agenda_set(&agenda, &c, 11);
    agenda_ring(&agenda, 10);
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), 11);
    agenda_set(&agenda, &a, 7);
    CU_ASSERT_EQUAL(agenda_next_us(&agenda), 7);
}

/* Beside a plain table of the same alarms. */
static void it_agrees_with_a_search_of_all_after_any_changes(void)
{
    enum { ALARMS = 40, CHANGES = 20000 };
    static struct alarm alarms[ALARMS];
    int64_t at[ALARMS];
    struct agenda agenda = { 0 };
    for (int i = 0; i < ALARMS; i++)
        at[i] = INT64_MAX;
    srand(1);
    for (int n = 0; n < CHANGES; n++) {
        int i = rand() % ALARMS, what = rand() % 8;
        int64_t first = INT64_MAX;
        if (what == 0) {
            at[i] = INT64_MAX;
            agenda_unset(&agenda, &alarms[i]);
        } else if (what == 1) {
            int64_t now = rand() % 1000;
            agenda_ring(&agenda, now);
            for (int k = 0; k < ALARMS; k++)
                at[k] = at[k] <= now ? INT64_MAX : at[k];
        } else {
            at[i] = rand() % 1000;
            agenda_set(&agenda, &alarms[i], at[i]);
        }
        for (int k = 0; k < ALARMS; k++)
            first = at[k] < first ? at[k] : first;
        CU_ASSERT_EQUAL_FATAL(agenda_next_us(&agenda), first);
    }
}

static const struct test tests[] = {
    TEST(an_empty_agenda_never_rings),
    TEST(the_earliest_alarm_rings_first),
    TEST(an_alarm_that_is_set_again_moves),
    TEST(alarms_ring_once),
    TEST(it_agrees_with_a_search_of_all_after_any_changes),
    { NULL, NULL },
};
const struct suite suite_agenda = { "agenda", NULL, NULL, tests };
