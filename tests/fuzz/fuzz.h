/* fuzz.h - what the targets share: numbers and texts out of the input, and what must hold whatever
 * the input says. A target defines LLVMFuzzerTestOneInput; what drives it is libFuzzer, or
 * replay.c over the kept corpus. */
#ifndef PRESCIENT_FUZZ_H
#define PRESCIENT_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../engine/base/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* only targets that need a folder or a database have one */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Stays in optimised builds, and ends where a sanitizer would end. */
#define MUST(condition) ((condition) ? (void)0 : fuzz_broken(#condition, __FILE__, __LINE__))

static inline void fuzz_broken(const char *what, const char *file, int line)
{
    dprintf(2, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

#define FUZZ_NOW INT64_C(1772370900)    /* 2026-03-01T13:15:00Z, where a day is named */

struct input { const uint8_t *p; size_t left; };        /* what is not there any more reads as zeros */

static inline uint64_t input_number(struct input *in, size_t bytes)
{
    uint64_t n = 0;
    for (; bytes && in->left; bytes--, in->left--)
        n = n << 8 | *in->p++;
    return n;
}

static inline uint8_t input_u8(struct input *in) { return (uint8_t)input_number(in, 1); }
static inline int64_t input_i64(struct input *in) { return (int64_t)input_number(in, 8); }

/* `len` bytes at most, any of them, with a NUL behind; *got is how many there were. */
static inline char *input_bytes(struct input *in, size_t len, struct arena *a, size_t *got)
{
    *got = len < in->left ? len : in->left;
    char *text = arena_strndup(a, "", 0);
    if (*got) {
        text = arena_alloc(a, *got + 1);
        memcpy(text, in->p, *got);
        text[*got] = '\0';
    }
    in->p += *got;
    in->left -= *got;
    return text;
}

/* A text of a length that the input says, up to `most`; it may hold NUL bytes, and ends at the
 * first for whoever reads it as text. */
static inline char *input_text(struct input *in, size_t most, struct arena *a)
{
    size_t got, len = (size_t)input_number(in, most > 255 ? 2 : 1);
    return input_bytes(in, len < most ? len : most, a, &got);
}

#endif
