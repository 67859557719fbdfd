/* answer_object.c - reads an answer from JSON. jansson reads it whole, and so decides what is JSON.
 * Beside it a cursor steps over the text, as the data of effects are passed on as they were
 * written: a number that went through a double would be another one. */
#include "answer_object.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/moment.h"
#include "../base/utf8.h"
#include "field.h"

/* ---- the cursor: over text that is known to be JSON ---- */

struct span { char *begin, *end; };

static char *skip_space(char *at)
{
    return at + strspn(at, " \t\r\n");
}

static char *skip_string(char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

static char *skip_value(char *at)
{
    int depth = 0;
    do {
        if (*at == '"')
            at = skip_string(at);
        else if (*at == '{' || *at == '[')
            depth++, at++;
        else if (*at == '}' || *at == ']')
            depth--, at++;
        else
            at += depth ? 1 : strcspn(at, ",]} \t\r\n");
    } while (depth);
    return at;
}

/* The next value of an object or a list. The cursor is at the bracket or the comma in front of it,
 * and then at what comes behind it. */
static struct span next_value(char **cursor, bool is_named)
{
    char *at = skip_space(*cursor + 1);
    if (is_named)
        at = skip_space(skip_space(skip_string(at)) + 1);
    struct span value = { at, skip_value(at) };
    *cursor = skip_space(value.end);
    return value;
}

/* ---- values ---- */

struct reading {
    struct answer_object *out;
    int64_t now;
    bool may_declare, is_final;
    int kinds;                          /* how many of the four it has */
    char *ends[ANSWER_EFFECTS_MAX];            /* behind the data of each effect; NULL: it has none */
    struct err *err;
};

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "a list",     [JSON_STRING] = "text",
        [JSON_INTEGER] = "a number",   [JSON_REAL] = "a number",    [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };
    return names[json_typeof(value)];
}

static int wrong_type(struct reading *r, const char *name, const json_t *value, const char *expected)
{
    return err_set(r->err, ERR_INPUT, "%s: found %s, expected %s", name, type_name(value), expected);
}

static int read_text(struct reading *r, const char *name, const json_t *value, const char **out)
{
    if (!json_is_string(value))
        return wrong_type(r, name, value, "text");
    *out = json_string_value(value);
    return 0;
}

/* Seconds since 1970, a part of one rounded up, or what moment_parse takes. Numbers are doubles
 * here, which are exact for all moments. */
static int read_time(struct reading *r, const char *name, const json_t *value, int64_t *out)
{
    if (json_is_string(value)) {
        int rc = moment_parse(json_string_value(value), r->now, out, r->err);
        return rc < 0 ? err_wrap(r->err, rc, "%s", name) : 0;
    }
    if (!json_is_number(value))
        return wrong_type(r, name, value, "a time: text, or seconds since 1970");
    double seconds = ceil(json_number_value(value));
    if (seconds < (double)MOMENT_MIN || seconds > (double)MOMENT_MAX)
        return err_set(r->err, ERR_INPUT, "%s: found %.0f seconds since 1970, expected a time up to 9999",
                       name, seconds);
    *out = (int64_t)seconds;
    return 0;
}

/* 2.0 is 2, as some languages know no other numbers. */
static int read_priority(struct reading *r, const char *name, const json_t *value, int32_t *out)
{
    if (!json_is_number(value))
        return wrong_type(r, name, value, "a whole number");
    double number = json_number_value(value);
    if (number != floor(number) || number < INT32_MIN || number > INT32_MAX)
        return err_set(r->err, ERR_INPUT, "%s: found %.15g, expected a whole number of at most 32 bits", name,
                       number);
    *out = (int32_t)number;
    return 0;
}

/* ---- effects ---- */

static const struct effect_type { const char *name, *members; enum effect_kind kind;
} effect_types[] = {
    { "emit", "event or data", EFFECT_EMIT },
    { "enqueue", "entity_name, entity_key, job, at, data, conflict, priority, "
                 "concurrency_key or tenant", EFFECT_ENQUEUE },
    { "resolve", "entity_name, entity_key or job", EFFECT_RESOLVE },
};

enum { OF_EMIT = 1 << EFFECT_EMIT, OF_ENQUEUE = 1 << EFFECT_ENQUEUE, OF_RESOLVE = 1 << EFFECT_RESOLVE };

