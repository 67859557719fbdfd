/* test_http_query.c - the query of a target, decoded, and what is refused there. */
#include "../engine/http/query.h"

#include <string.h>
#include "test.h"

static const char *const known[] = { "entity", "key", "from", NULL };

static int read_query(struct query *q, const char *text, struct arena *a, struct err *err)
{
    err_clear(err);
    return query_read(q, text, known, a, err);
}

static void values_are_decoded(void)
{
    struct query q;
    struct err err;
    struct arena *a = arena_new(1024);
    CU_ASSERT_FATAL(read_query(&q, "entity=orders&key=a%2Fb%26c%3D%25+%C3%a4%0A&from=", a, &err) == 0);
    CU_ASSERT_STRING_EQUAL(query_value(&q, "entity"), "orders");
    CU_ASSERT_STRING_EQUAL(query_value(&q, "key"), "a/b&c=% ä\n");
    CU_ASSERT_STRING_EQUAL(query_value(&q, "from"), "");
    CU_ASSERT_FATAL(read_query(&q, "&&%65ntity=x=y&", a, &err) == 0);
    CU_ASSERT_STRING_EQUAL(query_value(&q, "entity"), "x=y");
    CU_ASSERT(query_value(&q, "key") == NULL);
    CU_ASSERT(read_query(&q, "", a, &err) == 0 && q.n == 0);
    arena_free(a);
}

static void what_cannot_be_read_is_refused_by_its_name(void)
{
    static const struct { const char *text, *says; } bad[] = {
        { "entity=%", "\"%\"" },          { "entity=%4", "\"%4\"" },         { "entity=%zz", "\"%zz\"" },
        { "entity=%00", "\"%00\"" },      { "entity=%ff", "UTF-8" },         { "entity=a&entity=b", "twice" },
        { "enity=a", "did you mean entity" },                                { "whatever=a", "whatever" },
        { "%C3=a", "UTF-8" },             { "=a", "there is no" },
    };
    struct query q;
    struct err err;
    struct arena *a = arena_new(1024);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT(read_query(&q, bad[i].text, a, &err) == ERR_INPUT);
        CU_ASSERT(strstr(err.text, bad[i].says) != NULL);
    }
    arena_free(a);
}

static const struct test tests[] = {
    TEST(values_are_decoded),
    TEST(what_cannot_be_read_is_refused_by_its_name),
    { 0 }
};

const struct suite suite_http_query = { "http_query", NULL, NULL, tests };
