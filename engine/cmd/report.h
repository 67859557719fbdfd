/* report.h - printing the rows of a report: a table for people, JSON for programs. What one cell
 * looks like is rows.h. */
#ifndef PRESCIENT_REPORT_H
#define PRESCIENT_REPORT_H

#include <jansson.h>
#include "command.h"
#include "../view/rows.h"

struct report_view {
    /* what a table shows, in order, "entity_name entity_key=key": with a shorter name if wanted.
     * NULL: all; JSON has all, under their own names */
    const char *columns;
    const char *when_empty;
    const char *bar;            /* name of a column of numbers drawn as a bar on a terminal; NULL: none */
    /* name of a column of numbers shown as "~1200" in rows where is_estimate is true; NULL: none */
    const char *estimated;
    const char *ordered_by;     /* the column of moments that the rows are ordered by; NULL: another order */
    bool newest_first, is_unique;       /* is_unique: no two rows have the same moment */
    const char *due;            /* a column of moments: those that have passed are late; NULL: none */
};

/* Prints rows: a table, or with --json an array with one object a line. */
void report_print(struct app *app, const struct store_rows *rows, const struct report_view *view);

/* Prints rows as JSON Lines: one object a line, nothing around them. */
void report_print_lines(struct app *app, const struct store_rows *rows);

/* Prints an object on a line of its own. Takes the reference; NULL: there was no memory for it. */
void report_print_object(struct app *app, json_t *object);

/* Notes in `app` that jansson had no memory: made is what it made or NULL, rc what adding a value
 * returned. */
json_t *report_made(struct app *app, json_t *made);
void report_added(struct app *app, int rc);

/* Names and values below each other. */
void report_print_pairs(struct app *app, const char *const (*pairs)[2], int n);

#endif
