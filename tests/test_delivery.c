/* test_delivery.c - the JSON document of a check: its members, what may stand in them, its room. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "../engine/rules/delivery.h"
#include "test.h"

static const struct delivery usual = {
    .type = "check", .id = "00112233445566778899aabbccddeeff", .timestamp = 1772370900,
    .entity_name = "orders", .entity_key = "42", .job = "late", .check_number = 2, .failure_count = 1,
    .first_check_at = 1772370000, .data = "{\"n\": 1.10}",
};

static char *document(const struct delivery *d)
{
    char *text = malloc(delivery_size(d));
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    size_t len = delivery_write(d, text);
    CU_ASSERT_EQUAL(len, strlen(text));
    CU_ASSERT_TRUE(len < delivery_size(d));
    return text;
}

static void a_document_has_all_members_in_one_line(void)
{
    char *text = document(&usual);
    CU_ASSERT_STRING_EQUAL(text,
        "{\"type\":\"check\",\"id\":\"00112233445566778899aabbccddeeff\","
        "\"timestamp\":\"2026-03-01T13:15:00Z\",\"entity_name\":\"orders\",\"entity_key\":\"42\","
        "\"job\":\"late\",\"check_number\":2,\"failure_count\":1,"
        "\"first_check_at\":\"2026-03-01T13:00:00Z\",\"data\":{\"n\": 1.10}}");
    free(text);
}

static void without_data_there_is_null(void)
{
    struct delivery d = usual;
    d.data = NULL;
    char *text = document(&d);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ",\"data\":null}"));
    free(text);
}

static void what_is_not_known_is_null(void)
{
    struct delivery d = usual;
    char room[DELIVERY_FIELD_SIZE];
    d.failure_count = d.first_check_at = DELIVERY_UNKNOWN;
    char *text = document(&d);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"failure_count\":null,\"first_check_at\":null,"));
    CU_ASSERT_STRING_EQUAL(delivery_field(&d, "failure_count", room), "");
    CU_ASSERT_STRING_EQUAL(delivery_field(&d, "check_number", room), "2");
    free(text);
}

static void data_over_several_lines_come_in_one(void)
{
    struct delivery d = usual;
    d.data = "[1,\r\n\t2]";
    char *text = document(&d);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"data\":[1,   2]}"));
    free(text);
}

static const char *text_in(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static void whatever_a_name_holds_stays_in_its_string(void)
{
    struct delivery d = usual;
    d.entity_key = "a\"b\\c\nd\x01\x1f,\"e\":\xc3\xa4";
    d.entity_name = "\xff\xc3 and \xe2\x82";
    d.job = "\x7f";
    char *text = document(&d);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    CU_ASSERT_STRING_EQUAL(text_in(object, "entity_key"), d.entity_key);
    CU_ASSERT_STRING_EQUAL(text_in(object, "entity_name"),
                           "\xef\xbf\xbd\xef\xbf\xbd and \xef\xbf\xbd\xef\xbf\xbd");
    CU_ASSERT_STRING_EQUAL(text_in(object, "job"), "\x7f");
    CU_ASSERT_EQUAL(json_object_size(object), 10);
    json_decref(object);
    free(text);
}

static void the_room_is_enough_for_the_longest(void)
{
    char longest[1025], data[1001];
    memset(longest, 1, sizeof longest - 1);
    longest[1024] = '\0';
    memset(data, '7', sizeof data - 1);
    data[1000] = '\0';
    struct delivery d = usual;
    d.type = d.entity_name = d.entity_key = d.job = longest;
    d.check_number = d.failure_count = INT64_MIN;
    d.data = data;
    free(document(&d));
    memset(longest, 0xff, sizeof longest - 1);
    free(document(&d));
}

static void each_member_but_the_data_is_to_be_had_as_text(void)
{
    static const char *const expected[][2] = {
        { "type", "check" }, { "id", "00112233445566778899aabbccddeeff" },
        { "timestamp", "2026-03-01T13:15:00Z" }, { "entity_name", "orders" }, { "entity_key", "42" },
        { "job", "late" }, { "check_number", "2" }, { "failure_count", "1" },
        { "first_check_at", "2026-03-01T13:00:00Z" },
    };
    char room[DELIVERY_FIELD_SIZE];
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CU_ASSERT_STRING_EQUAL(delivery_field(&usual, expected[i][0], room), expected[i][1]);
    CU_ASSERT_PTR_NULL(delivery_field(&usual, "data", room));
    CU_ASSERT_PTR_NULL(delivery_field(&usual, "", room));
}

static const struct test tests[] = {
    TEST(a_document_has_all_members_in_one_line),
    TEST(without_data_there_is_null),
    TEST(what_is_not_known_is_null),
    TEST(data_over_several_lines_come_in_one),
    TEST(whatever_a_name_holds_stays_in_its_string),
    TEST(the_room_is_enough_for_the_longest),
    TEST(each_member_but_the_data_is_to_be_had_as_text),
    { NULL, NULL },
};

const struct suite suite_delivery = { .name = "delivery", .tests = tests };
