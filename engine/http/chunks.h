/* chunks.h - a body in chunks, as RFC 9112 has it and in no other form: what a lax parser takes for
 * a line end would let somebody in front of this server read another request out of the same
 * bytes. Pure. */
#ifndef PRESCIENT_HTTP_CHUNKS_H
#define PRESCIENT_HTTP_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes beside the data: of a size line with its extensions, and of all trailers. */
enum { CHUNKS_LINE_MAX = 256, CHUNKS_TRAILERS_MAX = 4096 };

enum chunks_state {
    CHUNKS_SIZE,            /* digits */
    CHUNKS_EXTENSION,
    CHUNKS_SIZE_END,        /* the LF of its line */
    CHUNKS_DATA,
    CHUNKS_DATA_CR,
    CHUNKS_DATA_LF,
    CHUNKS_TRAILER_BEGIN,   /* a line of the trailers, or the empty one that ends all */
    CHUNKS_TRAILER,
    CHUNKS_TRAILER_LF,
    CHUNKS_END_LF,
    CHUNKS_COMPLETE,
    CHUNKS_BAD,
};

struct chunks {             /* all zero: nothing has come */
    enum chunks_state state;
    uint64_t left;          /* bytes of this chunk that have not come */
    int digits;
    size_t beside;          /* bytes of this line, or of the trailers */
};

/* Reads some of `len` bytes and returns how many, up to the end of the body. *data has *data_len
 * bytes of the body, which stand in `bytes`: there may be more behind what was read. */
size_t chunks_feed(struct chunks *c, const char *bytes, size_t len, const char **data, size_t *data_len);

#endif
