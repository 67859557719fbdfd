/* digests_load.h - the settings, with the times of digests looked at, which only rules can read. */
#ifndef PRESCIENT_DIGESTS_LOAD_H
#define PRESCIENT_DIGESTS_LOAD_H

#include "app.h"

/* As settings_load, of the app's files and flags. ERR_SETTINGS also for a digest whose time cannot
 * be read, or whose time zone this machine does not have. */
int digests_load(struct app *app, struct err *err);

/* The same look at settings that were loaded. */
int digests_look(const struct settings *s, struct err *err);

#endif
