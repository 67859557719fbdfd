/* text.c - text of others on its way to a terminal. One character at a time becomes what is shown
 * for it and its width; measuring and writing share that step, so they cannot disagree. */
#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>
#include "../base/utf8.h"

struct glyph {
    char text[12];
    int bytes, width;
};

static const struct range { uint32_t first, last; } unseen[] = {
    { 0x80, 0x9f },         /* C1 controls: 0x9b alone begins an escape sequence on some terminals */
    { 0xad, 0xad },         /* soft hyphen */
    { 0x61c, 0x61c },       /* a direction mark */
    { 0x200b, 0x200f },     /* zero width, direction marks */
    { 0x2028, 0x202e },     /* separators, embedded directions */
    { 0x2060, 0x206f },
    { 0xfeff, 0xfeff },
    { 0xfff9, 0xfffb },
    { 0xe0000, 0xe0fff },   /* tags */
};

static bool is_unseen(uint32_t c)
{
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
        if (c >= unseen[i].first && c <= unseen[i].last)
            return true;
    return false;
}

/* The length of the character at `text` and its code point; 0 when there is no valid one. */
static int character_read(const char *text, size_t len, uint32_t *out)
{
    unsigned char lead = (unsigned char)*text;
    size_t n = 4;
    if (lead < 0x80)
        n = 1;
    else if (lead < 0xe0)
        n = 2;
    else if (lead < 0xf0)
        n = 3;
    if (n > len || !utf8_is_valid(text, n))
        return 0;
    uint32_t c = n == 1 ? lead : lead & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)text[i] & 0x3f);
    *out = c;
    return (int)n;
}

static void glyph_escape(struct glyph *g, uint32_t c)
{
    static const char letters[] = "abtnvfr";       /* 0x07 to 0x0d */
    if (c >= 0x07 && c <= 0x0d)
        g->bytes = snprintf(g->text, sizeof g->text, "\\%c", letters[c - 0x07]);
    else
        g->bytes = snprintf(g->text, sizeof g->text, c <= 0xff ? "\\x%02x" : "\\u%04x", (unsigned)c);
    g->width = g->bytes;
}

/* The glyph at `text`; returns the bytes of `text` it stands for. */
static int glyph_next(const char *text, size_t len, struct glyph *g)
{
    uint32_t c;
    int n = character_read(text, len, &c);
    if (!n) {
        glyph_escape(g, (unsigned char)*text);
        return 1;
    }
    if (c < 0x20 || c == 0x7f || is_unseen(c)) {
        glyph_escape(g, c);
        return n;
    }
    memcpy(g->text, text, (size_t)n);
    g->bytes = n;
    g->width = c < 0x7f ? 1 : wcwidth((wchar_t)c);
    if (g->width < 0)                               /* unassigned, or a locale without tables */
        g->width = 1;
    return n;
}

int text_width(const char *text)
{
    struct glyph g;
    int width = 0;
    for (size_t len = strlen(text); len; ) {
        int n = glyph_next(text, len, &g);
        width += g.width;
        text += n;
        len -= (size_t)n;
    }
    return width;
}

int text_put(FILE *out, const char *text, int most)
{
    struct glyph g;
    int width = 0;
    bool cut = most > 0 && text_width(text) > most;
    for (size_t len = strlen(text); len; ) {
        int n = glyph_next(text, len, &g);
        if (cut && width + g.width > most - 1)
            break;
        fwrite(g.text, 1, (size_t)g.bytes, out);
        width += g.width;
        text += n;
        len -= (size_t)n;
    }
    if (cut) {
        fputs("\u2026", out);
        width++;
    }
    return width;
}
