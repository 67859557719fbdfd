/* test_idempotency.c - keys and buckets: pinned values, because databases and other programs
 * compute them, too. */
#include "test.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "../engine/rules/bucket.h"
#include "../engine/rules/idempotency.h"

struct fields {
    const char *name, *key, *job;
    int64_t first, id;
    int32_t count;
    const char *origin, *payload;
};

static void key_of(const struct fields *f, char out[IDEMPOTENCY_KEY_SIZE])
{
    struct idempotency of = {
        .entity_name = f->name,
        .entity_key = f->key,
        .job_exec = f->job,
        .first_check_at = f->first,
        .id = f->id,
        .check_count = f->count,
        .origin = f->origin,
        .payload = f->payload,
    };
    idempotency_key(&of, out);
}

static void a_key_is_the_first_half_of_the_sha256_of_all_fields(void)
{
    char key[IDEMPOTENCY_KEY_SIZE];
    key_of(&(struct fields){ "orders", "42", "unshipped", 1772370900, 7, 0, NULL, NULL }, key);
    CU_ASSERT_STRING_EQUAL(key, "bd69d585d401b2445654021fb2694449");
    key_of(&(struct fields){ "", "", "", INT64_MIN, INT64_MAX, -1, NULL, NULL }, key);
    CU_ASSERT_STRING_EQUAL(key, "77e2b8c53afc06bfb103857f83c5cf28");
}

static void every_field_changes_the_key(void)
{
    const struct fields all[] = {
        { "orders", "42", "unshipped", 100, 7, 1, NULL, NULL },
        { "order", "42", "unshipped", 100, 7, 1, NULL, NULL },
        { "orders", "43", "unshipped", 100, 7, 1, NULL, NULL },
        { "orders", "42", "unpaid", 100, 7, 1, NULL, NULL },
        { "orders", "42", "unshipped", 101, 7, 1, NULL, NULL },
        { "orders", "42", "unshipped", 100, 8, 1, NULL, NULL },
        { "orders", "42", "unshipped", 100, 7, 2, NULL, NULL },
        { "orders4", "2", "unshipped", 100, 7, 1, NULL, NULL },
        { "orders", "42u", "nshipped", 100, 7, 1, NULL, NULL },
        { "orders", "42", "unshipped", 1007, 1, 1, NULL, NULL },
        { "orders", "42", "unshipped", 10, 7, 1, NULL, NULL },
    };
    enum { N = sizeof all / sizeof *all };
    char keys[N][IDEMPOTENCY_KEY_SIZE];
    for (int i = 0; i < N; i++) {
        key_of(&all[i], keys[i]);
        CU_ASSERT_EQUAL(strlen(keys[i]), IDEMPOTENCY_KEY_SIZE - 1);
        for (int j = 0; j < i; j++)
            CU_ASSERT_STRING_NOT_EQUAL(keys[i], keys[j]);
    }
}

static void the_payload_belongs_to_the_key(void)
{
    char without[IDEMPOTENCY_KEY_SIZE], with[IDEMPOTENCY_KEY_SIZE], other[IDEMPOTENCY_KEY_SIZE];
    key_of(&(struct fields){ "orders", "42", "unshipped", 100, 7, 0, NULL, NULL }, without);
    key_of(&(struct fields){ "orders", "42", "unshipped", 100, 7, 0, NULL, "{\"n\": 1}" }, with);
    key_of(&(struct fields){ "orders", "42", "unshipped", 100, 7, 0, NULL, "{\"n\": 2}" }, other);
    CU_ASSERT_STRING_NOT_EQUAL(without, with);
    CU_ASSERT_STRING_NOT_EQUAL(with, other);
}

/* Whoever is given another id keeps his key: what he was made of stands in his origin. */
static void an_origin_in_numbers_gives_the_key_of_these_numbers(void)
{
    char first[IDEMPOTENCY_KEY_SIZE], moved[IDEMPOTENCY_KEY_SIZE];
    key_of(&(struct fields){ "orders", "42", "unshipped", 1772370900, 7, 2, NULL, NULL }, first);
    key_of(&(struct fields){ "orders", "42", "unshipped", 1772999999, 8, 2, "1772370900/7", NULL }, moved);
    CU_ASSERT_STRING_EQUAL(first, moved);
}

