/* settings_load.h - what the parts of the loader share: settings_load.c (the order of precedence),
 * settings_file.c (the file), and settings.c, which both call. */
#ifndef PRESCIENT_SETTINGS_LOAD_H
#define PRESCIENT_SETTINGS_LOAD_H

#include <libconfig.h>
#include "arena.h"
#include "libconfig_guard.h"
#include "settings.h"
#include "settings_table.h"

struct settings_impl {              /* settings.impl: what strings and groups live in */
    struct arena *arena;
    config_t config;                /* jobs' own groups point in here */
};

struct loader {
    struct settings *s;
    struct settings_impl *impl;
    struct libconfig_guard guard;   /* the text of the file; only while loading */
    /* "prescient.cfg:12", "PRESCIENT_PAGE", "--page"; NULL: the default */
    const char *where[SETTINGS_ROWS_MAX];
    struct err *err;
};

/* Sets one value; `job` NULL: at the top level. `label` stands in front of the name in an error
 * ("jobs.unshipped."). */
int settings_assign(struct loader *l, const struct setting_row *row, struct job_settings *job,
                    const struct setting_value *value, const char *where, const char *label);

/* Reads the top level of the file; after flags and environment its jobs, which start from what
 * those left. */
int settings_file_read_top(struct loader *l);
int settings_file_read_jobs(struct loader *l);

int settings_nomem(struct loader *l);

#endif
