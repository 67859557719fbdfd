/* lines.h - bytes that come in pieces become lines of a bounded length. */
#ifndef LINES_H
#define LINES_H

#include <stddef.h>

enum { LINES_MAX = 256 * 1024 };        /* bytes of a line, without its end */

struct lines { char *bytes; size_t begin, len; };       /* LINES_MAX + 1 of them; [begin, len) is there */

int lines_new(struct lines *l);         /* -1: out of memory */
void lines_free(struct lines *l);
void lines_clear(struct lines *l);

/* Where the next bytes go; `*size` of them fit, which is 0 only when a line is too long. */
char *lines_room(struct lines *l, size_t *size);
void lines_added(struct lines *l, size_t n);

/* The next whole line, with a NUL in place of its end; it stays until lines_room. NULL: there is
 * none. */
char *lines_next(struct lines *l, size_t *len);
int lines_too_long(const struct lines *l);      /* when there is no next one */

#endif
