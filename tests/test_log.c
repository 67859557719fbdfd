/* test_log.c - a line is one line, and nothing in it is obeyed by who looks at it. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/base/log.h"
#include "test.h"

static char *logged_as(enum log_form form, const char *text, char *line, size_t size)
{
    struct log log;
    FILE *out = fmemopen(line, size, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    log_init(&log, out, LOG_LEVEL_WARN, "test");
    log.form = form;
    log_line(&log, LOG_LEVEL_WARN, "%s", text);
    fclose(out);
    return line;
}

/* What follows "warn test[pid]: ". */
static char *logged(const char *text, char *line, size_t size)
{
    char *said = strstr(logged_as(LOG_FORM_BARE, text, line, size), "]: ");
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

static void a_line_of_text_begins_with_its_time(void)
{
    char line[200];
    int day, month, ms;
    logged_as(LOG_FORM_TEXT, "words", line, sizeof line);
    CU_ASSERT_EQUAL(sscanf(line, "2%*3d-%2d-%2dT%*2d:%*2d:%*2d.%3dZ warn test[", &month, &day, &ms), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "]: words\n"));
}

/* Which is that of syslog. */
static void the_journal_is_given_the_priority_and_the_words(void)
{
    char line[200];
    CU_ASSERT_STRING_EQUAL(logged_as(LOG_FORM_JOURNAL, "a\nb", line, sizeof line), "<4>a b\n");
}

static json_t *object_of(const char *text)
{
    static char line[40000];
    json_t *object = json_loads(logged_as(LOG_FORM_JSON, text, line, sizeof line), 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    CU_ASSERT_EQUAL(strchr(line, '\n')[1], '\0');
    return object;
}

static const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static void a_line_of_json_has_all_that_one_of_text_has(void)
{
    json_t *object = object_of("order \"42\" \\ Z\xc3\xbcrich");
    CU_ASSERT_EQUAL(json_object_size(object), 5);
    CU_ASSERT_STRING_EQUAL(member(object, "level"), "warn");
    CU_ASSERT_STRING_EQUAL(member(object, "role"), "test");
    CU_ASSERT_STRING_EQUAL(member(object, "message"), "order \"42\" \\ Z\xc3\xbcrich");
    CU_ASSERT_EQUAL(strlen(member(object, "time")), strlen("2026-03-01T13:15:00.000Z"));
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(object, "pid")), getpid());
    json_decref(object);
}

static json_t *object_about(struct log_about about, bool to_journal)
{
    static char line[40000];
    struct log log;
    FILE *out = fmemopen(line, sizeof line, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    log_init(&log, out, LOG_LEVEL_DEBUG, "test");
    log.form = LOG_FORM_JSON;
    log.to_journal = to_journal;
    log_line_about(&log, LOG_LEVEL_ERROR, about, "words");
    fclose(out);
    CU_ASSERT_EQUAL(!strncmp(line, "<3>", 3), to_journal);
    json_t *object = json_loads(line + (to_journal ? 3 : 0), 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    return object;
}

static void what_a_line_is_about_has_members_of_its_own(void)
{
    struct log_about about = { 1700000100, "remind", "or\nders", "\"\xff" "42" };
    json_t *object = object_about(about, true);
    CU_ASSERT_STRING_EQUAL(member(object, "slot"), "2023-11-14T22:15:00Z");
    CU_ASSERT_STRING_EQUAL(member(object, "job"), "remind");
    CU_ASSERT_STRING_EQUAL(member(object, "entity"), "or ders");
    CU_ASSERT_STRING_EQUAL(member(object, "key"), "\"\xef\xbf\xbd" "42");
    json_decref(object);
    object = object_about((struct log_about){ .job = "remind" }, false);
    CU_ASSERT_EQUAL(json_object_size(object), 6);
    json_decref(object);
}

/* Also of names that nobody can have. */
static void a_line_about_long_names_ends_within_them(void)
{
    static char longest[5000], text[4200];
    memset(longest, 0xff, sizeof longest - 1);
    memset(text, '"', sizeof text - 1);
    json_t *object = object_about((struct log_about){ 1, longest, longest, text }, false);
    CU_ASSERT_EQUAL(strlen(member(object, "job")) % 3, 0);
    CU_ASSERT_EQUAL(strlen(member(object, "entity")), strlen(member(object, "job")));
    CU_ASSERT(strlen(member(object, "key")) >= 1024);
    json_decref(object);
}

static void json_is_json_whatever_the_words_hold(void)
{
    static const struct { const char *text, *shown; } all[] = {
        { "a\x1b[2J\tb\n", "a [2J b " },
        { "\xff" "a\xc3", "\xef\xbf\xbd" "a\xef\xbf\xbd" },
        { "\",\"level\":\"error", "\",\"level\":\"error" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_t *object = object_of(all[i].text);
        CU_ASSERT_STRING_EQUAL(member(object, "message"), all[i].shown);
        json_decref(object);
    }
    static char longest[9000];
    memset(longest, 0xff, sizeof longest - 1);
    json_t *object = object_of(longest);
    CU_ASSERT_EQUAL(strlen(member(object, "message")) % 3, 0);
    json_decref(object);
}

static const struct test tests[] = {
    TEST(what_a_terminal_obeys_becomes_blanks),
    TEST(other_characters_stay),
    TEST(a_line_of_text_begins_with_its_time),
    TEST(the_journal_is_given_the_priority_and_the_words),
    TEST(a_line_of_json_has_all_that_one_of_text_has),
    TEST(what_a_line_is_about_has_members_of_its_own),
    TEST(a_line_about_long_names_ends_within_them),
    TEST(json_is_json_whatever_the_words_hold),
    { NULL, NULL },
};

const struct suite suite_log = { .name = "log", .tests = tests };