static const struct { const char *name; int of; size_t at;
} effect_texts[] = {
    { "event", OF_EMIT, offsetof(struct effect, event) },
    { "entity_name", OF_ENQUEUE | OF_RESOLVE, offsetof(struct effect, entity_name) },
    { "entity_key", OF_ENQUEUE | OF_RESOLVE, offsetof(struct effect, entity_key) },
    { "job", OF_ENQUEUE | OF_RESOLVE, offsetof(struct effect, job) },
    { "conflict", OF_ENQUEUE, offsetof(struct effect, conflict) },
    { "concurrency_key", OF_ENQUEUE, offsetof(struct effect, concurrency_key) },
    { "tenant", OF_ENQUEUE, offsetof(struct effect, tenant) },
};

static int read_effect_member(struct reading *r, const struct effect_type *type, const char *name,
                              const json_t *value, struct span text)
{
    struct effect *e = &r->out->effects[r->out->neffects];
    int of = 1 << type->kind;
    if (json_is_null(value))
        return 0;
    for (size_t i = 0; i < sizeof effect_texts / sizeof *effect_texts; i++)
        if ((effect_texts[i].of & of) && !strcmp(effect_texts[i].name, name))
            return read_text(r, name, value, (const char **)((char *)e + effect_texts[i].at));
    if (of == OF_ENQUEUE && !strcmp(name, "at"))
        return read_time(r, name, value, &e->at);
    if (of == OF_ENQUEUE && !strcmp(name, "priority"))
        return read_priority(r, name, value, &e->priority);
    if (of == OF_RESOLVE || strcmp(name, "data") != 0)
        return err_set(r->err, ERR_INPUT, "there is no member '%.*s', expected %s", UTF8_SHOWN(name),
                       type->members);
    e->json = text.begin;
    r->ends[r->out->neffects] = text.end;
    return 0;
}

static int read_effect(struct reading *r, const struct effect_type *type, json_t *object, char *text)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return wrong_type(r, type->name, object, "an object, or a list of objects");
    if (r->out->neffects == ANSWER_EFFECTS_MAX)
        return err_set(r->err, ERR_INPUT, "found more than %d effects", ANSWER_EFFECTS_MAX);
    struct effect *e = &r->out->effects[r->out->neffects];
    *e = (struct effect){ .kind = type->kind, .at = -1 };
    if (type->kind == EFFECT_ENQUEUE)
        e->conflict = "keep";
    r->ends[r->out->neffects] = NULL;
    json_object_foreach (object, name, value) {
        int rc = read_effect_member(r, type, name, value, next_value(&text, true));
        if (rc < 0)
            return err_wrap(r->err, rc, "%s", type->name);
    }
    if (type->kind == EFFECT_ENQUEUE && e->at < 0)
        return err_set(r->err, ERR_INPUT, "enqueue: found no time, expected a member \"at\"");
    r->out->neffects++;
    return 0;
}

