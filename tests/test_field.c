/* test_field.c - what the fields of a check and of an effect may hold, and the words for what they
 * may not. */
#include <string.h>
#include "../engine/base/utf8.h"
#include "../engine/rules/effect.h"
#include "../engine/rules/field.h"
#include "test.h"

static struct err err;

static void a_name_that_is_missing_is_as_empty(void)
{
    CU_ASSERT_EQUAL(field_check_name("job", NULL, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "job: empty, expected 1 to 1024 bytes of text");
    CU_ASSERT_EQUAL(field_check_name("job", "", &err), ERR_INPUT);
    CU_ASSERT_EQUAL(field_check_name("job", "j", &err), 0);
}

static void names_of_a_row_have_a_bound_together(void)
{
    char x[1001];
    memset(x, 'x', sizeof x - 1);
    x[1000] = '\0';
    CU_ASSERT_EQUAL(field_check_row(x, x, x + 400, &err), 0);
    CU_ASSERT_EQUAL(field_check_row(x, x, x + 399, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "entity, key and job have 2601 bytes together, expected at most 2600");
    CU_ASSERT_EQUAL(field_check_row(NULL, x, x, &err), 0);
}

static void nobody_asks_for_a_check_of_the_entity_of_deliveries(void)
{
    struct effect e = { .kind = EFFECT_ENQUEUE, .entity_name = DELIVERY_ENTITY, .entity_key = "1", .job = "j",
                        .at = 900, .conflict = "keep" };
    CU_ASSERT_EQUAL(effect_check(&e, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "entity name: found prescient.event, which stands for deliveries: only "
                                     "events file them");
    e.kind = EFFECT_RESOLVE;
    CU_ASSERT_EQUAL(effect_check(&e, &err), 0);
    e.entity_name = "prescient.digest";
    CU_ASSERT_EQUAL(effect_check(&e, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "entity name: found prescient.digest, which stands for digests: no job "
                                     "ends one, `prescient resolve` does");
    CU_ASSERT_EQUAL(field_check_entity("entity", "prescient.digest", &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "entity: found prescient.digest, which stands for digests: only engines "
                                     "file them, as listeners in the settings say");
    CU_ASSERT_EQUAL(field_check_entity("entity", "prescient.events", &err), 0);
    CU_ASSERT_EQUAL(field_check_entity("entity", "", &err), ERR_INPUT);
    CU_ASSERT(field_is_of_engines("prescient.event") && field_is_of_engines("prescient.digest"));
    CU_ASSERT_FALSE(field_is_of_engines("prescient.events"));
}

static void what_begins_like_an_array_is_no_name(void)
{
    struct effect e = { .kind = EFFECT_ENQUEUE, .entity_name = "orders", .entity_key = "{1}", .job = "{a,b}",
                        .at = 900, .conflict = "keep" };
    CU_ASSERT_EQUAL(effect_check(&e, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "job: found '{a,b}', which begins like an array, expected one name: did "
                                     "you mean enqueue_each?");
    e.job = "look{";
    CU_ASSERT_EQUAL(effect_check(&e, &err), 0);             /* a key may begin so */
    CU_ASSERT_EQUAL(field_check_entity("entity", "{a,b}", &err), ERR_INPUT);
    e.kind = EFFECT_RESOLVE;
    e.entity_name = "{a,b}";
    CU_ASSERT_EQUAL(effect_check(&e, &err), 0);             /* what is there already can be ended */
}

static void conflict_is_one_of_three_words(void)
{
    CU_ASSERT_EQUAL(field_check_conflict("keep", &err), 0);
    CU_ASSERT_EQUAL(field_check_conflict("earlier", &err), 0);
    CU_ASSERT_EQUAL(field_check_conflict("replace", &err), 0);
    CU_ASSERT_EQUAL(field_check_conflict("Keep", &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "conflict: found 'Keep', expected keep, earlier or replace");
    CU_ASSERT_EQUAL(field_check_conflict(NULL, &err), ERR_INPUT);
    CU_ASSERT_EQUAL(field_check_conflict("\xff", &err), ERR_INPUT);
    CU_ASSERT_TRUE(utf8_is_valid(err.text, strlen(err.text)));
}

static void each_conflict_has_an_index_of_its_own(void)
{
    for (uint32_t i = 0; i < FIELD_CONFLICTS; i++)
        CU_ASSERT_EQUAL(field_conflict_index(field_conflict_word(i)), (int)i);
    CU_ASSERT_PTR_NULL(field_conflict_word(FIELD_CONFLICTS));
    CU_ASSERT_EQUAL(field_conflict_index("never"), -1);
    CU_ASSERT_EQUAL(field_conflict_index(NULL), -1);
}

static void a_whole_number_of_any_length_is_json(void)
{
    CU_ASSERT_EQUAL(field_check_json("json", "123456789012345678901234567890", &err), 0);
    CU_ASSERT_EQUAL(field_check_payload("payload", "9223372036854775807", &err), 0);
    CU_ASSERT_EQUAL(field_check_payload("payload", "9223372036854775808", &err), ERR_INPUT);
    CU_ASSERT_EQUAL(field_check_json("payload", "1e999", &err), ERR_INPUT);
}

/* The parser shows where it stopped, and cuts what it shows at a byte. */
static void what_is_wrong_with_json_is_said_in_text_even_where_the_parser_cuts_a_character(void)
{
    for (size_t shift = 0; shift < 4; shift++) {
        char json[512] = "{\"aaaa";
        strcpy(json + 2 + shift, "\" \"");
        for (int i = 0; i < 100; i++)
            strcat(json, "\xe2\x82\xac");
        strcat(json, "\"}");
        CU_ASSERT_EQUAL(field_check_json("payload", json, &err), ERR_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "expected JSON: "));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, " (line 1, column "));
        CU_ASSERT_TRUE(utf8_is_valid(err.text, strlen(err.text)));
    }
}

static void an_effect_needs_the_fields_of_its_kind(void)
{
    const struct effect emit = { .kind = EFFECT_EMIT, .event = "paid", .json = "{}" },
                        resolve = { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "1" };
    struct effect enqueue = { .kind = EFFECT_ENQUEUE,
                              .entity_name = "orders",
                              .entity_key = "1",
                              .job = "late",
                              .conflict = "keep",
                              .at = 900 };
    CU_ASSERT_EQUAL(effect_check(&emit, &err), 0);
    CU_ASSERT_EQUAL(effect_check(&resolve, &err), 0);
    CU_ASSERT_EQUAL(effect_check(&enqueue, &err), 0);
    enqueue.concurrency_key = "";
    CU_ASSERT_EQUAL(effect_check(&enqueue, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "concurrency key: empty, expected 1 to 1024 bytes of text");
    enqueue.concurrency_key = "k";
    enqueue.tenant = "\xff";
    CU_ASSERT_EQUAL(effect_check(&enqueue, &err), ERR_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "tenant: "));
    enqueue.tenant = "t";
    CU_ASSERT_EQUAL(effect_check(&enqueue, &err), 0);
    enqueue.at = -1;
    CU_ASSERT_EQUAL(effect_check(&enqueue, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text,
                           "time: found -1 seconds since 1970, expected a time from 1970 to 9999");
    enqueue.job = NULL;
    CU_ASSERT_EQUAL(effect_check(&enqueue, &err), ERR_INPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "job: empty, expected 1 to 1024 bytes of text");
}

static const struct test tests[] = {
    TEST(a_name_that_is_missing_is_as_empty),
    TEST(names_of_a_row_have_a_bound_together),
    TEST(nobody_asks_for_a_check_of_the_entity_of_deliveries),
    TEST(what_begins_like_an_array_is_no_name),
    TEST(conflict_is_one_of_three_words),
    TEST(each_conflict_has_an_index_of_its_own),
    TEST(a_whole_number_of_any_length_is_json),
    TEST(what_is_wrong_with_json_is_said_in_text_even_where_the_parser_cuts_a_character),
    TEST(an_effect_needs_the_fields_of_its_kind),
    { NULL, NULL },
};

const struct suite suite_field = { "field", NULL, NULL, tests };
