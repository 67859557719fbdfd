/* test_about.c - what a line of the log is about. */
#include "../engine/rules/about.h"

#include "test.h"

enum { SLOT = 900 * 1000 };

static void a_check_is_named_with_its_slot(void)
{
    struct check c = { .next_check_at = SLOT, .job_exec = "j", .entity_name = "orders", .entity_key = "42" };
    struct log_about about = about_check(&c);
    CU_ASSERT_EQUAL(about.slot, SLOT);
    CU_ASSERT_STRING_EQUAL(about.job, "j");
    CU_ASSERT_STRING_EQUAL(about.entity, "orders");
    CU_ASSERT_STRING_EQUAL(about.key, "42");
    CU_ASSERT_EQUAL(about_slot(SLOT).slot, SLOT);
    CU_ASSERT_EQUAL(about_job(SLOT, "j").slot, SLOT);
}

/* In the year 9000. Who looks for lines by their slot would find a time at which nothing was. */
static void of_a_paused_check_no_slot_is_told(void)
{
    struct check c = {
        .next_check_at = SLOT_PAUSES_FROM + 1, .job_exec = "j", .entity_name = "orders", .entity_key = "42"
    };
    struct log_about about = about_check(&c);
    CU_ASSERT_EQUAL(about.slot, 0);
    CU_ASSERT_STRING_EQUAL(about.job, "j");
    CU_ASSERT_STRING_EQUAL(about.key, "42");
    CU_ASSERT_EQUAL(about_slot(SLOT_PAUSES_FROM).slot, 0);
    CU_ASSERT_EQUAL(about_job(SLOT_PAUSES_FROM, "j").slot, 0);
}

static const struct test tests[] = {
    TEST(a_check_is_named_with_its_slot),
    TEST(of_a_paused_check_no_slot_is_told),
    { NULL, NULL },
};

const struct suite suite_about = { "about", NULL, NULL, tests };
