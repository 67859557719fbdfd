/* store_sqlite_rows.h - the rows of a report, collected as text in the request's arena. Only the
 * store_sqlite files include it. */
#ifndef PRESCIENT_STORE_SQLITE_ROWS_H
#define PRESCIENT_STORE_SQLITE_ROWS_H

#include "store_sqlite_db.h"

struct gathering {                  /* rows while they are collected */
    struct store_rows rows;
    struct arena *arena;
    const char **cells;             /* on the heap until all are there */
    int room;
    bool failed;                    /* out of memory */
};

void sqlite_gather_columns(struct gathering *g, int columns);
void sqlite_gather_name(struct gathering *g, int column, const char *name, bool is_number);
/* Adds a row of NULLs and returns its cells; NULL: out of memory. */
const char **sqlite_gather_row(struct gathering *g);
void sqlite_gather_cell(struct gathering *g, const char **cell, const char *text);
void sqlite_gather_number(struct gathering *g, const char **cell, int64_t number);
/* Moves the rows to the request's arena; 0 or ERR_NOMEM. */
int sqlite_gathered(struct gathering *g, struct store_rows *out, struct err *err);

/* Runs one SELECT and stores all its rows in req->rows. Its parameters are texts in order: the `n`
 * of `params`, then NULL; a moment is in seconds by the clock. */
int sqlite_select(struct sqlite_store *db, struct store_report *req, enum sqlite_statement which,
                  const char *const *params, int n);

/* The rows of a report that says what became of one thing: outcome and next_check_at, which is NULL
 * where `at` is 0. Returns 0 or an ERR_. */
int sqlite_outcome_row(struct store_report *req, const char *outcome, int64_t at);

#endif
