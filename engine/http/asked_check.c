/* asked_check.c - see asked_check.h. */
#include "asked_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "../base/err.h"
#include "../base/fingerprint.h"
#include "../base/moment.h"
#include "../base/nearest.h"
#include "../base/utf8.h"
#include "../rules/field.h"
#include "../store/enqueue_check.h"

enum { UNIQID_MAX = 255, WITHIN_MAX_S = 366 * 86400 };
/* All of a number with a fraction, whatever version of the library writes it: a repeat is compared
 * with what an older one has written. */
#define DIGITS JSON_REAL_PRECISION(17)
/* What a relative time may be: the time itself is bounded where the clock is known. */
#define AFTER_MAX_S (10000 * INT64_C(366) * 86400)

struct reading {
    struct asked_check *out;
    struct arena *arena;
    const char *pointer;
    bool has_time, is_short;
    bool has_entity, has_key;
};

/* ---- what is at fault ---- */

/* A name in a JSON pointer (RFC 6901). */
static const char *escaped(struct arena *a, const char *name)
{
    char *out = arena_alloc(a, 2 * strlen(name) + 1), *to = out;
    for (; out && *name; name++) {
        *to++ = *name == '/' ? '~' : *name;
        if (*name == '~' || *name == '/')
            *to++ = *name == '~' ? '0' : '1';
    }
    if (out)
        *to = '\0';
    return out;
}

static bool has_enough(const struct reading *r)
{
    return json_array_size(json_object_get(r->out->problem, "errors")) >= ASKED_FAULTS_MOST;
}

static void fault(struct reading *r, const char *member, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void fault(struct reading *r, const char *member, const char *fmt, ...)
{
    char detail[400];
    va_list ap;
    if (has_enough(r))
        return;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof detail, fmt, ap);
    va_end(ap);
    detail[utf8_valid_bytes(detail, strlen(detail))] = '\0';
    struct asked_check *out = r->out;
    if (!out->problem) {
        out->type = PROBLEM_INVALID;
        out->problem = problem_new(PROBLEM_INVALID, detail);
    }
    const char *name = escaped(r->arena, member);
    const char *pointer = name ? arena_printf(r->arena, "%s/%s", r->pointer, name) : NULL;
    if (!pointer || !out->problem || problem_add(out->problem, pointer, detail) < 0)
        r->is_short = true;
}

/* ---- members ---- */

static const char *text_of(struct reading *r, const char *name, const json_t *value)
{
    const char *text = json_string_value(value);
    if (!text)
        fault(r, name, "%s: expected text", name);
    return text;
}

static void check(struct reading *r, const char *name, int rc, const struct err *err)
{
    if (rc < 0)
        fault(r, name, "%s", err->text);
}

static void read_entity(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = text_of(r, name, value);
    r->has_entity = true;
    r->out->item.row.entity_name = text;
    if (text)
        check(r, name, field_check_entity(name, text, &err), &err);
}

/* A number is its digits, as in SQL. */
static void read_key(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = json_is_integer(value)
                           ? arena_printf(r->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value))
                           : text_of(r, name, value);
    r->has_key = true;
    r->out->item.row.entity_key = text;
    if (text)
        check(r, name, field_check_name(name, text, &err), &err);
}

static void read_job(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = text_of(r, name, value);
    r->out->item.row.job_exec = text;
    int rc = text ? field_check_job(name, text, &err) : 0;
    r->out->has_bad_job = !text || rc < 0;
    check(r, name, rc, &err);
}

static void read_name(struct reading *r, const char *name, const json_t *value, const char **out)
{
    struct err err;
    const char *text = text_of(r, name, value);
    *out = text;
    if (text)
        check(r, name, field_check_name(name, text, &err), &err);
}

static void read_concurrency_key(struct reading *r, const char *name, const json_t *value)
{
    read_name(r, name, value, &r->out->item.row.concurrency_key);
}

static void read_tenant(struct reading *r, const char *name, const json_t *value)
{
    read_name(r, name, value, &r->out->item.row.tenant);
}

static void read_conflict(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = text_of(r, name, value);
    if (!text)
        return;
    r->out->item.conflict = text;
    if (field_check_conflict(text, &err) < 0)
        fault(r, name, "%s: found '%.*s', expected keep, earlier or replace", name, UTF8_SHOWN(text));
}

