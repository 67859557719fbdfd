/* report.h - rows of the store on their way out: a table for people, JSON for programs. */
#ifndef PRESCIENT_REPORT_H
#define PRESCIENT_REPORT_H

#include <jansson.h>
#include "command.h"

struct report_view {
    /* what a table shows, in order, "entity_name entity_key=key": with a shorter name if wanted.
     * NULL: all; JSON has all, under their own names */
    const char *columns;
    const char *when_empty;
    const char *bar;            /* name of a column of numbers drawn as a bar on a terminal; NULL: none */
    /* name of a column of numbers shown as "~1200" in the rows where is_estimate says so; NULL:
     * none */
    const char *estimated;
};

/* Prints rows: a table, or with --json an array with one object a line. */
void report_print(struct app *app, const struct store_rows *rows, const struct report_view *view);

/* Prints rows as JSON Lines: one object a line, nothing around them. */
void report_print_lines(struct app *app, const struct store_rows *rows);

/* One row as an object: numbers as numbers, moments as RFC 3339, JSON as JSON. The caller's to
 * decref; NULL when out of memory. */
json_t *report_object(const struct store_rows *rows, int row);
/* on a line of its own; takes the reference; NULL: there was no memory for it */
void report_print_object(struct app *app, json_t *object);

/* Notes in `app` that jansson had no memory: made is what it made or NULL, rc what adding a value
 * returned. */
json_t *report_made(struct app *app, json_t *made);
void report_added(struct app *app, int rc);

/* A column's index by name, or -1; a cell by its column's name, NULL when it is NULL or there is
 * no such column. */
int report_column(const struct store_rows *rows, const char *name);
const char *report_value(const struct store_rows *rows, int row, const char *name);
int64_t report_number(const struct store_rows *rows, int row, const char *name);       /* 0 when it is NULL */

/* A cell as people read it: moments as RFC 3339, durations as "1h30m"; lives in the arena. NULL
 * stays NULL. */
const char *report_words(struct arena *a, enum cell_kind kind, const char *cell);

/* A last row without an entity says where a bounded look ended, before it had seen all. Takes it
 * off and returns its first cell in words; NULL when there is none. */
const char *report_take_end(struct arena *a, struct store_rows *rows);

/* Names and values below each other. */
void report_print_pairs(struct app *app, const char *const (*pairs)[2], int n);

#endif
