/* settings_print.h - settings as a file. */
#ifndef PRESCIENT_SETTINGS_PRINT_H
#define PRESCIENT_SETTINGS_PRINT_H

#include <stdio.h>
#include "err.h"
#include "settings.h"

/* The settings in force as a file that settings_parse reads back to the same, comments with help
 * and bounds when `commented`. Passwords in URLs are printed as they are only with `secrets` (what
 * a worker is sent), else as "***". */
int settings_print(const struct settings *s, FILE *out, bool commented, bool secrets, struct err *err);

#endif
