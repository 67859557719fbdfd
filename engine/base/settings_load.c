/* settings_load.c - where settings come from and which of them wins: default < file < DATABASE_URL
 * < PRESCIENT_* < flag. PG* variables set the store only when nothing else does. */
#include "settings_load.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "settings_file.h"
#include "settings_listeners.h"

static const char *const files_looked_for[] = { "prescient.cfg", "/etc/prescient/prescient.cfg" };
static const char *const pg_variables[] = { "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE" };
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- defaults ---- */

/* A program that was not installed finds the jobs beside itself. */
static void add_jobs_beside_program(struct settings_loader *l)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return;
    *slash = '\0';
    const char *dir = arena_printf(l->impl->arena, "%s/jobs", path);
    const char **dirs = arena_zalloc(l->impl->arena, 3 * sizeof *dirs);
    if (!dir || !dirs || access(dir, X_OK) != 0)
        return;
    dirs[0] = dir;
    dirs[1] = l->s->plugin_dirs[0];
    l->s->plugin_dirs = dirs;
    l->s->nplugin_dirs = 2;
}

static int assign_defaults(struct settings_loader *l)
{
    const struct setting_row *const tables[] = { settings_rows, settings_job_rows };
    for (size_t t = 0; t < COUNT(tables); t++)
        for (const struct setting_row *row = tables[t]; row->name; row++) {
            if (!row->default_text)
                continue;
            const struct setting_value value = { .text = row->default_text };
            int rc = settings_loader_assign(l, row, NULL, &value, NULL, "");
            if (rc < 0)
                return rc;
        }
    add_jobs_beside_program(l);
    return 0;
}

/* ---- environment and flags ---- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;      /* an empty one counts as none */
}

static int assign_store_of_others(struct settings_loader *l)
{
    const struct setting_row *store = settings_row("store", false);
    const char *url = variable("DATABASE_URL");
    if (url && (!strncmp(url, "postgresql://", 13) || !strncmp(url, "postgres://", 11)))
        return settings_loader_assign(l, store, NULL, &(struct setting_value){ .text = url }, "DATABASE_URL",
                                      "");
    for (size_t i = 0; i < COUNT(pg_variables) && !l->impl->where[settings_row_index(store)]; i++)
        if (variable(pg_variables[i]))          /* libpq reads them by itself */
            return settings_loader_assign(l, store, NULL, &(struct setting_value){ .text = "postgresql://" },
                                          pg_variables[i], "");
    return 0;
}

