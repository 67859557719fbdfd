/* test_utf8.c - which bytes are text: every code point, every pair of bytes, and where a cut may
 * fall. */
#include "test.h"

#include <stdint.h>
#include <string.h>
#include "../engine/base/utf8.h"

/* The bytes of any code point, well-formed or not, in `n` bytes. */
static void spell(uint32_t point, int n, char out[4])
{
    static const unsigned char marks[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (int i = n - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(marks[n] | point);
}

static int shortest(uint32_t point)
{
    if (point < 0x80)
        return 1;
    if (point < 0x800)
        return 2;
    return point < 0x10000 ? 3 : 4;
}

static void every_character_is_valid_in_its_shortest_form_only(void)
{
    uint32_t wrong = 0;
    for (uint32_t point = 1; point < 0x200000; point++) {
        bool exists = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
        for (int n = 2; n <= 4; n++) {
            char bytes[4];
            if (shortest(point) > n)
                continue;
            spell(point, n, bytes);
            wrong += utf8_is_valid(bytes, (size_t)n) != (exists && n == shortest(point));
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void ascii_is_valid_but_for_nul(void)
{
    for (int c = 1; c < 128; c++)
        CU_ASSERT_TRUE(utf8_is_valid(&(char){ (char)c }, 1));
    CU_ASSERT_FALSE(utf8_is_valid("a\0b", 3));
    CU_ASSERT_TRUE(utf8_is_valid("", 0));
}

static void single_high_bytes_are_not_text(void)
{
    for (int c = 128; c < 256; c++)
        CU_ASSERT_FALSE(utf8_is_valid(&(char){ (char)c }, 1));
}

static void a_character_that_is_cut_off_is_not_text(void)
{
    const char *text = "x\xf0\x9f\x8d\xba";
    CU_ASSERT_TRUE(utf8_is_valid(text, 5));
    for (size_t len = 2; len < 5; len++)
        CU_ASSERT_FALSE(utf8_is_valid(text, len));
    CU_ASSERT_FALSE(utf8_is_valid("\xf0\x9f\x8dz", 4));
    CU_ASSERT_FALSE(utf8_is_valid("\xe2\x82z", 3));
}

static void a_cut_never_parts_a_character(void)
{
    const char *text = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x8d\xba" "b";     /* 1 + 2 + 3 + 4 + 1 bytes */
    static const size_t kept[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };
    for (size_t max = 0; max < sizeof kept / sizeof *kept; max++) {
        CU_ASSERT_EQUAL(utf8_cut(text, strlen(text), max), kept[max]);
        CU_ASSERT_TRUE(utf8_is_valid(text, utf8_cut(text, strlen(text), max)));
    }
}

static void a_cut_through_garbage_stays_near(void)
{
    CU_ASSERT_EQUAL(utf8_cut("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 6), 3);
    CU_ASSERT_EQUAL(utf8_cut("\x80\x80\x80", 3, 1), 0);
}

static const struct test tests[] = {
    TEST(every_character_is_valid_in_its_shortest_form_only),
    TEST(ascii_is_valid_but_for_nul),
    TEST(single_high_bytes_are_not_text),
    TEST(a_character_that_is_cut_off_is_not_text),
    TEST(a_cut_never_parts_a_character),
    TEST(a_cut_through_garbage_stays_near),
    { NULL, NULL },
};

const struct suite suite_utf8 = { .name = "utf8", .tests = tests };