static void read_priority(struct reading *r, const char *name, const json_t *value)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < INT32_MIN || number > INT32_MAX)
        fault(r, name, "%s: expected a whole number of at most 32 bits", name);
    else
        r->out->item.row.priority = (int32_t)number;
}

static void read_payload(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    char *text = json_is_null(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | DIGITS);
    r->out->item.row.payload = arena_strdup(r->arena, text);
    r->is_short = r->is_short || (!json_is_null(value) && !r->out->item.row.payload);
    free(text);
    if (r->out->item.row.payload)
        check(r, name, field_check_payload(name, r->out->item.row.payload, &err), &err);
}

/* ---- times ---- */

static void take_time(struct reading *r, const char *name, int64_t at, bool is_after)
{
    if (r->has_time)
        fault(r, name, "%s: check_at and in exclude each other", name);
    r->has_time = true;
    r->out->item.row.at = at;
    r->out->item.is_after = is_after;
}

/* "+3h" and "now" count from the clock of the store, which is asked when the check is filed. */
static bool is_relative(const char *text)
{
    return *text == '+' || *text == '-' || !strcmp(text, "now");
}

static int64_t whole_seconds(int64_t us)
{
    return us / 1000000 + (us % 1000000 != 0);
}

static void read_relative(struct reading *r, const char *name, const char *text)
{
    struct err err;
    int64_t us = 0;
    take_time(r, name, 0, true);
    if (strcmp(text, "now") != 0 && duration_parse_us(text + 1, &us, &err) < 0) {
        fault(r, name, "%s: %s", name, err.text);
        return;
    }
    int64_t s = whole_seconds(us);
    r->out->item.row.at = *text == '-' ? -s : s;
}

static void read_check_at(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    int64_t at = json_integer_value(value);
    if (json_is_string(value) && is_relative(json_string_value(value))) {
        read_relative(r, name, json_string_value(value));
        return;
    }
    int rc = 0;
    if (json_is_string(value))
        rc = moment_parse(json_string_value(value), 0, &at, &err);
    else if (!json_is_integer(value))
        rc = err_set(&err, ERR_INPUT, "expected a time: text such as 2026-03-01T13:15:00Z, or whole seconds "
                                      "since 1970");
    if (rc < 0)
        fault(r, name, "%s: %s", name, err.text);
    else if (field_check_time(name, at, &err) < 0)
        fault(r, name, "%s", err.text);
    take_time(r, name, at, false);
}

static bool read_span(struct reading *r, const char *name, const json_t *value, int64_t *out)
{
    struct err err;
    int64_t us = 0;
    json_int_t s = json_integer_value(value);
    if (json_is_integer(value) && s >= 0 && s <= AFTER_MAX_S) {
        *out = s;
        return true;
    }
    int rc = ERR_INPUT;
    if (json_is_string(value))
        rc = duration_parse_us(json_string_value(value), &us, &err);
    else
        err_set(&err, ERR_INPUT, "expected a duration: text such as 3h, or whole seconds");
    if (rc < 0)
        fault(r, name, "%s: %s", name, err.text);
    *out = whole_seconds(us);
    return rc == 0;
}

static void read_in(struct reading *r, const char *name, const json_t *value)
{
    int64_t s = 0;
    read_span(r, name, value, &s);
    take_time(r, name, s, true);
}

static void read_within(struct reading *r, const char *name, const json_t *value)
{
    if (read_span(r, name, value, &r->out->item.within_s) && !r->out->item.within_s)
        fault(r, name, "%s: expected at least the length of a slot", name);
    else if (r->out->item.within_s > WITHIN_MAX_S)
        fault(r, name, "%s: expected at most 366 days", name);
}

/* ---- uniqid ---- */

