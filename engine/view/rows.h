/* rows.h - the rows of a report and what their cells look like, as text and in JSON. Knows no
 * command: any face may show rows with it. */
#ifndef PRESCIENT_ROWS_H
#define PRESCIENT_ROWS_H

#include <jansson.h>
#include "../store/store_report.h"

/* The index of a column, or -1 when there is none of that name. */
int rows_column(const struct store_rows *rows, const char *name);

/* A cell by the name of its column; NULL when it is NULL, or there is no such column or row. */
const char *rows_value(const struct store_rows *rows, int row, const char *name);
int64_t rows_number(const struct store_rows *rows, int row, const char *name);         /* NULL is 0 */

bool rows_is_true(const struct store_rows *rows, int row, const char *name);           /* NULL is false */

/* A cell as text for people: moments as RFC 3339, durations as "1h30m". Lives in the arena or in
 * the rows. NULL stays NULL. */
const char *rows_text(struct arena *a, enum cell_kind kind, const char *cell);

/* How much of a column's name is shown: a moment or duration that is shown as text loses the unit,
 * so run_at_us becomes run_at. JSON keeps durations as numbers, and their names whole. */
size_t rows_name_length(const char *name, enum cell_kind kind, bool as_text);

/* One row as an object: numbers as numbers, moments as RFC 3339, JSON as JSON. The caller's to
 * decref; NULL when out of memory. */
json_t *rows_object(const struct store_rows *rows, int row);

/* A JSON string has to be UTF-8, and SQLite stores any bytes: those of other text become the
 * Latin-1 letters of the same numbers. The caller's to decref; NULL when out of memory. */
json_t *rows_json_text(const char *cell);

/* Turns the order of the rows round. */
void rows_reverse(struct store_rows *rows);

/* A last row without an entity, of slots without a count, of one row's events without a name, is
 * where a bounded search ended before it had seen all. Removes that row and returns its first cell,
 * as text or as it is; NULL when there is none. */
const char *rows_take_end(struct arena *a, struct store_rows *rows);
const char *rows_drop_end(struct store_rows *rows);
/* The same of rows that have this column, which is NULL in that row alone. */
const char *rows_take_end_at(struct arena *a, struct store_rows *rows, const char *column);

#endif
