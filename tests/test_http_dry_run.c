/* test_http_dry_run.c - whether a change is only tried is seen in its text as a parser finds it. */
#include "../engine/http/dry_run.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"

static bool is_asked(const char *text)
{
    return dry_run_is_asked(text, strlen(text));
}

static void a_member_that_is_true_is_seen(void)
{
    CU_ASSERT(is_asked("{\"dry_run\": true}"));
    CU_ASSERT(is_asked(" \n{\"select\":{\"job\":\"look\"},\"dry_run\" :\r\n\ttrue , \"limit\":5}"));
    CU_ASSERT(is_asked("{\"reason\": \"a \\\" and a \\\\\", \"dry_run\": true}"));
    CU_ASSERT(is_asked("{\"a\": [{}, [\"}\"]], \"dry_run\": true}"));
    CU_ASSERT_FALSE(is_asked("{\"dry_run\": false}"));
    CU_ASSERT_FALSE(is_asked("{\"dry\": true}"));
    CU_ASSERT_FALSE(is_asked(""));
}

static void what_stands_elsewhere_is_another_thing(void)
{
    CU_ASSERT_FALSE(is_asked("{\"select\": {\"dry_run\": true}}"));
    CU_ASSERT_FALSE(is_asked("[{\"dry_run\": true}]"));
    CU_ASSERT_FALSE(is_asked("{\"reason\": \"\\\"dry_run\\\": true\"}"));
    CU_ASSERT_FALSE(is_asked("{\"reason\": \"dry_run\", \"all\": true}"));
    CU_ASSERT_FALSE(is_asked("{\"reason\": \"x\\\\\", \"entity\": \"{\\\"dry_run\\\": true\"}"));
}

static void a_text_that_is_cut_is_read_to_its_end_alone(void)
{
    static const char whole[] = "{\"reason\": \"\\\\\\\"\", \"dry_run\": true}";
    const size_t until_true = sizeof whole - 2;
    for (size_t len = 0; len <= until_true; len++) {
        char *cut = malloc(len ? len : 1);      /* so that a sanitizer sees a byte too many */
        memcpy(cut, whole, len);
        CU_ASSERT_EQUAL(dry_run_is_asked(cut, len), len == until_true);
        free(cut);
    }
}

static bool parser_finds(const char *text, bool *is_read)
{
    json_t *body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool is = json_is_true(json_object_get(body, "dry_run"));
    *is_read = body != NULL;
    json_decref(body);
    return is;
}

enum { PIECES = 11, LONG = 5 };
static const char *const pieces[PIECES] = { "{", "}", "[", "]", ":", ",", "\"dry_run\"", "\"\\\"\"", "true",
                                            "false", " " };

/* Behind what stands in `text` come up to `left` pieces, each of them. Returns how many texts were
 * JSON. */
static int compare_all(char *text, int left, int *differ)
{
    bool is_read, found = parser_finds(text, &is_read);
    size_t len = strlen(text);
    int read = is_read;
    *differ += is_read && found != is_asked(text);
    for (int i = 0; left && i < PIECES; i++) {
        strcpy(text + len, pieces[i]);
        read += compare_all(text, left - 1, differ);
        text[len] = '\0';
    }
    return read;
}

static void all_short_bodies_are_seen_as_the_parser_reads_them(void)
{
    static const char *const begins[] = { "", "{\"a\":{\"dry_run\":true},", "{\"dry_run\":true,", "[{" };
    char text[200];
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        int differ = 0;
        strcpy(text, begins[i]);
        CU_ASSERT(compare_all(text, LONG, &differ) > 0);
        CU_ASSERT_EQUAL(differ, 0);
    }
}

static const struct test tests[] = {
    TEST(a_member_that_is_true_is_seen),
    TEST(what_stands_elsewhere_is_another_thing),
    TEST(a_text_that_is_cut_is_read_to_its_end_alone),
    TEST(all_short_bodies_are_seen_as_the_parser_reads_them),

    { NULL, NULL },
};

const struct suite suite_http_dry_run = { "http_dry_run", NULL, NULL, tests };
