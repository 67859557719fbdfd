/* store_sqlite_db.c - one connection to a SQLite file: opening, checks that it is still the same
 * file, kept statements, and failures as ERR_ codes with messages. Apart from the version of the
 * schema it does not depend on checks and slots. */
#include "store_sqlite_db.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


/* Virtual machine steps between two checks of the deadline: well under a millisecond. */
#define PROGRESS_STEPS 20000
#define GROUP_US (250 * 1000)            /* how long calls of a relaxed store share a transaction */
#define CACHE_KIB 32768
#define JOURNAL_LIMIT (16 << 20)  /* bytes of a journal that stay on disk between transactions */

int64_t sqlite_clock_us(const struct sqlite_store *db)
{
    return clock_wall_us(db->head.clock);
}
int64_t sqlite_now(const struct sqlite_store *db, int64_t now)
{
    return now ? now : sqlite_clock_us(db) / 1000000;
}

/* ---- failures -------------------------------------------------------------------------------- */

static const struct {
    int rc;                     /* primary result code */
    int code;
    const char *words;
} failures[] = {
    { SQLITE_BUSY, ERR_BUSY, "is being written to by another program" },
    { SQLITE_LOCKED, ERR_BUSY, "is being written to by another program" },
    { SQLITE_CONSTRAINT, ERR_DATA, "refuses a value" },
    { SQLITE_MISMATCH, ERR_DATA, "refuses a value" },
    { SQLITE_TOOBIG, ERR_DATA, "refuses a value" },
    { SQLITE_INTERRUPT, ERR_LOST, "took longer than the statement timeout" },
    { SQLITE_FULL, ERR_LOST, "cannot grow" },
    { SQLITE_IOERR, ERR_LOST, "cannot be read or written" },
    { SQLITE_READONLY, ERR_LOST, "may only be read" },
    { SQLITE_CORRUPT, ERR_LOST, "is damaged" },
    { SQLITE_NOTADB, ERR_LOST, "is no SQLite database" },
    { SQLITE_CANTOPEN, ERR_LOST, "cannot be opened" },
    { SQLITE_PERM, ERR_LOST, "cannot be opened" },
    { SQLITE_PROTOCOL, ERR_LOST, "cannot be locked" },
    { SQLITE_NOMEM, ERR_LOST, "cannot be used" },
    { SQLITE_SCHEMA, ERR_LOST, "has just had its schema changed" },
};

#define OURS "prescient: " /* begins the messages of our triggers, for those who write SQL */

static bool is_missing_schema(const char *message)
{
    return strstr(message, "no such table") || strstr(message, "no such column");
}

int sqlite_fail(struct sqlite_store *db, int rc, struct err *err)
{
    const char *message = db->db ? sqlite3_errmsg(db->db) : sqlite3_errstr(rc);
    int extended = db->db ? sqlite3_extended_errcode(db->db) : rc;
    int primary = rc & 0xff;
    if (primary == SQLITE_IOERR || primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB ||
        primary == SQLITE_READONLY)
        db->distrusted = true;
    if (primary == SQLITE_ERROR && is_missing_schema(message))
        return err_set(err, ERR_SCHEMA, "%s has no schema that fits this program (%s): run 'prescient init'",
                       db->path, message);
    if (primary == SQLITE_CONSTRAINT && !strncmp(message, OURS, strlen(OURS)))
        return err_set(err, ERR_DATA, "%s", message + strlen(OURS));
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].rc == primary) {
            err_set(err, failures[i].code, "%s %s: %s (SQLite result %d)", db->path, failures[i].words,
                    message, extended);
            if (primary == SQLITE_CORRUPT)
                err->reason = ERR_REASON_DAMAGED;
            else if (failures[i].code == ERR_LOST)
                err->reason = ERR_REASON_REFUSED;
            return err->code;
        }
    return err_set(err, ERR_GENERAL, "%s: %s (SQLite result %d)", db->path, message, extended);
}

/* ---- waiting --------------------------------------------------------------------------------- */

void sqlite_start_clock(struct sqlite_store *db, bool patient)
{
    int64_t now = clock_mono_us(db->head.clock);
    db->deadline_us = now + db->statement_timeout_us;
    db->lock_until_us = patient ? db->deadline_us : now + db->lock_timeout_us;
}

void sqlite_wait_at_most(struct sqlite_store *db, int ms)
{
    int64_t until_us = clock_mono_us(db->head.clock) + ms * INT64_C(1000);
    if (until_us < db->lock_until_us)
        db->lock_until_us = until_us;
}

