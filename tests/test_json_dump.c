/* test_json_dump.c - JSON becomes the text that the library makes of it. What becomes of it without
 * memory is tried by the scenario F34. */
#include "../engine/base/json_dump.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static void a_text_is_that_of_the_library(void)
{
    static const char *const texts[] = {
        "{}", "[]", "[1, -2.5, true, null]", "{\"a\\\"b\": {\"c\": [\"\\u20ac\", \"\\n\"]}, \"\": 0.1}",
    };
    static const size_t flags[] = { 0, JSON_COMPACT, JSON_COMPACT | JSON_SORT_KEYS, JSON_INDENT(2) };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
            json_t *value = json_loads(texts[i], 0, NULL);
            char *ours = json_dump_text(value, flags[k]), *theirs = json_dumps(value, flags[k]);
            CU_ASSERT_FATAL(ours && theirs);
            CU_ASSERT_STRING_EQUAL(ours, theirs);
            free(ours);
            free(theirs);
            json_decref(value);
        }
}

static void what_is_no_json_has_no_text(void)
{
    json_t *alone = json_string("a");
    CU_ASSERT_PTR_NULL(json_dump_text(NULL, 0));
    CU_ASSERT_PTR_NULL(json_dump_text(alone, 0));
    char *text = json_dump_text(alone, JSON_ENCODE_ANY);
    CU_ASSERT_FATAL(text != NULL);
    CU_ASSERT_STRING_EQUAL(text, "\"a\"");
    free(text);
    json_decref(alone);
}

static const struct test tests[] = {
    TEST(a_text_is_that_of_the_library),
    TEST(what_is_no_json_has_no_text),
    { NULL, NULL },
};

const struct suite suite_json_dump = { .name = "json_dump", .tests = tests };
