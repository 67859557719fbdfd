/* asked.c - the names that were asked for as a list of full names, "a" and "a.b" for "a.b". */
#include "asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/nearest.h"

enum { NAME_ROOM = 512 };

/* ---- noting ---- */

static bool was_asked(const struct asked *a, const char *name, size_t len)
{
    for (const struct asked_name *n = a->names; n; n = n->older)
        if (!strncmp(n->name, name, len) && !n->name[len])
            return true;
    return false;
}

static void note(struct asked *a, const char *name, size_t len)
{
    if (was_asked(a, name, len))
        return;
    struct asked_name *n = malloc(sizeof *n + len + 1);
    if (!n) {
        a->is_incomplete = true;
        return;
    }
    n->older = a->names;
    memcpy(n->name, name, len);
    n->name[len] = '\0';
    a->names = n;
}

/* Each group on the way, and what was asked for in the last one. */
void asked_note(struct asked *a, const config_setting_t *own, const char *name)
{
    const config_setting_t *group = own;
    for (const char *part = name;;) {
        char member[NAME_ROOM];
        size_t len = strcspn(part, ".");
        note(a, name, (size_t)(part - name) + len);
        if (!part[len] || !group || len >= sizeof member)
            return;
        memcpy(member, part, len);
        member[len] = '\0';
        group = config_setting_get_member(group, member);
        if (!group || !config_setting_is_group(group))
            return;
        part += len + 1;
    }
}

void asked_release(struct asked *a)
{
    for (struct asked_name *n = a->names, *older; n; n = older) {
        older = n->older;
        free(n);
    }
    *a = (struct asked){ 0 };
}

/* ---- looking ---- */

/* The names that were asked for in the group whose path, with its dot, is `path`. */
static bool is_directly_in(const char *name, const char *path)
{
    size_t len = strlen(path);
    return !strncmp(name, path, len) && name[len] && !strchr(name + len, '.');
}

static void describe(const struct asked *a, const char *path, const char *member, const char *meant,
                     char *why, size_t why_size)
{
    int n = snprintf(why, why_size, "there is no setting '%s%s'", path, member);
    size_t used = n > 0 ? (size_t)n : 0;
    if (meant) {
        snprintf(why + used, why_size > used ? why_size - used : 0, "; did you mean '%s'?", meant);
        return;
    }
    const char *before = "; its plug-in asks for ";
    for (const struct asked_name *known = a->names; known && used < why_size; known = known->older)
        if (is_directly_in(known->name, path)) {
            n = snprintf(why + used, why_size - used, "%s%s", before, known->name);
            used += n > 0 ? (size_t)n : 0;
            before = ", ";
        }
    if (used < why_size && before[0] == ';')
        snprintf(why + used, why_size - used, "; its plug-in asks for none%s", *path ? " in there" : "");
}

static const char *suggest(const struct asked *a, const char *path, const char *member, char *full)
{
    snprintf(full, NAME_ROOM, "%s%s", path, member);
    struct nearest near = { .wanted = full };
    for (const struct asked_name *known = a->names; known; known = known->older)
        if (is_directly_in(known->name, path))
            nearest_look(&near, known->name);
    return nearest_word(&near);
}

/* The group at `path` ("" or "a.b."). */
static bool finds_in(const struct asked *a, const config_setting_t *group, const char *path,
                     bool only_misspelt, char *why, size_t why_size)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        const char *member = config_setting_name(s);
        char full[NAME_ROOM], inner[NAME_ROOM];
        const char *meant = suggest(a, path, member, full);
        if (!was_asked(a, full, strlen(full))) {
            if (only_misspelt && !meant)
                continue;
            describe(a, path, member, meant, why, why_size);
            return true;
        }
        if (!config_setting_is_group(s) || snprintf(inner, sizeof inner, "%s.", full) >= (int)sizeof inner)
            continue;
        bool has_been_entered = false;
        for (const struct asked_name *n = a->names; n; n = n->older)
            has_been_entered = has_been_entered || is_directly_in(n->name, inner);
        if (has_been_entered && finds_in(a, s, inner, only_misspelt, why, why_size))
            return true;
    }
    return false;
}

bool asked_finds_unknown(const struct asked *a, const config_setting_t *own, bool only_misspelt, char *why,
                         size_t why_size)
{
    return own && !a->is_incomplete && finds_in(a, own, "", only_misspelt, why, why_size);
}
