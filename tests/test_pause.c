/* test_pause.c - which checks a pause holds, and where they go when it is over. */
#include "test.h"

#include "../engine/rules/guard.h"
#include "../engine/rules/pause.h"
#include "../engine/rules/slot.h"

#define LENGTH 900
#define SLOT INT64_C(1772370900)
#define DAY 86400

static struct pause list[] = {
    { SLOT_PAUSES_FROM + 5 * DAY, PAUSE_ENTITY, "orders", true, false },
    { SLOT_PAUSES_FROM + 2 * DAY, PAUSE_JOB, "look", true, false },
    { SLOT_PAUSES_FROM + 1 * DAY, PAUSE_JOB, "look", false, true },
    { SLOT_PAUSES_FROM + 9 * DAY, PAUSE_JOB, "a", true, false },
    { SLOT_PAUSES_FROM + 7 * DAY, PAUSE_ENTITY, "look", true, false },
    { SLOT_PAUSES_FROM + 3 * DAY, PAUSE_SCHEDULE, "say \"hi\"", true, false },
};
static struct pauses pauses = { .all = list, .n = sizeof list / sizeof *list };

static int day_of(const char *entity, const char *job)
{
    struct check c = { .entity_name = entity, .entity_key = "1", .job_exec = job };
    int64_t slot = pauses_find(&pauses, &c);
    return slot ? (int)((slot - SLOT_PAUSES_FROM) / DAY) : -1;
}

static void a_check_is_held_by_its_job_or_its_entity(void)
{
    pauses_sort(&pauses);
    CU_ASSERT_EQUAL(day_of("customers", "look"), 2);
    CU_ASSERT_EQUAL(day_of("customers", "a"), 9);
    CU_ASSERT_EQUAL(day_of("orders", "another"), 5);
    CU_ASSERT_EQUAL(day_of("look", "orders"), 7);
    CU_ASSERT_EQUAL(day_of("customers", "another"), -1);
    CU_ASSERT_EQUAL(day_of("order", "loo"), -1);
}

static void of_two_pauses_the_first_holds_it(void)
{
    pauses_sort(&pauses);
    CU_ASSERT_EQUAL(day_of("orders", "look"), 2);
    CU_ASSERT_EQUAL(day_of("orders", "a"), 5);
}

static int day_of_terms(const char *job, const char *terms)
{
    struct check c = { .entity_name = "shops", .entity_key = "1", .job_exec = job, .terms = terms };
    int64_t slot = pauses_find(&pauses, &c);
    return slot ? (int)((slot - SLOT_PAUSES_FROM) / DAY) : -1;
}

static void a_check_is_held_by_its_schedule(void)
{
    pauses_sort(&pauses);
    CU_ASSERT_EQUAL(day_of_terms("sync", "schedule \"say \"\"hi\"\"\" every 300"), 3);
    CU_ASSERT_EQUAL(day_of_terms("sync", "schedule \"look\" every 300"), -1);
    CU_ASSERT_EQUAL(day_of_terms("look", "schedule \"say \"\"hi\"\"\" every 300"), 2);
    CU_ASSERT_EQUAL(day_of_terms("a", "schedule \"say \"\"hi\"\"\" every 300"), 3);
    CU_ASSERT_EQUAL(day_of_terms("sync", "words of a later version"), -1);
    CU_ASSERT_EQUAL(day_of_terms("a", "words of a later version"), 9);
}

static void a_check_is_held_by_its_tenant(void)
{
    struct pause paused = { SLOT_PAUSES_FROM, PAUSE_TENANT, "acme", true, false };
    struct pauses one = { .all = &paused, .n = 1 };
    struct check c = { .entity_name = "acme", .entity_key = "1", .job_exec = "acme" };
    CU_ASSERT_EQUAL(pauses_find(&one, &c), 0);          /* its entity is paused as one */
    c.tenant = "another";
    CU_ASSERT_EQUAL(pauses_find(&one, &c), 0);
    c.tenant = "acme";
    CU_ASSERT_EQUAL(pauses_find(&one, &c), SLOT_PAUSES_FROM);
}

