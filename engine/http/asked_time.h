/* asked_time.h - times and spans as members of JSON have them: text as on the command line, or
 * whole seconds. What counts from now on is left so; `now` only says which day it is. */
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

/* "2026-03-01T13:15:00Z", "3h", "now", "tomorrow 09:00 Europe/Berlin", 1772370900. Returns 0, or
 * ERR_INPUT, with `name` in its text. */
int asked_time_read(const char *name, const json_t *value, int64_t now, struct asked_time *out,
                    struct err *err);
/* "3h", 10800. */
int asked_time_read_span(const char *name, const json_t *value, int64_t *seconds, struct err *err);

#endif
