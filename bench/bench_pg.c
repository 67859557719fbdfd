/* bench_pg.c - the bench's own connections to PostgreSQL: its scratch schema, the rows of a round,
 * and the costs that the server reports. */
#include "bench_pg.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


/* ---- one statement after the other ---- */

int bench_pg_fail(PGconn *conn, const PGresult *result, const char *what, struct err *err)
{
    const char *message = result ? PQresultErrorMessage(result) : PQerrorMessage(conn);
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    err_set(err, PQstatus(conn) == CONNECTION_BAD ? ERR_LOST : ERR_GENERAL, "%s: %.*s", what,
            (int)strcspn(message, "\n"), message);
    if (err && state)
        snprintf(err->sqlstate, sizeof err->sqlstate, "%s", state);
    return err ? err->code : ERR_GENERAL;
}

static void cancel(PGconn *conn)
{
    char message[256];
    PGcancel *c = PQgetCancel(conn);
    if (c)
        PQcancel(c, message, sizeof message);
    PQfreeCancel(c);
}

/* Waits for the result, or for Ctrl-C, which cancels the statement: it is our own, on tables of our
 * own. */
static PGresult *await(struct bench *b, PGconn *conn, bool *interrupted)
{
    PGresult *last = NULL, *r;
    *interrupted = false;
    for (;;) {
        while (PQconsumeInput(conn) && PQisBusy(conn)) {
            if (!*interrupted && interrupt_wait_readable(&b->interrupt, PQsocket(conn))) {
                *interrupted = true;
                cancel(conn);
            } else if (*interrupted)
                poll(&(struct pollfd){ .fd = PQsocket(conn), .events = POLLIN }, 1, -1);
        }
        r = PQgetResult(conn);
        if (!r)
            return last;
        PQclear(last);
        last = r;
        if (PQresultStatus(r) == PGRES_COPY_IN)
            return last;
    }
}

static void clear_result(PGresult **r)
{
    PQclear(*r);
}

static int run_one(struct bench *b, PGconn *conn, const char *name, const char *sql, PGresult **out,
                   struct err *err)
{
    bool interrupted = false;
    CLEANUP(clear_result) PGresult *r = PQsendQuery(conn, sql) ? await(b, conn, &interrupted) : NULL;
    ExecStatusType status = PQresultStatus(r);
    if (interrupted)
        return err_set(err, ERR_STOPPED, "stopped");
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        return bench_pg_fail(conn, r, name, err);
    if (out) {
        *out = r;
        r = NULL;
    }
    return 0;
}

/* Runs the statements of a block one by one, because VACUUM cannot run in a transaction. *out, if
 * not NULL, gets the rows of the last one. */
static int run_block(struct bench *b, PGconn *conn, const char *name, const char *job, PGresult **out,
                     struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    char *sql = a ? bench_sql(b, sql_bench_pg, name, job, a) : NULL;
    if (!sql)
        return err_set(err, ERR_NOMEM, "out of memory for the statement %s", name);
    for (char *end; (end = strstr(sql, ";\n")) && end[2]; sql = end + 2) {
        *end = '\0';
        int rc = run_one(b, conn, name, sql, NULL, err);
        if (rc)
            return rc;
    }
    return run_one(b, conn, name, sql, out, err);
}

static int control(struct bench *b, const char *name, struct err *err)
{
    return run_block(b, b->db->control, name, NULL, NULL, err);
}

/* ---- connecting ---- */

PGconn *bench_pg_connect(const struct bench *b, struct err *err)
{
    const char *names[] = { "dbname", "application_name", "connect_timeout", NULL };
    const char *values[] = { b->url, "prescient bench", "10", NULL };
    PGconn *conn = PQconnectdbParams(names, values, 1);
    if (PQstatus(conn) == CONNECTION_OK) {
        PQclear(PQexec(conn, "SET client_min_messages = warning"));
        return conn;
    }
    bench_pg_fail(conn, NULL, "cannot connect", err);
    PQfinish(conn);
    return NULL;
}

