/* settings_table.h - a setting is one row, which serves parser, bounds, flags, environment and the
 * printed file. */
#ifndef PRESCIENT_SETTINGS_TABLE_H
#define PRESCIENT_SETTINGS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "settings.h"

enum setting_type {
    SETTING_TEXT,           /* const char * */
    SETTING_URL,            /* const char *; its password is masked wherever it is shown */
    SETTING_WORD,           /* const char *, one of `words` */
    SETTING_BOOL,           /* bool */
    SETTING_INT,            /* int32_t */
    SETTING_SIZE,           /* int64_t, bytes */
    SETTING_DURATION_US,    /* int64_t */
    SETTING_DURATION_S,     /* int64_t, whole seconds */
    SETTING_MINUTES,        /* int[60] with its count (struct setting_row.count) */
    SETTING_TEXTS,          /* const char ** with its count */
};

struct setting_row {
    const char *name;
    enum setting_type type;
    size_t offset;                  /* in struct settings, or in struct job_settings */
    size_t count;                   /* offset of the int that counts a list's elements */
    const char *default_text;       /* the default, as a user would write it; NULL: none */
    int64_t min, max;               /* durations in microseconds, sizes in bytes, texts in bytes */
    bool or_zero;                   /* 0 is allowed, too: `help` explains it */
    bool whole_seconds;             /* of a SETTING_DURATION_US */
    const char *const *words;       /* ends with NULL */
    bool (*accepts)(const char *text);
    bool (*accepts_us)(int64_t us);
    const char *expected;           /* what they accept, for errors */
    char separator;                 /* of a list that comes as text, from an option or a variable */
    const char *as_text;            /* such a list */
    const char *help;               /* one line or several */
    const char *section;            /* the heading that begins with this row */
};

/* Both end with a NULL name. The rows of a job are allowed at the top level, too (but for
 * `plugin`): there they set settings.defaults, which every job starts from. */
extern const struct setting_row settings_rows[], settings_job_rows[];
enum { SETTINGS_ROWS_MAX = 64 };    /* in both tables together */

/* The row named `name` ('-' is as good as '_'); `job`: one of a job's own, else any that is allowed
 * at the top level. NULL: none. */
const struct setting_row *settings_row(const char *name, bool job);

/* 0 to SETTINGS_ROWS_MAX - 1, in both tables together */
int settings_row_index(const struct setting_row *row);

/* Where the row's value is, given the struct settings (job NULL) or the struct job_settings. */
void *settings_field(const struct setting_row *row, struct settings *s, struct job_settings *job);

/* A known name close to `name`, or NULL. */
const char *settings_nearest(const char *name, bool job);

#endif
