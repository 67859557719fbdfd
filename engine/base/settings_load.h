/* settings_load.h - where settings come from. Order of precedence: flag > PRESCIENT_* >
 * DATABASE_URL > file > default; PGHOST, PGSERVICE and the like make the store "postgresql://"
 * (libpq reads them itself) when nothing else names one. File: --config, else ./prescient.cfg, else
 * /etc/prescient/prescient.cfg. */
#ifndef PRESCIENT_SETTINGS_LOAD_H
#define PRESCIENT_SETTINGS_LOAD_H

#include "err.h"
#include "settings.h"

/* A top-level setting, '-' for '_': "name" is of --set, "--name" an option of its own. */
struct settings_flag { const char *name, *value; };

/* Reads everything in the order of precedence. `file` NULL: looked for; a missing default file is
 * fine, a named one is not. ERR_SETTINGS with a message. What it fills is released by
 * settings_release. */
int settings_load(struct settings *out, const char *file, const struct settings_flag *flags, int nflags,
                  struct err *err);

/* The same from a text instead of a file and environment: what a worker does with what its engine
 * sent. Errors call the text `name`. */
int settings_parse(struct settings *out, const char *text, const char *name, struct err *err);

/* The file that settings_load reads when it is given `file`; NULL when it reads none. */
const char *settings_file_used(const char *file);

#endif
