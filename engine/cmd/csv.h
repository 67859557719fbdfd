/* csv.h - reading RFC 4180: fields in quotes with commas, doubled quotes and newlines in them; LF
 * or CRLF; every error has a line number. Memory is bounded by the given limits. */
#ifndef PRESCIENT_CSV_H
#define PRESCIENT_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "../base/err.h"

struct csv;

/* Where the bytes come from, like read(2): how many were read, 0 at the end, or a negative ERR_
 * with err filled. */
typedef ssize_t csv_source(void *ctx, char *buf, size_t size, struct err *err);

struct csv_limits {
    size_t field_bytes, record_bytes;
    int fields;
};

struct csv_record {                 /* lives until the next call */
    char **fields;                  /* each ends with NUL and has none inside */
    int n;
    int64_t line;                   /* where it begins; the first line of the input is 1 */
};

/* NULL when out of memory. A byte order mark at the start is skipped. */
struct csv *csv_new(csv_source *source, void *ctx, const struct csv_limits *limits);
void csv_free(struct csv *c);

/* The next record; empty lines are skipped. Returns 1, or 0 at the end. ERR_DATA: the record at
 * out->line is malformed, as err describes, and the next call continues with the line after it.
 * Other errors: of the source, or ERR_NOMEM. */
int csv_next(struct csv *c, struct csv_record *out, struct err *err);

/* Skips everything before line `line`, which must be the start of a record. Returns 0, or an error
 * of the source. */
int csv_skip_to(struct csv *c, int64_t line, struct err *err);

int64_t csv_line(const struct csv *c);          /* the line of the next byte */

#endif
