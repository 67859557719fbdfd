/* asked_time.h - times and spans as members of JSON have them: text as on the command line, or
 * whole seconds. No clock: what counts from now on is left so. */
#ifndef PRESCIENT_HTTP_ASKED_TIME_H
#define PRESCIENT_HTTP_ASKED_TIME_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "../base/err.h"

struct asked_time {
    int64_t at;                     /* seconds since 1970, or from now on, by the store's clock */
    bool is_after;
};

/* "2026-03-01T13:15:00Z", "+3h", "now", 1772370900. Returns 0, or ERR_INPUT, with `name` in its
 * text. */
int asked_time_read(const char *name, const json_t *value, struct asked_time *out, struct err *err);
/* "3h", 10800. */
int asked_time_read_span(const char *name, const json_t *value, int64_t *seconds, struct err *err);

#endif
