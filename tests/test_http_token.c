/* test_http_token.c - tokens: what they look like, what is stored, and which header has one. */
#include "../engine/http/token.h"

#include <string.h>
#include "../engine/base/hex.h"
#include "test.h"

static const uint8_t random_bytes[TOKEN_RANDOM] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                                    0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10 };
#define TEXT "prescient_0123456789abcdeffedcba9876543210"

static void a_token_is_its_prefix_and_its_digits(void)
{
    char text[TOKEN_TEXT];
    token_text(random_bytes, text);
    CU_ASSERT_STRING_EQUAL(text, TEXT);
    CU_ASSERT(token_is_text(text));
    static const char *const none[] = { "", "prescient_", TEXT "0",
                                        "prescient_0123456789abcdeffedcba987654321",
                                        "prescient_0123456789ABCDEFFEDCBA9876543210", "Prescient_" TEXT,
                                        "prescient_0123456789abcdeffedcba987654321g", " " TEXT };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CU_ASSERT(!token_is_text(none[i]));
}

static void a_header_has_one_or_none(void)
{
    char text[TOKEN_TEXT];
    static const char *const good[] = { "Bearer " TEXT, "bearer " TEXT, "BEARER    " TEXT };
    static const char *const bad[] = { "", "Bearer", "Bearer ", TEXT, "Basic " TEXT, "Bearer" TEXT,
                                       "Bearer " TEXT " ", "Bearer " TEXT ", Bearer " TEXT, "Bearer\t" TEXT };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CU_ASSERT(token_of_header(good[i], text));
        CU_ASSERT_STRING_EQUAL(text, TEXT);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT(!token_of_header(bad[i], text));
}

static void the_digest_is_that_of_sha256sum(void)
{
    uint8_t hash[TOKEN_HASH], again[TOKEN_HASH];
    char text[TOKEN_DIGITS];
    token_hash("abc", hash);
    hex_write(hash, sizeof hash, text);
    CU_ASSERT_STRING_EQUAL(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CU_ASSERT(hex_read(text, again, sizeof again) && !memcmp(hash, again, sizeof hash));
    CU_ASSERT(!hex_read(text, again, sizeof again - 1));
    text[63] = 'A';
    CU_ASSERT(!hex_read(text, again, sizeof again));
    text[63] = '\0';
    CU_ASSERT(!hex_read(text, again, sizeof again));
}

/* Neither is the other, nor does one lead to the other. */
static void what_is_stored_is_not_the_secret(void)
{
    uint8_t hash[TOKEN_HASH], key[TOKEN_KEY], secret[TOKEN_KEY], other[TOKEN_KEY];
    token_hash(TEXT, hash);
    token_session_key(TEXT, key);
    token_secret(TEXT, secret);
    ed25519_sha512_public_key(other, secret);
    CU_ASSERT(!memcmp(key, other, sizeof key));
    CU_ASSERT(memcmp(hash, secret, sizeof hash) && memcmp(key, secret, sizeof key));
}

static void roles_have_words(void)
{
    CU_ASSERT(token_role_of("read") == ROLE_READ && token_role_of("operate") == ROLE_OPERATE);
    CU_ASSERT(token_role_of("none") == ROLE_NONE && token_role_of("") == ROLE_NONE);
    CU_ASSERT(token_role_of("Read") == ROLE_NONE);
    CU_ASSERT_STRING_EQUAL(token_role_word(ROLE_ENQUEUE), "enqueue");
}

static void a_name_is_of_plain_letters(void)
{
    char long_name[TOKEN_NAME + 1] = "";
    memset(long_name, 'a', TOKEN_NAME);
    CU_ASSERT(!token_is_name(long_name));
    long_name[TOKEN_NAME - 1] = '\0';
    CU_ASSERT(token_is_name(long_name) && token_is_name("shop-1.eu_west"));
    CU_ASSERT(!token_is_name("") && !token_is_name("a b") && !token_is_name("a\""));
    CU_ASSERT(!token_is_name("\xc3\xa4"));
}

static const struct test tests[] = {
    TEST(a_token_is_its_prefix_and_its_digits),
    TEST(a_header_has_one_or_none),
    TEST(the_digest_is_that_of_sha256sum),
    TEST(what_is_stored_is_not_the_secret),
    TEST(roles_have_words),
    TEST(a_name_is_of_plain_letters),
    { 0 }
};

const struct suite suite_http_token = { "http_token", NULL, NULL, tests };
