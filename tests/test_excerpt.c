/* test_excerpt.c - what the job exec keeps of an output: its beginning and its end, whole
 * characters, never more than there is room for. */
#include <string.h>
#include "../engine/base/random.h"
#include "../engine/base/settings_secret.h"
#include "../engine/base/utf8.h"
#include "../jobs/exec/excerpt.c"
#include "test.h"

enum { LONG = 20000 };

static const char secret[] = "QWZJKVXUHPM";

/* As the worker does it: a secret, and a piece of it that has two thirds of its bytes. */
static void hide(const struct prescient_host *h, char *t)
{
    const char *const secrets[] = { secret };
    (void)h;
    settings_secret_hide(t, secrets, 1, false);
}

static const struct prescient_host host = { .size = sizeof host, .hide = hide };
static struct excerpt e;
static char text[LONG + 1], out[LONG];

/* `len` bytes in pieces of any size */
static void add(size_t len, uint64_t *random)
{
    excerpt_start(&e);
    for (size_t at = 0; at < len;) {
        size_t n = 1 + (size_t)(random_next(random) % (random_next(random) % 3 ? 100 : 9000));
        n = n < len - at ? n : len - at;
        excerpt_add(&e, text + at, n);
        at += n;
    }
}

/* Characters of one to four bytes; returns how many bytes they are. */
static size_t write_text(size_t most, uint64_t *random)
{
    static const char *const characters[] = { "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
    size_t len = 0;
    while (len + 4 < most)
        len = (size_t)(stpcpy(text + len, characters[random_next(random) % 4]) - text);
    return len;
}

static void what_fits_is_kept_whole(void)
{
    uint64_t random = 1;
    for (size_t len = 1; len <= EXCERPT_MAX; len += 97) {
        memset(text, 'x', len);
        add(len, &random);
        CU_ASSERT_EQUAL(excerpt_write(&e, &host, out, LONG), len);
        CU_ASSERT_EQUAL(memcmp(out, text, len), 0);
        CU_ASSERT_EQUAL(excerpt_write(&e, &host, out, len + 1), len);
    }
    excerpt_start(&e);
    CU_ASSERT_EQUAL(excerpt_write(&e, &host, out, LONG), 0);
    CU_ASSERT_EQUAL(excerpt_write(&e, &host, out, 0), 0);
}

static void of_what_is_longer_both_ends_are_kept(void)
{
    uint64_t random = 2;
    for (size_t i = 0; i < LONG; i++)
        text[i] = (char)('0' + i % 10);
    for (size_t len = EXCERPT_MAX + 1; len < LONG; len += 997) {
        add(len, &random);
        size_t n = excerpt_write(&e, &host, out, LONG), kept = (EXCERPT_MAX - 48) / 2;
        char words[64];
        snprintf(words, sizeof words, "\n[... %zu bytes left out ...]\n", len - 2 * kept);
        CU_ASSERT_TRUE(n <= EXCERPT_MAX && n == 2 * kept + strlen(words) && strlen(out) == n);
        CU_ASSERT_EQUAL(memcmp(out, text, kept), 0);
        CU_ASSERT_EQUAL(memcmp(out + kept, words, strlen(words)), 0);
        CU_ASSERT_EQUAL(memcmp(out + n - kept, text + len - kept, kept), 0);
    }
}

static void line_ends_at_the_end_are_dropped_and_nul_bytes_replaced(void)
{
    uint64_t random = 3;
    memcpy(text, "a\0b\r\n\n", 6);
    add(6, &random);
    CU_ASSERT_EQUAL(excerpt_write(&e, &host, out, LONG), 3);
    CU_ASSERT_STRING_EQUAL(out, "a?b");
    memset(text, '\n', LONG);
    for (size_t len = 1; len < LONG; len += 777) {
        text[0] = 'a';
        add(len, &random);
        CU_ASSERT_TRUE(excerpt_write(&e, &host, out, LONG) <= EXCERPT_MAX);
        CU_ASSERT_EQUAL(out[0], 'a');
    }
}

static void no_character_is_cut_whatever_the_room(void)
{
    uint64_t random = 4;
    for (int i = test_is_brief() ? 1700 : 0; i < 2000; i++) {
        size_t len = write_text((size_t)(random_next(&random) % LONG) + 5, &random);
        size_t size = 1 + (size_t)(random_next(&random) % (EXCERPT_MAX + 100));
        add(len, &random);
        size_t n = excerpt_write(&e, &host, out, size);
        CU_ASSERT_TRUE(n < size && n <= EXCERPT_MAX && strlen(out) == n && utf8_is_valid(out, n));
        CU_ASSERT_TRUE(len >= size || n == len);
        CU_ASSERT_TRUE(n == 0 || n + 8 > size || n + 64 > EXCERPT_MAX || n == len || strstr(out, "left out"));
    }
}

/* It stands at each place of the output, also where the head ends and the tail begins: of what is
 * shown no byte is of it. */
static void no_secret_is_cut_into_pieces(void)
{
    uint64_t random = 5;
    size_t len = 6000, n = strlen(secret), whole = 0, step = test_is_brief() ? 7 : 1;
    for (size_t at = 0; at + n <= len; at += step) {
        memset(text, '.', len);
        memcpy(text + at, secret, n);
        add(len, &random);
        CU_ASSERT_TRUE(excerpt_write(&e, &host, out, LONG) <= EXCERPT_MAX);
        whole += strstr(out, "***") != NULL;
        CU_ASSERT_PTR_NULL(strpbrk(out, secret));
    }
    CU_ASSERT_TRUE(whole > 3900 / step);
    CU_ASSERT_PTR_NOT_NULL(strstr(out, "left out"));
}

/* Many of them make it shorter, and what is shown still ends where it is known. */
static void secrets_side_by_side_are_hidden(void)
{
    uint64_t random = 6;
    for (size_t shift = 0; shift < sizeof secret; shift++) {
        size_t len = shift;
        memset(text, '.', shift);
        while (len + sizeof secret < LONG)
            len = (size_t)(stpcpy(text + len, secret) - text);
        add(len, &random);
        excerpt_write(&e, &host, out, LONG);
        CU_ASSERT_PTR_NULL(strpbrk(out, secret));
    }
}

static const struct test tests[] = {
    TEST(what_fits_is_kept_whole),
    TEST(of_what_is_longer_both_ends_are_kept),
    TEST(line_ends_at_the_end_are_dropped_and_nul_bytes_replaced),
    TEST(no_character_is_cut_whatever_the_room),
    TEST(no_secret_is_cut_into_pieces),
    TEST(secrets_side_by_side_are_hidden),
    { NULL, NULL },
};

const struct suite suite_excerpt = { .name = "excerpt", .tests = tests };
