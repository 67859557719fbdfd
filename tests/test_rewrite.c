/* test_rewrite.c - what becomes of templates before jq compiles them, and what is refused. */
#include <stdio.h>
#include <string.h>
#include "../jobs/shared/template/rewrite.c"
#include "test.h"

static char why[256];
static const char *mark;

static bool becomes(enum rewrite_form form, const char *text, const char *expected)
{
    char *program = rewrite_template(text, form, mark, why, sizeof why);
    bool same = program && !strcmp(program, expected);
    if (!same)
        fprintf(stderr, "%s: found %s, expected %s\n", text, program ? program : why, expected);
    free(program);
    return same;
}

static bool refuses(enum rewrite_form form, const char *text, const char *words)
{
    char *program = rewrite_template(text, form, mark, why, sizeof why);
    bool refused = !program && !strcmp(why, words);
    if (!refused)
        fprintf(stderr, "%s: found %s, expected %s\n", text, program ? program : why, words);
    free(program);
    return refused;
}

static void in_a_text_only_interpolations_are_special(void)
{
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, "", "\"\""));
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, "a \"b\" \\n # env\n{", "\"a \\\"b\\\" \\\\n # env\n{\""));
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, "no \\(.x)!", "\"no \\((.x)|__given(\".x\"))!\""));
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, "\\\\(.x)", "\"\\\\\\((.x)|__given(\".x\"))\""));
    CU_ASSERT_TRUE(rewrite_is_fixed("a ( \\ ) \" b"));
    CU_ASSERT_FALSE(rewrite_is_fixed("a \\(1)"));
}

static void strings_within_interpolations_are_jq(void)
{
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, "\\(.x // \"-\\\")\")",
                           "\"\\((.x // \"-\\\")\")|"
                           "__given(\".x // \\\"-\\\\\\\")\\\"\"))\""));
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, "\\(\"<\\(.a)>\")",
                           "\"\\((\"<\\((.a)|__given(\".a\"))>\")|"
                           "__given(\"\\\"<\\\\(.a)>\\\"\"))\""));
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, "\\((1)+[2][0])", "\"\\(((1)+[2][0])|__given(\"(1)+[2][0]\"))\""));
}

static void a_program_keeps_its_words_and_loses_its_comments(void)
{
    CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, "{a: .b, c: 1e5} # env )\n| .c", "{a: .b, c: 1e5} \n| .c"));
    CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, "\"\\(.x)\\\"\"", "\"\\((.x)|__given(\".x\"))\\\"\""));
    CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, "@uri \"a\\(.x)\"", "@uri \"a\\((.x)|__given(\".x\"))\""));
}

static void a_long_interpolation_is_named_by_its_beginning(void)
{
    char text[300] = "\\(\"", expected[900] = "\"\\((\"";
    for (int i = 0; i < 50; i++) {
        strcat(text, "ä");
        strcat(expected, "ä");
    }
    strcat(text, "\")");
    strcat(expected, "\")|__given(\"\\\"");
    for (int i = 0; i < 39; i++)
        strcat(expected, "ä");
    strcat(expected, "\"))\"");
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, text, expected));
}

static void what_reads_more_than_the_check_is_refused(void)
{
    static const char *const names[] = {
        "import",  "include", "input",    "inputs",     "input_filename", "input_line_number", "env",
        "debug",   "stderr",  "halt",     "halt_error", "modulemeta",     "get_search_list",   "__loc__",
        "__given", "$ENV",    "$__loc__", "$__now",     "$__prog_args",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[64], words[96];
        snprintf(words, sizeof words, "line 1: %s may not be used in templates", names[i]);
        snprintf(text, sizeof text, "a \\(%s)", names[i]);
        CU_ASSERT_TRUE(refuses(REWRITE_TEXT, text, words));
        snprintf(text, sizeof text, "{a: .[1,%s:2]}", names[i]);
        CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, text, words));
        snprintf(text, sizeof text, "[%s]", names[i]);
        CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, text, words));
        snprintf(text, sizeof text, "{a: %s}", names[i]);
        CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, text, words));
    }
    CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, ".a\n| $ ENV", "line 2: $ENV may not be used in templates"));
    CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, "{env::a}", "line 1: env may not be used in templates"));
}

