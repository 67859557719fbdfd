/* store_sqlite_report.c - the named statements of list, history, status, enqueue, resolve, ...:
 * text in, rows of text out. Most are one SELECT of store_sqlite.sql; the table here has those that
 * write, or that need several statements. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rules/digest.h"
#include "../rules/slot.h"
#include "store_sqlite_calls.h"
#include "store_sqlite_rows.h"

/* ---- reports of more than one statement ------------------------------------------------------ */

static const char *const outcomes[FILED_OUTCOMES] = {
    [FILED_NEW] = "new",
    [FILED_KEPT] = "kept",
    [FILED_MOVED] = "moved",
    [FILED_REPLACED] = "replaced",
};

const char *sqlite_filing_word(enum sqlite_filing what)
{
    return outcomes[what];
}

static const char *param(const struct store_report *req, int n)
{
    return n <= req->nparams ? req->params[n - 1] : NULL;
}

static int64_t now_param(struct sqlite_store *db, const struct store_report *req, int n)
{
    const char *now = param(req, n);
    return sqlite_now(db, now ? strtoll(now, NULL, 10) : 0);
}

static int report_enqueue(struct sqlite_store *db, struct store_report *req)
{
    struct sqlite_filed filed;
    int rc = sqlite_enqueue(db, &(struct sqlite_enqueue_in){
        .entity = param(req, 1),
        .key = param(req, 2),
        .job = param(req, 3),
        .at = param(req, 4) ? param(req, 4) : "",
        .payload = param(req, 5),
        .conflict = param(req, 6),
        .priority = param(req, 7),
        .now = now_param(db, req, 8),
        .concurrency_key = param(req, 9),
        .tenant = param(req, 10),
        .within_s = 0,
    }, &filed, &req->call.err);
    if (rc < 0)
        return rc;
    return sqlite_outcome_row(req, outcomes[filed.what], filed.at);
}

static bool is_of_digests(const char *entity)
{
    return entity && !strcmp(entity, DIGEST_ENTITY);
}

static int64_t end_checks(struct sqlite_store *db, struct store_report *req)
{
    return sqlite_run(db, &req->call.err, STATEMENT_RESOLVE, &(struct sqlite_resolve_in){
        .entity = param(req, 1),
        .key = param(req, 2),
        .job = param(req, 3),
        .now = param(req, 4) ? now_param(db, req, 4) : 0,
    });
}

/* With its cursor: the next digest of that listener begins anew. */
static int64_t end_digest(struct sqlite_store *db, struct store_report *req)
{
    struct sqlite_digest_forget_in forgotten = { .listener = param(req, 2) };
    int64_t rc = sqlite_run(db, &req->call.err, STATEMENT_DIGEST_END, &(struct sqlite_digest_end_in){
        .listener = param(req, 2),
        .job = param(req, 3),
        .now = param(req, 4) ? now_param(db, req, 4) : 0,
    });
    return rc < 0 ? rc : sqlite_run(db, &req->call.err, STATEMENT_DIGEST_FORGET, &forgotten);
}

static int report_resolve(struct sqlite_store *db, struct store_report *req)
{
    struct err *err = &req->call.err;
    struct sqlite_pending_count_out pending = { 0 };
    int64_t rc = sqlite_ask(db, err, STATEMENT_PENDING_COUNT, &pending, &(struct sqlite_pending_count_in){
        .entity = param(req, 1),
        .key = param(req, 2),
        .job = param(req, 3),
    });
    if (rc < 0)
        return (int)rc;
    rc = is_of_digests(param(req, 1)) ? end_digest(db, req) : end_checks(db, req);
    if (rc < 0)
        return (int)rc;
    struct gathering g = { .arena = req->arena };
    sqlite_gather_columns(&g, 1);
    if (!g.failed)
        sqlite_gather_name(&g, 0, "resolved", true);
    const char **row = g.failed ? NULL : sqlite_gather_row(&g);
    if (row)
        sqlite_gather_number(&g, &row[0], pending.n);
    return sqlite_gathered(&g, &req->rows, err);
}

