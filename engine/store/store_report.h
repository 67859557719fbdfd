/* store_report.h - reports: statements of a store that are asked for by name, with parameters and
 * rows as text. Commands print them. */
#ifndef PRESCIENT_STORE_REPORT_H
#define PRESCIENT_STORE_REPORT_H

#include "store.h"

/* Runs the statement `name` of the store's .sql file with text parameters, and returns its rows as
 * text. Both stores have the same names, parameters and columns. A column *_at is a moment in
 * seconds, *_us microseconds, both as decimal text; view/rows.c formats them. Commands such as
 * list, history, status and enqueue use this. */
enum cell_kind {
    CELL_TEXT,
    CELL_NUMBER,
    CELL_MOMENT,
    CELL_MOMENT_US,
    CELL_DURATION_US,
    CELL_JSON,
    CELL_BOOL
};

struct store_rows {                 /* lives in the request's arena */
    int rows, columns;
    const char **names;
    enum cell_kind *kinds;          /* from the column's name (store_cell_kind) and type */
    const char **cells;             /* cells[row * columns + column]; NULL is NULL */
};
struct store_report {
    struct store_call call;
    /* "list", "history", ...; ERR_NOTFOUND when there is no such statement */
    const char *name;
    const char *const *params;      /* NULL is SQL NULL */
    int nparams;
    struct arena *arena;            /* the caller's; the rows live there */
    /* The role that has the rights which it needs; NULL: that of the options. */
    const char *role;
    bool needs_all;                 /* who may not read all columns is refused, and told the GRANT */
    /* out */
    struct store_rows rows;
    const char *left_out;           /* a column that this user may not read, and that the rows lack */
};
#define STORE_REPORT_INIT { .call.op = STORE_REPORT }

/* The kind of a column with this name: *_at, *_at_us and *_us are moments and durations, payload,
 * data, json and parts are JSON, is_* is a boolean; all others are text or numbers. */
enum cell_kind store_cell_kind(const char *column, bool is_number);

#endif
