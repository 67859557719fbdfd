/* test_fingerprint.c - digits of SHA-256: the vectors of its standard, and names of texts, which
 * other programs meet in a server. */
#include "test.h"

#include <string.h>
#include "../engine/base/fingerprint.h"

static void checksums_are_those_of_the_standard(void)
{
    static const struct { const char *text, *sum;
    } known[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    char sum[CHECKSUM_SIZE];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        fingerprint_checksum(known[i].text, sum);
        CU_ASSERT_STRING_EQUAL(sum, known[i].sum);
    }
}

static void a_shorter_one_is_its_beginning_and_nothing_is_written_behind_it(void)
{
    char sum[CHECKSUM_SIZE], part[CHECKSUM_SIZE];
    fingerprint_checksum("abc", sum);
    for (size_t size = 1; size <= sizeof part; size += 2) {
        struct sha256_ctx sha;
        memset(part, 'x', sizeof part);
        sha256_init(&sha);
        sha256_update(&sha, 3, (const uint8_t *)"abc");
        fingerprint_hex(&sha, part, size);
        CU_ASSERT_EQUAL(strlen(part), size - 1);
        CU_ASSERT_EQUAL(strncmp(part, sum, size - 1), 0);
        CU_ASSERT(size == sizeof part || part[size] == 'x');
    }
}

static void a_fingerprint_is_the_first_half_over_each_text_with_its_nul(void)
{
    char print[FINGERPRINT_SIZE];
    fingerprint("SELECT 1", NULL, print);
    CU_ASSERT_STRING_EQUAL(print, "85f1ac9983155ca0cd06f4aeddf84049");
    fingerprint("SELECT 1", "i", print);
    CU_ASSERT_STRING_EQUAL(print, "670a4c1eae462588f1dcb9c03ee1f2b6");
}

static void the_border_between_two_texts_counts(void)
{
    char one[FINGERPRINT_SIZE], other[FINGERPRINT_SIZE];
    fingerprint("a", "bc", one);
    fingerprint("ab", "c", other);
    CU_ASSERT_STRING_NOT_EQUAL(one, other);
    fingerprint("abc", "", other);
    CU_ASSERT_STRING_NOT_EQUAL(one, other);
    fingerprint("abc", NULL, one);
    CU_ASSERT_STRING_NOT_EQUAL(one, other);
}

static const struct test tests[] = {
    TEST(checksums_are_those_of_the_standard),
    TEST(a_shorter_one_is_its_beginning_and_nothing_is_written_behind_it),
    TEST(a_fingerprint_is_the_first_half_over_each_text_with_its_nul),
    TEST(the_border_between_two_texts_counts),
    { NULL, NULL },
};

const struct suite suite_fingerprint = { .name = "fingerprint", .tests = tests };