static int report_reschedule(struct sqlite_store *db, struct store_report *req)
{
    struct err *err = &req->call.err;
    struct sqlite_pending_row_out row = { 0 };
    struct sqlite_pending_row_in wanted = {
        .entity = param(req, 1),
        .key = param(req, 2),
        .job = param(req, 3),
    };
    int64_t rc = sqlite_ask(db, err, STATEMENT_PENDING_ROW, &row, &wanted);
    if (rc < 0)
        return (int)rc;
    if (rc == 0)
        return sqlite_outcome_row(req, "not_found", 0);
    rc = sqlite_run(db, err, STATEMENT_RESCHEDULE, &(struct sqlite_reschedule_in){
        .entity = wanted.entity,
        .key = wanted.key,
        .job = wanted.job,
        .at = param(req, 4),
        .now = now_param(db, req, 5),
    });
    if (rc < 0)
        return (int)rc;
    rc = sqlite_ask(db, err, STATEMENT_PENDING_ROW, &row, &wanted);
    if (rc < 0)
        return (int)rc;
    return sqlite_outcome_row(req, "moved", row.next_check_at);
}

enum { RETRY_ENTITY, RETRY_KEY, RETRY_JOB, RETRY_OUTCOME, RETRY_AT, RETRY_COLUMNS };

/* `found` has the entity, key, job and payload of each check that ended with a failure. */
enum { FOUND_PAYLOAD = 3, FOUND_CONCURRENCY_KEY = 4, FOUND_TENANT = 5 };

static int retry_one(struct sqlite_store *db, const struct store_report *req, const struct store_rows *found,
                     int n, struct gathering *g, struct err *err)
{
    const char *const *f = found->cells + (size_t)n * (size_t)found->columns;
    int64_t now = now_param(db, req, 4);
    char at_once[24];
    snprintf(at_once, sizeof at_once, "%" PRId64, now);
    struct sqlite_filed filed;
    int rc = sqlite_retry_check(db, &(struct sqlite_enqueue_in){
        .entity = f[RETRY_ENTITY],
        .key = f[RETRY_KEY],
        .job = f[RETRY_JOB],
        .at = param(req, 3) ? param(req, 3) : at_once,
        .payload = f[FOUND_PAYLOAD],
        .conflict = "keep",
        .priority = NULL,
        .now = now,
        .concurrency_key = f[FOUND_CONCURRENCY_KEY],
        .tenant = f[FOUND_TENANT],
        .within_s = 0,
    }, &filed, err);
    if (rc < 0)
        return rc;
    const char **row = sqlite_gather_row(g);
    if (!row)
        return 0;                       /* no memory: sqlite_gathered reports that */
    memcpy(row, f, 3 * sizeof *row);
    row[RETRY_OUTCOME] = outcomes[filed.what];
    sqlite_gather_number(g, &row[RETRY_AT], filed.at);
    return 0;
}

static int report_retry(struct sqlite_store *db, struct store_report *req)
{
    static const char *const names[RETRY_COLUMNS] = { "entity_name", "entity_key", "job_exec", "outcome",
                                                      "next_check_at" };
    struct gathering g = { .arena = req->arena };
    /* params 3 and 4 are those of enqueue: its time, and the clock */
    const char *const params[] = { param(req, 1), param(req, 2) };
    int rc = sqlite_select(db, req, STATEMENT_RETRY, params, sizeof params / sizeof *params);
    if (rc < 0)
        return rc;
    struct store_rows found = req->rows;
    sqlite_gather_columns(&g, RETRY_COLUMNS);
    for (int c = 0; !g.failed && c < RETRY_COLUMNS; c++)
        sqlite_gather_name(&g, c, names[c], false);
    for (int i = 0; !g.failed && i < found.rows; i++) {
        rc = retry_one(db, req, &found, i, &g, &req->call.err);
        if (rc < 0) {
            free(g.cells);
            return rc;
        }
    }
    return sqlite_gathered(&g, &req->rows, &req->call.err);
}

