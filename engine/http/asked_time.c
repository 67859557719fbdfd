/* asked_time.c - see asked_time.h. */
#include "asked_time.h"

#include <string.h>

#include "../base/moment.h"
#include "../rules/field.h"

/* What a relative time may be: the time itself is bounded where the clock is known. */
#define AFTER_MAX_S (10000 * INT64_C(366) * 86400)

static int64_t whole_seconds(int64_t us)
{
    return us / 1000000 + (us % 1000000 != 0);
}

/* "+3h" and "now" count from the clock of the store, which is asked when something is filed. */
static bool is_relative(const char *text)
{
    return *text == '+' || *text == '-' || !strcmp(text, "now");
}

static int named(const char *name, int rc, struct err *err)
{
    return rc < 0 ? err_wrap(err, rc, "%s", name) : 0;
}

static int read_relative(const char *name, const char *text, struct asked_time *out, struct err *err)
{
    int64_t us = 0;
    int rc = strcmp(text, "now") ? duration_parse_us(text + 1, &us, err) : 0;
    int64_t s = whole_seconds(us);
    *out = (struct asked_time){ .at = *text == '-' ? -s : s, .is_after = true };
    return named(name, rc, err);
}

int asked_time_read(const char *name, const json_t *value, struct asked_time *out, struct err *err)
{
    const char *text = json_string_value(value);
    if (text && is_relative(text))
        return read_relative(name, text, out, err);
    int rc = 0;
    *out = (struct asked_time){ .at = json_integer_value(value) };
    if (text)
        rc = moment_parse(text, 0, &out->at, err);
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
