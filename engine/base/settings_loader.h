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
    /* "prescient.cfg:12", "PRESCIENT_PAGE", "--page"; NULL: the default */
    const char *where[SETTINGS_ROWS_MAX];
    struct err *err;
};

/* Sets one value; `job` NULL: at the top level. `label` stands in front of the name in an error
 * ("jobs.unshipped."). */
int settings_loader_assign(struct settings_loader *l, const struct setting_row *row, struct job_settings *job,
                           const struct setting_value *value, const char *where, const char *label);

int settings_loader_nomem(struct settings_loader *l);

#endif
