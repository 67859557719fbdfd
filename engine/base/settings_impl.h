/* settings_impl.h - what the strings and groups of settings live in; for the files that fill it. */
#ifndef PRESCIENT_SETTINGS_IMPL_H
#define PRESCIENT_SETTINGS_IMPL_H

#include <libconfig.h>
#include "arena.h"
#include "settings_table.h"

/* A setting whose value came from "@file:..." or "@env:..."; of a job, or (NULL) of the top
 * level */
struct settings_referred {
    struct settings_referred *older;
    const struct setting_row *row;
    const char *job, *reference;
};

/* Where a setting of a job stands; row NULL: its group `settings`. */
struct settings_placed {
    struct settings_placed *older;
    const struct setting_row *row;
    const char *job, *where;
};

struct settings_impl {
    struct arena *arena;
    config_t config;                /* jobs' own groups point in here */
    struct settings_referred *referred;     /* a setting's newest first */
    /* "prescient.cfg:12", "PRESCIENT_PAGE", "--page"; NULL: the default */
    const char *where[SETTINGS_ROWS_MAX];
    struct settings_placed *placed;
};

/* As what a setting has been written, when its value must not be shown; NULL: it may be. */
const char *settings_reference(const struct settings_impl *impl, const struct setting_row *row,
                               const char *job);

#endif