/* Short waits of equal length: the growing ones of sqlite3_busy_timeout would favour the process
 * that came last. */
static int wait_for_lock(void *ctx, int tries)
{
    struct sqlite_store *db = ctx;
    if (clock_mono_us(db->head.clock) >= db->lock_until_us)
        return 0;
    usleep(tries < 20 ? 500 : 2000);
    return 1;
}

static int is_too_late(void *ctx)
{
    struct sqlite_store *db = ctx;
    return clock_mono_us(db->head.clock) >= db->deadline_us;
}

/* ---- statements ------------------------------------------------------------------------------ */

int sqlite_prepare(struct sqlite_store *db, const char *sql, sqlite3_stmt **out, struct err *err)
{
    int rc = sqlite3_prepare_v2(db->db, sql, -1, out, NULL);
    return rc == SQLITE_OK ? 0 : sqlite_fail(db, rc, err);
}

int sqlite_exec(struct sqlite_store *db, const char *sql, struct err *err)
{
    int rc = sqlite3_exec(db->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : sqlite_fail(db, rc, err);
}

static int kept_statement(struct sqlite_store *db, enum sqlite_statement which, sqlite3_stmt **out,
                          struct err *err)
{
    const struct sql_statement *s = &sqlite_statements[which];
    *out = NULL;
    if (!db->statements[which]) {
        int rc = sqlite3_prepare_v3(db->db, s->text, -1, SQLITE_PREPARE_PERSISTENT, &db->statements[which],
                                    NULL);
        if (rc != SQLITE_OK)
            return err_wrap(err, sqlite_fail(db, rc, err), "statement %s", s->name);
    }
    *out = db->statements[which];
    return 0;
}

static int bind_moment(sqlite3_stmt *s, int place, const struct sql_field *f, int64_t moment)
{
    if (f->may_be_null && moment == 0)
        return sqlite3_bind_null(s, place);
    return sqlite3_bind_int64(s, place, moment);
}

/* Texts and owners are not copied. */
static int bind_field(sqlite3_stmt *s, int place, const struct sql_field *f, const char *at)
{
    switch (f->type) {
    case SQL_BOOL: return sqlite3_bind_int(s, place, *(const bool *)at);
    case SQL_INT4: return sqlite3_bind_int(s, place, *(const int32_t *)at);
    case SQL_INT8: return sqlite3_bind_int64(s, place, *(const int64_t *)at);
    case SQL_MOMENT:
    case SQL_MOMENT_US: return bind_moment(s, place, f, *(const int64_t *)at);
    case SQL_TEXT: return sqlite3_bind_text(s, place, *(const char *const *)at, -1, SQLITE_STATIC);
    case SQL_UUID:
        return sqlite3_bind_blob(s, place, *(const unsigned char *const *)at, STORE_OWNER_SIZE,
                                 SQLITE_STATIC);
    default: return SQLITE_MISUSE;
    }
}

/* Prepares and binds the statement, ready to step. */
static int ready_statement(struct sqlite_store *db, enum sqlite_statement which, const void *in,
                           sqlite3_stmt **out, struct err *err)
{
    const struct sql_statement *statement = &sqlite_statements[which];
    int rc = kept_statement(db, which, out, err);
    if (rc < 0)
        return rc;
    for (int i = 0; i < statement->nin; i++) {
        const struct sql_field *f = &statement->in[i];
        rc = bind_field(*out, i + 1, f, (const char *)in + f->offset);
        if (rc != SQLITE_OK)
            return sqlite_fail(db, rc, err);
    }
    return 0;
}

int64_t sqlite_run_statement(struct sqlite_store *db, struct err *err, enum sqlite_statement which,
                             const void *in)
{
    sqlite3_stmt *s;
    int rc = ready_statement(db, which, in, &s, err);
    if (rc < 0)
        return rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW)
        continue;
    int code = rc == SQLITE_DONE ? 0 : sqlite_fail(db, rc, err);
    sqlite3_reset(s);
    return code < 0 ? code : sqlite3_changes(db->db);
}

int sqlite_next(struct sqlite_store *db, struct err *err, sqlite3_stmt *row)
{
    int rc = sqlite3_step(row);
    if (rc == SQLITE_ROW)
        return 1;
    int code = rc == SQLITE_DONE ? 0 : sqlite_fail(db, rc, err);
    sqlite3_reset(row);
    return code;
}

int sqlite_begin_query(struct sqlite_store *db, struct err *err, sqlite3_stmt **row,
                       enum sqlite_statement which, const void *in)
{
    int rc = ready_statement(db, which, in, row, err);
    if (rc < 0)
        return rc;
    return sqlite_next(db, err, *row);
}

