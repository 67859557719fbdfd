/* asked_check.c - see asked_check.h. */
#include "asked_check.h"

#include <string.h>

#include "../base/err.h"
#include "../base/fingerprint.h"
#include "../base/json_dump.h"
#include "../base/utf8.h"
#include "../rules/field.h"
#include "../store/enqueue_check.h"
#include "asked_time.h"
#include "faults.h"
#include "payload.h"

enum { UNIQID_MAX = 255, WITHIN_MAX_S = 366 * 86400 };
/* All of a number with a fraction, in the digest, whatever version of the library writes it: a
 * repeat is compared with what an older one has written. */
#define DIGITS JSON_REAL_PRECISION(17)

struct reading {
    struct asked_check *out;
    struct faults faults;
    bool has_time;
    bool has_entity, has_key;
};

/* ---- members ---- */

static void read_entity(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = faults_text(&r->faults, name, value);
    r->has_entity = true;
    r->out->item.row.entity_name = text;
    if (text)
        faults_check(&r->faults, name, field_check_entity(name, text, &err), &err);
}

/* A number is its digits, as in SQL. */
static void read_key(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = json_is_integer(value)
                           ? arena_printf(r->faults.arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value))
                           : faults_text(&r->faults, name, value);
    r->has_key = true;
    r->out->item.row.entity_key = text;
    if (text)
        faults_check(&r->faults, name, field_check_name(name, text, &err), &err);
}

static void read_job(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    const char *text = faults_text(&r->faults, name, value);
    r->out->item.row.job_exec = text;
    int rc = text ? field_check_job(name, text, &err) : 0;
    r->out->has_bad_job = !text || rc < 0;
    faults_check(&r->faults, name, rc, &err);
}

static void read_name(struct reading *r, const char *name, const json_t *value, const char **out)
{
    struct err err;
    const char *text = faults_text(&r->faults, name, value);
    *out = text;
    if (text)
        faults_check(&r->faults, name, field_check_name(name, text, &err), &err);
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
    const char *text = faults_text(&r->faults, name, value);
    if (!text)
        return;
    r->out->item.conflict = text;
    if (field_check_conflict(text, &err) < 0)
        faults_add(&r->faults, name, "%s: found '%.*s', expected keep, earlier or replace", name,
                   UTF8_SHOWN(text));
}

static void read_priority(struct reading *r, const char *name, const json_t *value)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < INT32_MIN || number > INT32_MAX)
        faults_add(&r->faults, name, "%s: expected a whole number of at most 32 bits", name);
    else
        r->out->item.row.priority = (int32_t)number;
}

static void read_payload(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    r->out->item.row.payload = json_is_null(value) ? NULL : payload_text(value, r->faults.arena);
    r->faults.is_short = r->faults.is_short || (!json_is_null(value) && !r->out->item.row.payload);
    if (r->out->item.row.payload)
        faults_check(&r->faults, name, field_check_payload(name, r->out->item.row.payload, &err), &err);
}

/* ---- times ---- */

static void take_time(struct reading *r, const char *name, const struct asked_time *time)
{
    if (r->has_time)
        faults_add(&r->faults, name, "%s: check_at and in exclude each other", name);
    r->has_time = true;
    r->out->item.row.at = time->at;
    r->out->item.is_after = time->is_after;
}

static void read_check_at(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    struct asked_time time = { 0 };
    faults_check(&r->faults, name, asked_time_read(name, value, r->faults.now, &time, &err), &err);
    take_time(r, name, &time);
}

static void read_in(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    struct asked_time time = { .is_after = true };
    faults_check(&r->faults, name, asked_time_read_span(name, value, &time.at, &err), &err);
    take_time(r, name, &time);
}

static void read_within(struct reading *r, const char *name, const json_t *value)
{
    struct err err;
    int64_t *within_s = &r->out->item.within_s;
    int rc = asked_time_read_span(name, value, within_s, &err);
    faults_check(&r->faults, name, rc, &err);
    if (rc == 0 && !*within_s)
        faults_add(&r->faults, name, "%s: expected at least the length of a slot", name);
    else if (*within_s > WITHIN_MAX_S)
        faults_add(&r->faults, name, "%s: expected at most 366 days", name);
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
    const char *text = faults_text(&r->faults, name, value);
    if (text && !is_uniqid(text))
        faults_add(&r->faults, name, "%s: expected 1 to %d bytes without control characters", name,
                   UNIQID_MAX);
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
    const char *text = header ? unquoted(r->faults.arena, header) : NULL;
    if (!header)
        return;
    if (!text) {
        r->faults.is_short = true;
    } else if (item->uniqid && strcmp(item->uniqid, text) != 0) {
        json_decref(r->faults.problem);
        r->out->type = PROBLEM_BAD_REQUEST;
        r->faults.problem = problem_new(PROBLEM_BAD_REQUEST,
                                        "uniqid and the header Idempotency-Key differ; send one of them");
    } else if (!is_uniqid(text)) {
        faults_add(&r->faults, "uniqid", "Idempotency-Key: expected 1 to %d bytes without control characters",
                   UNIQID_MAX);
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
        faults_add(&r->faults, "entity", "entity is missing");
    if (!r->has_key)
        faults_add(&r->faults, "key", "key is missing");
}

static void check_missing(struct reading *r, const json_t *object)
{
    if (!json_object_get(object, "job"))
        faults_add(&r->faults, "job", "job is missing");
    if (!r->has_time)
        faults_add(&r->faults, "check_at", "check_at is missing, or in");
}

/* The object as it came, in one order of its members and without its uniqid: `in` is not a time
 * yet, so that a repeat some minutes later asks for the same. */
static void digest(struct reading *r, const json_t *object)
{
    json_t *rest = json_copy((json_t *)object);
    if (rest)
        json_object_del(rest, "uniqid");
    char *text = rest ? json_dump_text(rest, JSON_COMPACT | JSON_SORT_KEYS | DIGITS) : NULL;
    if (text)
        fingerprint_checksum(text, r->out->item.content);
    r->faults.is_short = r->faults.is_short || !text;
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
                     int64_t now, struct arena *a)
{
    struct reading r = { .out = out, .faults = { .arena = a, .pointer = pointer, .now = now } };
    const char *name;
    json_t *value;
    *out = (struct asked_check){ .item.conflict = "keep", .type = PROBLEM_INVALID };
    if (!json_is_object(object))
        return refuse_whole(out, pointer);
    json_object_foreach((json_t *)object, name, value) {
        const struct member *member = member_named(name);
        if (member)
            member->read(&r, name, value);
        else
            faults_refuse_member(&r.faults, name, members, MEMBERS, sizeof *members);
    }
    take_header(&r, header);
    fill_in_row(&r);
    check_missing(&r, object);
    faults_check_row(&r.faults, out->item.row.entity_name, out->item.row.entity_key, out->item.row.job_exec);
    digest(&r, object);
    out->problem = r.faults.problem;
    return r.faults.is_short ? ERR_NOMEM : 0;
}
