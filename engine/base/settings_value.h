/* settings_value.h - values of settings as users write them. */
#ifndef PRESCIENT_SETTINGS_VALUE_H
#define PRESCIENT_SETTINGS_VALUE_H

#include <stdio.h>
#include "arena.h"
#include "settings_table.h"

/* "a duration such as 250ms, 90s, 15m, 3h, 30d, between 10ms and 1d". */
const char *settings_expected(const struct setting_row *row, struct arena *a);
/* The same of a value that is no part of a file, where a list is written in another way. */
const char *settings_expected_as_text(const struct setting_row *row, struct arena *a);

/* What stands in a file, a variable or a flag: exactly one of the two; and how it was written, when
 * it came from elsewhere and is not to be shown. */
struct setting_value {
    const struct config_setting_t *node;
    const char *text;
    const char *reference;
};

/* Reads a value into `field` (and `count` for lists). 0, ERR_SETTINGS when it is not what the row
 * expects, ERR_NOMEM. */
int settings_read_value(const struct setting_row *row, const struct setting_value *value, void *field,
                        int *count, struct arena *a);

/* The value as it was found, for an error: "\"5x\"", "12", "a group". */
const char *settings_found(const struct setting_row *row, const struct setting_value *value, struct arena *a);

/* The value of `field` in libconfig syntax. False when it is not set. */
bool settings_put_value(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out);

/* A string in quotes, escaped so that libconfig reads it back. */
void settings_put_string(FILE *out, const char *text);

/* The same of a setting called `name` (NULL: one of the top level), which must not be taken for a
 * reference (settings_secret.h). */
void settings_put_escaped(FILE *out, const char *text, const char *name);

#endif
