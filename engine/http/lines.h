/* lines.h - lines of a body as it comes in, in pieces of any size: where they end, and how many are
 * complete. Of one that is too long only the beginning is kept, so that each has a bound. Pure. */
#ifndef PRESCIENT_HTTP_LINES_H
#define PRESCIENT_HTTP_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include "../base/bytes.h"

/* Of the bytes that have come and were not taken yet. All zero but for `kept`: none have. */
struct lines {
    size_t kept;                /* bytes of a line, without its LF; what else it has is dropped */
    size_t complete_len;        /* bytes of the complete ones, which stand first */
    size_t looked_at;           /* bytes that were */
    int complete;
};

/* Looks at what was added at the end of `bytes`. */
void lines_look(struct lines *l, struct bytes *bytes);
/* No more comes: a last line without an end is one, too. False: there is no memory. */
bool lines_end(struct lines *l, struct bytes *bytes);

/* How many bytes the first complete lines have, with their ends: at most `most`, *n of them. */
size_t lines_first(const struct lines *l, const struct bytes *bytes, int most, int *n);
/* Takes them away. */
void lines_take(struct lines *l, struct bytes *bytes, size_t len, int n);

#endif
