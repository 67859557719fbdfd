/* json_text.c - see json_text.h. The text is made shorter in its place. */
#include "json_text.h"

#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/json_dump.h"

enum { DIGITS_SURE = 15, DIGITS_ALL = 17, NUMBER_MAX = 40 };

/* "e+09" of C is "e9", as the library has it; a whole number gets a fraction, which it had. */
static size_t as_json(char text[NUMBER_MAX])
{
    char *e = strchr(text, 'e');
    if (!e && !strchr(text, '.'))
        memcpy(text + strlen(text), ".0", sizeof ".0");
    if (e) {
        char *to = e + 1 + (e[1] == '-'), *digits = e + 2;
        digits += strspn(digits, "0");
        memmove(to, digits, strlen(digits) + 1);
    }
    return strlen(text);
}

/* Writes a number at `to`, at or before `from`; returns how long it is. */
static size_t put_number(char *to, const char *from, size_t len)
{
    char given[NUMBER_MAX] = "", shorter[NUMBER_MAX];
    bool is_long = len > DIGITS_SURE && len < sizeof given && memchr(from, '.', len);
    if (is_long)
        memcpy(given, from, len);
    double value = strtod(given, NULL);
    bool has_all = value >= DBL_MIN || value <= -DBL_MIN;       /* else it has fewer digits itself */
    for (int digits = has_all ? DIGITS_SURE : 1; is_long && digits < DIGITS_ALL; digits++) {
        snprintf(shorter, sizeof shorter, "%.*g", digits, value);
        size_t n = as_json(shorter);
        if (n < len && strtod(shorter, NULL) == value) {
            memcpy(to, shorter, n);
            return n;
        }
    }
    memmove(to, from, len);
    return len;
}

/* From its quote to its last one. */
static size_t string_length(const char *text)
{
    const char *end = text + 1;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    return (size_t)(end - text) + (*end == '"');
}

static void shorten(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        size_t number = strspn(from, "+-.0123456789eE"), other = *from == '"' ? string_length(from) : 1;
        if (number > 0) {
            to += put_number(to, from, number);
            from += number;
        } else {
            memmove(to, from, other);
            to += other;
            from += other;
        }
    }
    *to = '\0';
}

char *json_text(const json_t *value, size_t flags)
{
    char *text = json_dump_text(value, flags);
    if (text)
        shorten(text);
    return text;
}
