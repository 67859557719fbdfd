/* faults.c - see faults.h. */
#include "faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/nearest.h"
#include "../base/utf8.h"
#include "../rules/check.h"
#include "../rules/field.h"

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

bool faults_are_enough(const struct faults *f)
{
    return json_array_size(json_object_get(f->problem, "errors")) >= FAULTS_MOST;
}

void faults_add(struct faults *f, const char *member, const char *fmt, ...)
{
    char detail[400];
    va_list ap;
    if (faults_are_enough(f))
        return;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof detail, fmt, ap);
    va_end(ap);
    detail[utf8_valid_bytes(detail, strlen(detail))] = '\0';
    if (!f->problem)
        f->problem = problem_new(PROBLEM_INVALID, detail);
    const char *name = escaped(f->arena, member);
    const char *pointer = name && *member ? arena_printf(f->arena, "%s/%s", f->pointer, name) : f->pointer;
    if (!name || !pointer || !f->problem || problem_add(f->problem, pointer, detail) < 0)
        f->is_short = true;
}

void faults_check(struct faults *f, const char *member, int rc, const struct err *err)
{
    if (rc < 0)
        faults_add(f, member, "%s", err->text);
}

void faults_refuse_member(struct faults *f, const char *name, const void *known, int n, size_t size)
{
    struct nearest near = { .wanted = name };
    if (faults_are_enough(f))
        return;
    for (int i = 0; i < n; i++)
        nearest_look(&near, *(const char *const *)((const char *)known + (size_t)i * size));
    const char *word = nearest_word(&near);
    if (word)
        faults_add(f, name, "%.*s: there is no such member; did you mean %s?", UTF8_SHOWN(name), word);
    else
        faults_add(f, name, "%.*s: there is no such member", UTF8_SHOWN(name));
}

void faults_check_row(struct faults *f, const char *entity, const char *key, const char *job)
{
    const struct { const char *member, *text; } all[] = { { "entity", entity }, { "key", key },
                                                          { "job", job } };
    struct err err;
    size_t longest = 0, lengths[sizeof all / sizeof *all];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lengths[i] = all[i].text ? strlen(all[i].text) : 0;
        if (lengths[i] > lengths[longest])
            longest = i;
    }
    if (lengths[longest] <= CHECK_NAME_MAX)
        faults_check(f, all[longest].member, field_check_row(entity, key, job, &err), &err);
}

const char *faults_text(struct faults *f, const char *name, const json_t *value)
{
    const char *text = json_string_value(value);
    if (!text)
        faults_add(f, name, "%s: expected text", name);
    return text;
}
