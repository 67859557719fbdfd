/* delivery.c - writes the document of a check or an event. Its data are JSON already and keep their
 * text, so that no number changes on its way. */
#include "delivery.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../base/moment.h"
#include "../base/utf8.h"

enum how { TEXT, MOMENT, NUMBER };

static const struct field { const char *name; enum how how; size_t at;
} fields[] = {
#define FIELD(name, how) { #name, how, offsetof(struct delivery, name) },
    DELIVERY_FIELDS(FIELD)
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const char replacement[] = "\xef\xbf\xbd";       /* U+FFFD */

static bool is_unknown(const struct delivery *d, const struct field *f)
{
    const void *member = (const char *)d + f->at;
    return f->how != TEXT && *(const int64_t *)member == DELIVERY_UNKNOWN;
}

static const char *text_of(const struct delivery *d, const struct field *f, char room[DELIVERY_FIELD_SIZE])
{
    const void *member = (const char *)d + f->at;
    if (is_unknown(d, f))
        return "";
    switch (f->how) {
    case TEXT:
        return *(const char *const *)member;
    case MOMENT:
        return moment_format(*(const int64_t *)member, room);
    case NUMBER:
        break;
    }
    snprintf(room, DELIVERY_FIELD_SIZE, "%" PRId64, *(const int64_t *)member);
    return room;
}

const char *delivery_field(const struct delivery *d, const char *name, char room[DELIVERY_FIELD_SIZE])
{
    for (int i = 0; i < FIELDS; i++)
        if (!strcmp(fields[i].name, name))
            return text_of(d, &fields[i], room);
    return NULL;
}

/* ---- the document ---- */

static char *put(char *to, const char *text)
{
    return stpcpy(to, text);
}

/* `len` bytes of UTF-8, as they stand between the quotes of a string. */
static char *put_escaped(char *to, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20) {
            to += sprintf(to, "\\u%04x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            *to++ = '\\';
        *to++ = (char)c;
    }
    return to;
}

static char *put_string(char *to, const char *text)
{
    size_t left = strlen(text);
    *to++ = '"';
    while (left) {
        size_t valid = utf8_valid_bytes(text, left);
        to = put_escaped(to, text, valid);
        if (valid < left) {
            to = put(to, replacement);
            valid++;
        }
        text += valid;
        left -= valid;
    }
    *to++ = '"';
    return to;
}

/* A line end in valid JSON stands between two values. */
static char *put_data(char *to, const char *json)
{
    for (; *json; json++)
        *to++ = (unsigned char)*json < ' ' ? ' ' : *json;
    return to;
}

size_t delivery_size(const struct delivery *d)
{
    enum { ESCAPED = 6, AROUND = 64 };                  /* "\u001f"; a name, quotes and commas */
    char room[DELIVERY_FIELD_SIZE];
    size_t size = AROUND + (d->data ? strlen(d->data) : 0);
    for (int i = 0; i < FIELDS; i++)
        size += AROUND + ESCAPED * strlen(text_of(d, &fields[i], room));
    return size;
}

size_t delivery_write(const struct delivery *d, char *out)
{
    char room[DELIVERY_FIELD_SIZE], *to = put(out, "{");
    for (int i = 0; i < FIELDS; i++) {
        const char *text = text_of(d, &fields[i], room);
        to += sprintf(to, "\"%s\":", fields[i].name);
        if (is_unknown(d, &fields[i]))
            to = put(to, "null");
        else
            to = fields[i].how == NUMBER ? put(to, text) : put_string(to, text);
        *to++ = ',';
    }
    to = put(to, "\"data\":");
    to = put_data(to, d->data ? d->data : "null");
    to = put(to, "}");
    return (size_t)(to - out);
}
