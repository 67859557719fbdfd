/* store_sqlite_rows.c - the rows of a report, collected as text in the request's arena. */
#include <stdlib.h>
#include <string.h>

#include "store_sqlite_rows.h"

void sqlite_gather_columns(struct gathering *g, int columns)
{
    g->rows.columns = columns;
    g->rows.names = arena_zalloc(g->arena, sizeof(char *) * (size_t)columns);
    g->rows.kinds = arena_zalloc(g->arena, sizeof *g->rows.kinds * (size_t)columns);
    g->failed = !g->rows.names || !g->rows.kinds;
}

void sqlite_gather_name(struct gathering *g, int column, const char *name, bool is_number)
{
    g->rows.names[column] = arena_strdup(g->arena, name);
    g->failed = g->failed || !g->rows.names[column];
    g->rows.kinds[column] = store_cell_kind(name, is_number);
}

const char **sqlite_gather_row(struct gathering *g)
{
    int columns = g->rows.columns;
    if (g->rows.rows == g->room) {
        int room = g->room ? g->room * 2 : 32;
        const char **cells = realloc(g->cells, sizeof *cells * (size_t)room * (size_t)columns);
        g->failed = g->failed || !cells;
        if (!cells)
            return NULL;
        g->cells = cells;
        g->room = room;
    }
    const char **row = g->cells + (size_t)g->rows.rows++ * (size_t)columns;
    memset(row, 0, sizeof *row * (size_t)columns);
    return row;
}

int sqlite_gathered(struct gathering *g, struct store_rows *out, struct err *err)
{
    size_t size = sizeof *g->cells * (size_t)g->rows.rows * (size_t)g->rows.columns;
    g->rows.cells = arena_alloc(g->arena, size);
    if (g->rows.cells && size)
        memcpy(g->rows.cells, g->cells, size);
    free(g->cells);
    if (g->failed || !g->rows.cells)
        return err_set(err, ERR_NOMEM, "out of memory for %d rows", g->rows.rows);
    *out = g->rows;
    return 0;
}

void sqlite_gather_cell(struct gathering *g, const char **cell, const char *text)
{
    *cell = arena_strdup(g->arena, text);
    g->failed = g->failed || (text && !*cell);
}

void sqlite_gather_number(struct gathering *g, const char **cell, int64_t number)
{
    *cell = arena_printf(g->arena, "%lld", (long long)number);
    g->failed = g->failed || !*cell;
}

static bool gather_step(struct gathering *g, sqlite3_stmt *s)
{
    const char **row = sqlite_gather_row(g);
    for (int c = 0; row && c < g->rows.columns; c++) {
        int type = sqlite3_column_type(s, c);
        if (g->rows.kinds[c] == CELL_TEXT && (type == SQLITE_INTEGER || type == SQLITE_FLOAT))
            g->rows.kinds[c] = CELL_NUMBER;
        const char *text = (const char *)sqlite3_column_text(s, c);
        g->failed = g->failed || (!text && type != SQLITE_NULL);  /* no memory to format a number */
        sqlite_gather_cell(g, &row[c], text);
    }
    return row && !g->failed;
}

/* All rows of the statement. */
static int gather_all(struct sqlite_store *db, sqlite3_stmt *s, struct store_report *req)
{
    struct gathering g = { .arena = req->arena };
    int rc = SQLITE_DONE;
    sqlite_gather_columns(&g, sqlite3_column_count(s));
    for (int c = 0; !g.failed && c < g.rows.columns; c++)
        sqlite_gather_name(&g, c, sqlite3_column_name(s, c), false);
    while (!g.failed && (rc = sqlite3_step(s)) == SQLITE_ROW && gather_step(&g, s))
        continue;
    int code = rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : sqlite_fail(db, rc, &req->call.err);
    if (code < 0) {
        free(g.cells);
        return code;
    }
    return sqlite_gathered(&g, &req->rows, &req->call.err);
}

/* ---- one SELECT ------------------------------------------------------------------------------ */

static int bind_params(struct sqlite_store *db, sqlite3_stmt *s, const struct sql_statement *statement,
                       const char *const *params, int n)
{
    int rc = SQLITE_OK, next = 0;
    for (int i = 0; i < statement->nin && rc == SQLITE_OK; i++)
        if (statement->in[i].type == SQL_MOMENT_US)
            rc = sqlite3_bind_int64(s, i + 1, sqlite_clock_us(db));
        else if (next < n)
            rc = sqlite3_bind_text(s, i + 1, params[next++], -1, SQLITE_STATIC);
    return rc;
}

int sqlite_select(struct sqlite_store *db, struct store_report *req, enum sqlite_statement which,
                  const char *const *params, int n)
{
    const struct sql_statement *statement = &sqlite_statements[which];
    struct err *err = &req->call.err;
    sqlite3_stmt *s = NULL;
    int rc = sqlite_prepare(db, statement->text, &s, err);
    if (rc < 0)
        return rc;
    rc = bind_params(db, s, statement, params, n);
    if (rc == SQLITE_OK)
        rc = gather_all(db, s, req);
    else
        rc = sqlite_fail(db, rc, err);
    sqlite3_finalize(s);
    return rc;
}

int sqlite_outcome_row(struct store_report *req, const char *outcome, int64_t at)
{
    struct gathering g = { .arena = req->arena };
    sqlite_gather_columns(&g, 2);
    if (!g.failed) {
        sqlite_gather_name(&g, 0, "outcome", false);
        sqlite_gather_name(&g, 1, "next_check_at", true);
    }
    const char **row = g.failed ? NULL : sqlite_gather_row(&g);
    if (row) {
        sqlite_gather_cell(&g, &row[0], outcome);
        if (at)
            sqlite_gather_number(&g, &row[1], at);
    }
    return sqlite_gathered(&g, &req->rows, &req->call.err);
}
