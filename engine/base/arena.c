/* arena.c - a chain of blocks, the newest in front; pieces are not freed one by one. */
#include "arena.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asan.h"

/* For a sanitizer, memory that was not handed out is forbidden, and a gap follows each piece, so
 * that it sees a write past the end of one. */
enum { GAP = ASAN_WATCHES ? 16 : 0 };

struct block {
    struct block *older;
    size_t size, used;
    alignas(max_align_t) char data[];
};

struct arena {
    struct block *newest;
    size_t used;
    bool was_short;
};

static struct block *block_new(size_t size, struct block *older)
{
    struct block *b = malloc(sizeof *b + size);
    if (!b)
        return NULL;
    *b = (struct block){ .older = older, .size = size };
    asan_forbid(b->data, size);
    return b;
}

struct arena *arena_new(size_t block)
{
    struct arena *a = malloc(sizeof *a);
    if (!a)
        return NULL;
    *a = (struct arena){ .newest = block_new(block ? block : 1024, NULL) };
    if (!a->newest) {
        free(a);
        return NULL;
    }
    return a;
}

static void free_chain(struct block *b)
{
    while (b) {
        struct block *older = b->older;
        free(b);
        b = older;
    }
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    free_chain(a->newest);
    free(a);
}

void arena_freep(struct arena **a)
{
    arena_free(*a);
}

void arena_reset(struct arena *a)
{
    free_chain(a->newest->older);        /* the newest block is the largest: sizes only double */
    a->newest->older = NULL;
    a->newest->used = 0;
    asan_forbid(a->newest->data, a->newest->size);
    a->used = 0;
}

size_t arena_used(const struct arena *a)
{
    return a->used;
}

bool arena_was_short(const struct arena *a)
{
    return a->was_short;
}

void *arena_alloc(struct arena *a, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX / 4)
        return NULL;
    const size_t wanted = size;
    size = (size + align - 1) & ~(align - 1);
    struct block *b = a->newest;
    if (b->size - b->used < size + GAP) {
        size_t want = b->size * 2 > size + GAP ? b->size * 2 : size + GAP;
        struct block *more = block_new(want, b);
        if (!more) {
            a->was_short = true;
            return NULL;
        }
        a->newest = b = more;
    }
    void *p = b->data + b->used;
    asan_allow(p, wanted);
    b->used += size + GAP;
    a->used += size;
    return p;
}

void *arena_zalloc(struct arena *a, size_t size)
{
    void *p = arena_alloc(a, size);
    if (p)
        memset(p, 0, size);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
    char *p = arena_alloc(a, len + 1);
    if (p) {
        memcpy(p, s, len);
        p[len] = '\0';
    }
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}