/* The server's processes can be read when it is on this machine and the parent of our backend is a
 * postmaster. */
static void find_postmaster(struct bench *b, int backend)
{
    const char *host = PQhost(b->db->control);
    bool local = host && (*host == '/' || *host == '@' || !*host || !strcmp(host, "localhost") ||
                          !strncmp(host, "127.", 4) || !strcmp(host, "::1"));
    int64_t parent = local && bench_comm_is(backend, "postgres") ? bench_parent_of(backend) : -1;
    b->db->postmaster = parent > 1 && bench_comm_is((int)parent, "postgres") ? (int)parent : 0;
}

static int look_at_server(struct bench *b, struct err *err)
{
    PGresult *r;
    int rc = run_block(b, b->db->control, "server", NULL, &r, err);
    if (rc)
        return rc;
    find_postmaster(b, atoi(PQgetvalue(r, 0, 0)));
    const char *version = PQgetvalue(r, 0, 1);
    snprintf(b->server, sizeof b->server,
             "%.*s; shared_buffers %s, synchronous_commit %s, fsync %s, max_wal_size %s, autovacuum %s",
             (int)strcspn(version, ","), version, PQgetvalue(r, 0, 2), PQgetvalue(r, 0, 3),
             PQgetvalue(r, 0, 4), PQgetvalue(r, 0, 5), PQgetvalue(r, 0, 6));
    PQclear(r);
    return 0;
}

static int make_place(struct bench *b, struct err *err)
{
    PGresult *r;
    int rc = run_block(b, b->db->control, "take", NULL, &r, err);
    if (rc)
        return rc;
    bool ours = *PQgetvalue(r, 0, 0) == 't', made_by_us = *PQgetvalue(r, 0, 1) == 't';
    PQclear(r);
    if (!ours)
        return err_set(err, ERR_BUSY, "another bench runs in this database");
    if (!made_by_us)
        return err_set(err, ERR_INPUT,
                       "this database has a schema prescient_bench that bench did not create: "
                       "but bench needs that name");
    b->db->holds_place = true;
    return control(b, "make", err);
}

static int pg_take(struct bench *b, struct err *err)
{
    b->db = calloc(1, sizeof *b->db);
    if (!b->db)
        return err_set(err, ERR_NOMEM, "out of memory");
    int n = snprintf(b->url, sizeof b->url, "%s", b->app->settings.store);
    if (n >= (int)sizeof b->url)
        return err_set(err, ERR_INPUT, "store: the URL has %d bytes, expected at most %zu", n,
                       sizeof b->url - 1);
    b->db->control = bench_pg_connect(b, err);
    if (!b->db->control)
        return err->code;
    snprintf(b->where, sizeof b->where, "schema prescient_bench of database %s", PQdb(b->db->control));
    int rc = look_at_server(b, err);
    if (rc < 0)
        return rc;
    return make_place(b, err);
}

static void pg_drop(struct bench *b)
{
    struct err err = { 0 };
    if (!b->db)
        return;
    PQfinish(b->db->snapshot);
    while (interrupt_came(&b->interrupt)) {  /* one Ctrl-C ended the rounds; cleaning up goes on */
        char info[128];
        if (read(b->interrupt.fd, info, sizeof info) < 0)
            break;
    }
    if (b->db->holds_place && control(b, "drop", &err) < 0)
        log_warn(&b->app->log,
                 "the scratch schema prescient_bench was not dropped: %s; the next bench drops it", err.text);
    PQfinish(b->db->control);
    free(b->db);
    b->db = NULL;
}

/* ---- rows ---- */

static bool others_wait(const struct bench *b)
{
    return b->o.future || b->o.old_snapshot;
}

static int pg_fill(struct bench *b, struct err *err)
{
    int rc = control(b, "add_tables", err);
    if (rc < 0 || !b->o.future)
        return rc;
    return control(b, b->o.scattered ? "add_scattered" : "add_future", err);
}

