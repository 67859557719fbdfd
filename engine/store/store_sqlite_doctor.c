/* store_sqlite_doctor.c - the looks of doctor at a file. Each is a statement of its own with a
 * deadline of its own: a look that fails is a finding, and the others still run. */
#include <stdlib.h>
#include <string.h>

#include "store_sqlite_calls.h"
#include "store_sqlite_rows.h"

/* The size of a file that is read completely without being asked: some 60 ms. */
#define WHOLE_MOST (INT64_C(16) << 20)
/* And at most for this long, if the library can be interrupted during it (from 3.42 on). */
#define WHOLE_US (250 * 1000)

enum { WHAT, LEVEL, FOUND, ADVICE, COLUMNS };

static void begin_findings(struct gathering *g, struct arena *arena)
{
    static const char *const names[COLUMNS] = { "what", "level", "found", "advice" };
    *g = (struct gathering){ .arena = arena };
    sqlite_gather_columns(g, COLUMNS);
    for (int c = 0; !g->failed && c < COLUMNS; c++)
        sqlite_gather_name(g, c, names[c], false);
}

static void add_finding(struct gathering *g, const char *what, const char *level, const char *found,
                        const char *advice)
{
    const char *cells[COLUMNS] = { what, level, found, advice };
    const char **row = g->failed ? NULL : sqlite_gather_row(g);
    for (int c = 0; row && c < COLUMNS; c++)
        sqlite_gather_cell(g, &row[c], cells[c]);
}

/* Rows of another report, in the same arena. */
static void add_rows(struct gathering *g, const struct store_rows *rows)
{
    for (int r = 0; r < rows->rows && !g->failed; r++) {
        const char **row = sqlite_gather_row(g);
        if (row)
            memcpy(row, rows->cells + (size_t)r * COLUMNS, COLUMNS * sizeof *row);
    }
}

/* ---- short looks ----------------------------------------------------------------------------- */

static const struct {
    const char *what;
    enum sqlite_statement statement;
} looks[] = {
    { "overdue checks", STATEMENT_DOCTOR_OVERDUE },
    { "checks below the mark of the sweep", STATEMENT_DOCTOR_BELOW },
    { "leases that have expired", STATEMENT_DOCTOR_LEASES },
    { "slots that stay open", STATEMENT_DOCTOR_OPEN },
    { "last pass", STATEMENT_DOCTOR_ENGINES },
    { "runs in trouble", STATEMENT_DOCTOR_TROUBLE },
    { "room in the file", STATEMENT_DOCTOR_ROOM },
};

static void look_at_journal(struct sqlite_store *db, struct gathering *g)
{
    bool wal = sqlite_has_wal(db), safe = sqlite_wal_is_safe(sqlite3_libversion_number());
    const char *found = arena_printf(g->arena, "%s, with a %s", sqlite3_libversion(),
                                     wal ? "write-ahead log" : "rollback journal");
    g->failed = g->failed || !found;
    if (!wal || safe)
        add_finding(g, "SQLite", "ok", found, "");
    else
        add_finding(g, "SQLite", "warn", found,
                    "SQLite before 3.51.3, except 3.44.6 and 3.50.7, may in rare cases lose a transaction in "
                    "such a log: upgrade SQLite, or stop all programs that "
                    "use the file and run PRAGMA journal_mode = DELETE");
}

int sqlite_report_doctor(struct sqlite_store *db, struct store_report *req)
{
    struct err *err = &req->call.err;
    struct gathering g;
    begin_findings(&g, req->arena);
    for (size_t i = 0; i < sizeof looks / sizeof *looks && !g.failed; i++) {
        sqlite_start_clock(db, true);
        if (sqlite_select(db, req, looks[i].statement, req->params, req->nparams) == 0)
            add_rows(&g, &req->rows);
        else if (err->code == ERR_NOMEM)
            g.failed = true;
        else
            add_finding(&g, looks[i].what, "error", arena_strdup(req->arena, err->text), "");
    }
    if (!g.failed)
        look_at_journal(db, &g);
    return sqlite_gathered(&g, &req->rows, err);
}

/* ---- the file from end to end ---------------------------------------------------------------- */

static int size_of_file(struct sqlite_store *db, struct store_report *req, int64_t *size)
{
    struct sqlite_file_size_out row = { 0 };
    int rc = sqlite_ask(db, &req->call.err, STATEMENT_FILE_SIZE, &row, NULL);
    *size = row.bytes;
    return rc < 0 ? rc : 0;
}

static int left_out(struct store_report *req, int64_t size)
{
    struct gathering g;
    begin_findings(&g, req->arena);
    const char *found = arena_printf(
        req->arena, "not checked, because the file has %lld MiB: prescient doctor --full checks it",
        (long long)(size >> 20));
    g.failed = g.failed || !found;
    add_finding(&g, "file is whole", "ok", found, "");
    return sqlite_gathered(&g, &req->rows, &req->call.err);
}

/* With a rollback journal, a long look blocks writers. So it runs only if it was asked for, and
 * then to its end. */
int sqlite_report_whole(struct sqlite_store *db, struct store_report *req)
{
    bool full = req->nparams > 0 && req->params[0];
    int64_t size;
    int rc = size_of_file(db, req, &size);
    if (rc < 0)
        return rc;
    if (!full && size > WHOLE_MOST)
        return left_out(req, size);
    db->deadline_us = full ? INT64_MAX : clock_mono_us(db->head.clock) + WHOLE_US;
    rc = sqlite_select(db, req, STATEMENT_WHOLE, NULL, 0);
    bool late = !full && clock_mono_us(db->head.clock) >= db->deadline_us;
    return rc == ERR_LOST && late && req->call.err.reason != ERR_REASON_DAMAGED ? left_out(req, size) : rc;
}
