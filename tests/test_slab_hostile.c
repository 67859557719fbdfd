/* test_slab_hostile.c - what a hostile worker leaves in the slab does no harm. */
#include "slab_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../engine/base/random.h"
#include "../engine/rules/effect.h"
#include "../include/prescient/job.h"

static size_t slab_size(void)
{
    struct stat st;
    CU_ASSERT_EQUAL_FATAL(fstat(slabfx.fd, &st), 0);
    return (size_t)st.st_size;
}

/* Everything that the engine does with a slab. Memory stays bounded, whatever is in there. */
static void take_everything(void)
{
    struct raw_answer got;
    int claimed = slab_claimed(slabfx.engine);
    CU_ASSERT_TRUE(claimed >= 0 && claimed <= slab_count(slabfx.engine));
    for (int i = 0; i < SLAB_CHECKS_MAX; i++) {
        if (!slab_take_answer(slabfx.engine, i, slabfx.arena, &got))
            continue;
        CU_ASSERT_TRUE(got.kind >= -1 && got.kind <= PRESCIENT_BROKEN);
        CU_ASSERT_TRUE(got.kind >= 0 || got.text);
        CU_ASSERT_TRUE(got.neffects >= 0 && got.neffects <= ANSWER_EFFECTS_MAX);
    }
    CU_ASSERT_TRUE(arena_used(slabfx.arena) < 16 * SLAB_OUT_BYTES);
    int cut = slab_cut(slabfx.engine);
    CU_ASSERT_TRUE(cut >= 0 && cut <= slab_count(slabfx.engine));
    CU_ASSERT_EQUAL(slab_claimed(slabfx.engine), cut);
    CU_ASSERT_EQUAL(slab_end(slabfx.engine), cut);
    arena_reset(slabfx.arena);
}

static void fill(unsigned char *map, size_t size, int how, uint64_t *state)
{
    for (size_t i = 0; i < size; i++)
        map[i] = how < 2 ? (unsigned char)-how : (unsigned char)(random_next(state) >> 32);
}

static void a_slab_full_of_anything_does_no_harm(void)
{
    slabfx_begin(100);
    unsigned char *map = mmap(NULL, slab_size(), PROT_READ | PROT_WRITE, MAP_SHARED, slabfx.fd, 0);
    uint64_t state = 4711;
    for (int round = 0; round < 6; round++) {
        slab_reset(slabfx.engine, 1000, 100);
        slabfx_claim_all(20);
        fill(map, slab_size(), round, &state);
        take_everything();
    }
    munmap(map, slab_size());
    slabfx_end();
}

enum { ANSWERS = 6 };

static void answer_honestly(void)
{
    slab_reset(slabfx.engine, 1000, 100);
    slabfx_claim_all(ANSWERS);
    for (int i = 0; i < ANSWERS; i++) {
        slab_add_effect(slabfx.worker, i,
                        &(struct effect){ .kind = EFFECT_EMIT, .event = "order.late", .json = "{\"n\":1}" });
        slab_add_effect(
            slabfx.worker, i,
            &(struct effect){ .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "44" });
        slab_answer(slabfx.worker, i, PRESCIENT_AGAIN, 2000, 123456, 789, "words");
    }
}

/* Changes bytes at random, but only where an answered slab differs from an empty one: where it
 * hurts. */
static void an_answered_slab_with_changed_bytes_does_no_harm(void)
{
    static const uint32_t nasty[] = { 0,
                                      1,
                                      64,
                                      65,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      SLAB_OUT_BYTES,
                                      SLAB_OUT_BYTES - 1,
                                      SLAB_OUT_BYTES - 39 };
    slabfx_begin(100);
    size_t size = slab_size(), used = 0;
    unsigned char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, slabfx.fd, 0);
    unsigned char *before = malloc(size);
    uint32_t *places = malloc(size * sizeof *places);
    memcpy(before, map, size);
    answer_honestly();
    for (size_t i = 0; i < size; i++)
        if (map[i] != before[i])
            places[used++] = (uint32_t)i;
    CU_ASSERT_TRUE_FATAL(used > 100);
    uint64_t state = 42;
    for (int round = 0; round < 4000; round++) {
        answer_honestly();
        for (int i = 0; i <= round % 4; i++) {
            size_t at = places[random_next(&state) % used];
            uint64_t value = random_next(&state);
            if (value & 1)
                map[at] = (unsigned char)(value >> 8);
            else
                memcpy(map + (at & ~(size_t)3), &nasty[(value >> 8) % (sizeof nasty / sizeof *nasty)], 4);
        }
        take_everything();
    }
    free(places);
    free(before);
    munmap(map, size);
    slabfx_end();
}

/* Each answer alone is in order; together they would make the engine copy the same bytes again and
 * again. */