static void with_an_origin_neither_id_nor_first_slot_count(void)
{
    char key[IDEMPOTENCY_KEY_SIZE], origin[IDEMPOTENCY_KEY_SIZE], other[IDEMPOTENCY_KEY_SIZE];
    char a[IDEMPOTENCY_KEY_SIZE], b[IDEMPOTENCY_KEY_SIZE];
    key_of(&(struct fields){ "orders", "42", "unshipped", 100, 7, 0, NULL, NULL }, key);
    const struct declaration by = { .key = key },
                             others[] = { { .key = key, .place = 1 }, { .key = key, .failure_count = 1 } };
    idempotency_origin_of_effect(&by, origin);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        idempotency_origin_of_effect(&others[i], other);
        CU_ASSERT_STRING_NOT_EQUAL(origin, other);
    }
    key_of(&(struct fields){ "orders", "43", "bill", 200, 8, 0, origin, NULL }, a);
    key_of(&(struct fields){ "orders", "43", "bill", 300, 9, 0, origin, NULL }, b);
    CU_ASSERT_STRING_EQUAL(a, b);
    key_of(&(struct fields){ "orders", "43", "bill", 300, 9, 1, origin, NULL }, b);
    CU_ASSERT_STRING_NOT_EQUAL(a, b);
    key_of(&(struct fields){ "orders", "43", "bill", 200, 8, 0, other, NULL }, b);
    CU_ASSERT_STRING_NOT_EQUAL(a, b);
}

/* Of a delivery the key follows from the entity key alone: what it was filed as, its data and its
 * counts may be others when it is made again. */
static void all_runs_of_a_delivery_have_one_key(void)
{
    char key[IDEMPOTENCY_KEY_SIZE], same[IDEMPOTENCY_KEY_SIZE], other[IDEMPOTENCY_KEY_SIZE];
    key_of(&(struct fields){ DELIVERY_ENTITY, "hook/e", "hook", 100, 7, 0, "o", "{}" }, key);
    key_of(&(struct fields){ DELIVERY_ENTITY, "hook/e", "post", 200, 8, 3, NULL, NULL }, same);
    CU_ASSERT_STRING_EQUAL(key, same);
    CU_ASSERT_STRING_EQUAL(key, "b75ae83bea9f4ecb9112b7451a129de4");
    key_of(&(struct fields){ DELIVERY_ENTITY, "mail/e", "hook", 100, 7, 0, "o", "{}" }, other);
    CU_ASSERT_STRING_NOT_EQUAL(key, other);
    key_of(&(struct fields){ "prescient.events", "hook/e", "hook", 100, 7, 0, "o", "{}" }, other);
    CU_ASSERT_STRING_NOT_EQUAL(key, other);
}

static void the_origin_of_an_event_has_its_name_and_the_slot_of_a_deferral(void)
{
    static const struct declaration all[] = {
        { .key = "k" },
        { .key = "k", .event = "late" },
        { .key = "k", .event = "later" },
        { .key = "k", .place = 1, .event = "late" },
        { .key = "k", .failure_count = 1, .event = "late" },
        { .key = "l", .event = "late" },
        { .key = "k", .event = "late", .deferred_slot = 900 },
        { .key = "k", .event = "late", .deferred_slot = 901 },
        { .key = "k", .event = "900" },
    };
    enum { N = sizeof all / sizeof *all };
    char origins[N][IDEMPOTENCY_KEY_SIZE];
    for (int i = 0; i < N; i++) {
        idempotency_origin_of_effect(&all[i], origins[i]);
        for (int j = 0; j < i; j++)
            CU_ASSERT_STRING_NOT_EQUAL(origins[i], origins[j]);
    }
}

/* What checks of one bucket declare lies in their order in an index, whatever else differs; and
 * that of another bucket lies elsewhere. */
static void origins_of_effects_begin_with_bucket_and_number_of_the_check(void)
{
    static const struct {
        const char *origin;
        int64_t id;
        int bucket;
        uint32_t lead;
    } leads[] = {
        { NULL, 7, 0, 7 },
        { NULL, 7, 63, 0x3f000007 },
        { NULL, 0x503000007, 1, 0x01000007 },
        { "1772370900/7", 8, 0, 7 },
        { "1772370900/", 8, 2, 0x02000000 },
        { "00000007c0ffee00c0ffee00c0ffee00", 8, 0, 7 },
        { "b75ae83bea9f4ecb9112b7451a129de4", 8, 0x10, 0x105ae83b },
        { "no digits", 8, 0, 0 },
    };
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        const struct idempotency of = { .origin = leads[i].origin, .id = leads[i].id };
        CU_ASSERT_EQUAL(idempotency_lead(&of, leads[i].bucket), leads[i].lead);
    }
    char first[IDEMPOTENCY_KEY_SIZE], second[IDEMPOTENCY_KEY_SIZE];
    idempotency_origin_of_effect(&(struct declaration){ .key = "k", .lead = 0x1f }, first);
    idempotency_origin_of_effect(&(struct declaration){ .key = "l", .lead = 0x20 }, second);
    CU_ASSERT_EQUAL(strlen(first), IDEMPOTENCY_KEY_SIZE - 1);
    CU_ASSERT_EQUAL(strncmp(first, "0000001f", 8), 0);
    CU_ASSERT_EQUAL(strspn(first, "0123456789abcdef"), IDEMPOTENCY_KEY_SIZE - 1);
    CU_ASSERT_TRUE(strcmp(first, second) < 0);
    CU_ASSERT_STRING_NOT_EQUAL(first + 8, second + 8);
}

