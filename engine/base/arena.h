/* arena.h - memory that is freed at once: what a page or a batch needs is freed with its arena. */
#ifndef PRESCIENT_ARENA_H
#define PRESCIENT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include "cleanup.h"

struct arena;

/* `block` is the size of the first block in bytes; blocks grow as needed. NULL when out of memory.
 */
struct arena *arena_new(size_t block);
void arena_free(struct arena *a);           /* NULL is fine */
void arena_reset(struct arena *a);          /* forgets all that was handed out, keeps the largest block */
size_t arena_used(const struct arena *a);   /* bytes handed out since the last reset */
/* whether an allocation ever failed, for callers that go on without the memory */
bool arena_was_short(const struct arena *a);

/* All of these return NULL when out of memory; what they return is aligned for any type and not
 * zeroed unless said. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_zalloc(struct arena *a, size_t size);                      /* zeroed */
char *arena_strdup(struct arena *a, const char *s);                    /* NULL stays NULL */
char *arena_strndup(struct arena *a, const char *s, size_t len);       /* ends with NUL */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* CLEANUP(arena_freep) struct arena *a = arena_new(4096); frees itself when the scope ends. */
void arena_freep(struct arena **a);

#endif
