/* lines.c - one buffer that holds the longest line; what is left of a read moves to its front. */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

int lines_new(struct lines *l)
{
    *l = (struct lines){ .bytes = malloc(LINES_MAX + 1) };
    return l->bytes ? 0 : -1;
}

void lines_free(struct lines *l)
{
    free(l->bytes);
    l->bytes = NULL;
}

void lines_clear(struct lines *l)
{
    l->begin = l->len = 0;
}

char *lines_room(struct lines *l, size_t *size)
{
    if (l->begin) {
        memmove(l->bytes, l->bytes + l->begin, l->len - l->begin);
        l->len -= l->begin;
        l->begin = 0;
    }
    *size = LINES_MAX + 1 - l->len;
    return l->bytes + l->len;
}

void lines_added(struct lines *l, size_t n)
{
    l->len += n;
}

char *lines_next(struct lines *l, size_t *len)
{
    char *line = l->bytes + l->begin, *end = memchr(line, '\n', l->len - l->begin);
    if (!end)
        return NULL;
    *end = '\0';
    *len = (size_t)(end - line);
    l->begin += *len + 1;
    return line;
}

int lines_too_long(const struct lines *l)
{
    return l->len - l->begin > LINES_MAX;
}
