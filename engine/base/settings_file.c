/* settings_file.c - a settings file, node by node: the top level, the jobs, and their own
 * groups. */
#include "settings_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "settings_secret.h"
#include "utf8.h"

#define JOB_NAME_MAX 1024       /* bytes; what the store takes */

static const char *place_of(const struct settings_loader *l, const config_setting_t *node)
{
    return libconfig_guard_place(&l->guard, (int)config_setting_source_line(node));
}

static int unknown_setting(struct settings_loader *l, const config_setting_t *node, const char *label,
                           bool job)
{
    const char *name = config_setting_name(node), *nearest = settings_nearest(name, job);
    char hint[256] = "";
    if (nearest)
        snprintf(hint, sizeof hint, "; did you mean \"%s\"?", nearest);
    else if (job)
        snprintf(hint, sizeof hint,
                 ": expected what every job has (plugin, timeout, ...); a job's own settings go into "
                 "settings = { ... }");
    return err_set(l->err, ERR_SETTINGS, "%s: unknown setting \"%s%.*s\"%s", place_of(l, node), label,
                   UTF8_SHOWN(name), hint);
}

/* In a file a name has one spelling, so that libconfig finds each setting that is set twice. */
static const struct setting_row *row_named(const char *name, bool job)
{
    const struct setting_row *row = settings_row(name, job);
    return row && !strcmp(row->name, name) ? row : NULL;
}

/* ---- values that stand elsewhere ---- */

/* "jobs.hook.settings.secrets" */
static const char *path_of(struct settings_loader *l, const config_setting_t *node)
{
    const char *path = "";
    for (; node && path; node = config_setting_parent(node)) {
        const char *name = config_setting_name(node), *dot = *path ? "." : "";
        if (name)
            path = arena_printf(l->impl->arena, "%.80s%s%s", name, dot, path);
    }
    return path ? path : "?";
}

static int read_secret(struct settings_loader *l, config_setting_t *node)
{
    struct settings_secret *secret;
    const char *text = config_setting_get_string(node), *name = settings_secret_name(node), *value;
    const char *folder = libconfig_guard_folder(&l->guard, (int)config_setting_source_line(node));
    if (!folder)
        return settings_loader_nomem(l);
    int rc = settings_secret_read(text, name, folder, l->impl->arena, &value, &secret, l->err);
    if (rc < 0)
        return err_wrap(l->err, rc, "%s: %s = \"%.*s\"", place_of(l, node), path_of(l, node),
                        UTF8_SHOWN(text));
    if (value != text && (!config_setting_set_string(node, value) || !config_setting_get_string(node)))
        return settings_loader_nomem(l);
    if (secret)
        config_setting_set_hook(node, secret);
    return 0;
}

static int read_secrets(struct settings_loader *l, config_setting_t *node)
{
    if (config_setting_type(node) == CONFIG_TYPE_STRING)
        return read_secret(l, node);
    int rc = 0, n = config_setting_is_aggregate(node) ? config_setting_length(node) : 0;
    for (int i = 0; rc == 0 && i < n; i++)
        rc = read_secrets(l, config_setting_get_elem(node, (unsigned)i));
    return rc;
}

int settings_file_read_secrets(struct settings_loader *l)
{
    return read_secrets(l, config_root_setting(&l->impl->config));
}

/* ---- the top level ---- */

