/* test_text_table.c - what a terminal is shown: widths, cuts, and text of others made harmless. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../engine/cmd/table.h"
#include "../engine/cmd/text.h"
#include "test.h"

static int setup(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    return 0;
}

static char *shown(const char *text, int most)
{
    static char *out;
    size_t size;
    free(out);
    FILE *f = open_memstream(&out, &size);
    int width = text_put(f, text, most);
    fclose(f);
    if (most == 0)
        CU_ASSERT_EQUAL(width, text_width(text));
    if (most > 0)
        CU_ASSERT(width <= most);
    return out;
}

static void plain_text_is_shown_as_it_is(void)
{
    CU_ASSERT_STRING_EQUAL(shown("orders 42 ~", 0), "orders 42 ~");
    CU_ASSERT_STRING_EQUAL(shown("", 0), "");
}

static void escape_sequences_are_shown_and_not_sent(void)
{
    CU_ASSERT_STRING_EQUAL(shown("\033[2J\033]0;x\007", 0), "\\x1b[2J\\x1b]0;x\\a");
    CU_ASSERT_STRING_EQUAL(shown("a\nb\tc\rd\177", 0), "a\\nb\\tc\\rd\\x7f");
}

static void c1_controls_are_escaped_too(void)
{
    CU_ASSERT_STRING_EQUAL(shown("\xc2\x9b" "31m", 0), "\\x9b31m");
}

static void characters_that_reorder_or_hide_are_escaped(void)
{
    CU_ASSERT_STRING_EQUAL(shown("a\u202eb\u200bc\ufeff", 0), "a\\u202eb\\u200bc\\ufeff");
}

static void bytes_that_are_no_utf8_are_escaped_one_by_one(void)
{
    CU_ASSERT_STRING_EQUAL(shown("a\xff" "b\xc3", 0), "a\\xffb\\xc3");
    CU_ASSERT_STRING_EQUAL(shown("\xc0\xaf", 0), "\\xc0\\xaf");            /* an overlong slash */
    CU_ASSERT_STRING_EQUAL(shown("\xed\xa0\x80", 0), "\\xed\\xa0\\x80");   /* a surrogate */
}

static void wide_and_combining_characters_have_their_width(void)
{
    CU_ASSERT_EQUAL(text_width("Zürich"), 6);
    CU_ASSERT_EQUAL(text_width("日本"), 4);
    CU_ASSERT_EQUAL(text_width("e\u0301"), 1);
}

static void what_does_not_fit_ends_with_an_ellipsis(void)
{
    CU_ASSERT_STRING_EQUAL(shown("abcdef", 6), "abcdef");
    CU_ASSERT_STRING_EQUAL(shown("abcdef", 5), "abcd…");
    CU_ASSERT_STRING_EQUAL(shown("日本語", 5), "日本…");
    CU_ASSERT_STRING_EQUAL(shown("日本語", 4), "日…");
    CU_ASSERT_STRING_EQUAL(shown("a\nb", 3), "a…");                        /* an escape is never cut in two */
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct table_column columns[] = { { .name = "name", .shrinks = true },
                                               { .name = "n", .right = true },
                                               { .name = "note", .shrinks = true } };

static char *printed(const char *const *cells, int rows, int width)
{
    static char *out;
    size_t size;
    free(out);
    FILE *f = open_memstream(&out, &size);
    CU_ASSERT_EQUAL(table_print(f, columns, 3, cells, rows, width), 0);
    fclose(f);
    return out;
}

static void columns_are_as_wide_as_their_widest_cell(void)
{
    const char *cells[] = { "Zürich", "7", "x", "日本", "123", NULL };
    CU_ASSERT_STRING_EQUAL(printed(cells, 2, 0),
                           "name      n  note\n"
                           "Zürich    7  x\n"
                           "日本    123  -\n");
}

static void without_a_width_nothing_is_cut(void)
{
    char wide[301];
    memset(wide, 'w', 300);
    wide[300] = '\0';
    const char *cells[] = { wide, "1", wide };
    CU_ASSERT_PTR_NOT_NULL(strstr(printed(cells, 1, 0), wide));
}

static void text_gives_way_until_the_line_fits_and_numbers_do_not(void)
{
    const char *cells[] = { "abcdefghijklmnopqrstuvwxyz", "1234567890123456", "short" };
    CU_ASSERT_STRING_EQUAL(printed(cells, 1, 40),
                           "name                            n  note\n"
                           "abcdefghijklmn…  1234567890123456  short\n");
}

static void a_line_that_still_does_not_fit_loses_columns_at_its_right(void)
{
    const char *cells[] = { "abcdefgh", "1234567890123456", "longer than eight" };
    CU_ASSERT_STRING_EQUAL(printed(cells, 1, 28),
                           "name                     n\n"
                           "abcdefgh  1234567890123456\n");
}

static void no_line_is_wider_than_the_terminal(void)
{
    const char *cells[] = { "日本語日本語日本語日本語", "99", "\033[31mred\033[0m and a lot more text" };
    for (int width = 1; width < 90; width++) {
        char *lines = printed(cells, 1, width);
        for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
            CU_ASSERT(text_width(line) <= width);
    }
}

static void without_names_there_is_no_line_of_names(void)
{
    static const struct table_column pair[] = { { 0 }, { 0 } };
    const char *cells[] = { "key", "value", "longer key", NULL };
    char *out;
    size_t size;
    FILE *f = open_memstream(&out, &size);
    table_print(f, pair, 2, cells, 2, 0);
    fclose(f);
    CU_ASSERT_STRING_EQUAL(out, "key         value\nlonger key  -\n");
    free(out);
}

static const struct test tests[] = {
    TEST(plain_text_is_shown_as_it_is),
    TEST(escape_sequences_are_shown_and_not_sent),
    TEST(c1_controls_are_escaped_too),
    TEST(characters_that_reorder_or_hide_are_escaped),
    TEST(bytes_that_are_no_utf8_are_escaped_one_by_one),
    TEST(wide_and_combining_characters_have_their_width),
    TEST(what_does_not_fit_ends_with_an_ellipsis),
    TEST(columns_are_as_wide_as_their_widest_cell),
    TEST(without_a_width_nothing_is_cut),
    TEST(text_gives_way_until_the_line_fits_and_numbers_do_not),
    TEST(a_line_that_still_does_not_fit_loses_columns_at_its_right),
    TEST(no_line_is_wider_than_the_terminal),
    TEST(without_names_there_is_no_line_of_names),
    { 0 }
};

const struct suite suite_text_table = { .name = "text_table", .setup = setup, .tests = tests };
