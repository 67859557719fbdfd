/* escape.c - outside of its strings, JSON has none of these letters. */
#include "escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { LONGEST = 5 }; /* "&amp;" */

static const struct {
    char letter;
    const char *unicode, *escaped;
} letters[] = {
    { '&', "\\u0026", "&amp;" },
    { '<', "\\u003c", "&lt;" },
    { '>', "\\u003e", "&gt;" },
};

/* How many bytes at `at` are one of these letters, 0 when none, and what takes their place. */
static size_t find(const char *at, const char **escaped)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        size_t n = strlen(letters[i].unicode);
        *escaped = letters[i].escaped;
        if (*at == letters[i].letter)
            return 1;
        if (!strncasecmp(at, letters[i].unicode, n))
            return n;
    }
    return 0;
}

int escape_new_mark(char mark[ESCAPE_MARK_BYTES + 1])
{
    uint16_t numbers[ESCAPE_MARK_BYTES / 4];
    if (getentropy(numbers, sizeof numbers))
        return -1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        unsigned n = numbers[i] & 0x7fff; /* U+100000 and on: the last of a plane are no letters */
        char *to = mark + 4 * i;
        to[0] = '\xf4';
        to[1] = (char)(0x80 | n >> 12);
        to[2] = (char)(0x80 | (n >> 6 & 0x3f));
        to[3] = (char)(0x80 | (n & 0x3f));
    }
    mark[ESCAPE_MARK_BYTES] = '\0';
    return 0;
}

/* How many bytes at `at` are the mark, or the beginning of one that was cut. */
static size_t match(const char *at, const char *mark)
{
    size_t n = 0;
    while (mark[n] && at[n] == mark[n])
        n++;
    return n - n % 4;
}

/* Copies what is neither mark nor one of the letters. How many bytes it had. */
static size_t copy(const char *json, char **to)
{
    size_t n = json[0] == '\\' && json[1] ? 2 : 1;
    *to = mempcpy(*to, json, n);
    return n;
}

char *escape_json(const char *json, const char *mark)
{
    char *out = malloc(strlen(json) * LONGEST + 1), *to = out;
    if (!out)
        return NULL;
    while (*json) {
        const char *escaped;
        size_t n = match(json, mark), found = find(json + n, &escaped);
        bool is_marked = n && !mark[n] && found == 1;
        json += n;
        if (is_marked)
            *to++ = *json++;
        else if (!n && found) {
            to = stpcpy(to, escaped);
            json += found;
        } else if (!n)
            json += copy(json, &to);
    }
    *to = '\0';
    return out;
}