int settings_file_read_top(struct settings_loader *l)
{
    const config_setting_t *root = config_root_setting(&l->impl->config);
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *node = config_setting_get_elem(root, (unsigned)i);
        const struct setting_row *row = row_named(config_setting_name(node), false);
        const char *name = config_setting_name(node);
        if (!strcmp(name, "jobs") || !strcmp(name, "listeners"))
            continue;
        if (!row)
            return unknown_setting(l, node, "", false);
        int rc = settings_loader_assign(l, row, NULL, &(struct setting_value){ .node = node },
                                        place_of(l, node), "");
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- a job's own group: anything that a plug-in can get as text ---- */

static int check_own(struct settings_loader *l, const config_setting_t *node, const char *label)
{
    if (config_setting_is_aggregate(node)) {
        for (int i = 0; i < config_setting_length(node); i++) {
            int rc = check_own(l, config_setting_get_elem(node, (unsigned)i), label);
            if (rc < 0)
                return rc;
        }
        return 0;
    }
    const char *wrong = NULL;
    if (config_setting_type(node) == CONFIG_TYPE_FLOAT && !isfinite(config_setting_get_float(node)))
        wrong = "expected a number that can be held";
    if (config_setting_type(node) == CONFIG_TYPE_STRING) {
        const char *text = config_setting_get_string(node);
        if (!utf8_is_valid(text, strlen(text)))
            wrong = "expected text in UTF-8";
    }
    const char *name = config_setting_name(node);
    if (!wrong)
        return 0;
    return err_set(l->err, ERR_SETTINGS, "%s: %ssettings: %s: %s", place_of(l, node), label,
                   name ? name : "an element", wrong);
}

/* ---- jobs ---- */

static void note_own(struct job_settings *job, const char *name)
{
    job->sets_attempts = job->sets_attempts || !strcmp(name, "attempts");
    job->sets_max_failures = job->sets_max_failures || !strcmp(name, "max_failures");
    job->sets_backoff = job->sets_backoff || !strcmp(name, "backoff");
    job->sets_backoff_max = job->sets_backoff_max || !strcmp(name, "backoff_max");
}

static int read_job_member(struct settings_loader *l, const config_setting_t *node, struct job_settings *job,
                           const char *label)
{
    const char *name = config_setting_name(node);
    const struct setting_row *row = row_named(name, true);
    note_own(job, name);
    bool listed = config_setting_is_list(config_setting_parent(config_setting_parent(node)));
    if (listed && !strcmp(name, "name"))
        return 0;                                       /* job_name has read it */
    if (row)
        return settings_loader_assign(l, row, job, &(struct setting_value){ .node = node }, place_of(l, node),
                                      label);
    if (strcmp(name, "settings") != 0)
        return unknown_setting(l, node, label, true);
    if (!config_setting_is_group(node))
        return err_set(l->err, ERR_SETTINGS, "%s: %ssettings: expected a group, settings = { ... }",
                       place_of(l, node), label);
    job->own = node;
    if (settings_loader_place(l, NULL, job->name, place_of(l, node)) < 0)
        return ERR_NOMEM;
    return check_own(l, node, label);
}

static int check_job(struct settings_loader *l, const config_setting_t *node, const struct job_settings *job,
                     const char *label)
{
    if (!job->plugin)
        return err_set(l->err, ERR_SETTINGS, "%s: %splugin is not set: expected %s", place_of(l, node), label,
                       settings_expected(settings_row("plugin", true), l->impl->arena));
    if (job->backoff_s > job->backoff_max_s)
        return err_set(l->err, ERR_SETTINGS,
                       "%s: %sbackoff is longer than backoff_max: expected it shorter, or as long",
                       place_of(l, node), label);
    if (job->attempt_interval_s > job->attempt_interval_max_s)
        return err_set(l->err, ERR_SETTINGS,
                       "%s: %sattempt_interval is longer than attempt_interval_max: expected it shorter, or "
                       "as long",
                       place_of(l, node), label);
    return 0;
}

/* jobs = { NAME = { ... }; }, or jobs = ( { name = "ANY NAME"; ... } ) for names that libconfig
 * does not take. */
static const char *job_name(const config_setting_t *node)
{
    const char *name = config_setting_name(node);
    if (!name && config_setting_is_group(node))
        config_setting_lookup_string(node, "name", &name);
    return name;
}

static int read_job(struct settings_loader *l, const config_setting_t *node, struct job_settings *job)
{
    const char *name = job_name(node);
    if (!config_setting_is_group(node)) {
        const char *dot = name ? "." : "";
        return err_set(l->err, ERR_SETTINGS, "%s: jobs%s%s: expected a group, { plugin = \"...\"; }",
                       place_of(l, node), dot, name ? name : "");
    }
    size_t len = name ? strlen(name) : 0;
    if (len < 1 || len > JOB_NAME_MAX || !utf8_is_valid(name, len))
        return err_set(l->err, ERR_SETTINGS, "%s: the name of a job: expected text in UTF-8, 1 to %d bytes",
                       place_of(l, node), JOB_NAME_MAX);
    if (settings_job(l->s, name, NULL))
        return err_set(l->err, ERR_SETTINGS, "%s: duplicate job \"%.*s\": expected each name once",
                       place_of(l, node), UTF8_SHOWN(name));
    char label[128];
    snprintf(label, sizeof label, "jobs.%.*s.", UTF8_SHOWN(name));
    *job = l->s->defaults;
    job->name = name;                                   /* lives as long as the node */
    job->from = place_of(l, node);
    for (int i = 0; i < config_setting_length(node); i++) {
        int rc = read_job_member(l, config_setting_get_elem(node, (unsigned)i), job, label);
        if (rc < 0)
            return rc;
    }
    return check_job(l, node, job, label);
}

int settings_file_read_jobs(struct settings_loader *l)
{
    const config_setting_t *jobs = config_setting_get_member(config_root_setting(&l->impl->config), "jobs");
    if (!jobs)
        return 0;
    if (!config_setting_is_group(jobs) && !config_setting_is_list(jobs))
        return err_set(l->err, ERR_SETTINGS,
                       "%s: jobs: expected a group, jobs = { NAME = { plugin = \"...\"; }; }",
                       place_of(l, jobs));
    int n = config_setting_length(jobs);
    l->s->jobs = arena_zalloc(l->impl->arena, (size_t)(n + 1) * sizeof *l->s->jobs);
    if (!l->s->jobs)
        return settings_loader_nomem(l);
    for (int i = 0; i < n; i++) {
        int rc = read_job(l, config_setting_get_elem(jobs, (unsigned)i), &l->s->jobs[i]);
        if (rc < 0)
            return rc;
        l->s->njobs++;
    }
    return 0;
}
