/* bench_sqlite.c - the bench's own connection to a scratch SQLite file: rows of a round, and bare
 * SQL in batches of the same size. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { CACHE_KIB = 32 * 1024, BUSY_MS = 60000 };

struct bench_db { char file[128]; };

static int fail(sqlite3 *db, const char *what, struct err *err)
{
    return err_set(err, ERR_GENERAL, "%s: %s", what, sqlite3_errmsg(db));
}

static int is_wal(void *ctx, int n, char **cells, char **names)
{
    (void)names;
    *(bool *)ctx = n == 1 && !strcmp(cells[0], "wal");
    return 0;
}

/* As the store opens it: full durability, and a persistent rollback journal (write-ahead logging is
 * a property of the file). */
static sqlite3 *connect(struct bench *b, struct err *err)
{
    sqlite3 *db = NULL;
    char pragmas[128];
    bool wal = false;
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -%d", CACHE_KIB);
    if (sqlite3_open_v2(b->db->file, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL) == SQLITE_OK &&
        sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(db, BUSY_MS) == SQLITE_OK &&
        sqlite3_exec(db, pragmas, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(db, "PRAGMA journal_mode", is_wal, &wal, NULL) == SQLITE_OK &&
        (wal || sqlite3_exec(db, "PRAGMA journal_mode = PERSIST", NULL, NULL, NULL) == SQLITE_OK))
        return db;
    fail(db, b->db->file, err);
    sqlite3_close(db);
    return NULL;
}

static int run_block(struct bench *b, sqlite3 *db, const char *name, const char *job, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    char *sql = a ? bench_sql(b, sql_bench_sqlite, name, job, a) : NULL;
    if (!sql)
        return err_set(err, ERR_NOMEM, "out of memory for the statement %s", name);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    int rc = fail(db, name, err);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

static int sqlite_take(struct bench *b, struct err *err)
{
    b->db = calloc(1, sizeof *b->db);
    if (!b->db)
        return err_set(err, ERR_NOMEM, "out of memory");
    snprintf(b->db->file, sizeof b->db->file, "%s/bench.db", b->dir);
    snprintf(b->url, sizeof b->url, "sqlite:%s", b->db->file);
    snprintf(b->where, sizeof b->where, "the file %s", b->db->file);
    snprintf(b->server, sizeof b->server, "SQLite %s, synchronous FULL", sqlite3_libversion());
    return 0;
}

static void sqlite_drop(struct bench *b)
{
    free(b->db);            /* the file is removed with its folder */
    b->db = NULL;
}

static void close_handle(sqlite3 **db)
{
    sqlite3_close(*db);
}

static void finalize(sqlite3_stmt **s)
{
    sqlite3_finalize(*s);
}

static int with_handle(struct bench *b, const char *name, const char *job, struct err *err)
{
    CLEANUP(close_handle) sqlite3 *db = connect(b, err);
    if (!db)
        return err->code;
    return run_block(b, db, name, job, err);
}

static int sqlite_fill(struct bench *b, struct err *err)
{
    int rc = with_handle(b, "add_tables", NULL, err);
    if (rc < 0 || !b->o.future)
        return rc;
    return with_handle(b, b->o.scattered ? "add_scattered" : "add_future", NULL, err);
}

static int sqlite_prepare(struct bench *b, const char *job, struct err *err)
{
    int rc = with_handle(b, "empty", NULL, err);
    if (rc < 0 || !job)
        return rc;
    return with_handle(b, "add_due", job, err);
}

static int sqlite_counters(struct bench *b, struct bench_figures *out, struct err *err)
{
    (void)b;
    (void)err;
    /* there is no server; CPU is the engine's own */
    out->server_cpu_us = out->wal_bytes = out->transactions = out->dead_rows = -1;
    return 0;
}

static int sqlite_ask(struct bench *b, const char *name, int64_t (*out)[4], char (*texts)[64], int room,
                      struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    char *sql = a ? bench_sql(b, sql_bench_sqlite, name, NULL, a) : NULL;
    if (!sql)
        return err_set(err, ERR_NOMEM, "out of memory for the statement %s", name);
    CLEANUP(close_handle) sqlite3 *db = connect(b, err);
    if (!db)
        return err->code;
    CLEANUP(finalize) sqlite3_stmt *s = NULL;       /* before the handle is closed */
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return fail(db, name, err);
    int n = 0;
    for (; n < room && sqlite3_step(s) == SQLITE_ROW; n++)
        for (int c = 0; c < sqlite3_column_count(s) && c < 4; c++) {
            if (texts && c == 0)
                snprintf(texts[n], sizeof texts[n], "%s", (const char *)sqlite3_column_text(s, c));
            out[n][c] = sqlite3_column_int64(s, c);
        }
    return n;
}

static int sqlite_pass(struct bench *b, int64_t *us, int64_t *run, int64_t *late_us, struct err *err)
{
    int64_t row[1][4] = { 0 };
    int rc = sqlite_ask(b, "pass", row, NULL, 1, err);
    if (rc < 0)
        return rc;
    *us = row[0][0];
    *run = row[0][1];
    *late_us = row[0][2];
    return 0;
}

/* ---- the bare statements ---- */

struct bare {
    struct bench *b;
    sqlite3 *db;
    sqlite3_stmt *first, *second, *read;
    int64_t *ids;
    int64_t n, room;
    int64_t next_slot;
};

static int read_ids(struct bare *r, struct err *err)
{
    sqlite3_bind_int64(r->read, 1, r->b->slot);
    int code;
    while ((code = sqlite3_step(r->read)) == SQLITE_ROW) {
        if (r->n == r->room) {
            int64_t room = r->room ? r->room * 2 : 4096, *ids = realloc(r->ids, (size_t)room * sizeof *ids);
            if (!ids)
                return err_set(err, ERR_NOMEM, "out of memory for %" PRId64 " ids", room);
            r->ids = ids;
            r->room = room;
        }
        r->ids[r->n++] = sqlite3_column_int64(r->read, 0);
    }
    sqlite3_reset(r->read);
    return code == SQLITE_DONE ? 0 : fail(r->db, "bare_read", err);
}

static bool step_once(sqlite3_stmt *s)
{
    bool good = sqlite3_step(s) == SQLITE_DONE;
    return sqlite3_reset(s) == SQLITE_OK && good;
}

/* A thousand rows a transaction: each gets a history or run row, and is deleted or moved. */
static int run_batches(struct bare *r, struct err *err)
{
    for (int64_t i = 0; i < r->n;) {
        bool good = sqlite3_exec(r->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
        int64_t now_us = clock_wall_us(&clock_system), end = i + BENCH_BATCH < r->n ? i + BENCH_BATCH : r->n;
        for (; good && i < end; i++) {
            sqlite3_bind_int64(r->first, 1, r->ids[i]);
            sqlite3_bind_int64(r->first, 2, now_us);
            sqlite3_bind_int64(r->second, 1, r->ids[i]);
            if (sqlite3_bind_parameter_count(r->first) > 2)
                sqlite3_bind_int64(r->first, 3, r->next_slot);
            if (sqlite3_bind_parameter_count(r->second) > 1) {
                sqlite3_bind_int64(r->second, 2, now_us);
                sqlite3_bind_int64(r->second, 3, r->next_slot);
            }
            good = step_once(r->first) && step_once(r->second);
        }
        if (!good || sqlite3_exec(r->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
            return fail(r->db, "bare batch", err);
        if (interrupt_came(&r->b->interrupt))
            return err_set(err, ERR_STOPPED, "stopped");
    }
    return 0;
}

static int run_singles(struct bare *r, struct err *err)
{
    for (r->n = 0; r->n < r->b->o.singles; r->n++) {
        char key[24];
        snprintf(key, sizeof key, "s%" PRId64, r->n);
        sqlite3_bind_text(r->first, 1, key, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(r->first, 2, r->next_slot);
        if (!step_once(r->first))
            return fail(r->db, "enqueue", err);
    }
    return 0;
}

static int run_bulk(struct bare *r, struct err *err)
{
    char key[24];
    for (int64_t i = 0; i < r->b->o.checks;) {
        bool good = sqlite3_exec(r->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
        int64_t end = i + BENCH_CHUNK < r->b->o.checks ? i + BENCH_CHUNK : r->b->o.checks;
        for (; good && i < end; i++) {
            int len = snprintf(key, sizeof key, "%" PRId64, i);
            sqlite3_bind_text(r->first, 1, key, len, SQLITE_STATIC);
            sqlite3_bind_int64(r->first, 2, r->next_slot);
            good = step_once(r->first);
        }
        if (!good || sqlite3_exec(r->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
            return fail(r->db, "bare_insert", err);
    }
    r->n = r->b->o.checks;
    return 0;
}

static const struct { const char *first, *second; int (*run)(struct bare *r, struct err *err);
} bares[] = {
    [BARE_INSERT] = { "bare_insert", NULL, run_singles },
    [BARE_COPY] = { "bare_insert", NULL, run_bulk },
    [BARE_END] = { "bare_archive", "bare_delete", run_batches },
    [BARE_MOVE] = { "bare_run", "bare_move", run_batches },
    [BARE_ENQUEUE] = { "enqueue", NULL, run_singles },
};

static void bare_release(struct bare *r)
{
    sqlite3_finalize(r->first);
    sqlite3_finalize(r->second);
    sqlite3_finalize(r->read);
    sqlite3_close(r->db);
    free(r->ids);
}

/* Without a name there is nothing to prepare. */
static int prepare(struct bare *r, const char *name, sqlite3_stmt **out, struct err *err)
{
    if (!name || sqlite3_prepare_v2(r->db, sql_find(sql_bench_sqlite, name), -1, out, NULL) == SQLITE_OK)
        return 0;
    return fail(r->db, "prepare", err);
}

static int prepare_all(struct bare *r, enum bench_bare what, struct err *err)
{
    int rc = prepare(r, bares[what].first, &r->first, err);
    if (rc < 0)
        return rc;
    rc = prepare(r, bares[what].second, &r->second, err);
    if (rc < 0)
        return rc;
    return prepare(r, "bare_read", &r->read, err);
}

static int sqlite_bare(struct bench *b, enum bench_bare what, int connections, struct bench_figures *out,
                       struct err *err)
{
    CLEANUP(bare_release) struct bare r = { .b = b, .next_slot = b->slot + 20000LL * b->slot_length_s };
    (void)connections;                          /* writers are serial */
    r.db = connect(b, err);
    if (!r.db)
        return err->code;
    int rc = prepare_all(&r, what, err);
    if (rc < 0)
        return rc;
    int64_t began = clock_mono_us(&clock_system), cpu = bench_self_cpu_us();
    if (bares[what].run == run_batches) {
        rc = read_ids(&r, err);
        if (rc < 0)
            return rc;
    }
    rc = bares[what].run(&r, err);
    if (rc < 0)
        return rc;
    out->us = clock_mono_us(&clock_system) - began;
    out->client_cpu_us = bench_self_cpu_us() - cpu;
    out->checks = r.n;
    return 0;
}

const struct bench_db_ops bench_sqlite_ops = {
    .scheme = "sqlite",
    .schema = NULL,
    .take = sqlite_take,
    .drop = sqlite_drop,
    .fill = sqlite_fill,
    .prepare = sqlite_prepare,
    .bare = sqlite_bare,
    .counters = sqlite_counters,
    .pass = sqlite_pass,
    .hold_snapshot = NULL,
    .ask = sqlite_ask,
};
