/* settings_loader.h - one load of settings, for all places that they come from. */
#ifndef PRESCIENT_SETTINGS_LOADER_H
#define PRESCIENT_SETTINGS_LOADER_H

#include "libconfig_guard.h"
#include "settings.h"
#include "settings_impl.h"
#include "settings_table.h"
#include "settings_value.h"

struct settings_loader {
    struct settings *s;
    struct settings_impl *impl;
    struct libconfig_guard guard;   /* the text of the file; only while loading */
    struct err *err;
};

/* Sets one value; `job` NULL: at the top level. `label` stands in front of the name in an error
 * ("jobs.unshipped."). */
int settings_loader_assign(struct settings_loader *l, const struct setting_row *row, struct job_settings *job,
                           const struct setting_value *value, const char *where, const char *label);

/* Keeps where a setting of a job stands; `row` NULL: its group `settings`. */
int settings_loader_place(struct settings_loader *l, const struct setting_row *row, const char *job,
                          const char *where);

int settings_loader_nomem(struct settings_loader *l);

#endif
