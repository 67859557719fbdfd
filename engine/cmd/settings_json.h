/* settings_json.h - settings as JSON: those in force with their places, or all there are. */
#ifndef PRESCIENT_SETTINGS_JSON_H
#define PRESCIENT_SETTINGS_JSON_H

#include <jansson.h>
#include "../base/err.h"
#include "../base/settings.h"

/* {"file": ..., "settings": {NAME: VALUE, "jobs": {...}}, "from": {NAME: PLACE, "jobs": {...}}}:
 * values as `config --print` has them, passwords masked. The caller's to decref; NULL with err
 * filled. */
json_t *settings_json(const struct settings *s, struct err *err);

/* One object for each setting: name, section, default, expected, help, of_jobs. The caller's to
 * decref; NULL when out of memory. */
json_t *settings_json_sample(void);

#endif
