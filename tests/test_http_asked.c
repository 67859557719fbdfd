/* test_http_asked.c - a check that is asked for as an object of JSON: what is read, and what is
 * told of each member that is at fault. */
#include "../engine/http/asked_check.h"
#include "../engine/http/faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
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

/* The object lives until the next one is read. */
static struct asked_check read_text(const char *text, const char *header)
{
    static json_t *object;
    struct asked_check asked;
    json_decref(object);
    object = json_loads(text, JSON_DECODE_ANY, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    CU_ASSERT_EQUAL_FATAL(asked_check_read(&asked, object, header, "", 1772370900, arena), 0);
    return asked;
}

/* "pointer: detail; pointer: detail" of what is at fault. */
static const char *faults(const char *text, const char *header)
{
    static char out[2000];
    struct asked_check asked = read_text(text, header);
    json_t *one;
    size_t i;
    out[0] = '\0';
    json_array_foreach(json_object_get(asked.problem, "errors"), i, one) {
        const char *pointer, *detail;
        json_unpack(one, "{s:s, s:s}", "pointer", &pointer, "detail", &detail);
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s: %s", i ? "; " : "", pointer, detail);
    }
    json_decref(asked.problem);
    return out;
}

static bool is_told(const char *text, const char *pointer, const char *words)
{
    char begin[64];
    snprintf(begin, sizeof begin, "%s: ", pointer);
    const char *told = faults(text, NULL);
    bool is = strstr(told, begin) && strstr(told, words);
    if (!is)
        printf("      %s: '%s', expected '%s%s'\n", text, told, begin, words);
    return is;
}

static void all_members_are_read(void)
{
    struct asked_check asked = read_text(
        "{\"entity\": \"orders\", \"key\": \"a/b\", \"job\": \"late\","
        " \"check_at\": \"2026-03-01T13:15:00Z\","
        " \"payload\": {\"n\": [1, 2.5, \"x\"]}, \"uniqid\": \"u-1\", \"on_conflict\": \"earlier\","
        " \"priority\": -7, \"within\": \"2h\", \"concurrency_key\": \"p7\", \"tenant\": \"acme\"}", NULL);
    const struct post_item *i = &asked.item;
    CU_ASSERT_PTR_NULL_FATAL(asked.problem);
    CU_ASSERT_STRING_EQUAL(i->row.entity_name, "orders");
    CU_ASSERT_STRING_EQUAL(i->row.entity_key, "a/b");
    CU_ASSERT_STRING_EQUAL(i->row.job_exec, "late");
    CU_ASSERT_STRING_EQUAL(i->row.payload, "{\"n\":[1,2.5,\"x\"]}");
    CU_ASSERT_STRING_EQUAL(i->row.concurrency_key, "p7");
    CU_ASSERT_STRING_EQUAL(i->row.tenant, "acme");
    CU_ASSERT_STRING_EQUAL(i->uniqid, "u-1");
    CU_ASSERT_STRING_EQUAL(i->conflict, "earlier");
    CU_ASSERT(i->row.at == 1772370900 && !i->is_after && i->row.priority == -7 && i->within_s == 7200);
}

static struct post_item at(const char *time)
{
    char text[200];
    snprintf(text, sizeof text, "{\"entity\": \"e\", \"key\": 42, \"job\": \"j\", %s}", time);
    struct asked_check asked = read_text(text, NULL);
    CU_ASSERT_PTR_NULL_FATAL(asked.problem);
    CU_ASSERT_STRING_EQUAL(asked.item.row.entity_key, "42");
    return asked.item;
}

static void times_are_those_of_the_command_line(void)
{
    CU_ASSERT(at("\"check_at\": 1772370900").row.at == 1772370900);
    CU_ASSERT(at("\"check_at\": \"2026-03-01 13:15+00:00\"").row.at == 1772370900);
    struct post_item i = at("\"check_at\": \"+3h\"");
    CU_ASSERT(i.row.at == 10800 && i.is_after);
    i = at("\"check_at\": \"in 3h\"");
    CU_ASSERT(i.is_after && i.row.at == 10800);
    i = at("\"check_at\": \"tomorrow 09:00 Europe/Berlin\"");       /* the test's now is 13:15Z */
    CU_ASSERT(!i.is_after && i.row.at == 1772370900 - 13 * 3600 - 900 + 86400 + 8 * 3600);
    i = at("\"check_at\": \"-15m\"");
    CU_ASSERT(i.row.at == -900 && i.is_after);
    i = at("\"check_at\": \"now\"");
    CU_ASSERT(i.row.at == 0 && i.is_after);
    i = at("\"in\": \"1h30m\"");
    CU_ASSERT(i.row.at == 5400 && i.is_after);
    i = at("\"in\": 90");
    CU_ASSERT(i.row.at == 90 && i.is_after);
    i = at("\"in\": \"250ms\"");
    CU_ASSERT(i.row.at == 1 && i.is_after);
}

static void under_a_uniqid_alone_it_is_a_message(void)
{
    struct asked_check asked = read_text("{\"job\": \"j\", \"in\": 0, \"uniqid\": \"u-1\"}", NULL);
    CU_ASSERT_PTR_NULL_FATAL(asked.problem);
    CU_ASSERT_STRING_EQUAL(asked.item.row.entity_name, "message");
    CU_ASSERT_STRING_EQUAL(asked.item.row.entity_key, "u-1");
    const char *half = "{\"job\": \"j\", \"in\": 0, \"uniqid\": \"u-1\", \"entity\": \"e\"}";
    CU_ASSERT(is_told(half, "/key", "missing"));
}

static void the_header_stands_for_a_uniqid(void)
{
    static const char text[] = "{\"job\": \"j\", \"in\": 0}";
    struct asked_check asked = read_text(text, "\"u-2\"");
    CU_ASSERT_PTR_NULL_FATAL(asked.problem);
    CU_ASSERT_STRING_EQUAL(asked.item.uniqid, "u-2");
    asked = read_text(text, "u-3");
    CU_ASSERT_STRING_EQUAL(asked.item.uniqid, "u-3");
    asked = read_text("{\"job\": \"j\", \"in\": 0, \"uniqid\": \"a\"}", "a");
    CU_ASSERT_PTR_NULL(asked.problem);
    asked = read_text("{\"job\": \"j\", \"in\": 0, \"uniqid\": \"a\"}", "b");
    CU_ASSERT(asked.problem && asked.type == PROBLEM_BAD_REQUEST);
    json_decref(asked.problem);
}

static void each_fault_is_told_where_it_stands(void)
{
    static const struct { const char *text, *pointer, *words; } bad[] = {
        { "[]", "", "" },
        { "{}", "/job", "missing" },
        { "{}", "/check_at", "missing" },
        { "{}", "/entity", "missing" },
        { "{\"entity\": 1}", "/entity", "expected text" },
        { "{\"entity\": \"\"}", "/entity", "empty" },
        { "{\"entity\": \"prescient.event\"}", "/entity", "deliveries" },
        { "{\"key\": 1.5}", "/key", "expected text" },
        { "{\"job\": null}", "/job", "expected text" },
        { "{\"check_at\": true}", "/check_at", "expected a time" },
        { "{\"check_at\": \"soon\"}", "/check_at", "soon" },
        { "{\"check_at\": -1}", "/check_at", "1970" },
        { "{\"check_at\": 1, \"in\": 1}", "/in", "exclude" },
        { "{\"in\": -1}", "/in", "duration" },
        { "{\"in\": \"1 parsec\"}", "/in", "parsec" },
        { "{\"in\": 1e99}", "/in", "duration" },
        { "{\"within\": 0}", "/within", "slot" },
        { "{\"priority\": 1.0}", "/priority", "whole number" },
        { "{\"priority\": 4294967296}", "/priority", "32 bits" },
        { "{\"on_conflict\": \"merge\"}", "/on_conflict", "keep, earlier or replace" },
        { "{\"uniqid\": \"\"}", "/uniqid", "1 to 255" },
        { "{\"uniqid\": \"a\\nb\"}", "/uniqid", "control" },
        { "{\"tenant\": \"\"}", "/tenant", "empty" },
        { "{\"priorty\": 1}", "/priorty", "did you mean priority" },
        { "{\"x/y~z\": 1}", "/x~1y~0z", "no such member" },
    };
    for (size_t i = 1; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT(is_told(bad[i].text, bad[i].pointer, bad[i].words));
    struct asked_check asked = read_text(bad[0].text, NULL);
    CU_ASSERT_PTR_NOT_NULL(asked.problem);
    json_decref(asked.problem);
}

static const char *content_of(const char *text)
{
    static char out[4][POST_CONTENT_SIZE];
    static int n;
    n = (n + 1) % 4;
    struct asked_check asked = read_text(text, NULL);
    json_decref(asked.problem);
    memcpy(out[n], asked.item.content, sizeof out[n]);
    return out[n];
}

static void the_same_request_has_the_same_content(void)
{
    const char *a = content_of("{\"job\": \"j\", \"in\": \"3h\", \"uniqid\": \"u\", "
                               "\"payload\": {\"b\": 1, \"a\": 2}}");
    const char *same = "{\"payload\": {\"a\":2,\"b\":1}, \"in\":\"3h\", \"job\":\"j\"}";
    const char *later = "{\"payload\": {\"a\":2,\"b\":1}, \"in\":\"4h\", \"job\":\"j\"}";
    const char *other = "{\"payload\": {\"a\":2,\"b\":3}, \"in\":\"3h\", \"job\":\"j\"}";
    CU_ASSERT_STRING_EQUAL(a, content_of(same));
    CU_ASSERT_STRING_NOT_EQUAL(a, content_of(later));
    CU_ASSERT_STRING_NOT_EQUAL(a, content_of(other));
}

static const char *stored(const char *payload)
{
    char text[400];
    snprintf(text, sizeof text, "{\"job\": \"j\", \"in\": 1, \"uniqid\": \"u\", \"payload\": %s}", payload);
    struct asked_check asked = read_text(text, NULL);
    CU_ASSERT_PTR_NULL_FATAL(asked.problem);
    return asked.item.row.payload;
}

static void a_payload_has_the_numbers_that_were_sent(void)
{
    static const char *const same[] = {
        "{\"amount\":19.99,\"rate\":0.1}", "[0.3,-0.7,1.1,100.25,0.30000000000000004]", "1.5e-7",
        "1.0", "-0.0", "5e-324", "1.7976931348623157e308", "2.2250738585072014e-308", "123456789012345.7",
        "9223372036854775807", "\"0.10000000000000001\"",
        "{\"\\\"0.10000000000000001\":[true,false,null,\"\\\\\",0.2]}",
        "0.1234567890123456", "8.41e21", "1e22", "-7", "[]",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        CU_ASSERT_STRING_EQUAL(stored(same[i]), same[i]);
    CU_ASSERT_STRING_EQUAL(stored("[1.10, 19.989999999999998, 1e0]"), "[1.1,19.99,1.0]");
}

static void what_is_stored_reads_back_the_same(void)
{
    char sent[64];
    unsigned long long bits = 88172645463325252ULL;
    for (int i = 0; i < 2000; i++) {
        double value;
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (i % 2)
            value = (double)(long long)(bits % 2000000000) / 100;      /* as money is */
        if (!isfinite(value))
            continue;
        snprintf(sent, sizeof sent, "%.17g", value);
        const char *text = stored(sent);
        CU_ASSERT(strtod(text, NULL) == value);
        if (i % 2)
            CU_ASSERT(strlen(text) <= strlen("19999999.99"));
    }
}

/* A repeat is compared with what was written by another version of the library, or will be. */
static void the_digest_has_all_digits_of_a_fraction(void)
{
    const char *text = "{\"job\": \"j\", \"in\": 1, \"uniqid\": \"u\", \"payload\": 0.1}";
    struct asked_check asked = read_text(text, NULL);
    CU_ASSERT_PTR_NULL_FATAL(asked.problem);
    CU_ASSERT_STRING_EQUAL(asked.item.content,
                           "d4c96d25cd9dcead1250963cade05b868f9255f824145203ba0baeb0c3fe5388");
}

static void a_span_beyond_all_bounds_is_at_fault(void)
{
    const char *within = "{\"job\": \"j\", \"in\": 1, \"uniqid\": \"u\", "
                         "\"within\": \"9223372036854775807us\"}";
    const char *relative = "{\"job\": \"j\", \"check_at\": \"+3x\", \"in\": 1, \"uniqid\": \"u\"}";
    CU_ASSERT(is_told(within, "/within", "at most 366 days"));
    CU_ASSERT(is_told(relative, "/check_at", "expected"));
    CU_ASSERT_PTR_NOT_NULL(strstr(faults(relative, NULL), "exclude each other"));
    CU_ASSERT_PTR_NULL(strstr(faults(relative, NULL), "is missing"));
}

static void faults_without_end_are_not_told_to_the_end(void)
{
    static char text[64 * 1024];
    char *end = stpcpy(text, "{");
    for (int i = 0; i < 5000; i++)
        end += sprintf(end, "\"m%d\": 1, ", i);
    strcpy(end, "\"job\": \"j\"}");
    struct asked_check asked = read_text(text, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(asked.problem);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(asked.problem, "errors")), FAULTS_MOST);
    json_decref(asked.problem);
}

/* {"entity": "xxx", ...} with names of so many bytes. */
static const char *of_lengths(int entity, int key, int job)
{
    char x[1200];
    memset(x, 'x', sizeof x);
    return arena_printf(arena, "{\"entity\": \"%.*s\", \"key\": \"%.*s\", \"job\": \"%.*s\", \"in\": 1}",
                        entity, x, key, x, job, x);
}

/* The database would refuse it in words that name no member. */
static void names_that_are_too_long_together_are_told_at_the_longest(void)
{
    CU_ASSERT_PTR_NULL(read_text(of_lengths(800, 1000, 800), NULL).problem);
    CU_ASSERT(is_told(of_lengths(800, 1001, 800), "/key", "have 2601 bytes together, expected at most 2600"));
    CU_ASSERT(is_told(of_lengths(1024, 1000, 1000), "/entity", "have 3024 bytes"));
    CU_ASSERT(is_told(of_lengths(1024, 1024, 1025), "/job", "found 1025 bytes"));
    CU_ASSERT(!strstr(faults(of_lengths(1024, 1024, 1025), NULL), "together"));
}

static const struct test tests[] = {
    TEST(a_payload_has_the_numbers_that_were_sent),
    TEST(what_is_stored_reads_back_the_same),
    TEST(the_digest_has_all_digits_of_a_fraction),
    TEST(a_span_beyond_all_bounds_is_at_fault),
    TEST(faults_without_end_are_not_told_to_the_end),
    TEST(all_members_are_read),
    TEST(times_are_those_of_the_command_line),
    TEST(under_a_uniqid_alone_it_is_a_message),
    TEST(the_header_stands_for_a_uniqid),
    TEST(each_fault_is_told_where_it_stands),
    TEST(the_same_request_has_the_same_content),
    TEST(names_that_are_too_long_together_are_told_at_the_longest),
    { 0 }
};

const struct suite suite_http_asked = { "http_asked", set_up, tear_down, tests };