/* What follows a key's digits has them in its first 24, and counts in the last eight. */
static void the_origin_of_a_new_life_follows_from_the_old_one(void)
{
    static const struct {
        const char *origin, *anew;
    } lives[] = {
        { "b75ae83bea9f4ecb9112b7451a129de4", "b75ae83bea9f4ecb9112b7451a129de5" },
        { "b75ae83bea9f4ecb9112b7451a12ffff", "b75ae83bea9f4ecb9112b7451a130000" },
        { "b75ae83bea9f4ecb9112b745ffffffff", "b75ae83bea9f4ecb9112b74500000000" },
        { NULL, "dcd5a9ee91b10972300ebc975b9f076f" },
        { "1772370900/7", "dcd5a9ee91b10972300ebc975b9f076f" },
        { "b75ae83bea9f4ecb9112b7451a129de", "e10dc4deb274ca8cf58c7e1460883966" },
        { "b75ae83bea9f4ecb9112b7451a129de4a", "bdb455382d2a23e53db6bffaf146a51f" },
        { "B75AE83BEA9F4ECB9112B7451A129DE4", "bf888f76ed4dd5fefb87cf9b59c1cb00" },
    };
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
        const struct idempotency of = { .origin = lives[i].origin, .first_check_at = 1772370900, .id = 7 };
        char anew[IDEMPOTENCY_KEY_SIZE];
        idempotency_origin_anew(&of, anew);
        CU_ASSERT_STRING_EQUAL(anew, lives[i].anew);
    }
}

static void a_bucket_is_the_one_that_sql_computes(void)
{
    CU_ASSERT_EQUAL(bucket_of("orders", "42"), 50);
    CU_ASSERT_EQUAL(bucket_of("\xc3\xbcn\xc3\xaf", "\xd0\xba\xd0\xbb\xd1\x8e\xd1\x87"), 5);
    CU_ASSERT_EQUAL(bucket_of("", ""), 58);
}

static void the_border_between_name_and_key_counts(void)
{
    int same = 0;
    for (int i = 0; i < 64; i++) {
        char left[16], right[16];
        snprintf(left, sizeof left, "a%d", i);
        snprintf(right, sizeof right, "%db", i);
        same += bucket_of(left, "b") == bucket_of("a", right);
    }
    CU_ASSERT_TRUE(same < 16);
}

static void buckets_are_even(void)
{
    int counts[64] = { 0 };
    for (int i = 0; i < 64000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        int bucket = bucket_of("orders", key);
        CU_ASSERT_FATAL(bucket >= 0 && bucket < 64);
        counts[bucket]++;
    }
    for (int i = 0; i < 64; i++)
        CU_ASSERT_TRUE(counts[i] > 850 && counts[i] < 1150);
}

static void each_reader_gets_an_event_under_one_key(void)
{
    char first[IDEMPOTENCY_KEY_SIZE], again[IDEMPOTENCY_KEY_SIZE], other[3][IDEMPOTENCY_KEY_SIZE];
    idempotency_key_of_event("mail", "0-7301-15", 1772370900000001, first);
    idempotency_key_of_event("mail", "0-7301-15", 1772370900000001, again);
    idempotency_key_of_event("chat", "0-7301-15", 1772370900000001, other[0]);
    idempotency_key_of_event("mail", "0-7301-16", 1772370900000001, other[1]);
    idempotency_key_of_event("mail", "0-7301-15", 1772370900000002, other[2]);
    CU_ASSERT_STRING_EQUAL(first, again);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_STRING_NOT_EQUAL(first, other[i]);
}

static const struct test tests[] = {
    TEST(a_key_is_the_first_half_of_the_sha256_of_all_fields),
    TEST(every_field_changes_the_key),
    TEST(the_payload_belongs_to_the_key),
    TEST(an_origin_in_numbers_gives_the_key_of_these_numbers),
    TEST(with_an_origin_neither_id_nor_first_slot_count),
    TEST(all_runs_of_a_delivery_have_one_key),
    TEST(the_origin_of_an_event_has_its_name_and_the_slot_of_a_deferral),
    TEST(origins_of_effects_begin_with_bucket_and_number_of_the_check),
    TEST(the_origin_of_a_new_life_follows_from_the_old_one),
    TEST(a_bucket_is_the_one_that_sql_computes),
    TEST(the_border_between_name_and_key_counts),
    TEST(buckets_are_even),
    TEST(each_reader_gets_an_event_under_one_key),
    { NULL, NULL },
};

const struct suite suite_idempotency = { .name = "idempotency", .tests = tests };
