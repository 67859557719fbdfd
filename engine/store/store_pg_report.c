/* store_pg_report.c - reports: a named block of store_pg.sql with text parameters, its rows as
 * text. */
#include <stdlib.h>
#include <string.h>

#include "embedded_sql.h"
#include "store_pg_ops.h"

/* The blocks that may be asked for by name, and how many parameters each takes. Those without a
 * statement of their own are planned each time, for the parameters that are given. Those that
 * write are never ended by the server: the block `path` says why. */
static const struct { const char *name; int nparams, statement; bool writes;
} reports[] = {
    { "enqueue", 8, PG_ENQUEUE, true },
    { "resolve", 4, PG_RESOLVE, true },
    { "reschedule", 5, PG_RESCHEDULE, true },
    { "retry", 7, 0, true },
    { "list", 7, 0, false },
    { "history", 8, 0, false },
    { "runs", 8, 0, false },
    { "slots", 5, 0, false },
    { "passes", 3, 0, false },
    { "status", 1, 0, false },
    { "leases", 0, 0, false },
    { "jobs_pending", 1, 0, false },
    { "events", 4, 0, false },
    { "events_end", 0, 0, false },
    { "growth", 0, 0, false },
    { "doctor", 1, 0, false },
    { "whole", 1, 0, false },
    { "plan", 1, 0, false },
};

static int find_report(const char *name)
{
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        if (strcmp(reports[i].name, name) == 0)
            return (int)i;
    return -1;
}

int pg_report_check(const struct store_report *r, struct err *err)
{
    int i = find_report(r->name);
    if (i < 0)
        return err_set(err, ERR_NOTFOUND, "there is no report '%s'", r->name);
    if (r->nparams > reports[i].nparams)
        return err_set(err, ERR_INPUT, "report '%s' was given %d parameters, expected at most %d", r->name,
                       r->nparams, reports[i].nparams);
    return 0;
}

int pg_report_params(const char *name)
{
    int i = find_report(name);
    return i < 0 ? -1 : reports[i].nparams;
}

static bool send_planned(struct pg_store *pg, const char *name, const struct wire_params *p)
{
    Oid types[WIRE_PARAMS_MAX];
    wire_types("tttttttt", types);
    char *sql = pg_expand(pg, name, pg->careful ? PG_CAREFUL : 0);
    bool ok = sql && pg_queue_text(pg, sql, p->n, types, p->values);
    free(sql);
    return ok;
}

/* Parameters that are not given are NULL. All are text; the statement casts them. */
static bool report_send(struct pg_store *pg, struct store_call *call)
{
    struct store_report *r = (struct store_report *)call;
    int report = find_report(r->name);
    struct wire_params p = { .n = reports[report].nparams };
    for (int i = 0; i < r->nparams; i++) {
        p.values[i] = r->params[i];
        p.lengths[i] = r->params[i] ? (int)strlen(r->params[i]) : 0;
    }
    if (!reports[report].writes && !pg_send_reading(pg))
        return false;
    return reports[report].statement ? pg_queue(pg, reports[report].statement, &p)
                                     : send_planned(pg, r->name, &p);
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

static int report_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_report *r = (struct store_report *)call;
    if (copy_rows(&r->rows, r->arena, pg_result(pg, reports[find_report(r->name)].writes ? 0 : 1)))
        return 0;
    return err_set(&call->err, ERR_NOMEM, "store: out of memory for the rows of '%s'", r->name);
}

const struct pg_operation pg_report = { report_send, report_receive };
