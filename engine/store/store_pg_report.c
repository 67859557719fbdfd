/* store_pg_report.c - reports: the statements of store_pg.sql that may be asked for by name.
 * Parameters and rows are text. */
#include <string.h>

#include "store_pg_ops.h"

static int find_report(const char *name)
{
    for (int i = 0; i < PG_STATEMENTS; i++)
        if (pg_statements[i].is_report && strcmp(pg_statements[i].name, name) == 0)
            return i;
    return -1;
}

int pg_report_check(const struct store_report *r, struct err *err)
{
    int i = find_report(r->name);
    if (i < 0)
        return err_set(err, ERR_NOTFOUND, "there is no report '%s'", r->name);
    if (r->nparams > pg_statements[i].nin)
        return err_set(err, ERR_INPUT, "report '%s' was given %d parameters, expected at most %d", r->name,
                       r->nparams, pg_statements[i].nin);
    return 0;
}

/* It writes by a time of the caller in place of the database's clock, or a column that is left out
 * would make it wrong. */
bool pg_report_has_one_form(const struct store_report *r)
{
    const struct sql_statement *s = &pg_statements[find_report(r->name)];
    if (r->needs_all)
        return true;
    if (!s->writes)
        return false;
    for (int i = 0; i < r->nparams; i++)
        if (strcmp(s->in[i].name, "now") == 0)
            return r->params[i] != NULL;
    return false;
}

/* Parameters that are not given are NULL; the statement casts them. A report that writes is limited
 * by its locks alone: the block `path` explains why. */
static bool report_send(struct pg_store *pg, struct store_call *call)
{
    struct store_report *r = (struct store_report *)call;
    int report = find_report(r->name);
    const char *params[WIRE_PARAMS_MAX] = { 0 };
    for (int i = 0; i < r->nparams; i++)
        params[i] = r->params[i];
    if (!(pg_statements[report].writes ? pg_send_writing(pg) : pg_send_reading(pg)))
        return false;
    unsigned form = pg_report_has_one_form(r) ? PG_FORM_PLAIN : pg_narrow_form(pg);
    return pg_queue_report(pg, (enum pg_statement)report, form, params);
}

static bool is_number(Oid type)
{
    static const Oid numbers[] = { 20, 21, 23, 700, 701, 1700 };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == type)
            return true;
    return false;
}

static bool rows_init(struct store_rows *rows, struct arena *a, const PGresult *result)
{
    *rows = (struct store_rows){ .rows = PQntuples(result), .columns = PQnfields(result) };
    size_t columns = (size_t)rows->columns, cells = (size_t)rows->rows * columns;
    rows->names = arena_alloc(a, (columns + 1) * sizeof *rows->names);
    rows->kinds = arena_alloc(a, (columns + 1) * sizeof *rows->kinds);
    rows->cells = arena_alloc(a, (cells + 1) * sizeof *rows->cells);
    return rows->names && rows->kinds && rows->cells;
}

/* EXPLAIN names its only column itself. */
static const char *column_name(const PGresult *result, int c)
{
    const char *name = PQfname(result, c);
    return strcmp(name, "QUERY PLAN") == 0 ? "line" : name;
}

static bool copy_rows(struct store_rows *rows, struct arena *a, const PGresult *result)
{
    if (!rows_init(rows, a, result))
        return false;
    for (int c = 0; c < rows->columns; c++) {
        rows->names[c] = arena_strdup(a, column_name(result, c));
        if (!rows->names[c])
            return false;
        rows->kinds[c] = store_cell_kind(rows->names[c], is_number(PQftype(result, c)));
    }
    for (int row = 0; row < rows->rows; row++)
        for (int c = 0; c < rows->columns; c++) {
            const char *cell = PQgetisnull(result, row, c) ? NULL : PQgetvalue(result, row, c);
            const char **to = &rows->cells[(size_t)row * (size_t)rows->columns + (size_t)c];
            *to = cell ? arena_strndup(a, cell, (size_t)PQgetlength(result, row, c)) : NULL;
            if (cell && !*to)
                return false;
        }
    return true;
}

static bool is_of_tables_only(const char *column)
{
    return !strcmp(column, "payload") || !strcmp(column, "data") || !strcmp(column, "json");
}

/* The views have no JSON, payloads or data of events: the form `narrow` has NULL there, and a NULL
 * would be taken for a check without a payload. */
static void leave_out(struct store_report *r, int column)
{
    struct store_rows *rows = &r->rows;
    int kept = 0, cells = 0;
    r->left_out = rows->names[column];
    for (int i = 0; i < rows->rows * rows->columns; i++)
        if (i % rows->columns != column)
            rows->cells[cells++] = rows->cells[i];
    for (int c = 0; c < rows->columns; c++)
        if (c != column) {
            rows->names[kept] = rows->names[c];
            rows->kinds[kept++] = rows->kinds[c];
        }
    rows->columns = kept;
}

static int report_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_report *r = (struct store_report *)call;
    bool is_whole = r->needs_all || pg_statements[find_report(r->name)].writes;
    if (copy_rows(&r->rows, r->arena, pg_result(pg, 1))) {
        for (int c = r->rows.columns - 1; pg->narrow && !is_whole && c >= 0; c--)
            if (is_of_tables_only(r->rows.names[c]))
                leave_out(r, c);
        return 0;
    }
    return err_set(&call->err, ERR_NOMEM, "store: out of memory for the rows of '%s'", r->name);
}

const struct pg_operation pg_report = { .send = report_send, .receive = report_receive };
