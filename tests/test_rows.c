/* test_rows.c - what the cells of a report look like, as text and in JSON. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include "../engine/view/json_text.h"
#include "../engine/view/rows.h"

enum { COLUMNS = 7 };
static const char *names[COLUMNS] = { "entity_name", "checks",  "run_at_us", "run_us",
                                      "is_loaded",   "payload", "slot_at" };
static enum cell_kind kinds[COLUMNS] = { CELL_TEXT, CELL_NUMBER, CELL_MOMENT_US, CELL_DURATION_US,
                                         CELL_BOOL, CELL_JSON,   CELL_MOMENT };
static const char *cells[3 * COLUMNS] = {
    "orders", "12", "1772370900500000", "1500000", "t", "{\"a\": 1}", "1772370900",
    "caf\xe9", "many", NULL, NULL, "0", "{", NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, "1772370900",
};

static struct store_rows made(int n)
{
    return (struct store_rows){
        .columns = COLUMNS, .rows = n, .names = names, .kinds = kinds, .cells = cells
    };
}

static void json_is(const struct store_rows *rows, int row, const char *expected)
{
    json_t *object = rows_object(rows, row);
    char *text = json_dumps(object, JSON_COMPACT);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
    json_decref(object);
}

/* Each as jansson reads it, and as it is to be written. */
static void numbers_have_as_few_digits_as_they_need(void)
{
    static const struct { const char *read, *written; } all[] = {
        { "[0.1,-0.0667,1.1,3]", "[0.1,-0.0667,1.1,3]" },
        { "0.30000000000000004", "0.30000000000000004" },
        { "1234567890123456789", "1234567890123456789" },
        { "[5e-324,1e300,1.5e-7]", "[5e-324,1e300,1.5e-7]" },
        { "[2.5,0.1234567890123456]", "[2.5,0.1234567890123456]" },
        { "{\"0.10000000000000001\":\"\\\"0.10000000000000001\"}",
          "{\"0.10000000000000001\":\"\\\"0.10000000000000001\"}" },
        { "[true,null,[],{}]", "[true,null,[],{}]" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_t *value = json_loads(all[i].read, JSON_DECODE_ANY, NULL);
        char *text = json_text(value, JSON_COMPACT | JSON_ENCODE_ANY);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        CU_ASSERT_STRING_EQUAL(text, all[i].written);
        free(text);
        json_decref(value);
    }
    CU_ASSERT_PTR_NULL(json_text(NULL, 0));
}

static void cells_are_found_by_the_name_of_their_column(void)
{
    struct store_rows rows = made(2);
    CU_ASSERT_EQUAL(rows_column(&rows, "checks"), 1);
    CU_ASSERT_EQUAL(rows_column(&rows, "colour"), -1);
    CU_ASSERT_STRING_EQUAL(rows_value(&rows, 0, "entity_name"), "orders");
    CU_ASSERT_EQUAL(rows_number(&rows, 0, "checks"), 12);
}

static void a_cell_that_is_not_there_is_null(void)
{
    struct store_rows rows = made(2);
    CU_ASSERT_PTR_NULL(rows_value(&rows, 0, "colour"));
    CU_ASSERT_PTR_NULL(rows_value(&rows, 2, "entity_name"));
    CU_ASSERT_EQUAL(rows_number(&rows, 1, "run_us"), 0);
}

static void json_has_numbers_moments_and_values_by_the_kind_of_the_column(void)
{
    struct store_rows rows = made(2);
    json_is(&rows, 0,
            "{\"entity_name\":\"orders\",\"checks\":12,\"run_at\":\"2026-03-01T13:15:00.500Z\","
            "\"run_us\":1500000,\"is_loaded\":true,\"payload\":{\"a\":1},"
            "\"slot_at\":\"2026-03-01T13:15:00Z\"}");
}

static void json_of_what_the_kind_does_not_fit_is_a_string_or_null(void)
{
    struct store_rows rows = made(2);
    json_is(&rows, 1,
            "{\"entity_name\":\"caf\xc3\xa9\",\"checks\":\"many\",\"run_at\":null,"
            "\"run_us\":null,\"is_loaded\":false,\"payload\":\"{\",\"slot_at\":null}");
}

static void text_for_people_has_moments_and_durations(void)
{
    struct arena *a = arena_new(1024);
    CU_ASSERT_STRING_EQUAL(rows_text(a, CELL_MOMENT, "1772370900"), "2026-03-01T13:15:00Z");
    CU_ASSERT_STRING_EQUAL(rows_text(a, CELL_DURATION_US, "90000000"), "1m30s");
    CU_ASSERT_STRING_EQUAL(rows_text(a, CELL_BOOL, "1"), "yes");
    CU_ASSERT_STRING_EQUAL(rows_text(a, CELL_MOMENT, "soon"), "soon");
    CU_ASSERT_PTR_NULL(rows_text(a, CELL_TEXT, NULL));
    arena_free(a);
}

static void a_name_loses_the_unit_of_what_is_shown_as_text(void)
{
    CU_ASSERT_EQUAL(rows_name_length("run_at_us", CELL_MOMENT_US, false), 6);
    CU_ASSERT_EQUAL(rows_name_length("run_us", CELL_DURATION_US, true), 3);
    CU_ASSERT_EQUAL(rows_name_length("run_us", CELL_DURATION_US, false), 6);
    CU_ASSERT_EQUAL(rows_name_length("status", CELL_TEXT, true), 6);
}

static void a_last_row_without_an_entity_is_where_the_search_ended(void)
{
    struct arena *a = arena_new(1024);
    struct store_rows two = made(2), three = made(3);
    CU_ASSERT_PTR_NULL(rows_take_end(a, &two));
    CU_ASSERT_EQUAL(two.rows, 2);
    rows_take_end(a, &three);
    CU_ASSERT_EQUAL(three.rows, 2);
    arena_free(a);
}

/* What a plain INSERT may file: no time comes to it. */
static void a_time_that_never_comes_is_never(void)
{
    static const struct { const char *cell, *text; } all[] = {
        { "Infinity", "never" },
        { "568971820800", "never" },    /* the year 20000 */
        { "253402300800", "never" },
        { "253402300799", "paused" },
        { "221845391999", "8999-12-31T23:59:59Z" },
    };
    struct arena *a = arena_new(1024);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_STRING_EQUAL(rows_text(a, CELL_MOMENT, all[i].cell), all[i].text);
    CU_ASSERT_STRING_EQUAL(rows_text(a, CELL_NUMBER, "Infinity"), "Infinity");
    arena_free(a);
}

static const struct test tests[] = {
    TEST(numbers_have_as_few_digits_as_they_need),
    TEST(cells_are_found_by_the_name_of_their_column),
    TEST(a_cell_that_is_not_there_is_null),
    TEST(json_has_numbers_moments_and_values_by_the_kind_of_the_column),
    TEST(json_of_what_the_kind_does_not_fit_is_a_string_or_null),
    TEST(text_for_people_has_moments_and_durations),
    TEST(a_name_loses_the_unit_of_what_is_shown_as_text),
    TEST(a_last_row_without_an_entity_is_where_the_search_ended),
    TEST(a_time_that_never_comes_is_never),
    { NULL, NULL },
};

const struct suite suite_rows = { .name = "rows", .tests = tests };