static int read_effects(struct reading *r, const struct effect_type *type, json_t *value, struct span text)
{
    size_t i;
    json_t *element;
    if (!r->may_declare)
        return err_set(r->err, ERR_INPUT, "%s: this answer may declare no effects", type->name);
    if (!json_is_array(value))
        return read_effect(r, type, value, text.begin);
    json_array_foreach (value, i, element) {
        int rc = read_effect(r, type, element, next_value(&text.begin, false).begin);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* When all has been read, the ends of their data may be written over. */
static int check_effects(struct reading *r)
{
    for (int i = 0; i < r->out->neffects; i++)
        if (r->ends[i])
            *r->ends[i] = '\0';
    for (int i = 0; i < r->out->neffects; i++) {
        int rc = effect_check(&r->out->effects[i], r->err);
        if (rc < 0)
            return err_wrap(r->err, rc, "%s", effect_types[r->out->effects[i].kind].name);
    }
    return 0;
}

/* ---- the members of the answer ---- */

static int read_done(struct reading *r, const json_t *value)
{
    r->out->kind = ANSWER_DONE;
    r->kinds++;
    return json_is_true(value) ? 0 : wrong_type(r, "done", value, "true");
}

static int read_again(struct reading *r, const json_t *value)
{
    r->out->kind = ANSWER_AGAIN;
    r->kinds++;
    return read_time(r, "again_at", value, &r->out->at);
}

static int read_defer(struct reading *r, const json_t *value)
{
    r->out->kind = ANSWER_DEFER;
    r->kinds++;
    return read_time(r, "defer_until", value, &r->out->at);
}

static int read_fail(struct reading *r, const json_t *value)
{
    r->out->kind = ANSWER_FAIL;
    r->kinds++;
    int rc = read_text(r, "fail", value, &r->out->words);
    if (rc < 0 || *r->out->words)
        return rc;
    return err_set(r->err, ERR_INPUT, "fail: empty, expected words");
}

static int read_final(struct reading *r, const json_t *value)
{
    r->is_final = json_is_true(value);
    return json_is_boolean(value) ? 0 : wrong_type(r, "final", value, "true or false");
}

static int read_note(struct reading *r, const json_t *value)
{
    return read_text(r, "note", value, &r->out->note);
}

static int read_id(struct reading *r, const json_t *value)
{
    return read_text(r, "id", value, &r->out->id);
}

static const struct { const char *name; int (*read)(struct reading *r, const json_t *value);
} members[] = {
    { "id", read_id },
    { "done", read_done },
    { "again_at", read_again },
    { "defer_until", read_defer },
    { "fail", read_fail },
    { "final", read_final },
    { "note", read_note },
};

static int read_member(struct reading *r, const char *name, json_t *value, struct span text)
{
    if (json_is_null(value))
        return 0;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!strcmp(members[i].name, name))
            return members[i].read(r, value);
    for (size_t i = 0; i < sizeof effect_types / sizeof *effect_types; i++)
        if (!strcmp(effect_types[i].name, name))
            return read_effects(r, &effect_types[i], value, text);
    return err_set(r->err, ERR_INPUT,
                   "there is no member '%.*s', expected done, again_at, defer_until, fail, final, note, "
                   "emit, enqueue, resolve or id", UTF8_SHOWN(name));
}

static int read_members(struct reading *r, json_t *object, char *text)
{
    const char *name;
    json_t *value;
    json_object_foreach (object, name, value) {
        int rc = read_member(r, name, value, next_value(&text, true));
        if (rc < 0)
            return rc;
    }
    if (r->kinds != 1)
        return err_set(r->err, ERR_INPUT, "found %d of done, again_at, defer_until and fail, expected one",
                       r->kinds);
    if (r->is_final && r->out->kind != ANSWER_FAIL)
        return err_set(r->err, ERR_INPUT, "final: found it without fail, which it belongs to");
    if (r->is_final)
        r->out->kind = ANSWER_FAIL_FINAL;
    return check_effects(r);
}

static void refuse_text(const char *text, size_t len, const json_error_t *why, struct err *err)
{
    size_t shown = utf8_cut(text, utf8_valid_bytes(text, len), 80);
    int whole = (int)utf8_valid_bytes(why->text, strlen(why->text));
    err_set(err, ERR_INPUT, "found '%.*s', expected one JSON object: %.*s (line %d, column %d)", (int)shown,
            text, whole, why->text, why->line, why->column);
}

/* One object, or NULL with what is wrong. */
static json_t *load(const char *text, size_t len, struct err *err)
{
    json_error_t why;
    /* first: blanks may be only the part of it that there was room for */
    if (len > ANSWER_OBJECT_MAX) {
        err_set(err, ERR_INPUT, "found %zu bytes, expected at most %d", len, ANSWER_OBJECT_MAX);
        return NULL;
    }
    if (strspn(text, " \t\r\n") == len) {
        err_set(err, ERR_INPUT, "found nothing, expected one JSON object");
        return NULL;
    }
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &why);
    if (!root) {
        refuse_text(text, len, &why, err);
    } else if (!json_is_object(root)) {
        err_set(err, ERR_INPUT, "found a list, expected one JSON object");
        json_decref(root);
        root = NULL;
    }
    return root;
}

int answer_object_read(char *text, size_t len, int64_t now, bool may_declare, struct answer_object *out,
                       struct err *err)
{
    *out = (struct answer_object){ .neffects = 0 };
    json_t *root = load(text, len, err);
    if (!root)
        return ERR_INPUT;
    out->impl = root;
    struct reading r = { .out = out, .now = now, .may_declare = may_declare, .err = err };
    int rc = read_members(&r, root, skip_space(text));
    if (rc < 0)
        answer_object_release(out);
    return rc;
}

static char *text_of(const json_t *value)
{
    char number[32];
    if (json_is_string(value))
        return strdup(json_string_value(value));
    if (json_is_boolean(value))
        return strdup(json_is_true(value) ? "true" : "false");
    snprintf(number, sizeof number, "%.15g", json_number_value(value));
    return strdup(number);
}

int answer_object_member(const char *text, size_t len, const char *name, char **out, struct err *err)
{
    *out = NULL;
    json_t *root = load(text, len, err);
    if (!root)
        return ERR_INPUT;
    const json_t *value = json_object_get(root, name);
    bool has_text = json_is_string(value) || json_is_boolean(value) || json_is_number(value);
    if (has_text)
        *out = text_of(value);
    json_decref(root);
    return has_text && !*out ? err_set(err, ERR_NOMEM, "out of memory") : 0;
}

void answer_object_release(struct answer_object *o)
{
    json_decref(o->impl);
    o->impl = NULL;
}
