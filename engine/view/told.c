/* told.c - see told.h. */
#include "told.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/floor.h"
#include "../base/zone.h"
#include "../rules/slot.h"
#include "rows.h"

#define SECOND_US INT64_C(1000000)

bool telling_is_plain(const struct telling *t)
{
    return !t->zone && !t->now && !t->is_short;
}

/* ---- how far away ---- */

static const struct { const char *name; int64_t seconds; } units[] = {
    { "y", 365 * 86400 }, { "d", 86400 }, { "h", 3600 }, { "min", 60 }, { "s", 1 },
};

const char *told_distance(int64_t at, int64_t now, bool is_due, char out[MOMENT_TEXT])
{
    uint64_t apart = at > now ? (uint64_t)at - (uint64_t)now : (uint64_t)now - (uint64_t)at;
    size_t i = 0;
    while (units[i].seconds > 1 && apart < 2 * (uint64_t)units[i].seconds)
        i++;
    uint64_t unit = (uint64_t)units[i].seconds;
    uint64_t n = apart / unit + (apart % unit >= unit / 2 + unit % 2);
    const char *behind = is_due ? "late" : "ago";
    if (!apart)
        return "now";
    if (at > now)
        snprintf(out, MOMENT_TEXT, "in %" PRIu64 " %s", n, units[i].name);
    else
        snprintf(out, MOMENT_TEXT, "%" PRIu64 " %s %s", n, units[i].name, behind);
    return out;
}

/* ---- a moment ---- */

static int32_t offset_of(const struct zone *zone, int64_t at)
{
    int32_t offset_s = zone ? zone_span(zone, at).offset_s : 0;
    return offset_s % 60 ? 0 : offset_s;
}

static void put_offset(char text[MOMENT_TEXT], int32_t offset_s)
{
    size_t len = strlen(text);
    int minutes = abs(offset_s) / 60;
    if (offset_s)
        snprintf(text + len, MOMENT_TEXT - len, "%c%02d:%02d", offset_s < 0 ? '-' : '+', minutes / 60,
                 minutes % 60);
    else
        snprintf(text + len, MOMENT_TEXT - len, "Z");
}

/* "T" becomes a blank, and ":00" at the end goes. */
static void shorten(char *text)
{
    size_t len = strlen(text);
    char *t = strchr(text, 'T');
    if (t)
        *t = ' ';
    if (len > 3 && !strcmp(text + len - 3, ":00"))
        text[len - 3] = '\0';
}

/* `text` is what one of moment.h has made of the local time. */
static const char *finish(char *text, const struct telling *t, int32_t offset_s)
{
    text[strlen(text) - 1] = '\0';      /* the Z */
    if (t->is_short)
        shorten(text);
    put_offset(text, offset_s);
    return text;
}

const char *told_moment(int64_t at, const struct telling *t, char out[MOMENT_TEXT])
{
    int32_t offset_s = offset_of(t->zone, at);
    moment_format(at + offset_s, out);
    return finish(out, t, offset_s);
}

const char *told_moment_us(int64_t at_us, const struct telling *t, char out[MOMENT_TEXT])
{
    int64_t at = floor_div(at_us, SECOND_US);
    if (t->is_short)
        return told_moment(at, t, out);
    int32_t offset_s = offset_of(t->zone, at);
    moment_format_us(at_us + offset_s * SECOND_US, out);
    return finish(out, t, offset_s);
}

const char *told_at(struct arena *a, const struct telling *t, int64_t at)
{
    char moment[MOMENT_TEXT], distance[MOMENT_TEXT];
    told_moment(at, t, moment);
    if (!t->now || !moment_is_valid(at))
        return arena_strdup(a, moment);
    return arena_printf(a, "%s (%s)", moment, told_distance(at, t->now, false, distance));
}

/* ---- texts ---- */

/* How long the moment is that stands there; 0: there is none. */
static size_t moment_here(const char *text, int64_t *at)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    char moment[sizeof form] = "";
    for (size_t i = 0; i < sizeof form - 1; i++) {
        bool fits = form[i] == '0' ? isdigit((unsigned char)text[i]) : text[i] == form[i];
        if (!fits)
            return 0;
        moment[i] = text[i];
    }
    return moment_read(moment, 0, at) ? 0 : sizeof form - 1;
}

const char *told_text(struct arena *a, const struct telling *t, const char *text)
{
    char moment[MOMENT_TEXT];
    const char *told = "", *from = text;
    int64_t at;
    for (const char *p = text; *p && told; p++) {
        bool begins = p == text || !isalnum((unsigned char)p[-1]);
        size_t len = begins ? moment_here(p, &at) : 0;
        if (!len)
            continue;
        told = arena_printf(a, "%s%.*s%s", told, (int)(p - from), from, told_moment(at, t, moment));
        from = p + len;
        p = from - 1;
    }
    if (from == text || !told)
        return text;
    told = arena_printf(a, "%s%s", told, from);
    return told ? told : text;
}

/* ---- cells ---- */

static const char *with_distance(struct arena *a, const struct telling *t, const char *text, int64_t at,
                                 bool is_due)
{
    char distance[MOMENT_TEXT];
    if (!t->now)
        return arena_strdup(a, text);
    return arena_printf(a, "%s (%s)", text, told_distance(at, t->now, is_due, distance));
}

const char *told_cell(struct arena *a, const struct telling *t, enum cell_kind kind, const char *cell,
                      bool is_due)
{
    char out[MOMENT_TEXT], *end;
    bool is_us = kind == CELL_MOMENT_US;
    if (!cell || (kind != CELL_MOMENT && !is_us) || telling_is_plain(t))
        return rows_text(a, kind, cell);
    int64_t number = strtoll(cell, &end, 10);
    int64_t at = is_us ? floor_div(number, SECOND_US) : number;
    if (*end || end == cell || !moment_is_valid(at) || slot_is_of_pause(at))
        return rows_text(a, kind, cell);
    const char *text = is_us ? told_moment_us(number, t, out) : told_moment(at, t, out);
    const char *told = with_distance(a, t, text, at, is_due);
    return told ? told : cell;
}
