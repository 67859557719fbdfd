/* field.c - the rules of each field. The database has the same constraints, but its messages name
 * neither the field nor what is expected. */
#include "field.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "../base/moment.h"
#include "../base/utf8.h"
#include "check.h"
#include "digest.h"
#include "slot.h"

const char *const field_conflicts[] = { "keep", "earlier", "replace", NULL };

int field_check_name(const char *field, const char *text, struct err *err)
{
    size_t len = text ? strlen(text) : 0;
    if (len == 0)
        return err_set(err, ERR_INPUT, "%s: empty, expected 1 to %d bytes of text", field, CHECK_NAME_MAX);
    if (!utf8_is_valid(text, len))
        return err_set(err, ERR_INPUT, "%s: found bytes that are not UTF-8, expected UTF-8 text", field);
    if (len > CHECK_NAME_MAX)
        return err_set(err, ERR_INPUT, "%s: found %zu bytes ('%.*s...'), expected at most %d", field, len,
                       UTF8_SHOWN(text), CHECK_NAME_MAX);
    return 0;
}

int field_check_job(const char *field, const char *text, struct err *err)
{
    int rc = field_check_name(field, text, err);
    if (rc < 0 || *text != '{')
        return rc;
    return err_set(err, ERR_INPUT,
                   "%s: found '%.*s', which begins like an array, expected one name: did you mean "
                   "enqueue_each?",
                   field, UTF8_SHOWN(text));
}

bool field_is_of_engines(const char *entity)
{
    return !strcmp(entity, DELIVERY_ENTITY) || !strcmp(entity, DIGEST_ENTITY);
}

int field_check_entity(const char *field, const char *text, struct err *err)
{
    int rc = field_check_job(field, text, err);
    if (rc < 0)
        return rc;
    if (!strcmp(text, DELIVERY_ENTITY))
        return err_set(err, ERR_INPUT,
                       "%s: found " DELIVERY_ENTITY ", which stands for deliveries: only events file them",
                       field);
    if (!strcmp(text, DIGEST_ENTITY))
        return err_set(err, ERR_INPUT,
                       "%s: found " DIGEST_ENTITY
                       ", which stands for digests: only engines file them, as listeners in the settings say",
                       field);
    return 0;
}

int field_check_row(const char *entity, const char *key, const char *job, struct err *err)
{
    const char *const all[] = { entity, key, job };
    size_t len = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        len += all[i] ? strlen(all[i]) : 0;
    if (len <= FIELD_ROW_MAX)
        return 0;
    return err_set(err, ERR_INPUT, "entity, key and job have %zu bytes together, expected at most %d", len,
                   FIELD_ROW_MAX);
}

static int check_json(const char *field, const char *json, size_t flags, struct err *err)
{
    size_t len = strlen(json);
    if (len > CHECK_PAYLOAD_MAX)
        return err_set(err, ERR_INPUT, "%s: found %zu bytes, expected at most %d", field, len,
                       CHECK_PAYLOAD_MAX);
    if (!utf8_is_valid(json, len))
        return err_set(err, ERR_INPUT, "%s: found bytes that are not UTF-8, expected JSON", field);
    json_error_t why;
    json_t *value = json_loadb(json, len, flags, &why);
    if (!value) {
        /* the parser quotes the text, and may cut a character */
        int whole = (int)utf8_valid_bytes(why.text, strlen(why.text));
        return err_set(err, ERR_INPUT, "%s: found '%.*s', expected JSON: %.*s (line %d, column %d)", field,
                       UTF8_SHOWN(json), whole, why.text, why.line, why.column);
    }
    json_decref(value);
    return 0;
}

int field_check_payload(const char *field, const char *json, struct err *err)
{
    return check_json(field, json, JSON_DECODE_ANY, err);
}

int field_check_json(const char *field, const char *json, struct err *err)
{
    return check_json(field, json, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, err);
}

int field_check_time(const char *field, int64_t at, struct err *err)
{
    if (moment_is_valid(at) && at <= SLOT_PAUSES_FROM - SLOT_LENGTH_MAX_S)
        return 0;
    if (moment_is_valid(at))
        return err_set(err, ERR_INPUT,
                       "%s: found %" PRId64 ", at which paused checks wait, expected a time before the year "
                       "9000", field, at);
    return err_set(err, ERR_INPUT,
                   "%s: found %" PRId64 " seconds since 1970, expected a time from 1970 to 9999", field, at);
}

int field_check_conflict(const char *word, struct err *err)
{
    if (!word)
        word = "";
    if (field_conflict_index(word) >= 0)
        return 0;
    size_t shown = utf8_valid_bytes(word, utf8_cut(word, strlen(word), 80));
    return err_set(err, ERR_INPUT, "conflict: found '%.*s', expected keep, earlier or replace", (int)shown,
                   word);
}

int field_conflict_index(const char *word)
{
    for (int i = 0; word && i < FIELD_CONFLICTS; i++)
        if (!strcmp(word, field_conflicts[i]))
            return i;
    return -1;
}

const char *field_conflict_word(uint32_t index)
{
    return index < FIELD_CONFLICTS ? field_conflicts[index] : NULL;
}