void sqlite_done(sqlite3_stmt *row)
{
    sqlite3_reset(row);
}

static int read_text(sqlite3_stmt *row, int column, char *at)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    *(const char **)at = text;
    *(uint32_t *)(at + sizeof text) = text ? (uint32_t)sqlite3_column_bytes(row, column) : 0;
    return !text && sqlite3_column_type(row, column) != SQLITE_NULL ? ERR_NOMEM : 0;
}

static int read_owner(sqlite3_stmt *row, int column, char *at)
{
    const void *owner = sqlite3_column_blob(row, column);
    if (!owner || sqlite3_column_bytes(row, column) != STORE_OWNER_SIZE)
        return ERR_DATA;
    memcpy(at, owner, STORE_OWNER_SIZE);
    return 0;
}

static int read_number(sqlite3_stmt *row, int column, const struct sql_field *f, char *at)
{
    int64_t number = sqlite3_column_int64(row, column);
    if (f->type == SQL_BOOL)
        *(bool *)at = number;
    else if (f->type == SQL_INT4)
        *(int32_t *)at = (int32_t)number;
    else
        *(int64_t *)at = number;
    return f->type == SQL_INT4 && number != (int32_t)number ? ERR_DATA : 0;
}

static int read_field(sqlite3_stmt *row, int column, const struct sql_field *f, char *at)
{
    /* before the value is read, which may convert it */
    int type = sqlite3_column_type(row, column), expected = SQLITE_INTEGER, rc;
    if (f->type == SQL_TEXT) {
        expected = SQLITE_TEXT;
        rc = read_text(row, column, at);
    } else if (f->type == SQL_UUID) {
        expected = SQLITE_BLOB;
        rc = read_owner(row, column, at);
    } else
        rc = read_number(row, column, f, at);
    if (rc < 0)
        return rc;
    bool is_as_declared = type == SQLITE_NULL ? f->may_be_null : type == expected;
    return is_as_declared ? 0 : ERR_DATA;
}

int sqlite_read_columns(sqlite3_stmt *row, enum sqlite_statement which, void *out)
{
    const struct sql_statement *s = &sqlite_statements[which];
    int worst = 0;
    for (int i = 0; i < s->nout; i++) {
        int rc = read_field(row, i, &s->out[i], (char *)out + s->out[i].offset);
        if (rc == ERR_NOMEM)
            return rc;
        if (rc < 0)
            worst = rc;
    }
    return worst;
}

