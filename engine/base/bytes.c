/* bytes.c - see bytes.h. */
#include "bytes.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an empty one keeps. */
enum { KEPT = 16 * 1024, FIRST = 256 };

char *bytes_reserve(struct bytes *b, size_t more)
{
    size_t room = b->room ? b->room : FIRST;
    if (more > SIZE_MAX / 4 || b->len > SIZE_MAX / 4)
        return NULL;
    while (room < b->len + more)
        room *= 2;
    if (room > b->room) {
        char *data = realloc(b->data, room);
        if (!data)
            return NULL;
        b->data = data;
        b->room = room;
    }
    return b->data + b->len;
}

bool bytes_add(struct bytes *b, const void *data, size_t len)
{
    char *to = bytes_reserve(b, len);
    if (!to)
        return false;
    if (len)
        memcpy(to, data, len);
    b->len += len;
    return true;
}

bool bytes_add_text(struct bytes *b, const char *text)
{
    return bytes_add(b, text, strlen(text));
}

bool bytes_printf(struct bytes *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *to = len < 0 ? NULL : bytes_reserve(b, (size_t)len + 1);
    if (!to)
        return false;
    va_start(ap, fmt);
    vsnprintf(to, (size_t)len + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)len;
    return true;
}

/* Where the system does not make it smaller, it stays as it is. */
static void give_back(struct bytes *b)
{
    size_t room = b->len > KEPT ? b->len : KEPT;
    char *data = b->room / 4 > room ? realloc(b->data, room) : NULL;
    if (!data)
        return;
    b->data = data;
    b->room = room;
}

void bytes_take(struct bytes *b, size_t len)
{
    if (len < b->len) {
        memmove(b->data, b->data + len, b->len - len);
        b->len -= len;
        give_back(b);
        return;
    }
    b->len = 0;
    if (b->room > KEPT)
        bytes_free(b);
}

void bytes_free(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){ 0 };
}
