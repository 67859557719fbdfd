/* csv.c - reads RFC 4180. Input is read in blocks; all records use one buffer in turn. */
#include "csv.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { END = -1, BROKEN = -2 };     /* in place of a byte */

struct csv {
    csv_source *source;
    void *ctx;
    struct csv_limits limits;
    int64_t line;                   /* of the next byte */
    size_t pos, len;                /* in `in` */
    bool ended;
    char *text;                     /* the record: its fields, each with its NUL */
    size_t used, room;
    size_t *starts;                 /* of the fields in `text` */
    char **fields;
    int n;
    struct err err;                 /* of the source, or of the record */
    char in[64 * 1024];
};

struct csv *csv_new(csv_source *source, void *ctx, const struct csv_limits *limits)
{
    struct csv *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->source = source;
    c->ctx = ctx;
    c->limits = *limits;
    c->line = 1;
    c->starts = calloc((size_t)limits->fields, sizeof *c->starts);
    c->fields = calloc((size_t)limits->fields, sizeof *c->fields);
    if (c->starts && c->fields)
        return c;
    csv_free(c);
    return NULL;
}

void csv_free(struct csv *c)
{
    if (!c)
        return;
    free(c->text);
    free(c->starts);
    free(c->fields);
    free(c);
}

int64_t csv_line(const struct csv *c)
{
    return c->line;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Reads more after what the buffer holds. Returns 0, END or BROKEN. */
static int fill(struct csv *c)
{
    if (c->ended)
        return END;
    ssize_t n = c->source(c->ctx, c->in + c->len, sizeof c->in - c->len, &c->err);
    if (n < 0) {
        c->err.code = (int)n;
        return BROKEN;
    }
    c->len += (size_t)n;
    c->ended = n == 0;
    return n ? 0 : END;
}

static int peek_byte(struct csv *c)
{
    if (c->pos < c->len)
        return (unsigned char)c->in[c->pos];
    c->pos = c->len = 0;
    int rc = fill(c);
    if (rc < 0)
        return rc;
    return (unsigned char)c->in[0];
}

static int next_byte(struct csv *c)
{
    int byte = peek_byte(c);
    if (byte >= 0)
        c->pos++;
    if (byte == '\n')
        c->line++;
    return byte;
}

/* To the start of the next line; BROKEN when the source fails. */
static int skip_line(struct csv *c)
{
    int byte;
    do
        byte = next_byte(c);
    while (byte >= 0 && byte != '\n');
    return byte;
}

int csv_skip_to(struct csv *c, int64_t line, struct err *err)
{
    while (c->line < line) {
        int byte = skip_line(c);
        if (byte == END)
            return 0;
        if (byte == BROKEN) {
            *err = c->err;
            return c->err.code;
        }
    }
    return 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static int push(struct csv *c, int byte)
{
    if (c->used == c->room) {
        size_t room = c->room ? c->room * 2 : 1024;
        char *text = realloc(c->text, room);
        if (!text)
            return err_set(&c->err, ERR_NOMEM, "out of memory");
        c->text = text;
        c->room = room;
    }
    c->text[c->used++] = (char)byte;
    return 0;
}

/* Adds a byte of a field's content, within the limits. */
static int push_content(struct csv *c, int byte)
{
    if (byte == '\0')
        return err_set(&c->err, ERR_DATA, "a NUL byte in field %d; expected text", c->n);
    if (c->used - c->starts[c->n - 1] >= c->limits.field_bytes)
        return err_set(&c->err, ERR_DATA, "field %d is longer than %zu bytes; is a quote not closed?", c->n,
                       c->limits.field_bytes);
    if (c->used >= c->limits.record_bytes)
        return err_set(&c->err, ERR_DATA, "the record is longer than %zu bytes", c->limits.record_bytes);
    return push(c, byte);
}

static bool ends_field(int byte)
{
    return byte == ',' || byte == '\n' || byte == END || byte == BROKEN;
}

/* A CR belongs to the end of the line, or to nothing. Returns the byte that ends the field, or
 * ERR_DATA as BROKEN. */
static int line_end(struct csv *c)
{
    int byte = peek_byte(c);
    if (byte == '\n' || byte == END || byte == BROKEN)
        return next_byte(c);
    err_set(&c->err, ERR_DATA,
            "a carriage return inside field %d; expected it in quotes or at the end of the line", c->n);
    return BROKEN;
}

static int read_plain(struct csv *c, int byte)
{
    for (; !ends_field(byte); byte = next_byte(c)) {
        if (byte == '\r')
            return line_end(c);
        if (byte == '"') {
            err_set(&c->err, ERR_DATA, "a quote inside field %d, which does not begin with one", c->n);
            return BROKEN;
        }
        if (push_content(c, byte) < 0)
            return BROKEN;
    }
    return byte;
}

static int read_quoted(struct csv *c)
{
    int64_t opened = c->line;
    for (;;) {
        int byte = next_byte(c);
        if (byte == BROKEN)
            return BROKEN;
        if (byte == END) {
            err_set(&c->err, ERR_DATA, "field %d: the quote opened on line %" PRId64 " is never closed", c->n,
                    opened);
            return BROKEN;
        }
        if (byte == '"') {
            byte = next_byte(c);
            if (ends_field(byte))
                return byte;
            if (byte == '\r')
                return line_end(c);
            if (byte != '"') {
                err_set(&c->err, ERR_DATA,
                        "field %d: '%c' after the closing quote; expected a comma or the end of the line",
                        c->n, byte);
                return BROKEN;
            }
        }
        if (push_content(c, byte) < 0)
            return BROKEN;
    }
}

/* Reads one field; returns what ended it: ',', '\n', END, or BROKEN with c->err filled. */
static int read_field(struct csv *c)
{
    if (c->n == c->limits.fields) {
        err_set(&c->err, ERR_DATA, "more than %d fields", c->limits.fields);
        return BROKEN;
    }
    c->starts[c->n++] = c->used;
    int byte = next_byte(c);
    int end = byte == '"' ? read_quoted(c) : read_plain(c, byte);
    return end != BROKEN && push(c, '\0') < 0 ? BROKEN : end;
}

/* ---- records --------------------------------------------------------------------------------- */

/* The mark may arrive in pieces: a pipe delivers what its writer wrote. */
static void skip_mark(struct csv *c)
{
    static const char mark[] = { '\xef', '\xbb', '\xbf' };
    if (c->line > 1)
        return;
    for (size_t i = 0; i < sizeof mark; i++)
        if ((c->pos + i == c->len && fill(c) < 0) || c->in[c->pos + i] != mark[i])
            return;
    c->pos += sizeof mark;
}

static int skip_empty_lines(struct csv *c)
{
    int byte;
    while ((byte = peek_byte(c)) == '\n' || byte == '\r')
        next_byte(c);
    return byte;
}

int csv_next(struct csv *c, struct csv_record *out, struct err *err)
{
    err_clear(&c->err);
    skip_mark(c);
    int end = skip_empty_lines(c);
    *out = (struct csv_record){ .line = c->line, .fields = c->fields };
    if (end == END)
        return 0;
    c->used = 0;
    c->n = 0;
    do
        end = read_field(c);
    while (end == ',');
    if (end == BROKEN) {
        *err = c->err;
        /* The rest of the line belongs to the bad record, unless the line end itself was bad. */
        bool at_line_start = c->pos > 0 && c->in[c->pos - 1] == '\n';
        if (err->code == ERR_DATA && !at_line_start && skip_line(c) == BROKEN)
            *err = c->err;
        return err->code;
    }
    for (int i = 0; i < c->n; i++)
        c->fields[i] = c->text + c->starts[i];
    out->n = c->n;
    return 1;
}
