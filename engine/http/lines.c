/* lines.c - see lines.h. What is dropped is closed up in place. */
#include "lines.h"

#include <string.h>

/* Moves one part of a line, or all of it, to where the bytes that are kept end. */
static size_t keep(const struct lines *l, char *data, size_t to, size_t from, size_t len)
{
    size_t has = to - l->complete_len, room = l->kept - has;
    if (len > room)
        len = room;
    if (to != from)
        memmove(data + to, data + from, len);
    return to + len;
}

void lines_look(struct lines *l, struct bytes *bytes)
{
    size_t from = l->looked_at, to = from;
    while (from < bytes->len) {
        char *data = bytes->data, *lf = memchr(data + from, '\n', bytes->len - from);
        size_t end = lf ? (size_t)(lf - data) : bytes->len;
        to = keep(l, data, to, from, end - from);
        from = end;
        if (lf) {
            data[to++] = '\n';
            from++;
            l->complete++;
            l->complete_len = to;
        }
    }
    bytes->len = l->looked_at = to;
}

bool lines_end(struct lines *l, struct bytes *bytes)
{
    if (bytes->len == l->complete_len)
        return true;
    if (!bytes_add(bytes, "\n", 1))
        return false;
    l->complete++;
    l->complete_len = l->looked_at = bytes->len;
    return true;
}

size_t lines_first(const struct lines *l, const struct bytes *bytes, int most, int *n)
{
    size_t len = 0;
    for (*n = 0; *n < most && len < l->complete_len; (*n)++) {
        const char *lf = memchr(bytes->data + len, '\n', l->complete_len - len);
        len = (size_t)(lf - bytes->data) + 1;
    }
    return len;
}

void lines_take(struct lines *l, struct bytes *bytes, size_t len, int n)
{
    bytes_take(bytes, len);
    l->complete -= n;
    l->complete_len -= len;
    l->looked_at -= len;
}
