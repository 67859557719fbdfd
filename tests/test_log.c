/* test_log.c - a line is one line, and nothing in it is obeyed by who looks at it. */
#include <stdlib.h>
#include <string.h>

#include "../engine/base/log.h"
#include "test.h"

/* What follows "warn test[pid]: ". */
static char *logged(const char *text, char *line, size_t size)
{
    struct log log;
    FILE *out = fmemopen(line, size, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    log_init(&log, out, LOG_LEVEL_WARN, "test");
    log.stamps = false;
    log_line(&log, LOG_LEVEL_WARN, "%s", text);
    fclose(out);
    char *said = strstr(line, "]: ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(said);
    return said + 3;
}

static void what_a_terminal_obeys_becomes_blanks(void)
{
    static const struct { const char *text, *shown; } all[] = {
        { "a\x1b[2Jb\nc\x7f", "a [2Jb c \n" },
        { "a\xc2\x9b" "b", "a  b\n" },
        { "order \u202e24\u202c", "order    24   \n" },
        { "\u202a\u202b\u202d.", "         .\n" },
        { "\u2066\u2067\u2068\u2069.", "            .\n" },
        { "\u200e\u200f\u061c.", "        .\n" },
        { "a\u2028b\u2029c", "a   b   c\n" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char line[200];
        CU_ASSERT_STRING_EQUAL(logged(all[i].text, line, sizeof line), all[i].shown);
    }
}

static void other_characters_stay(void)
{
    char line[200];
    const char *text = "Zürich \u2013 \u20ac \u65e5\u672c \u200b \u2030 \u2065 \u0627";
    CU_ASSERT_NSTRING_EQUAL(logged(text, line, sizeof line), text, strlen(text));
}

static const struct test tests[] = {
    TEST(what_a_terminal_obeys_becomes_blanks),
    TEST(other_characters_stay),
    { NULL, NULL },
};

const struct suite suite_log = { .name = "log", .tests = tests };
