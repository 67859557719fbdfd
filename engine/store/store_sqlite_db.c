/* store_sqlite_db.c - one connection to a SQLite file: how long it waits, kept statements, and
 * failures as ERR_ codes with messages. It does not depend on checks and slots. */
#include "store_sqlite_db.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Virtual machine steps between two checks of the deadline: well under a millisecond. */
#define PROGRESS_STEPS 20000

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

/* The wrong file, as a wrong database is: waiting does not help. One that was a database before is
 * damaged, or is being restored. */
static int refuse_not_a_database(const struct sqlite_store *db, struct err *err)
{
    err_set(err, db->was_open ? ERR_LOST : ERR_SETTINGS,
            "%s is no SQLite database, or an encrypted one: correct `store`", db->path);
    if (err && db->was_open)
        err->reason = ERR_REASON_REFUSED;
    return db->was_open ? ERR_LOST : ERR_SETTINGS;
}

/* Results that a refused right may be behind, or something else: no descriptor is left, the disk is
 * mounted for reading only. */
static bool is_about_rights(int primary)
{
    return primary == SQLITE_READONLY || primary == SQLITE_CANTOPEN || primary == SQLITE_PERM;
}

int sqlite_fail(struct sqlite_store *db, int rc, struct err *err)
{
    const char *message = db->db ? sqlite3_errmsg(db->db) : sqlite3_errstr(rc);
    int extended = db->db ? sqlite3_extended_errcode(db->db) : rc;
    int primary = rc & 0xff;
    if (primary == SQLITE_IOERR || primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB ||
        primary == SQLITE_READONLY)
        db->distrusted = true;
    if (is_about_rights(primary) && sqlite_check_rights(db, true, err) < 0)
        return err ? err->code : ERR_LOST;
    if (primary == SQLITE_NOTADB)
        return refuse_not_a_database(db, err);
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

void sqlite_heed_deadlines(struct sqlite_store *db)
{
    sqlite3_busy_handler(db->db, wait_for_lock, db);
    sqlite3_progress_handler(db->db, PROGRESS_STEPS, is_too_late, db);
}

/* ---- statements ------------------------------------------------------------------------------ */

/* SQLite looks at the name that the path led to when the file was opened, and by the number of its
 * inode alone; a symbolic link may lead elsewhere by now. */
bool sqlite_has_moved(struct sqlite_store *db)
{
    int moved = 0;
    struct stat now;
    if (sqlite3_file_control(db->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
        return true;
    return stat(db->path, &now) < 0 || now.st_dev != db->device || now.st_ino != db->inode;
}

int sqlite_check_file(struct sqlite_store *db, struct err *err)
{
    if (!sqlite_has_moved(db))
        return 0;
    db->distrusted = true;
    err_set(err, ERR_LOST,
            "%s was replaced or removed while it was in use: nothing was written to what had been opened",
            db->path);
    err->reason = ERR_REASON_REFUSED;
    return err->code;
}

/* Outside a transaction each statement is one. */
static int check_beginning(struct sqlite_store *db, struct err *err)
{
    return sqlite3_get_autocommit(db->db) ? sqlite_check_file(db, err) : 0;
}

int sqlite_prepare(struct sqlite_store *db, const char *sql, sqlite3_stmt **out, struct err *err)
{
    int rc = check_beginning(db, err);
    if (rc < 0)
        return rc;
    rc = sqlite3_prepare_v2(db->db, sql, -1, out, NULL);
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
    int rc = check_beginning(db, err);
    if (rc < 0)
        return rc;
    rc = kept_statement(db, which, out, err);
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
