/* reload.c - see reload.h. */
#include "reload.h"

#include <string.h>

#include "../base/settings_changes.h"
#include "digests_load.h"

enum { FIXED_MAX = 8, MORE_FLAGS = FIXED_MAX + 1 };

static int no_memory(struct err *err)
{
    return err_set(err, ERR_NOMEM, "out of memory for the settings");
}

/* A setting as the value of a flag. Those that stay are texts, or whole seconds. */
static const char *value_of(const struct setting_row *row, const struct settings *s, struct arena *a)
{
    /* settings_field serves readers and writers */
    const void *field = settings_field(row, (struct settings *)s, NULL);
    if (row->type == SETTING_DURATION_S)
        return arena_printf(a, "%llds", (long long)*(const int64_t *)field);
    return *(const char *const *)field;
}

/* Flags win over all else. */
static int keep_fixed(const struct reload_from *from, const struct settings *read, struct reload *out,
                      struct settings_flag *flags, int *nflags)
{
    for (const char *const *name = from->fixed; *name; name++) {
        const struct setting_row *row = settings_row(*name, false);
        if (!settings_differ(from->before, read, row))
            continue;
        flags[*nflags] = (struct settings_flag){ *name, value_of(row, from->before, out->arena) };
        out->kept = arena_printf(out->arena, "%s%s%s", out->kept, *out->kept ? ", " : "", *name);
        if (!flags[(*nflags)++].value || !out->kept)
            return ERR_NOMEM;
    }
    return 0;
}

static int read_all(struct app *app, const struct reload_from *from, struct settings_flag *flags, int n,
                    struct reload *out, struct err *err)
{
    int before = n;
    int rc = settings_load(&out->settings, app->settings_file, flags, n, err);
    if (rc < 0)
        return rc;
    if (keep_fixed(from, &out->settings, out, flags, &n) < 0)
        rc = no_memory(err);
    if (rc == 0 && n > before) {
        settings_release(&out->settings);
        rc = settings_load(&out->settings, app->settings_file, flags, n, err);
    }
    if (rc == 0)
        rc = digests_look(&out->settings, err);
    if (rc == 0) {
        out->changes = settings_changes(from->before, &out->settings, out->arena);
        rc = out->changes ? 0 : no_memory(err);
    }
    return rc;
}

int reload_read(struct app *app, const struct reload_from *from, struct reload *out, struct err *err)
{
    *out = (struct reload){ .changes = "", .kept = "", .arena = arena_new(4096) };
    struct settings_flag *flags =
        out->arena ? arena_alloc(out->arena, (size_t)(app->nflags + MORE_FLAGS) * sizeof *flags) : NULL;
    int n = app->nflags, rc = flags ? 0 : no_memory(err);
    if (rc == 0) {
        memcpy(flags, app->flags, (size_t)n * sizeof *flags);
        if (from->read_only)
            flags[n++] = (struct settings_flag){ "http_read_only", "true" };
        rc = read_all(app, from, flags, n, out, err);
    }
    if (rc < 0)
        reload_release(out);
    else
        app->settings_file = settings_file_used(app->settings_file); /* one that there was none of before */
    return rc;
}

void reload_release(struct reload *r)
{
    settings_release(&r->settings);
    arena_free(r->arena);
    r->arena = NULL;
}

void reload_tell(struct app *app, const struct reload *r)
{
    const char *changes = *r->changes ? r->changes : "nothing";
    app_log_as(app, &r->settings);
    log_info(&app->log, "the settings that were read are in force; changed: %s", changes);
    if (*r->kept)
        log_warn(&app->log, "not taken from the settings, as it cannot change while this runs: %s", r->kept);
}

void reload_tell_failure(struct app *app, const struct err *err)
{
    log_error(&app->log, "%s; the settings of before stay in force", err->text);
}
