/* test_http_openapi.c - the OpenAPI document has what the program has: each route with its bodies,
 * and each word of a closed list. */
#include "../engine/http/openapi.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>
#include "../engine/http/route.h"
#include "../engine/rules/outcome.h"
#include "../engine/view/why.h"
#include "test.h"

static struct arena *arena;
static json_t *document;

static int begin(void)
{
    json_error_t why;
    arena = arena_new(64 * 1024);
    document = json_loads(openapi_text(arena, NULL), JSON_REJECT_DUPLICATES, &why);
    if (!document)
        printf("the document, line %d: %s\n", why.line, why.text);
    return document ? 0 : -1;
}

static int end(void)
{
    json_decref(document);
    arena_free(arena);
    return 0;
}

static json_t *schema(const char *name)
{
    json_t *components = json_object_get(document, "components");
    return json_object_get(json_object_get(components, "schemas"), name);
}

/* ---- routes ---- */

static json_t *operation(const struct route *route)
{
    char method[16];
    size_t i = 0;
    for (const char *m = http_method_str(route->method); *m && i < sizeof method - 1; m++)
        method[i++] = (char)(*m | 0x20);
    method[i] = '\0';
    json_t *path = json_object_get(json_object_get(document, "paths"), route->path);
    return json_object_get(path, method);
}

static bool is_described(const struct route *route)
{
    json_t *body = json_object_get(operation(route), "requestBody");
    if (!route->content_type)
        return operation(route) && !body;
    return json_object_get(json_object_get(body, "content"), route->content_type) != NULL;
}

static void every_route_is_described(void)
{
    for (int i = 0; i < routes; i++) {
        /* the dashboard is for browsers */
        bool is_there = route_table[i].is_of_pages || is_described(&route_table[i]);
        if (!is_there)
            printf("    %s %s: engine/http/openapi/ does not have it, or its body, as route.c has it\n",
                   http_method_str(route_table[i].method), route_table[i].path);
        CU_ASSERT(is_there);
    }
}

static enum http_method method_of(const char *word)
{
    for (int m = 0; m <= HTTP_SOURCE; m++)
        if (!strcasecmp(http_method_str((enum http_method)m), word))
            return (enum http_method)m;
    CU_FAIL("it is the name of a method");
    return HTTP_GET;
}

static bool has_route(const char *path, const char *word)
{
    bool is_path;
    int found = route_find(method_of(word), path, &is_path);
    if (found < 0)
        printf("    %s %s is described, and there is no such route\n", word, path);
    return found >= 0;
}

static void nothing_else_is_described(void)
{
    const char *path, *word;
    json_t *methods, *ignored;
    json_object_foreach(json_object_get(document, "paths"), path, methods)
        json_object_foreach(methods, word, ignored)
            CU_ASSERT(has_route(path, word));
}

/* ---- closed lists ---- */

static bool has_word(const json_t *words, const char *word)
{
    size_t i;
    json_t *value;
    json_array_foreach((json_t *)words, i, value)
        if (json_is_string(value) && !strcmp(json_string_value(value), word))
            return true;
    printf("    %s is not in the document\n", word);
    return false;
}

static void each_type_of_problem_is_listed(void)
{
    json_t *type = json_object_get(json_object_get(schema("Problem"), "properties"), "type");
    json_t *words = json_object_get(type, "enum");
    static const char *const types[] = {
#define TYPE(id, status, type, title) PROBLEM_BASE type,
        PROBLEMS(TYPE)
#undef TYPE
    };
    CU_ASSERT_EQUAL(json_array_size(words), PROBLEM_TYPES);
    for (size_t i = 0; i < PROBLEM_TYPES; i++)
        CU_ASSERT(has_word(words, types[i]));
}

static void each_code_of_why_is_listed(void)
{
    json_t *checks = json_object_get(schema("WhyCheck"), "enum");
    json_t *events = json_object_get(schema("WhyEvent"), "enum");
    CU_ASSERT_EQUAL(json_array_size(checks) + json_array_size(events), WHY_CODE_COUNT);
    for (int code = 0; code < WHY_CODE_COUNT; code++)
        CU_ASSERT(has_word(code < WHY_EVENT_WITHHELD ? checks : events, why_word((enum why_code)code)));
}

/* Those behind it move a check that has not run, and leave no row. */
static void each_outcome_that_leaves_a_row_is_listed(void)
{
    json_t *words = json_object_get(schema("Outcome"), "enum");
    CU_ASSERT_EQUAL(json_array_size(words), OUTCOME_HELD_BACK);
    for (int o = 0; o < OUTCOME_HELD_BACK; o++)
        CU_ASSERT(has_word(words, outcome_name((enum outcome)o)));
}

/* ---- where the server is ---- */

static json_t *url_of(json_t *whole)
{
    return json_object_get(json_array_get(json_object_get(whole, "servers"), 0), "url");
}

static void the_server_is_where_the_base_path_says(void)
{
    json_t *below = json_loads(openapi_text(arena, "/prescient"), 0, NULL);
    CU_ASSERT_STRING_EQUAL(json_string_value(url_of(document)), "/");
    CU_ASSERT_PTR_NOT_NULL_FATAL(below);
    CU_ASSERT_STRING_EQUAL(json_string_value(url_of(below)), "/prescient");
    json_decref(below);
}

static void it_is_of_this_version(void)
{
    json_t *info = json_object_get(document, "info");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(info, "version")), VERSION);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(document, "openapi")), "3.1.0");
}

static const struct test tests[] = {
    TEST(every_route_is_described),
    TEST(nothing_else_is_described),
    TEST(each_type_of_problem_is_listed),
    TEST(each_code_of_why_is_listed),
    TEST(each_outcome_that_leaves_a_row_is_listed),
    TEST(the_server_is_where_the_base_path_says),
    TEST(it_is_of_this_version),
    { 0 }
};

const struct suite suite_http_openapi = { "http_openapi", begin, end, tests };
