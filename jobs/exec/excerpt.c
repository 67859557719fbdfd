/* excerpt.c - keeps the first bytes of an output, and the last ones in a ring. */
#include "excerpt.h"

#include <stdio.h>
#include <string.h>

void excerpt_start(struct excerpt *e)
{
    e->total = 0;
}

static void add_to_tail(struct excerpt *e, const char *bytes, size_t len)
{
    unsigned long long at = e->total;
    if (len > EXCERPT_MAX) {
        at += len - EXCERPT_MAX;
        bytes += len - EXCERPT_MAX;
        len = EXCERPT_MAX;
    }
    size_t place = at % EXCERPT_MAX, first = EXCERPT_MAX - place < len ? EXCERPT_MAX - place : len;
    memcpy(e->tail + place, bytes, first);
    memcpy(e->tail, bytes + first, len - first);
}

void excerpt_add(struct excerpt *e, const char *bytes, size_t len)
{
    if (e->total < EXCERPT_MAX) {
        size_t room = EXCERPT_MAX - (size_t)e->total;
        memcpy(e->head + e->total, bytes, room < len ? room : len);
    }
    add_to_tail(e, bytes, len);
    e->total += len;
}

static int is_inside(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;           /* of a character, not at its beginning */
}

static void replace_nuls(char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!bytes[i])
            bytes[i] = '?';
}

/* As texts, without secrets. */
static void hide_in_both(const struct prescient_host *host, char *whole, size_t whole_len, char *part,
                         size_t part_len)
{
    replace_nuls(whole, whole_len);
    replace_nuls(part, part_len);
    whole[whole_len] = part[part_len] = '\0';
    if (PRESCIENT_HAS(host, hide)) {
        host->hide(host, whole);
        host->hide(host, part);
    }
}

/* ---- its beginning ---- */

/* The first bytes of the head, without a character that would be cut. */
static size_t head_size(const struct excerpt *e, size_t len)
{
    for (int back = 0; back < 3 && len && is_inside(e->head[len]); back++)
        len--;
    return len;
}

/* So many bytes of the head. What would be otherwise if more were shown is a piece of a secret.
 * Returns how many are left of them. */
static size_t write_head(const struct excerpt *e, const struct prescient_host *host, char *out, size_t len)
{
    char whole[EXCERPT_MAX + 1], part[EXCERPT_MAX + 1];
    size_t known = e->total < EXCERPT_MAX ? (size_t)e->total : EXCERPT_MAX, n = 0;
    memcpy(whole, e->head, known);
    memcpy(part, e->head, len);
    hide_in_both(host, whole, known, part, len);
    while (part[n] && part[n] == whole[n])
        n++;
    memcpy(out, part, n);
    return n;
}

/* ---- its end ---- */

static char tail_at(const struct excerpt *e, unsigned long long back)
{
    return e->tail[(e->total - back) % EXCERPT_MAX];
}

/* The last bytes, without a character whose beginning is left out, and without `ends` of them. */
static size_t copy_tail(const struct excerpt *e, char *out, size_t len, size_t ends)
{
    size_t n = 0, from = len + ends;
    for (int skipped = 0; skipped < 3 && from > ends && is_inside(tail_at(e, from)); skipped++)
        from--;
    for (; from > ends; from--)
        out[n++] = tail_at(e, from);
    return n;
}

/* Of a tail of so many bytes, what would be the same if more were shown. */
static size_t write_tail(const struct excerpt *e, const struct prescient_host *host, char *out, size_t len,
                         size_t ends)
{
    char whole[EXCERPT_MAX + 1], part[EXCERPT_MAX + 1];
    size_t known = copy_tail(e, whole, EXCERPT_MAX - ends, ends);
    size_t shown = copy_tail(e, part, len, ends), n = 0;
    hide_in_both(host, whole, known, part, shown);
    size_t whole_len = strlen(whole), part_len = strlen(part);
    while (n < part_len && n < whole_len && part[part_len - n - 1] == whole[whole_len - n - 1])
        n++;
    memcpy(out, part + part_len - n, n);
    return n;
}

static size_t count_line_ends(const struct excerpt *e)
{
    size_t n = 0;
    while (n < e->total && n < EXCERPT_MAX && strchr("\r\n", tail_at(e, n + 1)) && tail_at(e, n + 1))
        n++;
    return n;
}

/* ---- both ---- */

static size_t write_parts(const struct excerpt *e, const struct prescient_host *host, char *out, size_t room,
                          size_t ends)
{
    enum { BETWEEN = 48 };                              /* "\n[... N bytes left out ...]\n" */
    char tail[EXCERPT_MAX];
    if (room < 4 * BETWEEN)
        return write_head(e, host, out, head_size(e, room));
    size_t part = (room - BETWEEN) / 2, most = EXCERPT_MAX - ends, head_len = head_size(e, part);
    part = part < most ? part : most;
    unsigned long long left_out = e->total - ends - head_len - copy_tail(e, tail, part, ends);
    size_t len = write_head(e, host, out, head_len);
    len += (size_t)sprintf(out + len, "\n[... %llu bytes left out ...]\n", left_out);
    return len + write_tail(e, host, out + len, part, ends);
}

size_t excerpt_write(const struct excerpt *e, const struct prescient_host *host, char *out, size_t size)
{
    size_t ends = count_line_ends(e), room = size - 1 < EXCERPT_MAX ? size - 1 : EXCERPT_MAX, len;
    if (size == 0)
        return 0;
    if (e->total - ends <= room) {
        len = (size_t)e->total - ends;
        memcpy(out, e->head, len);
    } else {
        len = write_parts(e, host, out, room, ends);
    }
    out[len] = '\0';
    replace_nuls(out, len);
    return len;
}
