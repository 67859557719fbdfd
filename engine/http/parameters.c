/* parameters.c - see parameters.h. */
#include "parameters.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/moment.h"
#include "../base/when.h"
#include "../base/utf8.h"
#include "../view/item.h"

/* ---- names ---- */

static bool is_of_query(enum parameter_source source)
{
    return source == PARAMETER_TEXT || source == PARAMETER_WORD || source == PARAMETER_MOMENT ||
           source == PARAMETER_BEHIND || source == PARAMETER_DAY || source == PARAMETER_HOURS ||
           source == PARAMETER_FROM || source == PARAMETER_BARE;
}

static bool has(const char **names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

int parameters_name(const struct parameter *parameters, const char **names, int named)
{
    for (const struct parameter *p = parameters; p->source != PARAMETER_END; p++) {
        if (is_of_query(p->source) && !has(names, named, p->name))
            names[named++] = p->name;
    }
    names[named] = NULL;
    return named;
}

/* ---- values ---- */

int64_t parameters_share_ms(int64_t left_us, int looks)
{
    int64_t ms = left_us / 1000 / (looks > 1 ? looks : 1);
    return ms < PARAMETERS_PART_MS_LEAST ? PARAMETERS_PART_MS_LEAST : ms;
}

int64_t parameters_look_ms(struct asking *a)
{
    int64_t now_us = clock_mono_us(&clock_system);
    if (!a->looks_until_us)
        a->looks_until_us = now_us + PARAMETERS_PARTS_MS * INT64_C(1000);
    return parameters_share_ms(a->looks_until_us - now_us, a->parts_looking--);
}

int parameters_read_limit(struct asking *a)
{
    const char *text = query_value(&a->query, "limit"), *payload = query_value(&a->query, "payload");
    char *end;
    a->limit = PARAMETERS_LIMIT;
    if (!text)
        return 0;
    a->limit = strtoll(text, &end, 10);
    if (*end || !isdigit((unsigned char)*text) || a->limit < 1 || a->limit > PARAMETERS_LIMIT_MAX)
        return err_set(&a->err, ERR_INPUT, "limit: found '%.*s', expected a number from 1 to %d",
                       UTF8_SHOWN(text), PARAMETERS_LIMIT_MAX);
    if (payload && strcmp(payload, "0") != 0 && a->limit > PARAMETERS_PAYLOADS)
        a->limit = PARAMETERS_PAYLOADS;
    return 0;
}

static int number(struct asking *a, int64_t n, const char **out)
{
    *out = arena_printf(a->desk->arena, "%" PRId64, n);
    return *out ? 0 : err_set(&a->err, ERR_NOMEM, "out of memory");
}

static int read_now(struct asking *a)
{
    return a->now ? 0 : desk_now(a->desk, &a->now, &a->err);
}

static int read_moment(struct asking *a, const struct parameter *p, const char **out)
{
    const char *text = query_value(&a->query, p->name);
    struct err why;
    int64_t at;
    if (!text && (p->source == PARAMETER_DAY || p->source == PARAMETER_HOURS))
        text = "-1d";
    *out = NULL;
    int rc = text ? read_now(a) : 0;
    if (!text || rc < 0)
        return rc;
    rc = when_parse(text, &(struct when){ a->now, NULL, p->source == PARAMETER_DAY }, &at, &why);
    if (rc < 0)
        return err_set(&a->err, rc, "%s: %s", p->name, why.text);
    at += p->source == PARAMETER_BEHIND;
    return number(a, at, out);
}

/* What runs were like is one row an hour, job, entity, tenant and outcome. */
static int read_hours(struct asking *a, const struct parameter *p, const char **out)
{
    struct store_rows rows;
    const char *params[2];
    int rc = a->hours_from ? 0 : read_moment(a, p, &params[0]);
    if (rc == 0 && !a->hours_from)
        rc = number(a, PARAMETERS_HOURS, &params[1]);
    if (rc == 0 && !a->hours_from) {
        rc = desk_rows(a->desk, "runs_since", params, 2, &rows, &a->err);
        a->hours_from = rc == 0 ? rows_value(&rows, 0, "since_at") : NULL;
        a->hours_are_cut = rc == 0 && rows_is_true(&rows, 0, "is_cut");
    }
    *out = a->hours_from;
    return rc;
}

static int read_from(struct asking *a, const struct parameter *p, const char **out)
{
    int rc = read_moment(a, p, out);
    if (rc < 0 || !a->after)
        return rc;
    int64_t place = strtoll(a->after, NULL, 10);
    return number(a, place < MOMENT_MAX ? place + 1 : MOMENT_MAX, out);
}

static int read_word(struct asking *a, const struct parameter *p, const char **out)
{
    char expected[256] = "";
    *out = query_value(&a->query, p->name);
    for (int i = 0; p->words[i]; i++) {
        if (!*out || !strcmp(p->words[i], *out))
            return 0;
        size_t len = strlen(expected);
        snprintf(expected + len, sizeof expected - len, "%s%s", i ? ", " : "", p->words[i]);
    }
    return err_set(&a->err, ERR_INPUT, "%s: found '%.*s', expected one of %s", p->name, UTF8_SHOWN(*out),
                   expected);
}

static int read_bare(struct asking *a, const struct parameter *p, const char **out)
{
    const char *text = query_value(&a->query, p->name);
    if (text && strcmp(text, "1") != 0 && strcmp(text, "0") != 0)
        return err_set(&a->err, ERR_INPUT, "%s: found '%.*s', expected 1 or 0", p->name, UTF8_SHOWN(text));
    a->with_payload = text && *text == '1';
    if (a->with_payload && a->role < ROLE_OPERATE)
        return err_set(&a->err, ERR_DENIED, "payloads are for the role operate; ask without payload=1");
    *out = a->with_payload ? NULL : "1";
    return 0;
}

/* A request counts as many checks, in all its slots, as it may look at. */
static int counted(struct asking *a, const char **out)
{
    enum { LEAST = 1000 };
    int64_t share = PARAMETERS_LOOKS / a->limit;
    return number(a, share < LEAST ? LEAST : share, out);
}

static int read_one(struct asking *a, const struct parameter *p, const char **out)
{
    switch (p->source) {
    case PARAMETER_END:
    case PARAMETER_NOTHING: *out = NULL; return 0;
    case PARAMETER_FIXED: *out = p->name; return 0;
    case PARAMETER_TEXT: *out = query_value(&a->query, p->name); return 0;
    case PARAMETER_WORD: return read_word(a, p, out);
    case PARAMETER_MOMENT:
    case PARAMETER_DAY:
    case PARAMETER_BEHIND: return read_moment(a, p, out);
    case PARAMETER_HOURS: return read_hours(a, p, out);
    case PARAMETER_FROM: return read_from(a, p, out);
    case PARAMETER_AFTER: *out = a->after; return 0;
    case PARAMETER_BARE: return read_bare(a, p, out);
    case PARAMETER_MOST: return number(a, a->limit + 1, out);
    case PARAMETER_LOOKS: return number(a, a->looks ? a->looks : PARAMETERS_LOOKS, out);
    case PARAMETER_LOOK_MS: return number(a, a->look_ms ? a->look_ms : parameters_look_ms(a), out);
    case PARAMETER_COUNTED: return counted(a, out);
    }
    return 0;
}

int parameters_read(struct asking *a, const struct parameter *parameters, const char *out[PARAMETERS_MAX])
{
    int rc = 0, n = 0;
    for (; rc == 0 && parameters[n].source != PARAMETER_END; n++)
        rc = read_one(a, &parameters[n], &out[n]);
    return rc < 0 ? rc : n;
}

/* ---- the report ---- */

static void leave_out_payloads(const struct asking *a, struct store_rows *rows)
{
    if (a->with_payload)
        return;
    item_leave_out(rows, "payload");
    item_leave_out(rows, "data");
}

int parameters_run_with(struct asking *a, const char *report, const char *const *params, int n,
                        struct store_rows *out)
{
    struct store_report call = STORE_REPORT_INIT;
    call.name = report;
    call.params = params;
    call.nparams = n;
    call.arena = a->arena ? a->arena : a->desk->arena;
    call.role = a->db_role;
    int rc = store_do(a->desk->store, &call.call);
    a->err = call.call.err;
    if (rc == 0 && call.left_out && a->with_payload)
        return err_set(&a->err, ERR_DENIED,
                       "the server's user of the database may not read payloads; ask without payload=1");
    *out = call.rows;
    if (rc == 0)
        leave_out_payloads(a, out);
    return rc;
}

int parameters_run(struct asking *a, const char *report, const struct parameter *parameters,
                   struct store_rows *out)
{
    const char *params[PARAMETERS_MAX];
    int n = parameters_read(a, parameters, params);
    return n < 0 ? n : parameters_run_with(a, report, params, n, out);
}

int parameters_tell_cut(struct asking *a, json_t *object)
{
    if (!a->hours_are_cut)
        return 0;
    const char *at = rows_text(a->desk->arena, CELL_MOMENT, a->hours_from);
    if (at && json_object_set_new(object, "scanned_to", json_string(at)) == 0)
        return 0;
    return err_set(&a->err, ERR_NOMEM, "out of memory");
}

void parameters_refuse(struct asking *a, int rc, struct answer *answer)
{
    if (rc == ERR_INPUT)
        desk_refuse(a->desk, answer, PROBLEM_BAD_REQUEST, problem_new(PROBLEM_BAD_REQUEST, a->err.text));
    else if (rc == ERR_DENIED)
        desk_refuse(a->desk, answer, PROBLEM_NOT_ALLOWED, problem_new(PROBLEM_NOT_ALLOWED, a->err.text));
    else
        desk_failed(a->desk, answer, &a->err);
}