static void a_pause_that_was_resumed_holds_nothing(void)
{
    struct pause ending = { SLOT_PAUSES_FROM, PAUSE_JOB, "look", false, false };
    struct check c = { .entity_name = "orders", .entity_key = "1", .job_exec = "look" };
    CU_ASSERT_EQUAL(pauses_find(&(struct pauses){ .all = &ending, .n = 1 }, &c), 0);
    CU_ASSERT_EQUAL(pauses_find(&(struct pauses){ 0 }, &c), 0);
    struct pauses one = { .all = &ending, .n = 1 };
    CU_ASSERT_PTR_EQUAL(pauses_of_slot(&one, SLOT_PAUSES_FROM), &ending);
    CU_ASSERT_PTR_NULL(pauses_of_slot(&one, SLOT_PAUSES_FROM + DAY));
}

static void names_are_those_of_the_stores(void)
{
    for (int i = 0; i < PAUSE_WHATS; i++)
        CU_ASSERT_EQUAL(pause_what_of(pause_what_name((enum pause_what)i)), (enum pause_what)i);
    CU_ASSERT_EQUAL(pause_what_of("schedules"), PAUSE_WHATS);
}

static struct guard_input paused(int64_t now)
{
    return (struct guard_input){ .now = now, .check_count = 3, .failure_count = 1, .deferred_at = now - 5,
                                 .slot = SLOT, .put_off_at = SLOT - LENGTH };
}

/* Neither counted nor late: the time of a pause is nobody's. */
static void a_paused_check_keeps_its_counts_and_is_not_late(void)
{
    struct guard_input in = paused(SLOT + 1);
    struct verdict v = guard_pause(&in, SLOT_PAUSES_FROM);
    CU_ASSERT(!v.ends && v.next_at == SLOT_PAUSES_FROM && v.outcome == OUTCOME_PAUSED);
    CU_ASSERT(v.check_count == 3 && v.failure_count == 1);
    CU_ASSERT(!v.put_off_at && !v.deferred_at);
}

static void resumed_checks_have_the_seconds_of_the_next_slot(void)
{
    struct guard_input in = paused(SLOT + 1);
    int each[LENGTH] = { 0 };
    for (uint64_t id = 1; id <= 10 * LENGTH; id++) {
        struct verdict v = guard_resume(&in, LENGTH, id);
        CU_ASSERT_FATAL(!v.ends && v.next_at >= SLOT + LENGTH && v.next_at < SLOT + 2 * LENGTH);
        each[v.next_at - SLOT - LENGTH]++;
    }
    for (int i = 0; i < LENGTH; i++)
        CU_ASSERT_EQUAL(each[i], 10);
    CU_ASSERT_EQUAL(guard_resume(&in, LENGTH, 0).next_at, SLOT + LENGTH);
    CU_ASSERT_EQUAL(guard_resume(&in, 1, 77).next_at, SLOT + 2);
    CU_ASSERT_EQUAL(guard_resume(&in, 1, UINT64_MAX).next_at, SLOT + 2);
}

static void no_answer_reaches_the_years_of_pauses(void)
{
    struct guard_policy policy = { .slot_length_s = 86400, .horizon_s = INT64_MAX, .max_checks = 9 };
    struct guard_input in = { .answer = ANSWER_AGAIN, .now = SLOT, .at = SLOT_PAUSES_FROM - 1, .slot = SLOT };
    CU_ASSERT(guard_judge(&policy, &in).ends);
    in.answer = ANSWER_DEFER;
    CU_ASSERT(guard_judge(&policy, &in).next_at < SLOT_PAUSES_FROM);
}

static const struct test tests[] = {
    TEST(a_check_is_held_by_its_job_or_its_entity),
    TEST(a_check_is_held_by_its_schedule),
    TEST(a_check_is_held_by_its_tenant),
    TEST(of_two_pauses_the_first_holds_it),
    TEST(a_pause_that_was_resumed_holds_nothing),
    TEST(names_are_those_of_the_stores),
    TEST(a_paused_check_keeps_its_counts_and_is_not_late),
    TEST(resumed_checks_have_the_seconds_of_the_next_slot),
    TEST(no_answer_reaches_the_years_of_pauses),
    { 0 }
};

const struct suite suite_pause = { "pause", NULL, NULL, tests };