static bool is_uniqid(const char *text)
{
    size_t len = strlen(text);
    if (!len || len > UNIQID_MAX)
        return false;
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static void read_uniqid(struct reading *r, const char *name, const json_t *value)
{
    const char *text = text_of(r, name, value);
    if (text && !is_uniqid(text))
        fault(r, name, "%s: expected 1 to %d bytes without control characters", name, UNIQID_MAX);
    r->out->item.uniqid = text;
}

/* The draft of the header has its value in quotes; few clients do so. */
static const char *unquoted(struct arena *a, const char *header)
{
    size_t len = strlen(header);
    if (len >= 2 && header[0] == '"' && header[len - 1] == '"')
        return arena_strndup(a, header + 1, len - 2);
    return header;
}

static void take_header(struct reading *r, const char *header)
{
    struct post_item *item = &r->out->item;
    const char *text = header ? unquoted(r->arena, header) : NULL;
    if (!header)
        return;
    if (!text) {
        r->is_short = true;
    } else if (item->uniqid && strcmp(item->uniqid, text) != 0) {
        json_decref(r->out->problem);
        r->out->type = PROBLEM_BAD_REQUEST;
        r->out->problem = problem_new(PROBLEM_BAD_REQUEST,
                                      "uniqid and the header Idempotency-Key differ; send one of them");
    } else if (!is_uniqid(text)) {
        fault(r, "uniqid", "Idempotency-Key: expected 1 to %d bytes without control characters", UNIQID_MAX);
    }
    item->uniqid = text;
}

/* ---- the object ---- */

static const struct member {
    const char *name;
    void (*read)(struct reading *r, const char *name, const json_t *value);
} members[] = {
    { "entity", read_entity },       { "key", read_key },
    { "job", read_job },             { "check_at", read_check_at },
    { "in", read_in },               { "payload", read_payload },
    { "uniqid", read_uniqid },       { "on_conflict", read_conflict },
    { "priority", read_priority },   { "within", read_within },
    { "tenant", read_tenant },       { "concurrency_key", read_concurrency_key },
};
enum { MEMBERS = sizeof members / sizeof *members };

static const struct member *member_named(const char *name)
{
    for (int i = 0; i < MEMBERS; i++)
        if (!strcmp(members[i].name, name))
            return &members[i];
    return NULL;
}

static void refuse_member(struct reading *r, const char *name)
{
    struct nearest near = { .wanted = name };
    if (has_enough(r))
        return;
    for (int i = 0; i < MEMBERS; i++)
        nearest_look(&near, members[i].name);
    const char *word = nearest_word(&near);
    if (word)
        fault(r, name, "%.*s: there is no such member; did you mean %s?", UTF8_SHOWN(name), word);
    else
        fault(r, name, "%.*s: there is no such member", UTF8_SHOWN(name));
}

/* What stands alone under a uniqid is a message: the row that it is about is the request itself. */
static void fill_in_row(struct reading *r)
{
    struct post_item *item = &r->out->item;
    if (item->uniqid && !r->has_entity && !r->has_key) {
        item->row.entity_name = "message";
        item->row.entity_key = item->uniqid;
        return;
    }
    if (!r->has_entity)
        fault(r, "entity", "entity is missing");
    if (!r->has_key)
        fault(r, "key", "key is missing");
}

static void check_missing(struct reading *r, const json_t *object)
{
    if (!json_object_get(object, "job"))
        fault(r, "job", "job is missing");
    if (!r->has_time)
        fault(r, "check_at", "check_at is missing, or in");
}

/* The object as it came, in one order of its members and without its uniqid: `in` is not a time
 * yet, so that a repeat some minutes later asks for the same. */
static void digest(struct reading *r, const json_t *object)
{
    json_t *rest = json_copy((json_t *)object);
    if (rest)
        json_object_del(rest, "uniqid");
    char *text = rest ? json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS | DIGITS) : NULL;
    if (text)
        fingerprint_checksum(text, r->out->item.content);
    r->is_short = r->is_short || !text;
    free(text);
    json_decref(rest);
}

static int refuse_whole(struct asked_check *out, const char *pointer)
{
    static const char expected[] = "expected an object: {\"entity\", \"key\", \"job\", \"check_at\", ...}";
    out->type = PROBLEM_INVALID;
    out->problem = problem_new(PROBLEM_INVALID, expected);
    return out->problem && problem_add(out->problem, pointer, expected) == 0 ? 0 : ERR_NOMEM;
}

int asked_check_read(struct asked_check *out, const json_t *object, const char *header, const char *pointer,
                     struct arena *a)
{
    struct reading r = { .out = out, .arena = a, .pointer = pointer };
    const char *name;
    json_t *value;
    *out = (struct asked_check){ .item.conflict = "keep" };
    if (!json_is_object(object))
        return refuse_whole(out, pointer);
    json_object_foreach((json_t *)object, name, value) {
        const struct member *member = member_named(name);
        if (member)
            member->read(&r, name, value);
        else
            refuse_member(&r, name);
    }
    take_header(&r, header);
    fill_in_row(&r);
    check_missing(&r, object);
    digest(&r, object);
    return r.is_short ? ERR_NOMEM : 0;
}