/* Some roles may not CHECKPOINT (42501); the figures are a little less steady without it. */
static int checkpoint(struct bench *b, struct err *err)
{
    struct err refused = { 0 };
    int rc = control(b, "checkpoint", &refused);
    if (rc == 0 || !strcmp(refused.sqlstate, "42501"))
        return 0;
    *err = refused;
    return rc;
}

static int pg_prepare(struct bench *b, const char *job, struct err *err)
{
    PGconn *conn = b->db->control;
    int rc = control(b, others_wait(b) ? "empty_due" : "empty", err);
    if (rc < 0)
        return rc;
    rc = control(b, "empty_past", err);
    if (rc < 0)
        return rc;
    if (others_wait(b)) {
        rc = control(b, "vacuum", err); /* frees the space of the round before */
        if (rc < 0)
            return rc;
    }
    if (job) {
        bool is_handmade = strcmp(job, "handmade") == 0;
        rc = run_block(b, conn, is_handmade ? "add_handmade" : "add_due", job, NULL, err);
        if (rc < 0)
            return rc;
    }
    rc = control(b, "vacuum", err);
    if (rc < 0)
        return rc;
    return checkpoint(b, err);
}

static int pg_hold_snapshot(struct bench *b, struct err *err)
{
    b->db->snapshot = bench_pg_connect(b, err);
    return b->db->snapshot ? run_block(b, b->db->snapshot, "hold_snapshot", NULL, NULL, err) : err->code;
}

/* ---- what it cost ---- */

/* A backend reports its counts when it ends. */
static void let_backends_go(const struct bench *b)
{
    /* before version 15, a collector gathers them twice a second */
    bool at_once = PQserverVersion(b->db->control) >= 150000;
    poll(NULL, 0, at_once ? 60 : 1100);
}

static int pg_counters(struct bench *b, struct bench_figures *out, struct err *err)
{
    PGresult *r;
    let_backends_go(b);
    int rc = run_block(b, b->db->control, "counters", NULL, &r, err);
    if (rc)
        return rc;
    out->wal_bytes = strtoll(PQgetvalue(r, 0, 0), NULL, 10);
    out->transactions = strtoll(PQgetvalue(r, 0, 1), NULL, 10);
    out->dead_rows = strtoll(PQgetvalue(r, 0, 2), NULL, 10);
    PQclear(r);
    out->server_cpu_us = b->db->postmaster ? bench_tree_cpu_us(b->db->postmaster) : -1;
    return 0;
}

static int pg_pass(struct bench *b, int64_t *us, int64_t *run, int64_t *late_us, struct err *err)
{
    PGresult *r = NULL;
    int rc = run_block(b, b->db->control, "pass", NULL, &r, err);
    if (rc)
        return rc;
    *us = strtoll(PQgetvalue(r, 0, 0), NULL, 10);
    *run = strtoll(PQgetvalue(r, 0, 1), NULL, 10);
    *late_us = strtoll(PQgetvalue(r, 0, 2), NULL, 10);
    PQclear(r);
    return 0;
}

static int pg_ask(struct bench *b, const char *name, int64_t (*out)[4], char (*texts)[64], int room,
                  struct err *err)
{
    PGresult *r = NULL;
    int rc = run_block(b, b->db->control, name, NULL, &r, err);
    if (rc)
        return rc;
    int n = PQntuples(r) < room ? PQntuples(r) : room;
    for (int row = 0; row < n; row++)
        for (int c = 0; c < PQnfields(r) && c < 4; c++) {
            if (texts && c == 0)
                snprintf(texts[row], sizeof texts[row], "%s", PQgetvalue(r, row, c));
            out[row][c] = strtoll(PQgetvalue(r, row, c), NULL, 10);
        }
    PQclear(r);
    return n;
}

const struct bench_db_ops bench_pg_ops = {
    .scheme = "postgresql",
    .schema = "prescient_bench",
    .take = pg_take,
    .drop = pg_drop,
    .fill = pg_fill,
    .prepare = pg_prepare,
    .bare = bench_pg_bare,
    .counters = pg_counters,
    .pass = pg_pass,
    .hold_snapshot = pg_hold_snapshot,
    .ask = pg_ask,
};
