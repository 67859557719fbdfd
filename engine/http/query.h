/* query.h - the part of a target behind "?": names and values, decoded. Keys of checks stand there
 * and never in a path, so they may hold what they like but a zero byte. No I/O. */
#ifndef PRESCIENT_HTTP_QUERY_H
#define PRESCIENT_HTTP_QUERY_H

#include <stdbool.h>

#include "../base/arena.h"
#include "../base/err.h"

enum { QUERY_MAX = 24 };

struct query_value { const char *name, *value; };

struct query {
    struct query_value values[QUERY_MAX];
    int n;
};

/* Reads "a=b&c=%2F+d": UTF-8, percent-encoded, + is a blank. The texts live in the arena. `known`
 * are the names that may stand there, and end with NULL. Returns 0, ERR_NOMEM, or ERR_INPUT for a
 * name that is not known or stands twice, and for what cannot be decoded. */
int query_read(struct query *q, const char *text, const char *const *known, struct arena *a,
               struct err *err);

/* Whether a name stands in the text, also one that is written with escapes. A text that cannot be
 * decoded has perhaps none of its names. */
bool query_names(const char *text, const char *name);

/* NULL: it is not there. One that is there without a value is "". */
const char *query_value(const struct query *q, const char *name);

#endif
