/* test_http_struck.c - errors with their ids struck out. tests/pages/units.mjs has the same texts:
 * what a browser has grouped is what the server finds. */
#include "../engine/http/struck.h"

#include "test.h"

static struct arena *arena;

static int set_up(void)
{
    arena = arena_new(4096);
    return !arena;
}

static int tear_down(void)
{
    arena_free(arena);
    return 0;
}

#define BECOMES(text, expected) CU_ASSERT_STRING_EQUAL(struck_text(arena, text), expected)

static void numbers_are_struck_out(void)
{
    BECOMES("order 42: 10.0.0.7:5432 timed out after 1.5 s", "order #: # timed out after # s");
    BECOMES("1,000 rows, 7.", "# rows, #.");
    BECOMES("v2a x-1", "v#a x-#");
    BECOMES("\xd9\xa3 of 3", "\xd9\xa3 of #");
    BECOMES("", "");
    BECOMES("none", "none");
}

static void ids_are_struck_out(void)
{
    BECOMES("of 7F9C24E8-3B1A-4C0D-9E55-0123456789ab", "of #");
    BECOMES("x7f9c24e8-3b1a-4c0d-9e55-0123456789abz", "x#z");
    BECOMES("commit 5a7cf44e9d and 0xdeadbeef1", "commit # and #");
    BECOMES("0XDEADBEE1 0xdeadbee", "# #xdeadbee");
    BECOMES("_5a7cf44e9d 5a7cf44e9dg", "_#a#cf#e#d #a#cf#e#dg");
    BECOMES("\xc3\xbc" "5a7cf44e9d\xc3\xbc", "\xc3\xbc#\xc3\xbc");
}

static void words_stay(void)
{
    BECOMES("defaced facade", "defaced facade");
    BECOMES("deadbeefcafe", "deadbeefcafe");
    BECOMES("# of #", "# of #");
}

static void without_a_note_it_is_why_it_ended(void)
{
    CU_ASSERT_STRING_EQUAL(struck_error(arena, "no 3", "max_failures", "failed"), "no #");
    CU_ASSERT_STRING_EQUAL(struck_error(arena, "", "max_failures", "failed"), "max_failures");
    CU_ASSERT_STRING_EQUAL(struck_error(arena, NULL, NULL, "timeout"), "timeout");
    CU_ASSERT_STRING_EQUAL(struck_error(arena, NULL, NULL, NULL), "");
}

static const struct test tests[] = {
    TEST(numbers_are_struck_out),
    TEST(ids_are_struck_out),
    TEST(words_stay),
    TEST(without_a_note_it_is_why_it_ended),

    { NULL, NULL },
};

const struct suite suite_http_struck = { "http_struck", set_up, tear_down, tests };
