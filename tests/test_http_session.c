/* test_http_session.c - sessions of browsers: nobody can make one, or a longer one, without the
 * token. */
#include "../engine/http/session.h"

#include <stdio.h>
#include <string.h>
#include "test.h"

static const char token[] = "prescient_0123456789abcdeffedcba9876543210";
static const char other[] = "prescient_0123456789abcdeffedcba9876543211";
static const uint8_t random_bytes[SESSION_RANDOM] = { 7, 1, 4 };
static const int64_t until_s = 1795990990;

static struct session made(void)
{
    struct session s;
    session_make(token, until_s, random_bytes, &s);
    return s;
}

static void what_the_token_has_signed_is_known_by_what_is_stored(void)
{
    uint8_t hash[TOKEN_HASH], key[TOKEN_KEY];
    struct session s = made();
    token_hash(token, hash);
    token_session_key(token, key);
    CU_ASSERT(session_is_of(&s, hash));
    CU_ASSERT(session_is_signed(&s, key));
    CU_ASSERT(session_until_s(&s) == until_s);
}

static void another_token_is_not_taken_for_it(void)
{
    uint8_t hash[TOKEN_HASH], key[TOKEN_KEY];
    struct session s = made();
    token_hash(other, hash);
    token_session_key(other, key);
    CU_ASSERT(!session_is_of(&s, hash));
    CU_ASSERT(!session_is_signed(&s, key));
}

static void a_bit_that_is_another_one_ends_it(void)
{
    uint8_t key[TOKEN_KEY];
    token_session_key(token, key);
    for (int bit = 0; bit < 8 * SESSION_BYTES; bit += 5) {
        struct session s = made();
        s.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CU_ASSERT(!session_is_signed(&s, key));
    }
}

static int read_header(const char *header, struct session out[SESSION_SEVERAL])
{
    return session_of_header(header, "prescient_session_80.p", out);
}

static void a_header_has_one_of_our_name(void)
{
    char text[SESSION_TEXT], header[4 * SESSION_TEXT];
    struct session s = made(), read[SESSION_SEVERAL];
    session_text(&s, text);
#define OURS "prescient_session_80.p"
    static const struct { const char *before, *behind; } good[] = {
        { OURS "=", "" }, { "a=b; " OURS "=", "" }, { OURS "=", "; z=" }, { ";; " OURS "=", " ;" },
        { OURS "=short; " OURS "=", "" }, { OURS "=; prescient_session=; " OURS "=", "" },
    }, bad[] = {
        { "", "" }, { "x" OURS "=", "" }, { OURS "=", "0" }, { OURS "= ", "" }, { OURS "=\"", "\"" },
        { OURS "X=", "" }, { "a=" OURS "=", "" }, { OURS "/", "" }, { "prescient_session=", "" },
        { "prescient_session_80=", "" }, { "prescient_session_81.p=", "" },
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(header, sizeof header, "%s%s%s", good[i].before, text, good[i].behind);
        CU_ASSERT(read_header(header, read) == 1 && !memcmp(read, &s, sizeof s));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(header, sizeof header, "%s%s%s", bad[i].before, text, bad[i].behind);
        CU_ASSERT(read_header(header, read) == 0);
    }
    snprintf(header, sizeof header, OURS "=00%.*sx; " OURS "=%s", SESSION_TEXT - 4, text, text);
    CU_ASSERT(read_header(header, read) == 1 && !memcmp(read, &s, sizeof s));   /* one that is none */
    CU_ASSERT(read_header("", read) == 0);
}

static void several_come_in_their_order_and_are_bounded(void)
{
    static char header[10 * (sizeof OURS + SESSION_TEXT + 2)];
    struct session read[SESSION_SEVERAL], first = { { 0 } };
    char text[SESSION_TEXT];
    for (uint8_t i = 0; i < 10; i++) {
        first.bytes[0] = i;
        session_text(&first, text);
        sprintf(header + strlen(header), OURS "=%s; ", text);
    }
    CU_ASSERT(read_header(header, read) == SESSION_SEVERAL);
    for (uint8_t i = 0; i < SESSION_SEVERAL; i++)
        CU_ASSERT(read[i].bytes[0] == i);
}

/* Also two servers at two ports, and one below another. */
static void servers_of_one_name_have_cookies_of_two_names(void)
{
    static const struct { const char *host, *base_path, *name; } all[] = {
        { NULL, "", "prescient_session" },
        { "ops.example", "", "prescient_session" },
        { "ops.example:8080", "", "prescient_session_8080" },
        { "OPS.example:8081", "", "prescient_session_8081" },
        { "ops.example:", "", "prescient_session" },
        { "ops.example", "/shop/checks", "prescient_session.shop.checks" },
        { "127.0.0.1:80", "/80", "prescient_session_80.80" },
        { "[::1]", "/~a", "prescient_session.~a" },
        { "[::1]:8080", "", "prescient_session_8080" },
        { "ops.example:123456789", "", "prescient_session_12345" },
    };
    char name[SESSION_NAME], longest[201];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        session_name(all[i].host, all[i].base_path, name);
        CU_ASSERT_STRING_EQUAL(name, all[i].name);
    }
    memset(longest, '/', 200);
    longest[200] = '\0';
    session_name("x:12345", longest, name);
    CU_ASSERT(strlen(name) == SESSION_NAME - 1 && !strchr(name, '/'));
}

static void each_has_its_own_secret_for_changes(void)
{
    char one[SESSION_CSRF], two[SESSION_CSRF];
    static const uint8_t more[SESSION_RANDOM] = { 7, 1, 5 };
    struct session s = made();
    session_csrf(&s, one);
    session_make(token, until_s, more, &s);
    session_csrf(&s, two);
    CU_ASSERT(strlen(one) == SESSION_CSRF - 1 && strcmp(one, two) != 0);
}

static const struct test tests[] = {
    TEST(what_the_token_has_signed_is_known_by_what_is_stored),
    TEST(another_token_is_not_taken_for_it),
    TEST(a_bit_that_is_another_one_ends_it),
    TEST(a_header_has_one_of_our_name),
    TEST(several_come_in_their_order_and_are_bounded),
    TEST(servers_of_one_name_have_cookies_of_two_names),
    TEST(each_has_its_own_secret_for_changes),
    { 0 }
};

const struct suite suite_http_session = { "http_session", NULL, NULL, tests };
