/* test_hex.c - bytes as hexadecimal digits, and back. */
#include "test.h"

#include <string.h>
#include "../engine/base/hex.h"

static void what_is_written_reads_back(void)
{
    uint8_t bytes[256], again[256];
    char text[513];
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    hex_write(bytes, sizeof bytes, text);
    CU_ASSERT_EQUAL(strlen(text), 512);
    CU_ASSERT_EQUAL(strspn(text, "0123456789abcdef"), 512);
    CU_ASSERT_EQUAL(strncmp(text, "00010203", 8), 0);
    CU_ASSERT_STRING_EQUAL(text + 512 - 8, "fcfdfeff");
    CU_ASSERT_TRUE(hex_read(text, again, sizeof again));
    CU_ASSERT_EQUAL(memcmp(bytes, again, sizeof bytes), 0);
}

static void what_is_not_so_many_digits_is_refused(void)
{
    static const char *const bad[] = { "", "0", "00", "000", "00000", "000000", "00 0", "000g", "00/0",
                                       "0:00", "000A", "@000", "`000", "000\xc3" };
    uint8_t bytes[2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_FALSE(hex_read(bad[i], bytes, sizeof bytes));
    CU_ASSERT_TRUE(hex_read("00ff", bytes, sizeof bytes));
    CU_ASSERT_EQUAL(bytes[1], 0xff);
    CU_ASSERT_TRUE(hex_read("", bytes, 0));
}

static const struct test tests[] = {
    TEST(what_is_written_reads_back),
    TEST(what_is_not_so_many_digits_is_refused),
    { NULL, NULL },
};

const struct suite suite_hex = { .name = "hex", .tests = tests };
