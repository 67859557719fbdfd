/* settings_changes.h - what differs between two settings, by names: values may be secrets. */
#ifndef PRESCIENT_SETTINGS_CHANGES_H
#define PRESCIENT_SETTINGS_CHANGES_H

#include "arena.h"
#include "settings.h"
#include "settings_table.h"

/* Of one setting of the top level. */
bool settings_differ(const struct settings *before, const struct settings *after,
                     const struct setting_row *row);

/* "keep, workers, jobs (new: a; gone: b; changed: c), listeners"; "": nothing differs. NULL: out of
 * memory. */
const char *settings_changes(const struct settings *before, const struct settings *after, struct arena *a);

#endif
