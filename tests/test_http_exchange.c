/* test_http_exchange.c - questions and answers come out of a message as they were put in, and
 * nothing is read beyond one. */
#include "../engine/http/exchange.h"

#include <string.h>
#include "test.h"

static const struct question asked[] = {
    { .route = 3, .query = "a=b", .key = NULL, .accept = "text/plain", .who = "", .role = 3, .body = "{}",
      .body_len = 2 },
    { .route = 0, .query = "", .key = "u-1", .who = "shop", .role = 1, .body = "a\0b", .body_len = 3,
      .line = 100001 },
    { .route = 7, .query = "x", .key = "", .who = "eye", .role = 2, .body = "", .body_len = 0 },
};
enum { ASKED = sizeof asked / sizeof *asked };

static void put_all(struct bytes *to)
{
    size_t begin = to->len;
    CU_ASSERT_FATAL(exchange_begin(to));
    for (int i = 0; i < ASKED; i++)
        CU_ASSERT_FATAL(exchange_put_question(to, &asked[i]));
    CU_ASSERT_FATAL(exchange_end(to, begin));
}

static bool is_same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && !strcmp(a, b));
}

static bool is_same(const struct question *a, const struct question *b)
{
    return a->route == b->route && is_same_text(a->query, b->query) && is_same_text(a->key, b->key) &&
           is_same_text(a->accept, b->accept) &&
           is_same_text(a->who, b->who) && a->role == b->role && a->line == b->line &&
           a->body_len == b->body_len && !memcmp(a->body, b->body, a->body_len);
}

static void questions_come_out_as_they_were(void)
{
    struct bytes b = { 0 };
    struct exchange message;
    struct question q;
    bool bad;
    put_all(&b);
    put_all(&b);
    for (int n = 0; n < 2; n++) {
        CU_ASSERT_FATAL(exchange_whole(&b, &message, &bad) && !bad);
        struct exchange rest = message;
        for (int i = 0; i < ASKED; i++)
            CU_ASSERT(exchange_next_question(&rest, &q) && is_same(&q, &asked[i]));
        CU_ASSERT(rest.len == 0 && !exchange_next_question(&rest, &q));
        exchange_take(&b, &message);
    }
    CU_ASSERT(b.len == 0);
    bytes_free(&b);
}

static void a_message_that_has_not_come_is_waited_for(void)
{
    struct bytes b = { 0 };
    struct exchange message;
    bool bad;
    put_all(&b);
    size_t all = b.len;
    for (b.len = 0; b.len < all; b.len++)
        CU_ASSERT(!exchange_whole(&b, &message, &bad) && !bad);
    CU_ASSERT(exchange_whole(&b, &message, &bad));
    bytes_free(&b);
}

static void a_length_that_cannot_be_is_bad(void)
{
    struct bytes b = { 0 };
    struct exchange message;
    uint32_t len = EXCHANGE_BYTES_MAX + 1;
    bool bad;
    bytes_add(&b, &len, sizeof len);
    CU_ASSERT(!exchange_whole(&b, &message, &bad) && bad);
    bytes_free(&b);
}

static void answers_come_out_as_they_were(void)
{
    static const struct answer answer = { .status = 503, .content = CONTENT_PROBLEM, .retry_after_s = 9,
                                          .body = "words", .body_len = 5 };
    struct bytes b = { 0 };
    struct exchange message;
    struct answer a;
    bool bad;
    exchange_begin(&b);
    exchange_put_answer(&b, &answer);
    exchange_end(&b, 0);
    CU_ASSERT_FATAL(exchange_whole(&b, &message, &bad) && exchange_next_answer(&message, &a));
    CU_ASSERT(a.status == 503 && a.content == CONTENT_PROBLEM && a.retry_after_s == 9);
    CU_ASSERT(a.body_len == 5 && !strcmp(a.body, "words"));
    bytes_free(&b);
}

/* Any byte of a message may be another one: what is read stays within it. */
static void nothing_is_read_beyond_a_message(void)
{
    struct bytes b = { 0 };
    bool bad;
    put_all(&b);
    for (size_t i = 4; i < b.len; i++) {
        char was = b.data[i];
        for (int value = 0; value < 256; value += 51) {
            struct exchange message;
            struct question q;
            b.data[i] = (char)value;
            CU_ASSERT_FATAL(exchange_whole(&b, &message, &bad));
            const char *end = message.data + message.len;
            while (exchange_next_question(&message, &q))
                CU_ASSERT((!q.body || q.body + q.body_len < end) && message.data <= end);
        }
        b.data[i] = was;
    }
    bytes_free(&b);
}

static const struct test tests[] = {
    TEST(questions_come_out_as_they_were),
    TEST(a_message_that_has_not_come_is_waited_for),
    TEST(a_length_that_cannot_be_is_bad),
    TEST(answers_come_out_as_they_were),
    TEST(nothing_is_read_beyond_a_message),
    { 0 }
};

const struct suite suite_http_exchange = { "http_exchange", NULL, NULL, tests };
