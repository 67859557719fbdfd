/* settings_print.h - settings as a file. */
#ifndef PRESCIENT_SETTINGS_PRINT_H
#define PRESCIENT_SETTINGS_PRINT_H

#include <stdio.h>
#include "err.h"
#include "settings.h"

struct setting_row;

enum settings_comments {
    SETTINGS_BARE,
    SETTINGS_EXPLAINED,     /* what a setting means, its bounds and its default */
    SETTINGS_PLACED         /* where a value comes from: "default", "prescient.cfg:3", "--set page" */
};

/* The settings in force as a file that settings_parse reads back to the same. Passwords in URLs are
 * printed as they are only with `secrets` (what a worker is sent), else as "***". */
int settings_print(const struct settings *s, FILE *out, enum settings_comments comments, bool secrets,
                   struct err *err);

/* Where the value of a setting comes from, of the top level (`job` NULL) or of a job; "default" for
 * what nobody has set. */
const char *settings_place(const struct settings *s, const struct setting_row *row, const char *job);

/* What one job has of its own, with passwords and secrets. 0 or ERR_NOMEM. */
int settings_print_job(const struct settings *s, const struct job_settings *job, FILE *out);

#endif
