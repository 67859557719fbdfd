/* utf8.c - one table of lead bytes; a sequence's second byte has the only special ranges. */
#include "utf8.h"

struct lead {
    unsigned char first, last;          /* lead bytes */
    unsigned char more;                 /* bytes that follow */
    unsigned char low, high;            /* range of the second byte */
};

static const struct lead leads[] = {
    { 0x01, 0x7f, 0, 0, 0 },
    { 0xc2, 0xdf, 1, 0x80, 0xbf },
    { 0xe0, 0xe0, 2, 0xa0, 0xbf },      /* below a0: longer than need be */
    { 0xe1, 0xec, 2, 0x80, 0xbf },
    { 0xed, 0xed, 2, 0x80, 0x9f },      /* above 9f: surrogates */
    { 0xee, 0xef, 2, 0x80, 0xbf },
    { 0xf0, 0xf0, 3, 0x90, 0xbf },      /* below 90: longer than need be */
    { 0xf1, 0xf3, 3, 0x80, 0xbf },
    { 0xf4, 0xf4, 3, 0x80, 0x8f },      /* above 8f: past U+10FFFF */
};

/* Bytes of the character at `s`, or 0 when there is none in `len` bytes. */
static size_t character_size(const unsigned char *s, size_t len)
{
    const struct lead *lead = leads, *end = leads + sizeof leads / sizeof *leads;
    while (lead < end && !(s[0] >= lead->first && s[0] <= lead->last))
        lead++;
    if (lead == end || lead->more >= len)
        return 0;
    if (lead->more && (s[1] < lead->low || s[1] > lead->high))
        return 0;
    for (size_t i = 2; i <= lead->more; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return lead->more + 1u;
}

size_t utf8_valid_bytes(const char *s, size_t len)
{
    const unsigned char *p = (const unsigned char *)s;
    for (size_t i = 0; i < len;) {
        if (p[i] - 1u < 0x7f) {         /* ASCII, as nearly all text is */
            i++;
            continue;
        }
        size_t n = character_size(p + i, len - i);
        if (n == 0)
            return i;
        i += n;
    }
    return len;
}

bool utf8_is_valid(const char *s, size_t len)
{
    return utf8_valid_bytes(s, len) == len;
}

size_t utf8_cut(const char *s, size_t len, size_t max)
{
    if (len <= max)
        return len;
    size_t keep = max;
    for (int back = 0; back < 3 && keep > 0 && ((unsigned char)s[keep] & 0xc0) == 0x80; back++)
        keep--;
    return keep;
}