static int assign_variable(struct settings_loader *l, const struct setting_row *row)
{
    char *name = arena_printf(l->impl->arena, "PRESCIENT_%s", row->name);
    if (!name)
        return settings_loader_nomem(l);
    for (char *p = name; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    const char *text = variable(name);
    return text ? settings_loader_assign(l, row, NULL, &(struct setting_value){ .text = text }, name, "") : 0;
}

static int assign_environment(struct settings_loader *l)
{
    const struct setting_row *const tables[] = { settings_rows, settings_job_rows };
    int rc = assign_store_of_others(l);
    if (rc < 0)
        return rc;
    for (size_t t = 0; t < COUNT(tables); t++)
        for (const struct setting_row *row = tables[t]; row->name; row++) {
            if (settings_row(row->name, false) != row)
                continue;
            rc = assign_variable(l, row);
            if (rc < 0)
                return rc;
        }
    return 0;
}

static int assign_flag(struct settings_loader *l, const struct settings_flag *flag)
{
    bool is_option = !strncmp(flag->name, "--", 2);
    const char *name = is_option ? flag->name + 2 : flag->name;
    const struct setting_row *row = settings_row(name, false);
    const char *where = is_option ? flag->name : arena_printf(l->impl->arena, "--set %s", name);
    if (!where)
        return settings_loader_nomem(l);
    if (!row) {
        const char *nearest = settings_nearest(name, false);
        if (nearest && !strcmp(nearest, name))
            return err_set(l->err, ERR_SETTINGS, "--set %.80s: it stands in a settings file only", name);
        if (!nearest)
            return err_set(l->err, ERR_SETTINGS, "--set %.80s: there is no such setting", name);
        return err_set(l->err, ERR_SETTINGS, "--set %.80s: there is no such setting; did you mean \"%s\"?",
                       name, nearest);
    }
    const char *text = flag->value;
    if (!text)
        text = row->type == SETTING_BOOL ? "true" : "";
    return settings_loader_assign(l, row, NULL, &(struct setting_value){ .text = text }, where, "");
}

static int assign_flags(struct settings_loader *l, const struct settings_flag *flags, int n)
{
    for (int i = 0; i < n; i++) {
        int rc = assign_flag(l, &flags[i]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- what must go together ---- */

/* "trust = 20s (prescient.cfg:3)" */
static const char *as_set(struct settings_loader *l, const char *name)
{
    const struct setting_row *row = settings_row(name, false);
    const char *where = l->impl->where[settings_row_index(row)];
    CLEANUP(cleanup_free) char *value = NULL;
    size_t size;
    FILE *out = open_memstream(&value, &size);
    if (!out)
        return name;
    const char *reference = settings_reference(l->impl, row, NULL);
    if (reference)
        settings_put_string(out, reference);
    else
        settings_put_value(row, settings_field(row, l->s, NULL), 0, false, out);
    if (fclose(out) || !value)
        return name;
    const char *text = arena_printf(l->impl->arena, "%s = %s (%s)", name, value,
                                    where ? where : "the default");
    return text ? text : name;
}

static int check_together(struct settings_loader *l)
{
    const struct settings *s = l->s;
    const struct { bool good; const char *name, *expected, *other; } checks[] = {
        { s->trust_us < s->lease_us, "trust", "less than", "lease" },
        { s->workers <= s->workers_max, "workers", "at most", "workers_max" },
        { s->defaults.backoff_s <= s->defaults.backoff_max_s, "backoff", "at most", "backoff_max" },
        { s->defaults.attempt_interval_s <= s->defaults.attempt_interval_max_s, "attempt_interval",
          "at most", "attempt_interval_max" },
    };
    for (size_t i = 0; i < COUNT(checks); i++)
        if (!checks[i].good)
            return err_set(l->err, ERR_SETTINGS, "%s: expected %s %s", as_set(l, checks[i].name),
                           checks[i].expected, as_set(l, checks[i].other));
    return 0;
}

/* ---- loading ---- */

static int loader_init(struct settings_loader *l, struct settings *out, struct err *err)
{
    *out = (struct settings){ 0 };
    *l = (struct settings_loader){ .s = out, .impl = calloc(1, sizeof *l->impl), .err = err };
    if (!l->impl)
        return settings_loader_nomem(l);
    config_init(&l->impl->config);
    out->impl = l->impl;
    l->impl->arena = arena_new(16 * 1024);
    return l->impl->arena ? assign_defaults(l) : settings_loader_nomem(l);
}

static int loader_end(struct settings_loader *l, int rc)
{
    libconfig_guard_release(&l->guard);
    if (rc < 0)
        settings_release(l->s);
    return rc;
}

/* All steps once the text of the file is there. Without environment and flags only the text
 * counts. */
static int load_all(struct settings_loader *l, bool environment, const struct settings_flag *flags,
                    int nflags)
{
    bool has_file = l->guard.text;
    int rc = has_file ? libconfig_guard_parse(&l->guard, &l->impl->config, l->err) : 0;
    if (rc < 0)
        return rc;
    rc = has_file ? settings_file_read_secrets(l) : 0;
    if (rc < 0)
        return rc;
    rc = has_file ? settings_file_read_top(l) : 0;
    if (rc < 0)
        return rc;
    rc = environment ? assign_environment(l) : 0;
    if (rc < 0)
        return rc;
    rc = assign_flags(l, flags, nflags);
    if (rc < 0)
        return rc;
    rc = check_together(l);
    if (rc < 0)
        return rc;
    rc = has_file ? settings_file_read_jobs(l) : 0;
    if (rc < 0)
        return rc;
    return has_file ? settings_listeners_read(l) : 0;
}

const char *settings_file_used(const char *file)
{
    if (file)
        return file;
    for (size_t i = 0; i < COUNT(files_looked_for); i++)
        if (access(files_looked_for[i], F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
            return files_looked_for[i];
    return NULL;
}

static int note_file(struct settings_loader *l, const char *path)
{
    CLEANUP(cleanup_free) char *whole = realpath(path, NULL);
    l->s->file = arena_strdup(l->impl->arena, whole ? whole : path);
    return l->s->file ? 0 : settings_loader_nomem(l);
}

int settings_load(struct settings *out, const char *file, const struct settings_flag *flags, int nflags,
                  struct err *err)
{
    struct settings_loader l;
    int rc = loader_init(&l, out, err);
    const char *path = settings_file_used(file);
    if (rc == 0 && path)
        rc = libconfig_guard_read_file(&l.guard, l.impl->arena, path, err);
    if (rc == 0 && path)
        rc = note_file(&l, path);
    if (rc == 0)
        rc = load_all(&l, true, flags, nflags);
    return loader_end(&l, rc);
}

int settings_parse(struct settings *out, const char *text, const char *called, struct err *err)
{
    struct settings_loader l;
    int rc = loader_init(&l, out, err);
    if (rc == 0)
        rc = libconfig_guard_read_text(&l.guard, l.impl->arena, text, called, err);
    if (rc == 0)
        rc = load_all(&l, false, NULL, 0);
    return loader_end(&l, rc);
}
