/* enqueue_check.c - whether a check may be enqueued. A field is a row of the table; the database's
 * own constraints say the same, but not where, nor in these words. */
#include "enqueue_check.h"

#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <string.h>
#include "../base/utf8.h"
#include "../rules/slot.h"

static const struct field { const char *name; size_t offset; } names[] = {
    { "entity_name", offsetof(struct load_row, entity_name) },
    { "entity_key", offsetof(struct load_row, entity_key) },
    { "job_exec", offsetof(struct load_row, job_exec) },
};

static const char *const conflicts[] = { "keep", "earlier", "replace" };

static int check_name(const char *what, const char *text, struct err *err)
{
    size_t len = text ? strlen(text) : 0;
    if (len == 0)
        return err_set(err, ERR_INPUT, "%s: empty, expected 1 to %d bytes of text", what, CHECK_NAME_MAX);
    if (!utf8_is_valid(text, len))
        return err_set(err, ERR_INPUT, "%s: found bytes that are not UTF-8, expected UTF-8 text", what);
    if (len > CHECK_NAME_MAX)
        return err_set(err, ERR_INPUT, "%s: found %zu bytes ('%.*s...'), expected at most %d", what, len,
                       UTF8_SHOWN(text), CHECK_NAME_MAX);
    return 0;
}

static int check_payload(const char *payload, struct err *err)
{
    size_t len = strlen(payload);
    json_error_t why;
    if (len > CHECK_PAYLOAD_MAX)
        return err_set(err, ERR_INPUT, "payload: found %zu bytes, expected at most %d", len,
                       CHECK_PAYLOAD_MAX);
    json_t *json = json_loadb(payload, len, JSON_DECODE_ANY, &why);
    if (!json)
        return err_set(err, ERR_INPUT, "payload: found '%.*s', expected JSON: %s (line %d, column %d)",
                       UTF8_SHOWN(payload), why.text, why.line, why.column);
    json_decref(json);
    return 0;
}

int enqueue_check_row(const struct load_row *row, struct err *err)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = *(const char *const *)((const char *)row + names[i].offset);
        if (check_name(names[i].name, text, err) < 0)
            return ERR_INPUT;
    }
    if (!moment_is_valid(row->at))
        return err_set(err, ERR_INPUT,
                       "check_at: found %" PRId64 " seconds since 1970, expected a time from 1970 to 9999",
                       row->at);
    return row->payload ? check_payload(row->payload, err) : 0;
}

int enqueue_check_conflict(const char *word, struct err *err)
{
    for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++)
        if (!strcmp(word, conflicts[i]))
            return 0;
    return err_set(err, ERR_INPUT, "conflict: found '%.*s', expected keep, earlier or replace",
                   UTF8_SHOWN(word));
}
