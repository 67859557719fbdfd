/* struck.c - see struck.h. Bytes above 127 are no digits, and end words. */
#include "struck.h"

#include <stdbool.h>
#include <string.h>

/* ASCII alone, whatever the locale is. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_of_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Each: how many bytes at `text` are one, or 0. `before`: the byte in front of it. */
static size_t uuid_at(const char *text, char before)
{
    static const int parts[] = { 8, 4, 4, 4, 12 };
    size_t n = 0;
    (void)before;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (i && text[n++] != '-')
            return 0;
        for (int k = 0; k < parts[i]; k++, n++)
            if (!is_hex(text[n]))
                return 0;
    }
    return n;
}

/* "deadbeef" may be a word, and no id is without a digit. */
static size_t hex_at(const char *text, char before)
{
    enum { LEAST = 8 };
    bool has_mark = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    size_t begin = has_mark ? 2 : 0, n = begin;
    bool has_digit = false;
    if (is_of_word(before))
        return 0;
    for (; is_hex(text[n]); n++)
        has_digit = has_digit || is_digit(text[n]);
    return has_digit && n - begin >= LEAST && !is_of_word(text[n]) ? n : 0;
}

/* "10.0.0.7:5432" is one. */
static size_t number_at(const char *text, char before)
{
    size_t n = 0;
    (void)before;
    while (is_digit(text[n]) || (n && strchr(".,:", text[n]) && text[n] && is_digit(text[n + 1])))
        n++;
    return n;
}

/* In place, as "#" is never longer. */
static void strike(char *text, size_t (*at)(const char *text, char before))
{
    const char *from = text;
    char before = '\0';
    for (char *to = text;; to++) {
        size_t n = at(from, before);
        before = n ? from[n - 1] : *from;
        *to = *from;
        if (n)
            *to = '#';
        else if (!*from)
            return;
        from += n ? n : 1;
    }
}

const char *struck_text(struct arena *a, const char *text)
{
    char *own = arena_strdup(a, text);
    if (!own)
        return NULL;
    strike(own, uuid_at);
    strike(own, hex_at);
    strike(own, number_at);
    return own;
}

const char *struck_error(struct arena *a, const char *note, const char *guard, const char *outcome)
{
    const char *const all[] = { note, guard, outcome };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && *all[i])
            return struck_text(a, all[i]);
    return "";
}
