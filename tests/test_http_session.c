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

static void a_header_has_one_of_our_name(void)
{
    char text[SESSION_TEXT], header[4 * SESSION_TEXT];
    struct session s = made(), read;
    session_text(&s, text);
    static const struct { const char *before, *behind; } good[] = {
        { SESSION_COOKIE "=", "" }, { "a=b; " SESSION_COOKIE "=", "" }, { SESSION_COOKIE "=", "; z=" },
        { ";; " SESSION_COOKIE "=", " ;" }, { SESSION_COOKIE "=short; " SESSION_COOKIE "=", "" },
    }, bad[] = {
        { "", "" }, { "x" SESSION_COOKIE "=", "" }, { SESSION_COOKIE "=", "0" }, { SESSION_COOKIE "= ", "" },
        { SESSION_COOKIE "=\"", "\"" }, { SESSION_COOKIE "X=", "" }, { "a=" SESSION_COOKIE "=", "" },
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(header, sizeof header, "%s%s%s", good[i].before, text, good[i].behind);
        CU_ASSERT(session_of_header(header, &read) && !memcmp(&read, &s, sizeof s));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(header, sizeof header, "%s%s%s", bad[i].before, text, bad[i].behind);
        CU_ASSERT(!session_of_header(header, &read));
    }
    snprintf(header, sizeof header, SESSION_COOKIE "=%s; " SESSION_COOKIE "=00%.*sx", text, SESSION_TEXT - 4,
             text);
    CU_ASSERT(session_of_header(header, &read) && !memcmp(&read, &s, sizeof s));        /* one that is none */
    snprintf(header, sizeof header, SESSION_COOKIE "=%s; " SESSION_COOKIE "=%s", text, text);
    CU_ASSERT(!session_of_header(header, &read));       /* somebody has added one */
    CU_ASSERT(!session_of_header("", &read));
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
    TEST(each_has_its_own_secret_for_changes),
    { 0 }
};

const struct suite suite_http_session = { "http_session", NULL, NULL, tests };
