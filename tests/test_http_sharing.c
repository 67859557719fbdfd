/* test_http_sharing.c - answers that several readers get: who takes one, which are the same, how
 * many are kept. */
#include "../engine/http/sharing.h"

#include <stdlib.h>
#include <string.h>
#include "test.h"

static struct sharing *sharing;

static int set_up(void)
{
    sharing = calloc(1, sizeof *sharing);
    return !sharing;
}

static int tear_down(void)
{
    sharing_forget(sharing);
    free(sharing);
    return 0;
}

static const struct sharing_question *asked(uint32_t route, uint32_t role, const char *query)
{
    static struct sharing_question q;
    q = (struct sharing_question){ route, role, query };
    return &q;
}

static void keep(const struct sharing_question *q, const char *body, int64_t at_us)
{
    char etag[SHARING_ETAG];
    struct shared_body *own = shared_body_new(body, strlen(body));
    CU_ASSERT_PTR_NOT_NULL_FATAL(own);
    sharing_etag(body, strlen(body), etag);
    sharing_keep(sharing, q, &(struct answer){ .status = 200, .shared = own }, etag, at_us);
    shared_body_drop(own);
}

/* Its body, or "none". */
static const char *found(const struct sharing_question *q, int64_t since_us)
{
    static char out[64];
    const struct shared_answer *a = sharing_find(sharing, q, since_us);
    if (!a)
        return "none";
    snprintf(out, sizeof out, "%.*s", (int)a->body->len, a->body->data);
    return out;
}

static void who_says_nothing_takes_none(void)
{
    static const struct { const char *header; int age_s; } all[] = {
        { NULL, -1 }, { "", -1 }, { "no-cache", -1 }, { "max-age=5", 5 }, { "Max-Age=5, no-transform", 5 },
        { "no-transform ,\tmax-age=7", 7 }, { "max-age=0", 0 }, { "max-age=", -1 }, { "max-age=-1", -1 },
        { "max-age=31536000", SHARING_MAX_S }, { "max-age=99999999999999999999", SHARING_MAX_S },
        { "s-max-age=5", -1 }, { "x=max-age=5", -1 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_EQUAL(sharing_max_age_s(all[i].header), all[i].age_s);
}

static void payloads_are_asked_for_by_each(void)
{
    CU_ASSERT(sharing_may(""));
    CU_ASSERT(sharing_may("job=look&from=2026-03-01T13%3A15%3A00Z"));
    CU_ASSERT(!sharing_may("job=look&payload=1"));
    CU_ASSERT(!sharing_may("%70ayload=1"));
    CU_ASSERT(!sharing_may("job=look&p%61yl%6Fad&limit=2"));
    CU_ASSERT(!sharing_may("&&payload"));
    CU_ASSERT(sharing_may("entity=payload"));
    CU_ASSERT(sharing_may("payloads=1&pay=1&%zz&%7"));
}

static void the_same_question_of_the_same_role_has_one_answer(void)
{
    keep(asked(1, 0, "job=a"), "one", 10);
    CU_ASSERT_STRING_EQUAL(found(asked(1, 0, "job=a"), 10), "one");
    CU_ASSERT_STRING_EQUAL(found(asked(1, 0, "job=a"), 11), "none");
    CU_ASSERT_STRING_EQUAL(found(asked(1, 2, "job=a"), 0), "none");
    CU_ASSERT_STRING_EQUAL(found(asked(2, 0, "job=a"), 0), "none");
    CU_ASSERT_STRING_EQUAL(found(asked(1, 0, "job=b"), 0), "none");
    keep(asked(1, 0, "job=a"), "two", 20);
    CU_ASSERT_STRING_EQUAL(found(asked(1, 0, "job=a"), 0), "two");
    CU_ASSERT_EQUAL(sharing->bytes, 3);
    sharing_forget(sharing);
    CU_ASSERT_STRING_EQUAL(found(asked(1, 0, "job=a"), 0), "none");
    CU_ASSERT_EQUAL(sharing->bytes, 0);
}

static void a_few_are_kept_and_the_oldest_give_way(void)
{
    char query[32], *large = malloc(SHARING_ONE + 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(large);
    memset(large, 'x', SHARING_ONE + 1);
    large[SHARING_ONE + 1] = '\0';
    keep(asked(1, 0, "large"), large, 1);
    CU_ASSERT_PTR_NULL(sharing_find(sharing, asked(1, 0, "large"), 0));
    for (int i = 0; i < SHARING_ANSWERS + 1; i++) {
        snprintf(query, sizeof query, "n=%d", i);
        keep(asked(1, 0, query), "x", 100 + i);
    }
    CU_ASSERT_EQUAL(sharing->bytes, SHARING_ANSWERS);
    CU_ASSERT_STRING_EQUAL(found(asked(1, 0, "n=0"), 0), "none");
    CU_ASSERT_STRING_EQUAL(found(asked(1, 0, "n=1"), 0), "x");
    large[SHARING_ONE] = '\0';
    for (int i = 0; i < 10; i++) {
        snprintf(query, sizeof query, "large=%d", i);
        keep(asked(1, 0, query), large, 1000 + i);
    }
    CU_ASSERT(sharing->bytes <= SHARING_BYTES);
    CU_ASSERT_STRING_EQUAL(found(asked(1, 0, "n=128"), 0), "none");
    CU_ASSERT_PTR_NOT_NULL(sharing_find(sharing, asked(1, 0, "large=9"), 0));
    CU_ASSERT_PTR_NULL(sharing_find(sharing, asked(1, 0, "large=0"), 0));
    free(large);
}

static void a_tag_is_of_the_bytes(void)
{
    char one[SHARING_ETAG], other[SHARING_ETAG], weak[64];
    sharing_etag("{}", 2, one);
    sharing_etag("{}\n", 3, other);
    CU_ASSERT_EQUAL(strlen(one), SHARING_ETAG - 2);
    CU_ASSERT_STRING_NOT_EQUAL(one, other);
    snprintf(weak, sizeof weak, "\"x\", W/%s", one);
    CU_ASSERT(sharing_is_known(one, one) && sharing_is_known(one, weak) && sharing_is_known(one, "*"));
    CU_ASSERT(!sharing_is_known(one, other) && !sharing_is_known(one, NULL));
}

static const struct test tests[] = {
    TEST(who_says_nothing_takes_none),
    TEST(payloads_are_asked_for_by_each),
    TEST(the_same_question_of_the_same_role_has_one_answer),
    TEST(a_few_are_kept_and_the_oldest_give_way),
    TEST(a_tag_is_of_the_bytes),

    { NULL, NULL },
};

const struct suite suite_http_sharing = { "http_sharing", set_up, tear_down, tests };
