/* test_args.c - options and operands of a command line that was read. */
#include "test.h"

#include <string.h>
#include "../engine/cmd/args.h"
#include "../engine/cmd/command.h"

static const struct command_option from = { "from", 'f', "TIME", "" };
static const struct command_option limit = { "limit", 'l', "N", "" };
static const struct command_option wide = { "wide", 'w', NULL, "" };

static struct args_option given[] = {
    { &from, "-15m" }, { &limit, "7" }, { &wide, NULL }, { &limit, "12" }, { &from, "now" },
};
static char *operands[] = { (char *)"orders", (char *)"42", NULL };
static const struct args args = { given, 5, operands, 2 };

static void an_option_without_a_value_was_given_or_not(void)
{
    CU_ASSERT(args_has(&args, 'w'));
    CU_ASSERT_FALSE(args_has(&args, 'x'));
    CU_ASSERT_PTR_NULL(args_text(&args, 'x'));
    CU_ASSERT_PTR_NULL(args_name(&args, 'x'));
}

static void the_last_value_of_an_option_counts(void)
{
    int64_t n = 0;
    CU_ASSERT_STRING_EQUAL(args_text(&args, 'f'), "now");
    CU_ASSERT_EQUAL(args_number(&args, 'l', 1, 100, &n, NULL), 0);
    CU_ASSERT_EQUAL(n, 12);
}

static void of_several_options_the_last_one_is_found(void)
{
    CU_ASSERT_EQUAL(args_last(&args, "lw"), 'l');
    CU_ASSERT_EQUAL(args_last(&args, "flw"), 'f');
    CU_ASSERT_EQUAL(args_last(&args, "xyz"), '\0');
}

static void an_option_beyond_those_that_may_be_is_found(void)
{
    CU_ASSERT_PTR_EQUAL(args_beyond(&args, "lw"), &from);
    CU_ASSERT_PTR_EQUAL(args_beyond(&args, "wf"), &limit);
    CU_ASSERT_PTR_EQUAL(args_beyond(&args, ""), &from);
    CU_ASSERT_PTR_NULL(args_beyond(&args, "xfwl"));
}

static void a_number_that_was_not_given_stays_what_it_was(void)
{
    int64_t n = 99;
    CU_ASSERT_EQUAL(args_number(&args, 'x', 1, 100, &n, NULL), 0);
    CU_ASSERT_EQUAL(n, 99);
}

static void a_number_out_of_its_bounds_names_the_option(void)
{
    int64_t n = 99;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(args_number(&args, 'l', 1, 11, &n, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "--limit: found '12', expected a number from 1 to 11");
    CU_ASSERT_EQUAL(args_number(&args, 'f', 1, 11, &n, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "--from: found 'now', expected a number from 1 to 11");
    CU_ASSERT_EQUAL(n, 99);
}

static void there_are_as_many_operands_as_were_given(void)
{
    CU_ASSERT_STRING_EQUAL(args_operand(&args, 0), "orders");
    CU_ASSERT_STRING_EQUAL(args_operand(&args, 1), "42");
    CU_ASSERT_PTR_NULL(args_operand(&args, 2));
    CU_ASSERT_PTR_NULL(args_operand(&(struct args){ 0 }, 0));
}

static const struct test tests[] = {
    TEST(an_option_without_a_value_was_given_or_not),
    TEST(the_last_value_of_an_option_counts),
    TEST(of_several_options_the_last_one_is_found),
    TEST(an_option_beyond_those_that_may_be_is_found),
    TEST(a_number_that_was_not_given_stays_what_it_was),
    TEST(a_number_out_of_its_bounds_names_the_option),
    TEST(there_are_as_many_operands_as_were_given),
    { NULL, NULL },
};

const struct suite suite_args = { .name = "args", .tests = tests };