static int report_events(struct sqlite_store *db, struct store_report *req)
{
    const char *generation = param(req, 1), *xid = param(req, 2), *id = param(req, 3);
    int rc = sqlite_check_cursor(db, generation, xid, id, &req->call.err);
    if (rc < 0)
        return rc;
    const char *const params[] = { id, param(req, 4) };
    return sqlite_select(db, req, STATEMENT_EVENTS, params, 2);
}

static int report_plan(struct sqlite_store *db, struct store_report *req)
{
    int rc = sqlite_select(db, req, STATEMENT_PLAN, NULL, 0);
    if (rc < 0)
        return rc;
    /* id, parent, notused, detail: detail is the readable one */
    struct store_rows *rows = &req->rows;
    for (int i = 0; i < rows->rows; i++)
        rows->cells[i] = rows->cells[(size_t)i * (size_t)rows->columns + (size_t)rows->columns - 1];
    rows->names[0] = "line";
    rows->kinds[0] = CELL_TEXT;
    rows->columns = 1;
    return 0;
}

static int report_enqueue_now(struct sqlite_store *db, struct store_report *req)
{
    struct sqlite_filed filed;
    int rc = sqlite_enqueue(db, &(struct sqlite_enqueue_in){
        .entity = param(req, 1),
        .key = param(req, 2),
        .job = param(req, 3),
        .at = NULL, /* the next second */
        .payload = param(req, 4),
        .conflict = param(req, 5),
        .priority = param(req, 6),
        .now = now_param(db, req, 7),
        .concurrency_key = param(req, 8),
        .tenant = param(req, 9),
        .within_s = 0,
    }, &filed, &req->call.err);
    if (rc < 0)
        return rc;
    return sqlite_outcome_row(req, outcomes[filed.what], filed.at);
}

/* A check that waits, to the next second; none is filed anew. */
static int report_pull_forward(struct sqlite_store *db, struct store_report *req)
{
    struct sqlite_pending_row_out row = { 0 };
    int64_t rc = sqlite_ask(db, &req->call.err, STATEMENT_PENDING_ROW, &row, &(struct sqlite_pending_row_in){
        .entity = param(req, 1),
        .key = param(req, 2),
        .job = param(req, 3),
    });
    if (rc < 0)
        return (int)rc;
    if (rc == 0)
        return sqlite_outcome_row(req, "not_found", 0);
    struct sqlite_filed filed;
    rc = sqlite_enqueue(db, &(struct sqlite_enqueue_in){
        .entity = param(req, 1),
        .key = param(req, 2),
        .job = param(req, 3),
        .at = NULL, /* the next second */
        .payload = NULL,
        .conflict = "earlier",
        .priority = NULL,
        .now = sqlite_now(db, 0),
        .concurrency_key = NULL,
        .tenant = NULL,
        .within_s = 0,
    }, &filed, &req->call.err);
    if (rc < 0)
        return (int)rc;
    return sqlite_outcome_row(req, outcomes[filed.what], filed.at);
}

/* ---- settings of all engines ---- */

static int outcome_of(struct store_report *req, const char *outcome)
{
    struct gathering g = { .arena = req->arena };
    sqlite_gather_columns(&g, 1);
    if (!g.failed)
        sqlite_gather_name(&g, 0, "outcome", false);
    const char **row = g.failed ? NULL : sqlite_gather_row(&g);
    if (row)
        sqlite_gather_cell(&g, &row[0], outcome);
    return sqlite_gathered(&g, &req->rows, &req->call.err);
}

