/* payload.c - see payload.h. The library writes 17 digits of each, which is 19.989999999999998 for
 * 19.99, or as many as it is told, which loses some of others. */
#include "payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"

enum { DIGITS_ENOUGH = 17, DIGITS_FIRST = 15, NUMBER_TEXT = 40 };

/* Behind the string that begins at `at`. */
static const char *behind_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static size_t number_len(const char *at)
{
    return strspn(at, "+-.0123456789eE");
}

static bool has_fraction(const char *number, size_t len)
{
    size_t digits = strspn(number, "-0123456789");
    return digits && digits < len;
}

/* Writes this number in no more bytes; returns how many. */
static size_t shorten(const char *number, size_t len, char *to)
{
    char text[NUMBER_TEXT];
    double value = strtod(number, NULL);
    for (int digits = DIGITS_FIRST; digits < DIGITS_ENOUGH; digits++) {
        size_t n = (size_t)snprintf(text, sizeof text, "%.*g", digits, value);
        if (!strpbrk(text, ".e"))
            n += (size_t)snprintf(text + n, sizeof text - n, ".0");     /* else it becomes a whole one */
        if (n > len || strtod(text, NULL) != value)
            continue;
        memcpy(to, text, n);
        return n;
    }
    memmove(to, number, len);
    return len;
}

/* In place: nothing becomes longer. */
static void shorten_all(char *json)
{
    char *to = json;
    for (const char *at = json; *at;) {
        size_t len = *at == '"' ? (size_t)(behind_string(at) - at) : number_len(at);
        if (*at != '"' && has_fraction(at, len)) {
            to += shorten(at, len, to);
        } else {
            len = len ? len : 1;
            memmove(to, at, len);
            to += len;
        }
        at += len;
    }
    *to = '\0';
}

const char *payload_text(const json_t *value, struct arena *a)
{
    CLEANUP(cleanup_free) char *text =
        json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS_ENOUGH));
    if (text)
        shorten_all(text);
    return arena_strdup(a, text);
}