static void the_same_words_as_names_of_fields_are_allowed(void)
{
    static const char *const programs[] = {
        ".env", ".data.input", "{env: 1, input : .x}", "\"env input\"", "environment",
        "1.5",  "$in",         "{\"env\": 1}",         "@base64",       ".",
        "..",   "$input",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, programs[i], programs[i]));
}

static void what_is_not_closed_is_named_with_its_line(void)
{
    CU_ASSERT_TRUE(refuses(REWRITE_TEXT, "Order\n\\(.x", "line 2: what begins with \\(.x has no end"));
    CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, "{a: \"b}", "line 1: what begins with \"b} has no end"));
    CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, "\"a\\", "line 1: what begins with \"a\\ has no end"));
    CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, "(1]", "line 1: found ']', expected ')'"));
    CU_ASSERT_TRUE(refuses(REWRITE_TEXT, "\\(1})", "line 1: found '}', expected ')'"));
    CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, "1\n)", "line 2: found ')', which closes nothing"));
    char deep[REWRITE_DEPTH + 2];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    CU_ASSERT_TRUE(refuses(REWRITE_PROGRAM, deep, "line 1: more than 64 brackets and strings in each other"));
    char text[3 * REWRITE_DEPTH + 1] = "";
    for (int i = 0; i < REWRITE_DEPTH / 2; i++)
        strcat(text, "\\(\"");
    CU_ASSERT_TRUE(refuses(REWRITE_TEXT, text, "line 1: more than 64 brackets and strings in each other"));
    char small[8];
    CU_ASSERT_PTR_NULL(rewrite_template("(", REWRITE_PROGRAM, NULL, small, sizeof small));
    CU_ASSERT_STRING_EQUAL(small, "line 1:");
}

static void letters_that_stand_in_the_template_are_marked(void)
{
    mark = "M";
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, "<!here> & no", "\"M<!hereM> M& no\""));
    CU_ASSERT_TRUE(becomes(REWRITE_TEXT, "<\\(.a < 1)>", "\"M<\\((.a < 1)|__given(\".a < 1\"))M>\""));
    CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, "[if .a then \"<a>\" else \"\\\\&\" end]",
                           "[if .a then \"M<aM>\" else \"\\\\M&\" end]"));
    CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, "map(\"<\" + [\"&\"][0])", "map(\"M<\" + [\"M&\"][0])"));
    CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, "{t: \"<\"}", "{t: \"M<\"}"));
    CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, ".t |= \"<\"", ".t |= \"M<\""));
    CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, "sub(\"<\"; \"<\")", "sub(\"<\"; \"M<\")"));
    mark = NULL;
}

static void but_not_in_what_a_program_only_looks_for(void)
{
    static const char *const programs[] = {
        ".a == \"<\"",          ".a != \"<\"",          "\"<\" == .a",   "\"a\\\"<\" != .a", ".a|test(\"<\")",
        "test (\"a\" + \"<\")", "capture(\"(?<a>.)\")", "split(\"&\")",  "IN(\"&\", \"<\")", ".\"a&b\"",
        ".[\"a&b\"]",           ".a[\"<\"]?[\"<\"]",    "{\"a&b\" : 1}", "error(\"<\")",     "\"\\u003c\"",
    };
    mark = "M";
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        CU_ASSERT_TRUE(becomes(REWRITE_PROGRAM, programs[i], programs[i]));
    mark = NULL;
}

static const struct test tests[] = {
    TEST(in_a_text_only_interpolations_are_special),
    TEST(strings_within_interpolations_are_jq),
    TEST(a_program_keeps_its_words_and_loses_its_comments),
    TEST(a_long_interpolation_is_named_by_its_beginning),
    TEST(what_reads_more_than_the_check_is_refused),
    TEST(the_same_words_as_names_of_fields_are_allowed),
    TEST(letters_that_stand_in_the_template_are_marked),
    TEST(but_not_in_what_a_program_only_looks_for),
    TEST(what_is_not_closed_is_named_with_its_line),
    { 0 },
};

const struct suite suite_rewrite = { "rewrite", NULL, NULL, tests };
