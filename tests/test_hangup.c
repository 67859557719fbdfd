/* test_hangup.c - a wish that settings are read again, or the end of a terminal. */
#include "../engine/base/hangup.h"
#include "test.h"

enum { NOW_US = 100 * 1000 * 1000 };

static void who_has_no_terminal_reads_settings_again(void)
{
    struct hangup service = { 0 };
    CU_ASSERT_EQUAL(hangup_came(&service, false, true, NOW_US), HANGUP_RENEWS);
    CU_ASSERT_EQUAL(hangup_came(&service, true, true, NOW_US), HANGUP_ENDS);
}

static void a_shell_passes_the_end_of_its_terminal_on(void)
{
    struct hangup job = { .gone_us = NOW_US - 1000 };
    CU_ASSERT_EQUAL(hangup_came(&job, false, true, NOW_US), HANGUP_ENDS);
    CU_ASSERT_EQUAL(hangup_came(&job, true, true, NOW_US), HANGUP_ENDS);
}

/* A shell that sends nothing leaves it running; somebody else sends that, later. */
static void long_after_a_terminal_a_signal_is_a_wish(void)
{
    struct hangup job = { .gone_us = NOW_US - 10 * 1000 * 1000 };
    CU_ASSERT_EQUAL(hangup_came(&job, false, true, NOW_US), HANGUP_RENEWS);
}

static void under_nohup_it_outlives_its_terminal(void)
{
    struct hangup job = { .is_ignored = true, .gone_us = NOW_US - 1000 };
    CU_ASSERT_EQUAL(hangup_came(&job, false, true, NOW_US), HANGUP_NOTHING);
    CU_ASSERT_EQUAL(hangup_came(&job, true, true, NOW_US), HANGUP_NOTHING);
    CU_ASSERT_EQUAL(hangup_came(&job, false, true, NOW_US + 10 * 1000 * 1000), HANGUP_RENEWS);
}

static void a_command_that_reads_no_settings_again_ends_but_under_nohup(void)
{
    struct hangup command = { 0 };
    CU_ASSERT_EQUAL(hangup_came(&command, false, false, NOW_US), HANGUP_ENDS);
    command.is_ignored = true;
    CU_ASSERT_EQUAL(hangup_came(&command, false, false, NOW_US), HANGUP_NOTHING);
    CU_ASSERT_EQUAL(hangup_came(&command, true, false, NOW_US), HANGUP_NOTHING);
}

static const struct test tests[] = {
    TEST(who_has_no_terminal_reads_settings_again),
    TEST(a_shell_passes_the_end_of_its_terminal_on),
    TEST(long_after_a_terminal_a_signal_is_a_wish),
    TEST(under_nohup_it_outlives_its_terminal),
    TEST(a_command_that_reads_no_settings_again_ends_but_under_nohup),
    { NULL, NULL },
};

const struct suite suite_hangup = { "hangup", NULL, NULL, tests };
