/* test_http_cursor.c - cursors of lists: they come back as they were, and nothing else is taken. */
#include <string.h>

#include "../engine/base/arena.h"
#include "../engine/base/cleanup.h"
#include "../engine/http/cursor.h"
#include "test.h"

#define PLACE "[\"1772370900\",12,-3,\"a \\u0001 \xc3\xbc\"]"

static void a_place_comes_back_as_it_was(void)
{
    static const char *const places[] = { PLACE, "1", "name with spaces", "\xff\x01" };
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *at = NULL, *cursor = cursor_write(a, "/v1/checks", places[i]);
        struct err err = { 0 };
        CU_ASSERT_PTR_NOT_NULL_FATAL(cursor);
        CU_ASSERT_EQUAL(strspn(cursor, "0123456789abcdef"), strlen(cursor));
        CU_ASSERT_EQUAL_FATAL(cursor_read(a, "/v1/checks", cursor, &at, &err), 0);
        CU_ASSERT_STRING_EQUAL(at, places[i]);
    }
}

static bool is_refused(struct arena *a, const char *list, const char *cursor)
{
    const char *at = NULL;
    struct err err = { 0 };
    int rc = cursor_read(a, list, cursor, &at, &err);
    return rc == ERR_INPUT && !at && strstr(err.text, list);
}

static void what_is_no_cursor_of_the_list_is_refused(void)
{
    static const char *const others[] = {
        "", "0", "zz", "12345678", "1234567800", "12345678g0", "123456783"
    };
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CU_ASSERT(is_refused(a, "/v1/checks", others[i]));
    CU_ASSERT(is_refused(a, "/v1/history", cursor_write(a, "/v1/checks", PLACE)));
}

static void a_cursor_with_any_digit_changed_is_refused(void)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    const char *cursor = cursor_write(a, "/v1/checks", PLACE);
    for (size_t i = 0; cursor[i]; i++) {
        char *other = arena_strdup(a, cursor);
        other[i] = other[i] == '7' ? '8' : '7';
        CU_ASSERT(is_refused(a, "/v1/checks", other));
        CU_ASSERT(is_refused(a, "/v1/checks", arena_strndup(a, cursor, i)));
    }
}

static const struct test tests[] = {
    TEST(a_place_comes_back_as_it_was),
    TEST(what_is_no_cursor_of_the_list_is_refused),
    TEST(a_cursor_with_any_digit_changed_is_refused),
    { NULL, NULL },
};

const struct suite suite_http_cursor = { "http_cursor", NULL, NULL, tests };
