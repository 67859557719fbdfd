/* test_answer_object.c - an answer as a JSON object: what is taken, what is refused and in which
 * words, and that the data of effects keep their text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../engine/base/utf8.h"
#include "../engine/rules/answer_object.h"
#include "test.h"

#define NOW INT64_C(1772370900)         /* 2026-03-01T13:15:00Z */

static struct err err;
static struct answer_object o;
static char *text;

static int take_bytes(const char *json, size_t len, bool may_declare)
{
    free(text);
    text = malloc(len + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memcpy(text, json, len);
    text[len] = '\0';
    err_clear(&err);
    return answer_object_read(text, len, NOW, may_declare, &o, &err);
}

static int take(const char *json)
{
    return take_bytes(json, strlen(json), true);
}

static int teardown(void)
{
    free(text);
    text = NULL;
    return 0;
}

static void each_kind_of_answer_is_taken(void)
{
    static const struct { const char *json; enum answer_kind kind; int64_t at; const char *words;
    } cases[] = {
        { "{\"done\": true}", ANSWER_DONE, 0, NULL },
        { " \r\n\t{ \"done\" : true , \"final\" : false }\n", ANSWER_DONE, 0, NULL },
        { "{\"again_at\": \"2026-03-02T00:00:00Z\"}", ANSWER_AGAIN, 1772409600, NULL },
        { "{\"again_at\": \"+2h\"}", ANSWER_AGAIN, NOW + 7200, NULL },
        { "{\"again_at\": 1772409600}", ANSWER_AGAIN, 1772409600, NULL },
        { "{\"again_at\": 1772409600.25}", ANSWER_AGAIN, 1772409601, NULL },
        { "{\"again_at\": 0}", ANSWER_AGAIN, 0, NULL },
        { "{\"defer_until\": \"+90s\"}", ANSWER_DEFER, NOW + 90, NULL },
        { "{\"fail\": \"the shop is closed\"}", ANSWER_FAIL, 0, "the shop is closed" },
        { "{\"fail\": \"no\", \"final\": false}", ANSWER_FAIL, 0, "no" },
        { "{\"final\": true, \"fail\": \"410 \\u00e4\"}", ANSWER_FAIL_FINAL, 0, "410 \xc3\xa4" },
        { "{\"fail\": null, \"emit\": null, \"done\": true, \"note\": null}", ANSWER_DONE, 0, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL_FATAL(take(cases[i].json), 0);
        CU_ASSERT(o.kind == cases[i].kind && o.at == cases[i].at && o.neffects == 0 && !o.note && !o.id);
        CU_ASSERT(cases[i].words ? o.words && !strcmp(o.words, cases[i].words) : !o.words);
        answer_object_release(&o);
    }
}

static void a_note_and_an_id_come_along(void)
{
    CU_ASSERT_EQUAL_FATAL(take("{\"id\": \"ab\", \"note\": \"2 \\\"of\\\" 3\", \"done\": true}"), 0);
    CU_ASSERT_STRING_EQUAL(o.note, "2 \"of\" 3");
    CU_ASSERT_STRING_EQUAL(o.id, "ab");
    answer_object_release(&o);
}

static void effects_come_in_their_order_and_data_keep_their_text(void)
{
    CU_ASSERT_EQUAL_FATAL(take(
        "{\"emit\": [{\"data\": {\"a\": [1.10, \"]}\\\"\\\\\"], \"n\": 12345678901234567890} ,"
        "             \"event\": \"late\"},\n"
        "            {\"event\":\"none\"}, {\"event\":\"n\",\"data\":1}],\n"
        " \"done\" :true,"
        " \"resolve\": {\"entity_name\": \"orders\", \"entity_key\": \"44\", \"job\": null},"
        " \"enqueue\": [ {\"entity_name\": \"orders\", \"entity_key\": \"43\", \"job\": \"late\","
        "   \"at\": \"+1d\", \"data\": \"\\u0041\" , \"conflict\": \"earlier\" } ,"
        "   {\"entity_name\": \"o\", \"entity_key\": \"k\","
        "   \"job\": \"j\", \"at\": 1772370901, \"data\": [], \"priority\": -7.0,"
        "   \"concurrency_key\": \"project 7\", \"tenant\": \"t\"}],"
        " \"note\": \"{\"}"), 0);
    CU_ASSERT_EQUAL_FATAL(o.neffects, 6);
    const struct effect *e = o.effects;
    CU_ASSERT(e[0].kind == EFFECT_EMIT && !strcmp(e[0].event, "late"));
    CU_ASSERT_STRING_EQUAL(e[0].json, "{\"a\": [1.10, \"]}\\\"\\\\\"], \"n\": 12345678901234567890}");
    CU_ASSERT(e[1].kind == EFFECT_EMIT && !e[1].json);
    CU_ASSERT_STRING_EQUAL(e[2].json, "1");
    CU_ASSERT(e[3].kind == EFFECT_RESOLVE && !strcmp(e[3].entity_key, "44") && !e[3].job);
    CU_ASSERT(e[4].kind == EFFECT_ENQUEUE && e[4].at == NOW + 86400 && !strcmp(e[4].conflict, "earlier"));
    CU_ASSERT_STRING_EQUAL(e[4].json, "\"\\u0041\"");
    CU_ASSERT(e[5].at == NOW + 1 && !strcmp(e[5].conflict, "keep") && !strcmp(e[5].json, "[]"));
    CU_ASSERT(e[4].priority == 0 && !e[4].concurrency_key && !e[4].tenant);
    CU_ASSERT(e[5].priority == -7 && !strcmp(e[5].concurrency_key, "project 7") && !strcmp(e[5].tenant, "t"));
    CU_ASSERT_STRING_EQUAL(o.note, "{");
    answer_object_release(&o);
}

static void what_is_no_answer_is_refused_with_words(void)
{
    static const struct { const char *json, *words;
    } cases[] = {
        { "", "found nothing, expected one JSON object" },
        { " \n", "found nothing" },
        { "done", "found 'done', expected one JSON object: " },
        { "{\"done\": true} {\"done\": true}", "expected one JSON object: end of file expected" },
        { "{\"done\": true", "expected one JSON object: " },
        { "[{\"done\": true}]", "found a list, expected one JSON object" },
        { "7", "found '7', expected one JSON object" },
        { "{\"done\": true, \"done\": true}", "duplicate object key" },
        { "{\"\xff\": 1}", "expected one JSON object: unable to decode byte 0xff" },
        { "{\"note\": \"a\\u0000b\", \"done\": true}", "expected one JSON object: " },
        { "{}", "found 0 of done, again_at, defer_until and fail, expected one" },
        { "{\"note\": \"2026-03-01\"}", "found 0 of" },
        { "{\"done\": true, \"again_at\": 1}", "found 2 of" },
        { "{\"done\": false}", "done: found false, expected true" },
        { "{\"done\": 1}", "done: found a number, expected true" },
        { "{\"again_at\": \"soon\"}", "again_at: " },
        { "{\"again_at\": true}", "again_at: found true, expected a time: text, or seconds since 1970" },
        { "{\"again_at\": 1772370900000}", "again_at: found 1772370900000 seconds since 1970, expected" },
        { "{\"defer_until\": -1}", "defer_until: found -1 seconds since 1970" },
        { "{\"fail\": \"\"}", "fail: empty, expected words" },
        { "{\"fail\": {}}", "fail: found an object, expected text" },
        { "{\"done\": true, \"final\": true}", "final: found it without fail" },
        { "{\"fail\": \"x\", \"final\": \"yes\"}", "final: found text, expected true or false" },
        { "{\"done\": true, \"note\": [\"x\"]}", "note: found a list, expected text" },
        { "{\"done\": true, \"id\": 7}", "id: found a number, expected text" },
        { "{\"agian_at\": 7}", "there is no member 'agian_at', expected done, again_at, " },
        { "{\"done\": true, \"emit\": \"late\"}",
          "emit: found text, expected an object, or a list of objects" },
        { "{\"done\": true, \"emit\": [[]]}", "emit: found a list, expected an object" },
        { "{\"done\": true, \"emit\": {}}", "emit: event name: empty, expected 1 to 1024 bytes" },
        { "{\"done\": true, \"emit\": {\"event\": 1}}", "emit: event: found a number, expected text" },
        { "{\"done\": true, \"emit\": {\"event\": \"e\", \"job\": \"j\"}}",
          "emit: there is no member 'job', expected event or data" },
        { "{\"done\": true, \"resolve\": {\"entity_name\": \"o\", \"entity_key\": \"k\", \"data\": 1}}",
          "resolve: there is no member 'data', expected entity_name, entity_key or job" },
        { "{\"done\": true, \"enqueue\": {\"entity_name\": \"o\", \"entity_key\": \"k\", \"job\": \"j\"}}",
          "enqueue: found no time, expected a member \"at\"" },
        { "{\"done\": true, \"enqueue\": {\"at\": \"never\"}}", "enqueue: at: " },
        { "{\"done\": true, \"enqueue\": {\"at\": 1, \"entity_name\": \"o\", \"entity_key\": \"k\","
          " \"job\": \"j\", \"conflict\": \"never\"}}",
          "enqueue: conflict: found 'never', expected keep, earlier or replace" },
        { "{\"done\": true, \"enqueue\": {\"priority\": 1.5}}",
          "enqueue: priority: found 1.5, expected a whole number of at most 32 bits" },
        { "{\"done\": true, \"enqueue\": {\"priority\": 0.6}}",
          "enqueue: priority: found 0.6, expected a whole number of at most 32 bits" },
        { "{\"done\": true, \"enqueue\": {\"priority\": -2147483649}}",
          "enqueue: priority: found -2147483649, expected" },
        { "{\"done\": true, \"enqueue\": {\"priority\": 1e400}}", "expected one JSON object: " },
        { "{\"done\": true, \"enqueue\": {\"priority\": \"1\"}}",
          "enqueue: priority: found text, expected a whole number" },
        { "{\"done\": true, \"enqueue\": {\"tenant\": 7}}",
          "enqueue: tenant: found a number, expected text" },
        { "{\"done\": true, \"enqueue\": {\"at\": 1, \"entity_name\": \"o\", \"entity_key\": \"k\","
          " \"job\": \"j\", \"concurrency_key\": \"\"}}",
          "enqueue: concurrency key: empty, expected 1 to 1024 bytes of text" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL_FATAL(take(cases[i].json), ERR_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].words));
        if (!strstr(err.text, cases[i].words))
            printf("found '%s', expected '%s'\n", err.text, cases[i].words);
        CU_ASSERT_TRUE(utf8_is_valid(err.text, strlen(err.text)));
        CU_ASSERT_PTR_NULL(o.impl);
    }
}

static void a_nul_byte_ends_no_answer(void)
{
    CU_ASSERT_EQUAL(take_bytes("{\"done\": true}\0{}", 17, true), ERR_INPUT);
    CU_ASSERT_EQUAL(take_bytes("\0", 1, true), ERR_INPUT);
}

static void an_answer_has_at_most_256_kib(void)
{
    size_t len = ANSWER_OBJECT_MAX;
    char *json = malloc(len + 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    memset(json, ' ', len + 1);
    memcpy(json, "{\"done\":true}", 13);
    CU_ASSERT_EQUAL(take_bytes(json, len, true), 0);
    answer_object_release(&o);
    CU_ASSERT_EQUAL(take_bytes(json, len + 1, true), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "found 262145 bytes, expected at most 262144");
    memset(json, ' ', len + 1);             /* an object may follow that there was no room for */
    CU_ASSERT_EQUAL(take_bytes(json, len + 1, true), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "found 262145 bytes, expected at most 262144");
    CU_ASSERT_EQUAL(take_bytes(json, len, true), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "found nothing, expected one JSON object");
    free(json);
}

static void at_most_64_effects_are_declared(void)
{
    char json[4096] = "{\"done\": true, \"emit\": [";
    for (int i = 0; i < ANSWER_EFFECTS_MAX; i++)
        strcat(json, i ? ",{\"event\": \"e\"}" : "{\"event\": \"e\"}");
    size_t len = strlen(json);
    strcat(json, "]}");
    CU_ASSERT_EQUAL(take(json), 0);
    CU_ASSERT_EQUAL(o.neffects, ANSWER_EFFECTS_MAX);
    answer_object_release(&o);
    strcpy(json + len, ", {\"event\": \"e\"}]}");
    CU_ASSERT_EQUAL(take(json), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "found more than 64 effects");
}

static void an_answer_that_may_declare_nothing_is_refused_with_effects(void)
{
    const char *json = "{\"done\": true, \"emit\": {\"event\": \"e\"}}";
    CU_ASSERT_EQUAL(take_bytes(json, strlen(json), false), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "emit: this answer may declare no effects");
    CU_ASSERT_EQUAL(take_bytes("{\"done\": true}", 14, false), 0);
    answer_object_release(&o);
}

static const char *member_of(const char *json, const char *name)
{
    static char found[64];
    char *out;
    err_clear(&err);
    if (answer_object_member(json, strlen(json), name, &out, &err) < 0)
        return "refused";
    snprintf(found, sizeof found, "%s", out ? out : "none");
    free(out);
    return found;
}

static void one_member_is_read_as_text(void)
{
    static const char json[] = "{\"id\": \"a\\u00e4\", \"n\": 16, \"f\": 1.5, \"t\": true, \"no\": false, "
                               "\"null\": null, \"list\": [1], \"in\": {\"id\": 2}}";
    static const char *const cases[][2] = {
        { "id", "a\xc3\xa4" }, { "n", "16" }, { "f", "1.5" }, { "t", "true" }, { "no", "false" },
        { "null", "none" }, { "list", "none" }, { "in", "none" }, { "missing", "none" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_STRING_EQUAL(member_of(json, cases[i][0]), cases[i][1]);
    static const char *const bad[] = { "", "garbage", "[{\"id\": 1}]", "{\"id\": 1} {}",
                                       "{\"id\": 1, \"id\": 2}" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_STRING_EQUAL(member_of(bad[i], "id"), "refused");
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "expected one JSON object"));
    }
}

static const struct test tests[] = {
    TEST(each_kind_of_answer_is_taken),
    TEST(a_note_and_an_id_come_along),
    TEST(effects_come_in_their_order_and_data_keep_their_text),
    TEST(what_is_no_answer_is_refused_with_words),
    TEST(a_nul_byte_ends_no_answer),
    TEST(an_answer_has_at_most_256_kib),
    TEST(at_most_64_effects_are_declared),
    TEST(an_answer_that_may_declare_nothing_is_refused_with_effects),
    TEST(one_member_is_read_as_text),
    { NULL, NULL },
};

const struct suite suite_answer_object = { "answer_object", NULL, teardown, tests };
