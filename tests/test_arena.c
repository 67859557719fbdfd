/* test_arena.c - arenas: aligned, whole, reusable, and NULL rather than nonsense. */
#include "test.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "../engine/base/arena.h"
#include "../engine/base/asan.h"

static void what_is_handed_out_is_aligned_and_apart(void)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(64);
    unsigned char *parts[200];
    for (int i = 0; i < 200; i++) {
        parts[i] = arena_alloc(a, (size_t)i + 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(parts[i]);
        CU_ASSERT_EQUAL((uintptr_t)parts[i] % alignof(max_align_t), 0);
        memset(parts[i], i, (size_t)i + 1);
    }
    int wrong = 0;
    for (int i = 0; i < 200; i++)
        for (int j = 0; j <= i; j++)
            wrong += parts[i][j] != i;
    CU_ASSERT_EQUAL(wrong, 0);
}

static void zeroed_memory_is_zero_after_a_reset(void)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(256);
    memset(arena_alloc(a, 200), 0xff, 200);
    arena_reset(a);
    const unsigned char *p = arena_zalloc(a, 200);
    for (int i = 0; i < 200; i++)
        CU_ASSERT_EQUAL(p[i], 0);
}

static void strings_are_copied_whole(void)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(16);
    char text[] = "orders";
    char *copy = arena_strdup(a, text), *part = arena_strndup(a, text, 3);
    text[0] = 'X';
    CU_ASSERT_STRING_EQUAL(copy, "orders");
    CU_ASSERT_STRING_EQUAL(part, "ord");
    CU_ASSERT_PTR_NULL(arena_strdup(a, NULL));
    CU_ASSERT_STRING_EQUAL(arena_strndup(a, "", 0), "");
}

static void printed_text_has_any_length(void)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(16);
    const char *text = arena_printf(a, "%0*d|%s", 5000, 7, "end");
    CU_ASSERT_EQUAL(strlen(text), 5004);
    CU_ASSERT_STRING_EQUAL(text + 4999, "7|end");
    CU_ASSERT_STRING_EQUAL(arena_printf(a, "%s", ""), "");
}

static void a_reset_forgets_all_and_keeps_a_block(void)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(32);
    for (int i = 0; i < 1000; i++)
        arena_alloc(a, 100);
    CU_ASSERT_TRUE(arena_used(a) >= 100000);
    arena_reset(a);
    CU_ASSERT_EQUAL(arena_used(a), 0);
    void *first = arena_alloc(a, 50000);            /* the largest block is still there */
    arena_reset(a);
    CU_ASSERT_PTR_EQUAL(arena_alloc(a, 10), first);
}

static void sizes_that_nobody_has_give_null(void)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(0);
    CU_ASSERT_PTR_NULL(arena_alloc(a, SIZE_MAX));
    CU_ASSERT_PTR_NULL(arena_alloc(a, SIZE_MAX / 4 + 1));
    CU_ASSERT_PTR_NULL(arena_zalloc(a, SIZE_MAX - 7));
    CU_ASSERT_PTR_NOT_NULL(arena_alloc(a, 0));
}

static void a_sanitizer_sees_a_write_past_the_end(void)
{
#if ASAN_WATCHES
    CLEANUP(arena_freep) struct arena *a = arena_new(256);
    const char *first = arena_alloc(a, 20), *second = arena_alloc(a, 5);
    CU_ASSERT_FALSE(__asan_address_is_poisoned(first + 19));
    CU_ASSERT_TRUE(__asan_address_is_poisoned(first + 20));
    CU_ASSERT_TRUE(__asan_address_is_poisoned(second - 1));
    arena_reset(a);
    CU_ASSERT_TRUE(__asan_address_is_poisoned(first));
#endif
}

static void freeing_nothing_is_fine(void)
{
    arena_free(NULL);
    struct arena *none = NULL;
    arena_freep(&none);
    CU_PASS("no crash");
}

static const struct test tests[] = {
    TEST(what_is_handed_out_is_aligned_and_apart),
    TEST(zeroed_memory_is_zero_after_a_reset),
    TEST(strings_are_copied_whole),
    TEST(printed_text_has_any_length),
    TEST(a_reset_forgets_all_and_keeps_a_block),
    TEST(sizes_that_nobody_has_give_null),
    TEST(a_sanitizer_sees_a_write_past_the_end),
    TEST(freeing_nothing_is_fine),
    { NULL, NULL },
};

const struct suite suite_arena = { .name = "arena", .tests = tests };