int sqlite_ask_row(struct sqlite_store *db, struct err *err, enum sqlite_statement which, void *out,
                   size_t size, const void *in)
{
    sqlite3_stmt *row;
    memset(out, 0, size);
    int rc = sqlite_begin_query(db, err, &row, which, in);
    if (rc <= 0)
        return rc;
    int read = sqlite_read_columns(row, which, out);
    sqlite_done(row);
    if (read == ERR_NOMEM)
        return err_set(err, ERR_NOMEM, "out of memory");
    if (read < 0)
        return err_set(err, ERR_DATA, "%s: statement %s: a column has a value that cannot be read", db->path,
                       sqlite_statements[which].name);
    return 1;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The releases whose write-ahead log can be trusted, each with the later ones of its own line.
 * Others may lose a transaction when a checkpoint resets the log while another connection begins to
 * write (https://sqlite.org/wal.html#walresetbug). */
bool sqlite_wal_is_safe(int version)
{
    static const struct { int from, before; } safe[] = {
        { 3044006, 3045000 }, { 3050007, 3051000 }, { 3051003, 3052000 }, { 3053000, INT_MAX },
    };
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        if (version >= safe[i].from && version < safe[i].before)
            return true;
    return false;
}

static bool is_wal(struct sqlite_store *db, int *rc)
{
    sqlite3_stmt *s = NULL;
    bool wal = false;
    *rc = sqlite3_prepare_v2(db->db, "PRAGMA journal_mode", -1, &s, NULL);
    if (*rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        wal = sqlite3_column_bytes(s, 0) == 3 && memcmp(sqlite3_column_blob(s, 0), "wal", 3) == 0;
    if (*rc == SQLITE_OK)
        *rc = sqlite3_finalize(s);
    return wal;
}

bool sqlite_has_wal(struct sqlite_store *db)
{
    int rc;
    return is_wal(db, &rc) && rc == SQLITE_OK;
}

/* Write-ahead logging is a property of the file, and its owner chose it: an application reads while
 * others write, or another program follows the log. So it stays, whichever SQLite this is, and
 * doctor warns. Only a new file gets our choice. With the rollback journals PERSIST and TRUNCATE a
 * commit is on disk when it returns; DELETE needs one more sync, of the folder. PERSIST is the
 * faster one; sqlite_disconnect removes the journal that it leaves. */
static int choose_journal(struct sqlite_store *db, bool is_new, struct err *err)
{
    int rc;
    bool wal = is_wal(db, &rc);
    if (rc != SQLITE_OK)
        return sqlite_fail(db, rc, err);
    if (wal || sqlite3_db_readonly(db->db, "main"))
        return 0;
    bool log = is_new && sqlite_wal_is_safe(sqlite3_libversion_number());
    rc = sqlite_exec(db, log ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = PERSIST", err);
    return rc < 0 ? err_wrap(err, rc, "cannot set the journal mode") : 0;
}

static int set_up(struct sqlite_store *db, bool is_new, struct err *err)
{
    char pragmas[256];
    sqlite3_extended_result_codes(db->db, 1);
    /* a quoted name that no column has is an error, and not a string */
    sqlite3_db_config(db->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_busy_handler(db->db, wait_for_lock, db);
    sqlite3_progress_handler(db->db, PROGRESS_STEPS, is_too_late, db);
    sqlite3_snprintf(sizeof pragmas, pragmas,
                     "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; "
                     "PRAGMA cache_size = -%d; "
                     "PRAGMA journal_size_limit = %d%s",
                     CACHE_KIB, JOURNAL_LIMIT,
                     /* spilling would block the jobs' own reads */
                     db->relaxed ? "; PRAGMA cache_spill = OFF" : "");
    int rc = sqlite_answers_register(db->db, &db->answers);
    if (rc != SQLITE_OK)
        return sqlite_fail(db, rc, err);
    rc = sqlite_exec(db, pragmas, err);
    if (rc < 0)
        return rc;
    return choose_journal(db, is_new, err);
}

static int refuse_missing(const struct sqlite_store *db, struct err *err)
{
    if (db->was_open)
        return err_set(err, ERR_LOST, "%s was removed", db->path);
    return err_set(err, ERR_SCHEMA, "there is no file %s: run 'prescient init' to make it", db->path);
}

/* A folder that is not there will not come by waiting. */
static int refuse_missing_folder(const struct sqlite_store *db, struct err *err)
{
    struct stat st;
    const char *slash = strrchr(db->path, '/');
    size_t length = slash > db->path ? (size_t)(slash - db->path) : 0;
    CLEANUP(cleanup_free) char *folder = strndup(db->path, length);
    if (db->was_open || !folder || !*folder)
        return 0;
    if (stat(folder, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
        return 0;
    return err_set(err, ERR_SETTINGS, "there is no folder %s for the file %s: make it, or correct `store`",
                   folder, slash + 1);
}

static int open_file(struct sqlite_store *db, bool create, struct err *err)
{
    struct stat st = { 0 };
    bool missing = stat(db->path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
    int rc = missing ? refuse_missing_folder(db, err) : 0;
    if (rc < 0)
        return rc;
    if (missing && !create)
        return refuse_missing(db, err);
    rc = sqlite3_open_v2(db->path, &db->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0),
                             NULL);
    if (rc == SQLITE_OK)
        rc = set_up(db, create && st.st_size == 0, err);
    else
        rc = sqlite_fail(db, rc, err);
    if (rc < 0)
        sqlite_disconnect(db);
    return rc;
}

int sqlite_create(struct sqlite_store *db, struct err *err)
{
    sqlite_disconnect(db);
    return open_file(db, true, err);
}

static int check_file(struct sqlite_store *db, struct err *err)
{
    int moved = 0;
    if (sqlite3_file_control(db->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved) {
        db->distrusted = true;
        err_set(err, ERR_LOST,
                "%s was replaced or removed while it was in use: nothing was written to what had been opened",
                db->path);
        err->reason = ERR_REASON_REFUSED;
        return err->code;
    }
    return 0;
}

int sqlite_connect(struct sqlite_store *db, struct err *err)
{
    if (db->group_lost)
        return sqlite_keep(db, err);
    if (db->db)
        return check_file(db, err);
    int rc = open_file(db, false, err);
    if (rc < 0)
        return rc;
    rc = sqlite_check_schema(db, err);
    if (rc < 0) {
        sqlite_disconnect(db);
        return rc;
    }
    db->was_open = true;
    return 0;
}

/* Closing the handle ends a transaction that calls share. */
static void keep_or_lose_group(struct sqlite_store *db)
{
    struct err ignored;
    if (!db->group_us)
        return;
    sqlite_start_clock(db, true);
    if (db->distrusted || sqlite_keep(db, &ignored) < 0)
        db->group_lost = true;
    db->group_us = 0;
}

void sqlite_disconnect(struct sqlite_store *db)
{
    if (!db->db)
        return;
    keep_or_lose_group(db);
    for (int i = 0; i < SQLITE_STATEMENTS; i++) {
        sqlite3_finalize(db->statements[i]);
        db->statements[i] = NULL;
    }
    /* Removes the persistent journal, unless another connection is writing or the handle cannot be
     * trusted. */
    db->lock_until_us = 0;
    int rc;
    bool wal = is_wal(db, &rc);         /* unknown: change nothing */
    if (rc == SQLITE_OK && !wal && !db->distrusted && sqlite3_get_autocommit(db->db) &&
        !sqlite3_db_readonly(db->db, "main"))
        sqlite3_exec(db->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    sqlite3_close_v2(db->db);
    db->db = NULL;
    db->distrusted = false;
}

/* ---- transactions ---------------------------------------------------------------------------- */

static bool in_transaction(const struct sqlite_store *db)
{
    return db->db && !sqlite3_get_autocommit(db->db);
}

static int begin_checked(struct sqlite_store *db, struct err *err)
{
    int64_t rc = sqlite_run(db, err, STATEMENT_BEGIN, NULL);
    if (rc < 0)
        return (int)rc;
    return sqlite_check_cookie(db, err);
}

/* A call of a relaxed store is a savepoint in a transaction that several calls share. */
static int begin_in_group(struct sqlite_store *db, struct err *err)
{
    db->in_call = false;
    if (!db->group_us) {
        int rc = begin_checked(db, err);
        if (rc < 0)
            return rc;
        db->group_us = clock_mono_us(db->head.clock);
    }
    int64_t rc = sqlite_run(db, err, STATEMENT_SAVEPOINT, NULL);
    if (rc < 0)
        return (int)rc;
    db->in_call = true;
    return 0;
}

int sqlite_begin(struct sqlite_store *db, struct err *err)
{
    int rc = db->relaxed ? begin_in_group(db, err) : begin_checked(db, err);
    if (rc < 0) {
        sqlite_rollback(db);
        return rc;
    }
    return 0;
}

int sqlite_keep(struct sqlite_store *db, struct err *err)
{
    if (db->group_lost)
        return err_set(err, ERR_INPUT,
                       "%s: the last calls of this replay could not be written to disk; start it again",
                       db->path);
    if (!db->group_us)
        return 0;
    int64_t rc = sqlite_run(db, err, STATEMENT_COMMIT, NULL);
    if (rc >= 0)
        db->group_us = 0;
    /* busy: the transaction stays, and the next call tries again */
    return rc < 0 ? (int)rc : 0;
}

static int commit_in_group(struct sqlite_store *db, struct err *err)
{
    struct err later;
    int64_t rc = sqlite_run(db, err, STATEMENT_RELEASE_SAVEPOINT, NULL);
    if (rc < 0)
        return (int)rc;
    db->in_call = false;
    if (clock_mono_us(db->head.clock) - db->group_us > GROUP_US)
        sqlite_keep(db, &later);
    return 0;
}

int sqlite_commit(struct sqlite_store *db, struct err *err)
{
    int64_t rc = db->relaxed ? commit_in_group(db, err) : sqlite_run(db, err, STATEMENT_COMMIT, NULL);
    if (rc < 0)
        sqlite_rollback(db);
    return rc < 0 ? (int)rc : 0;
}

/* Undoes the call: in a shared transaction only its savepoint. */
static bool undo(struct sqlite_store *db)
{
    struct err ignored;
    if (!db->group_us)
        return sqlite_run(db, &ignored, STATEMENT_ROLLBACK, NULL) >= 0;
    if (!db->in_call)
        return true;
    db->in_call = false;
    return sqlite_run(db, &ignored, STATEMENT_ROLLBACK_SAVEPOINT, NULL) >= 0 &&
           sqlite_run(db, &ignored, STATEMENT_RELEASE_SAVEPOINT, NULL) >= 0;
}

void sqlite_rollback(struct sqlite_store *db)
{
    if (!in_transaction(db))
        return;
    /* a deadline that has passed must not keep the transaction open */
    db->deadline_us = INT64_MAX;
    if (!undo(db))
        db->distrusted = true;
}

void sqlite_settle_down(struct sqlite_store *db)
{
    sqlite_rollback(db);
    if (db->distrusted)
        sqlite_disconnect(db);
}