static int report_concurrency(struct sqlite_store *db, struct store_report *req)
{
    const char *pattern = param(req, 1), *places = param(req, 2);
    struct err *err = &req->call.err;
    if (places) {
        int64_t set = sqlite_run(db, err, STATEMENT_CONCURRENCY_SET,
                                 &(struct sqlite_concurrency_set_in){ .pattern = pattern, .places = places });
        return set < 0 ? (int)set : outcome_of(req, "set");
    }
    int64_t removed = sqlite_run(db, err, STATEMENT_CONCURRENCY_REMOVE,
                                 &(struct sqlite_concurrency_remove_in){ .pattern = pattern });
    if (removed < 0)
        return (int)removed;
    return outcome_of(req, removed ? "removed" : "not_found");
}

/* A cursor is the id alone here. */
static int report_events_back(struct sqlite_store *db, struct store_report *req)
{
    const char *const params[] = { param(req, 3), param(req, 4) };
    return sqlite_select(db, req, STATEMENT_EVENTS_BACK, params, 2);
}

static int report_set_pace(struct sqlite_store *db, struct store_report *req)
{
    struct err *err = &req->call.err;
    int64_t rc = sqlite_run(db, err, STATEMENT_NOTE_PACE,
                            &(struct sqlite_note_pace_in){ .pace = param(req, 1) });
    return rc < 0 ? (int)rc : sqlite_select(db, req, STATEMENT_PACE, NULL, 0);
}

static const struct {
    const char *name;
    int (*run)(struct sqlite_store *db, struct store_report *req);
    bool writes;
} specials[] = {
    { "enqueue", report_enqueue, true },       { "enqueue_now", report_enqueue_now, true },
    { "resolve", report_resolve, true },       { "pull_forward", report_pull_forward, true },
    { "pause", sqlite_report_pause, true },    { "resume", sqlite_report_resume, true },
    { "concurrency", report_concurrency, true }, { "set_pace", report_set_pace, true },
    { "reschedule", report_reschedule, true }, { "retry", report_retry, true },
    { "deliver_again", sqlite_deliver_again, true },
    { "events", report_events, false },        { "events_back", report_events_back, false },
    { "plan", report_plan, false },
    { "cursor_take", sqlite_report_cursor_take, true },
    { "cursor_reset", sqlite_report_cursor_reset, true },
    { "schedule_put", sqlite_report_schedule_put, true },
    { "schedule_put_many", sqlite_report_schedule_put_many, true },
    { "schedule_remove_many", sqlite_report_schedule_remove_many, true },
    { "schedule_switch", sqlite_report_schedule_switch, true },
    { "schedule_remove", sqlite_report_schedule_remove, true },
    { "change_checks", sqlite_report_change_checks, true },
    { "change_pause", sqlite_report_change_pause, true },
    { "change_schedule", sqlite_report_change_schedule, true },
    { "change_delivery", sqlite_report_change_delivery, true },
    { "doctor", sqlite_report_doctor, false }, { "whole", sqlite_report_whole, false },
};

static int special_named(const char *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The statement of a report that is one statement, or -1. Only these may be run by name. */
static int report_named(const char *name)
{
    for (int i = 0; i < SQLITE_STATEMENTS; i++)
        if (sqlite_statements[i].is_report && strcmp(sqlite_statements[i].name, name) == 0)
            return i;
    return -1;
}

bool sqlite_report_writes(const struct store_report *report)
{
    int special = special_named(report->name);
    int statement = special < 0 ? report_named(report->name) : -1;
    if (special >= 0)
        return specials[special].writes;
    return statement >= 0 && sqlite_statements[statement].writes;
}

int sqlite_report(struct sqlite_store *db, struct store_call *call)
{
    struct store_report *req = (struct store_report *)call;
    req->rows = (struct store_rows){ 0 };
    int special = special_named(req->name);
    if (special >= 0)
        return specials[special].run(db, req);
    int statement = report_named(req->name);
    if (statement < 0)
        return err_set(&call->err, ERR_NOTFOUND, "there is no report named '%s'", req->name);
    return sqlite_select(db, req, (enum sqlite_statement)statement, req->params, req->nparams);
}
