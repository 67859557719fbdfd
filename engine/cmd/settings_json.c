/* settings_json.c - see settings_json.h. What is printed as a file is read again as one and turned
 * into JSON, so that both show the same and hide the same. */
#include "settings_json.h"

#include <libconfig.h>
#include <stdio.h>
#include <string.h>
#include "../base/arena.h"
#include "../base/cleanup.h"
#include "../base/settings_print.h"
#include "../base/settings_table.h"
#include "../base/settings_value.h"

/* Takes the value. */
static bool put(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

/* ---- values ---- */

static json_t *scalar_json(const config_setting_t *node)
{
    switch (config_setting_type(node)) {
    case CONFIG_TYPE_STRING: return json_string(config_setting_get_string(node));
    case CONFIG_TYPE_BOOL: return json_boolean(config_setting_get_bool(node));
    case CONFIG_TYPE_FLOAT: return json_real(config_setting_get_float(node));
    default: return json_integer(config_setting_get_int64(node));
    }
}

static json_t *node_json(const config_setting_t *node);

static bool put_element(json_t *to, const config_setting_t *element)
{
    const char *name = config_setting_name(element);
    if (name && json_is_object(to))
        return put(to, name, node_json(element));
    return json_array_append_new(to, node_json(element)) == 0;
}

static json_t *node_json(const config_setting_t *node)
{
    if (!config_setting_is_aggregate(node))
        return scalar_json(node);
    json_t *made = config_setting_is_group(node) ? json_object() : json_array();
    for (int i = 0; made && i < config_setting_length(node); i++) {
        if (put_element(made, config_setting_get_elem(node, (unsigned)i)))
            continue;
        json_decref(made);
        return NULL;
    }
    return made;
}

static json_t *text_json(const char *text, struct err *err)
{
    config_t config;
    json_t *made = NULL;
    config_init(&config);
    if (config_read_string(&config, text))
        made = node_json(config_root_setting(&config));
    else
        err_set(err, ERR_GENERAL, "settings: line %d: %s", config_error_line(&config),
                config_error_text(&config));
    config_destroy(&config);
    return made;
}

static json_t *values_json(const struct settings *s, struct err *err)
{
    CLEANUP(cleanup_free) char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    int rc = settings_print(s, out, SETTINGS_BARE, false, err);
    if (fclose(out) != 0 || rc < 0)
        return NULL;
    return text_json(text, err);
}

/* ---- places ---- */

static bool put_places(json_t *to, const struct settings *s, const struct setting_row *rows, const char *job)
{
    for (; rows->name; rows++) {
        if (!job && settings_row(rows->name, false) != rows)
            continue;                   /* only jobs have it */
        if (!put(to, rows->name, json_string(settings_place(s, rows, job))))
            return false;
    }
    return true;
}

static bool put_job_places(json_t *to, const struct settings *s, const struct job_settings *job)
{
    json_t *own = json_object();
    if (!own || !put(to, job->name, own) || !put_places(own, s, settings_job_rows, job->name))
        return false;
    return !job->own || put(own, "settings", json_string(settings_place(s, NULL, job->name)));
}

static bool put_listener_places(json_t *to, const struct settings *s)
{
    for (int i = 0; i < s->nlisteners; i++)
        if (json_array_append_new(to, json_string(s->listeners[i].from)) != 0)
            return false;
    return true;
}

static bool put_all_places(json_t *from, const struct settings *s)
{
    json_t *jobs = json_object(), *listeners = json_array();
    bool fits = put(from, "jobs", jobs);
    fits &= put(from, "listeners", listeners);
    fits = fits && put_places(from, s, settings_rows, NULL) && put_places(from, s, settings_job_rows, NULL);
    for (int i = 0; fits && i < s->njobs; i++)
        fits = put_job_places(jobs, s, &s->jobs[i]);
    return fits && put_listener_places(listeners, s);
}

json_t *settings_json(const struct settings *s, struct err *err)
{
    err_set(err, ERR_NOMEM, "out of memory");
    json_t *values = values_json(s, err), *from = json_object();
    if (values && from && put_all_places(from, s))
        return json_pack("{s:s?, s:o, s:o}", "file", s->file, "settings", values, "from", from);
    json_decref(values);
    json_decref(from);
    return NULL;
}

/* ---- the sample ---- */

static bool put_sample(json_t *to, const struct setting_row *rows, bool of_jobs, const char **section)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    for (; a && rows->name; rows++) {
        if (rows->section)
            *section = rows->section;
        json_t *one = json_pack("{s:s, s:s?, s:s?, s:s, s:s, s:b}", "name", rows->name, "section", *section,
                                "default", rows->default_text, "expected", settings_expected(rows, a),
                                "help", rows->help, "of_jobs", of_jobs);
        if (json_array_append_new(to, one) != 0)
            return false;
    }
    return a != NULL;
}

json_t *settings_json_sample(void)
{
    json_t *all = json_array();
    const char *section = NULL;
    if (all && put_sample(all, settings_rows, false, &section) &&
        put_sample(all, settings_job_rows, true, &section))
        return all;
    json_decref(all);
    return NULL;
}
