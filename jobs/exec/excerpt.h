/* excerpt.h - of an output of any length: how it began and how it ended. */
#ifndef EXCERPT_H
#define EXCERPT_H

#include <prescient/job.h>

enum { EXCERPT_MAX = 4096 };        /* bytes of one that is written out */

struct excerpt {
    char head[EXCERPT_MAX], tail[EXCERPT_MAX];      /* the tail is a ring */
    unsigned long long total;
};

void excerpt_start(struct excerpt *e);
void excerpt_add(struct excerpt *e, const char *bytes, size_t len);

/* Writes all of it when it fits into `size` bytes with the NUL, else its beginning and its end with
 * a line between them on what is left out. No character is cut in two there, NUL bytes become '?',
 * and line ends at the end are dropped. Where it is cut, secrets of the host's settings are hidden,
 * as nobody knows one any more by a piece that is left of it. Returns its length. */
size_t excerpt_write(const struct excerpt *e, const struct prescient_host *host, char *out, size_t size);

#endif
