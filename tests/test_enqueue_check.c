/* test_enqueue_check.c - what may be enqueued, and the words for what may not. */
#include <stdlib.h>
#include <string.h>
#include "../engine/store/enqueue_check.h"
#include "test.h"

static const struct load_row good = {
    .entity_name = "orders", .entity_key = "42", .job_exec = "unshipped", .at = 1772370900
};

static bool refused(struct load_row row, const char *words)
{
    struct err err = { 0 };
    int rc = enqueue_check_row(&row, &err);
    bool as_expected = rc == ERR_INPUT && err.code == ERR_INPUT && strstr(err.text, words);
    if (!as_expected)
        printf("\nrc %d, words '%s', expected '%s'\n", rc, err.text, words);
    return as_expected;
}

#define WITH(field, value) ({ struct load_row row_ = good; row_.field = value; row_; })

static bool accepted(struct load_row row)
{
    struct err err = { 0 };
    return enqueue_check_row(&row, &err) == 0;
}

static void a_good_row_passes_with_and_without_payload(void)
{
    CU_ASSERT(accepted(good));
    CU_ASSERT(accepted(WITH(payload, "{\"a\": [1, 2.5, null]}")));
    CU_ASSERT(accepted(WITH(payload, "\"text\"")));
    CU_ASSERT(accepted(WITH(payload, "7")));
}

static void names_have_1_to_1024_bytes(void)
{
    char name[CHECK_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[CHECK_NAME_MAX] = '\0';
    CU_ASSERT(accepted(WITH(entity_key, name)));
    name[CHECK_NAME_MAX] = 'n';
    name[CHECK_NAME_MAX + 1] = '\0';
    CU_ASSERT(refused(WITH(entity_key, name), "entity_key: found 1025 bytes"));
    CU_ASSERT(refused(WITH(entity_name, ""), "entity_name: empty"));
    CU_ASSERT(refused(WITH(job_exec, NULL), "job_exec: empty"));
}

static void names_are_utf8(void)
{
    CU_ASSERT(accepted(WITH(entity_name, "Aufträge")));
    CU_ASSERT(refused(WITH(entity_name, "Auftr\xe4ge"), "entity_name: found bytes that are not UTF-8"));
}

static void the_time_lies_between_1970_and_9999(void)
{
    CU_ASSERT(accepted(WITH(at, 0)));
    CU_ASSERT(refused(WITH(at, 253402300799), "at which paused checks wait"));
    CU_ASSERT(refused(WITH(at, 221845392000), "expected a time before the year 9000"));
    CU_ASSERT(accepted(WITH(at, 221845392000 - 86400)));
    CU_ASSERT(refused(WITH(at, -1), "check_at: found -1"));
    CU_ASSERT(refused(WITH(at, 253402300800), "check_at: found 253402300800"));
}

static void a_payload_is_one_json_value(void)
{
    CU_ASSERT(refused(WITH(payload, "{a: 1}"), "payload: found '{a: 1}', expected JSON"));
    CU_ASSERT(refused(WITH(payload, ""), "expected JSON"));
    CU_ASSERT(refused(WITH(payload, "{} {}"), "expected JSON"));
    CU_ASSERT(refused(WITH(payload, "\"\xff\""), "expected JSON"));
}

static void a_payload_has_at_most_64_kib(void)
{
    char *payload = malloc(CHECK_PAYLOAD_MAX + 2);
    memset(payload, 'p', CHECK_PAYLOAD_MAX + 1);
    payload[0] = payload[CHECK_PAYLOAD_MAX - 1] = '"';
    payload[CHECK_PAYLOAD_MAX] = '\0';
    CU_ASSERT(accepted(WITH(payload, payload)));
    payload[CHECK_PAYLOAD_MAX - 1] = 'p';
    payload[CHECK_PAYLOAD_MAX] = '"';
    payload[CHECK_PAYLOAD_MAX + 1] = '\0';
    CU_ASSERT(refused(WITH(payload, payload), "payload: found 65537 bytes, expected at most 65536"));
    free(payload);
}

static void a_deeply_nested_payload_is_refused_and_not_a_crash(void)
{
    char payload[60001];
    memset(payload, '[', 60000);
    payload[60000] = '\0';
    CU_ASSERT(refused(WITH(payload, payload), "expected JSON"));
}

static const struct test tests[] = {
    TEST(a_good_row_passes_with_and_without_payload),
    TEST(names_have_1_to_1024_bytes),
    TEST(names_are_utf8),
    TEST(the_time_lies_between_1970_and_9999),
    TEST(a_payload_is_one_json_value),
    TEST(a_payload_has_at_most_64_kib),
    TEST(a_deeply_nested_payload_is_refused_and_not_a_crash),
    { 0 }
};

const struct suite suite_enqueue_check = { .name = "enqueue_check", .tests = tests };
