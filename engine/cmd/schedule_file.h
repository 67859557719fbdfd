/* schedule_file.h - a file of schedules, CSV or libconfig, as entries whose values are as the store
 * has them. */
#ifndef PRESCIENT_SCHEDULE_FILE_H
#define PRESCIENT_SCHEDULE_FILE_H

#include "command.h"

enum schedule_column {
    SCHEDULE_NAME,
    SCHEDULE_ENTITY,
    SCHEDULE_KEY,
    SCHEDULE_JOB,
    SCHEDULE_EVERY,
    SCHEDULE_CRON,
    SCHEDULE_ZONE,
    SCHEDULE_MISSED,
    SCHEDULE_BIAS,
    SCHEDULE_PAYLOAD,
    SCHEDULE_CONCURRENCY_KEY,
    SCHEDULE_TENANT,
    SCHEDULE_COLUMNS
};

/* `name` in a file, `stored` in the table and in the report `schedules`. */
struct schedule_column_row {
    const char *name, *stored;
    bool required;
};
extern const struct schedule_column_row schedule_columns[SCHEDULE_COLUMNS];

/* One schedule. The texts live in the command's arena; NULL: none. */
struct schedule_entry {
    const char *v[SCHEDULE_COLUMNS];
    const char *place;                  /* "line 7", "all.cfg:7"; of a stored one NULL */
};
struct schedule_entries {
    struct schedule_entry *all;
    int n, room;
};

/* An empty one at the end; NULL: out of memory. */
struct schedule_entry *schedule_entries_add(struct schedule_entries *e);
void schedule_entries_free(struct schedule_entries *e);     /* for CLEANUP */
void schedule_entries_sort(struct schedule_entries *e);     /* by name */

/* For qsort and bsearch over entries. */
int schedule_entry_by_name(const void *a, const void *b);
/* The same for the check that two entries are of. */
int schedule_entry_compare_checks(const struct schedule_entry *a, const struct schedule_entry *b);

extern const char *const schedule_file_formats[];       /* ends with NULL */
/* Reads and checks a whole file ("-": stdin), with defaults, in the order of names; no two have the
 * same name or check. `format`: one of those; NULL: as the name ends (.cfg and .conf are
 * libconfig). ERR_INPUT names the line and what is wrong in it. */
int schedule_file_read(struct app *app, const char *file, const char *format, struct schedule_entries *out,
                       struct err *err);

#endif
