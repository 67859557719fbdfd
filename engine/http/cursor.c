/* cursor.c - see cursor.h. Hexadecimal digits: the first eight are a checksum of what follows and
 * of the list's name. */
#include "cursor.h"

#include <string.h>

#include "../base/fingerprint.h"

enum { SUM_DIGITS = 8 };

static const char digits[] = "0123456789abcdef";

static void sum_of(const char *list, const char *at, char out[SUM_DIGITS + 1])
{
    char whole[FINGERPRINT_SIZE];
    fingerprint(list, at, whole);
    memcpy(out, whole, SUM_DIGITS);
    out[SUM_DIGITS] = '\0';
}

const char *cursor_write(struct arena *a, const char *list, const char *at)
{
    size_t len = strlen(at);
    char *out = arena_alloc(a, SUM_DIGITS + 2 * len + 1);
    if (!out)
        return NULL;
    sum_of(list, at, out);
    char *to = out + SUM_DIGITS;
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)at[i];
        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
    *to = '\0';
    return out;
}

/* -1: it is none. */
static int value_of(char c)
{
    const char *digit = c ? strchr(digits, c) : NULL;
    return digit ? (int)(digit - digits) : -1;
}

static bool decode(const char *cursor, size_t len, char *out)
{
    for (size_t i = SUM_DIGITS; i < len; i += 2) {
        int high = value_of(cursor[i]), low = value_of(cursor[i + 1]);
        if (high < 0 || low < 0)
            return false;
        *out++ = (char)(high << 4 | low);
    }
    *out = '\0';
    return true;
}

int cursor_read(struct arena *a, const char *list, const char *cursor, const char **at, struct err *err)
{
    size_t len = strlen(cursor);
    char sum[SUM_DIGITS + 1], *out = arena_alloc(a, len + 1);
    if (!out)
        return err_set(err, ERR_NOMEM, "out of memory");
    bool is_good = len > SUM_DIGITS && len % 2 == 0 && decode(cursor, len, out);
    if (is_good) {
        sum_of(list, out, sum);
        is_good = !memcmp(sum, cursor, SUM_DIGITS);
    }
    if (!is_good)
        return err_set(err, ERR_INPUT,
                       "after: this is no cursor of %s; send what the page before gave as next", list);
    *at = out;
    return 0;
}