static void answers_that_share_their_bytes_do_not_multiply_the_memory_they_take(void)
{
    enum { SHARERS = 40 };
    slabfx_begin(100);
    char *json = slabfx_json(CHECK_PAYLOAD_MAX - 100);
    struct effect effect = { .kind = EFFECT_EMIT, .event = "e", .json = json };
    slabfx_claim_all(SHARERS);
    for (int i = 0; i < SHARERS; i++) {
        struct slab *again;             /* a new mapping begins at the start of the out heap */
        CU_ASSERT_EQUAL_FATAL(slab_attach(slabfx.fd, &again, NULL), 0);
        int from, n;
        slab_claim(again, 1, 0, &from, &n);
        for (int e = 0; e < 3; e++)
            CU_ASSERT_EQUAL(slab_add_effect(again, i, &effect), 0);
        slab_answer(again, i, PRESCIENT_DONE, 0, 1, 1, NULL);
        slab_free(again);
    }
    int refused = 0;
    for (int i = 0; i < SHARERS; i++) {
        struct raw_answer got;
        CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, i, slabfx.arena, &got));
        refused += got.kind == -1 && strstr(got.text, "no room is left");
    }
    CU_ASSERT_TRUE(refused > SHARERS / 2 && refused < SHARERS);
    CU_ASSERT_TRUE(arena_used(slabfx.arena) < 2 * SLAB_OUT_BYTES);
    free(json);
    slabfx_end();
}

static void a_nul_byte_or_a_length_beyond_what_may_be_is_seen(void)
{
    slabfx_begin(100);
    size_t size = slab_size();
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, slabfx.fd, 0);
    char *text = slabfx_json(SLAB_TEXT_MAX);
    struct effect effect = { .kind = EFFECT_EMIT, .event = "order.late" };
    slabfx_claim_all(3);
    slab_add_effect(slabfx.worker, 0, &effect);
    slab_answer(slabfx.worker, 0, PRESCIENT_DONE, 0, 1, 1, NULL);
    memset(text, 'x', SLAB_TEXT_MAX);
    slab_answer(slabfx.worker, 1, PRESCIENT_DONE, 0, 1, 1, text);
    slab_answer(slabfx.worker, 2, PRESCIENT_DONE, 0, 1, 1, text);          /* lies right behind the first */
    char *event = memmem(map, size, "order.late", 10);
    uint32_t len = SLAB_TEXT_MAX, longer = SLAB_TEXT_MAX + 1;
    char *text_len = memmem(map, size, &len, sizeof len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(event);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text_len);
    event[5] = '\0';
    memcpy(text_len, &longer, sizeof longer);
    struct raw_answer got;
    CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, 0, slabfx.arena, &got));
    CU_ASSERT_TRUE(got.kind == -1 && strstr(got.text, "effect 1: it holds a NUL byte"));
    CU_ASSERT_TRUE_FATAL(slab_take_answer(slabfx.engine, 1, slabfx.arena, &got));
    CU_ASSERT_TRUE(got.kind == -1 && strstr(got.text, "its text has 4097 bytes, expected at most 4096"));
    free(text);
    munmap(map, size);
    slabfx_end();
}

static void the_memory_can_neither_shrink_nor_grow(void)
{
    slabfx_begin(100);
    CU_ASSERT_NOT_EQUAL(ftruncate(slabfx.fd, 0), 0);
    CU_ASSERT_NOT_EQUAL(ftruncate(slabfx.fd, (off_t)slab_size() * 2), 0);
    slabfx_end();
}

static void memory_that_is_no_slab_is_refused(void)
{
    struct slab *s;
    struct err err;
    int other = memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CU_ASSERT_EQUAL(slab_attach(other, &s, &err), ERR_GENERAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "0 bytes, expected"));
    slabfx_begin(100);
    CU_ASSERT_EQUAL(ftruncate(other, (off_t)slab_size()), 0);
    CU_ASSERT_EQUAL(slab_attach(other, &s, &err), ERR_GENERAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "not sealed"));
    CU_ASSERT_EQUAL(slab_attach(-1, &s, &err), ERR_GENERAL);
    close(other);
    slabfx_end();
}

static const struct test tests[] = {
    TEST(a_slab_full_of_anything_does_no_harm),
    TEST(an_answered_slab_with_changed_bytes_does_no_harm),
    TEST(answers_that_share_their_bytes_do_not_multiply_the_memory_they_take),
    TEST(a_nul_byte_or_a_length_beyond_what_may_be_is_seen),
    TEST(the_memory_can_neither_shrink_nor_grow),
    TEST(memory_that_is_no_slab_is_refused),
    { 0 },
};

const struct suite suite_slab_hostile = { "slab_hostile", NULL, NULL, tests };
