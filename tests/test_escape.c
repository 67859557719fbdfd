/* test_escape.c - what Slack would take for its own, in JSON. */
#include <stdio.h>
#include <string.h>
#include "../jobs/slack/escape.c"
#include "test.h"

#define MARK "\U00101234\U00105678"

static bool becomes(const char *json, const char *expected)
{
    char *found = escape_json(json, MARK);
    bool same = found && !strcmp(found, expected);
    if (!same)
        fprintf(stderr, "%s: found %s, expected %s\n", json, found, expected);
    free(found);
    return same;
}

static void letters_of_slack_are_escaped_in_texts_and_names(void)
{
    CU_ASSERT_TRUE(becomes("", ""));
    CU_ASSERT_TRUE(becomes("{\"a\": [1.5, null, \"x\"]}", "{\"a\": [1.5, null, \"x\"]}"));
    CU_ASSERT_TRUE(becomes("\"<!channel> & <@U1>\"", "\"&lt;!channel&gt; &amp; &lt;@U1&gt;\""));
    CU_ASSERT_TRUE(becomes("{\"<\": 1}", "{\"&lt;\": 1}"));
    CU_ASSERT_TRUE(becomes("\"&amp;\"", "\"&amp;amp;\""));
}

static void also_where_they_are_written_as_unicode(void)
{
    CU_ASSERT_TRUE(becomes("\"\\u003c!here\\u003E\\u0026\"", "\"&lt;!here&gt;&amp;\""));
    CU_ASSERT_TRUE(becomes("\"\\\\u003c\"", "\"\\\\u003c\""));
    CU_ASSERT_TRUE(becomes("\"\\\\\\u003c\"", "\"\\\\&lt;\""));
    CU_ASSERT_TRUE(becomes("\"\\\"<\"", "\"\\\"&lt;\""));
    CU_ASSERT_TRUE(becomes("\"\\u00e4\\n\"", "\"\\u00e4\\n\""));
}

static void a_text_that_is_cut_ends(void)
{
    CU_ASSERT_TRUE(becomes("\"a\\", "\"a\\"));
    CU_ASSERT_TRUE(becomes("\"a\\u00", "\"a\\u00"));
}

static void a_mark_lets_one_letter_pass_and_is_gone(void)
{
    CU_ASSERT_TRUE(becomes("\"" MARK "<!here" MARK "> " MARK "& <\"", "\"<!here> & &lt;\""));
    CU_ASSERT_TRUE(becomes("\"" MARK "<<\"", "\"<&lt;\""));
    CU_ASSERT_TRUE(becomes("\"" MARK "a" MARK "\\u003c\"", "\"a&lt;\""));
    CU_ASSERT_TRUE(becomes("\"\U00101234<" MARK "\"", "\"&lt;\""));
    CU_ASSERT_TRUE(becomes("\"\U00101235\U00105678\"", "\"\U00101235\U00105678\""));
}

static void marks_are_texts_that_cannot_be_guessed(void)
{
    char a[ESCAPE_MARK_BYTES + 1], b[ESCAPE_MARK_BYTES + 1];
    CU_ASSERT_EQUAL(escape_new_mark(a), 0);
    CU_ASSERT_EQUAL(escape_new_mark(b), 0);
    CU_ASSERT_EQUAL(strlen(a), ESCAPE_MARK_BYTES);
    CU_ASSERT_STRING_NOT_EQUAL(a, b);
    for (int i = 0; i < ESCAPE_MARK_BYTES; i++)
        CU_ASSERT_EQUAL((unsigned char)a[i] & 0xc0, i % 4 ? 0x80 : 0xc0);
}

static const struct test tests[] = {
    TEST(letters_of_slack_are_escaped_in_texts_and_names),
    TEST(also_where_they_are_written_as_unicode),
    TEST(a_text_that_is_cut_ends),
    TEST(a_mark_lets_one_letter_pass_and_is_gone),
    TEST(marks_are_texts_that_cannot_be_guessed),
    { 0 },
};

const struct suite suite_escape = { "escape", NULL, NULL, tests };
