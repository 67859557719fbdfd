/* store_sqlite_rows.h - the rows of a report: text, gathered in the request's arena. Included by
 * the store_sqlite files only. */
#ifndef PRESCIENT_STORE_SQLITE_ROWS_H
#define PRESCIENT_STORE_SQLITE_ROWS_H

#include "store_sqlite_db.h"

struct gathering {                  /* rows as they come, in the request's arena at the end */
    struct store_rows rows;
    struct arena *arena;
    const char **cells;             /* on the heap while they grow */
    int room;
    bool failed;                    /* out of memory */
};

void sqlite_gather_columns(struct gathering *g, int columns);
void sqlite_gather_name(struct gathering *g, int column, const char *name, bool is_number);
/* room for one more row's cells, all NULL; NULL when there is no memory */
const char **sqlite_gather_row(struct gathering *g);
void sqlite_gather_cell(struct gathering *g, const char **cell, const char *text);
void sqlite_gather_number(struct gathering *g, const char **cell, int64_t number);
/* the end: what was gathered, or ERR_NOMEM */
int sqlite_gathered(struct gathering *g, struct store_rows *out, struct err *err);

/* All rows of one SELECT in req->rows. Its parameters are texts, in order: the `n` of `params`,
 * then NULL; a moment is the clock. */
int sqlite_select(struct sqlite_store *db, struct store_report *req, enum sqlite_statement which,
                  const char *const *params, int n);

#endif
