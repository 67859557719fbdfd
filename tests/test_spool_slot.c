/* test_spool_slot.c - the names of a spool's folders. */
#include <string.h>
#include "../engine/rules/spool_slot.h"
#include "test.h"

static void a_slot_is_named_by_its_minute(void)
{
    char name[SPOOL_SLOT_SIZE];
    CU_ASSERT_TRUE(spool_slot_name(1795789500, name));
    CU_ASSERT_STRING_EQUAL(name, "2611271425");
    CU_ASSERT_TRUE(spool_slot_name(946684800, name));
    CU_ASSERT_STRING_EQUAL(name, "0001010000");
    CU_ASSERT_TRUE(spool_slot_name(4102444740, name));
    CU_ASSERT_STRING_EQUAL(name, "9912312359");
}

static void other_moments_have_no_name(void)
{
    const int64_t moments[] = { 1795789501, 946684799, 946684740, 4102444800, -60, INT64_MAX };
    char name[SPOOL_SLOT_SIZE];
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
        CU_ASSERT_FALSE(spool_slot_name(moments[i], name));
}

static void each_name_is_of_the_slot_that_it_names(void)
{
    char name[SPOOL_SLOT_SIZE];
    for (int64_t slot = 946684800; slot < 4102444800; slot += 60 * 1441 * 7) {
        int64_t found = 0;
        CU_ASSERT_TRUE(spool_slot_name(slot, name));
        CU_ASSERT_TRUE(spool_slot_of(name, &found));
        CU_ASSERT_EQUAL(found, slot);
    }
}

static void what_is_no_time_names_no_slot(void)
{
    const char *const names[] = { "", "done", "261127142", "26112714250", "261127142x", "2613011200",
                                  "2600011200", "2602301200", "2611001200", "2611272400", "2611271260",
                                  "-611271425", "2611271425 " };
    int64_t slot;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CU_ASSERT_FALSE(spool_slot_of(names[i], &slot));
    CU_ASSERT_TRUE(spool_slot_of("2402291200", &slot));         /* a leap day */
    CU_ASSERT_FALSE(spool_slot_of("2502291200", &slot));
}

static const struct test tests[] = {
    TEST(a_slot_is_named_by_its_minute),
    TEST(other_moments_have_no_name),
    TEST(each_name_is_of_the_slot_that_it_names),
    TEST(what_is_no_time_names_no_slot),
    { NULL, NULL },
};

const struct suite suite_spool_slot = { .name = "spool_slot", .tests = tests };
