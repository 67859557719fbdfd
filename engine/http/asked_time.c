/* asked_time.c - see asked_time.h. */
#include "asked_time.h"

#include <string.h>

#include "../base/moment.h"
#include "../base/when.h"
#include "../rules/field.h"

/* What a relative time may be: the time itself is bounded where the clock is known. */
#define AFTER_MAX_S (10000 * INT64_C(366) * 86400)

static int64_t whole_seconds(int64_t us)
{
    return us / 1000000 + (us % 1000000 != 0);
}

static int named(const char *name, int rc, struct err *err)
{
    return rc < 0 ? err_wrap(err, rc, "%s", name) : 0;
}

int asked_time_read(const char *name, const json_t *value, int64_t now, struct asked_time *out,
                    struct err *err)
{
    const char *text = json_string_value(value);
    int rc = 0;
    *out = (struct asked_time){ .at = json_integer_value(value) };
    /* the clock of the store is asked when something is filed */
    out->is_after = text && when_is_after(text, &out->at);
    if (out->is_after)
        return 0;
    if (text)
        rc = when_parse(text, &(struct when){ .now = now }, &out->at, err);
    else if (!json_is_integer(value))
        rc = err_set(err, ERR_INPUT, "expected a time: text such as 2026-03-01T13:15:00Z, or whole seconds "
                                     "since 1970");
    return rc < 0 ? named(name, rc, err) : field_check_time(name, out->at, err);
}

int asked_time_read_span(const char *name, const json_t *value, int64_t *seconds, struct err *err)
{
    int64_t us = 0;
    json_int_t s = json_integer_value(value);
    *seconds = s;
    if (json_is_integer(value) && s >= 0 && s <= AFTER_MAX_S)
        return 0;
    int rc = ERR_INPUT;
    if (json_is_string(value))
        rc = duration_parse_us(json_string_value(value), &us, err);
    else
        err_set(err, ERR_INPUT, "expected a duration: text such as 3h, or whole seconds");
    *seconds = whole_seconds(us);
    return named(name, rc, err);
}
