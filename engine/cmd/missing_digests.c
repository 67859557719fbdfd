/* missing_digests.c - see missing_digests.h. The check of a digest never ends by itself: it was
 * resolved or deleted, or no engine with these settings has run yet. */
#include "missing_digests.h"

#include <string.h>

#include "../rules/digest.h"
#include "report.h"

enum { NAMED_MAX = 8 };

static bool is_there(const struct store_rows *rows, const char *listener)
{
    for (int r = 0; r < rows->rows; r++) {
        const char *key = rows_value(rows, r, "entity_key");
        if (key && !strcmp(key, listener))
            return true;
    }
    return false;
}

static const char *add_name(struct app *app, const char *names, const char *name)
{
    return names && *names ? arena_printf(app->arena, "%s, %s", names, name) : name;
}

int missing_digests_ask(struct app *app, struct missing_digests *out, struct err *err)
{
    const struct settings *s = &app->settings;
    const char *const params[] = { DIGEST_ENTITY, NULL, NULL, NULL, NULL, "1000", NULL };
    struct store_rows rows = { .rows = 0 };
    *out = (struct missing_digests){ .names = "" };
    int first = digests_next(s, 0);
    int rc = first < 0 ? 0 : app_rows(app, "list", params, sizeof params / sizeof *params, &rows, err);
    for (int i = first; rc >= 0 && i >= 0; i = digests_next(s, i + 1)) {
        out->digests++;
        if (is_there(&rows, s->listeners[i].name))
            continue;
        if (out->n++ < NAMED_MAX)
            out->names = add_name(app, out->names, s->listeners[i].name);
    }
    if (out->n > NAMED_MAX)
        out->names = arena_printf(app->arena, "%s, and %d more", out->names, out->n - NAMED_MAX);
    return rc < 0 || out->names ? rc : err_set(err, ERR_NOMEM, "out of memory");
}
