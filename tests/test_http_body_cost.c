/* test_http_body_cost.c - what a body is said to take is what the parser takes, or more. */
#include "../engine/http/body_cost.h"

#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static size_t taken, most;

static void *take(size_t size)
{
    enum { OF_MALLOC = 8 };
    void *p = malloc(size);
    taken += p ? malloc_usable_size(p) + OF_MALLOC : 0;
    most = taken > most ? taken : most;
    return p;
}

static void give_back(void *p)
{
    enum { OF_MALLOC = 8 };
    taken -= p ? malloc_usable_size(p) + OF_MALLOC : 0;
    free(p);
}

/* The most that parsing it has taken. */
static size_t parsed(const char *text, size_t len)
{
    json_malloc_t before_take;
    json_free_t before_give;
    json_get_alloc_funcs(&before_take, &before_give);
    json_set_alloc_funcs(take, give_back);
    taken = most = 0;
    json_decref(json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL));
    json_set_alloc_funcs(before_take, before_give);
    return most;
}

/* `part`, with a number where it has %d, so often in an array. */
static char *many(const char *part, int n)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    fputc('[', f);
    for (int i = 0; i < n; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        fprintf(f, part, i);
#pragma GCC diagnostic pop
        fputs(i < n - 1 ? "," : "]", f);
    }
    fclose(f);
    return text;
}

static void a_body_takes_no_more_than_it_is_said_to(void)
{
    static const char *const parts[] = {
        "{}", "[]", "1", "1.5", "\"\"", "null", "\"a string of some bytes\"", "{\"a\":{}}", "[[[[]]]]",
        "{\"a\":%d,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9}",
        "{\"job\":\"look\",\"in\":1,\"uniqid\":\"u%d\",\"payload\":{\"n\":[1,2,3,\"\\u00fc\\\"{[,:\"]}}",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (int n = 1; n <= 20000; n = n * 5 + 1) {
            char *text = many(parts[i], n);
            size_t len = strlen(text), real = parsed(text, len), said = body_cost(text, len);
            if (real > said)
                printf("      %d of %s: %zu, and said to be %zu\n", n, parts[i], real, said);
            CU_ASSERT(real <= said);
            free(text);
        }
}

static void so_does_one_object_of_many_members_or_one_long_string(void)
{
    char *text = many("\"m%d\":1", 100000);
    size_t len = strlen(text);
    text[0] = '{';
    text[len - 1] = '}';
    CU_ASSERT(parsed(text, len) <= body_cost(text, len));
    memset(text, 'x', len);
    text[0] = text[len - 1] = '"';
    CU_ASSERT(parsed(text, len) <= body_cost(text, len));
    free(text);
}

static void what_is_usual_is_far_below_the_bound_and_empty_objects_are_above(void)
{
    enum { BODY = 8 << 20 };
    char *checks = many("{\"entity\":\"orders\",\"key\":%d,\"job\":\"look\",\"in\":1}", 1000);
    CU_ASSERT(body_cost(checks, strlen(checks)) < BODY_COST_MAX / 50);
    free(checks);
    char *members = many("\"m%06d\":\"12345678\"", BODY / 21);
    CU_ASSERT(strlen(members) > BODY / 21 * 20);
    CU_ASSERT(body_cost(members, strlen(members)) <= BODY_COST_MAX);
    free(members);
    char *text = malloc(BODY);
    memset(text, 'x', BODY);
    text[0] = text[BODY - 1] = '"';
    CU_ASSERT(body_cost(text, BODY) < BODY_COST_MAX / 2);
    for (int i = 0; i < BODY; i++)
        text[i] = "{},"[i % 3];
    CU_ASSERT(body_cost(text, BODY) > BODY_COST_MAX);
    free(text);
}

static void what_stands_in_strings_is_text(void)
{
    CU_ASSERT_EQUAL(body_cost("\"{[,:\\\"{[\"", 11), body_cost("\"xxxxxxxxx\"", 11));
    CU_ASSERT(body_cost("\"x\",[", 5) > body_cost("\"x,[\"", 5));
    /* no JSON: nothing behind it is looked at */
    CU_ASSERT(body_cost("\"\\", 2) > 0);
    CU_ASSERT(body_cost("\"", 1) > 0);
    CU_ASSERT(body_cost("", 0) > 0);
}

static const struct test tests[] = {
    TEST(a_body_takes_no_more_than_it_is_said_to),
    TEST(so_does_one_object_of_many_members_or_one_long_string),
    TEST(what_is_usual_is_far_below_the_bound_and_empty_objects_are_above),
    TEST(what_stands_in_strings_is_text),
    { NULL, NULL },
};
const struct suite suite_http_body_cost = { .name = "http_body_cost", .tests = tests };
