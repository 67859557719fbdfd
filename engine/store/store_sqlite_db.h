/* store_sqlite_db.h - one connection to a SQLite file: opened, watched, its statements kept, its
 * failures put into words. Included by the store_sqlite files only. */
#ifndef PRESCIENT_STORE_SQLITE_DB_H
#define PRESCIENT_STORE_SQLITE_DB_H

#include <sqlite3.h>

#include "store_ops.h"
#include "sqlite_statements.h"
#include "store_sqlite_answers.h"

struct sqlite_store {
    struct store head;
    char *path;
    char *engine;                       /* NULL outside an engine */
    int32_t slot_length_wanted_s;       /* what the settings say; 0: any */
    int64_t statement_timeout_us, lock_timeout_us;
    sqlite3 *db;                        /* NULL: not connected; the next call opens it */
    sqlite3_stmt *statements[SQLITE_STATEMENTS];  /* those prepared so far */
    struct sqlite_answers answers;      /* of the settle under way: the table prescient_answers */
    int64_t deadline_us;                /* monotonic, of the call under way */
    int64_t lock_until_us;              /* monotonic: how long the statement under way may wait for a lock */
    int64_t schema_cookie;              /* of the schema that was checked when the file was opened */
    int schema_version;
    /* a replay: calls share a transaction, committed now and then and by a hello */
    bool relaxed;
    int64_t group_us;                   /* when the shared transaction began, monotonic; 0: none is open */
    bool in_call;                       /* a call's savepoint is open in it */
    /* it could not be kept: what earlier calls were told is not true any more */
    bool group_lost;
    bool was_open;                      /* it was there once: when it is missing now, somebody took it away */
    /* close it: after an I/O error what it believes may not be what the disk holds; and a handle
     * that SQLite could only open for reading, for want of a descriptor, say, never writes again */
    bool distrusted;
};

/* Opens the file and checks its schema, or, when that is done already, looks whether it is still
 * the file at that path: ERR_LOST when it was replaced or removed. ERR_SCHEMA when there is no
 * file or no schema yet. */
int sqlite_connect(struct sqlite_store *db, struct err *err);
/* Opens the file, made when it is missing, and looks at nothing in it. For migrations. */
int sqlite_create(struct sqlite_store *db, struct err *err);
void sqlite_disconnect(struct sqlite_store *db);
/* ERR_SCHEMA when what was applied to this file serves only programs that know more than this one.
 */
int sqlite_refuse_newer(struct sqlite_store *db, struct err *err);

/* Whether a SQLite of that number (3046001) keeps what was written to a write-ahead log; whether
 * the file has one. */
bool sqlite_wal_is_safe(int version);
bool sqlite_has_wal(struct sqlite_store *db);

/* The deadlines of the call that begins now. A patient one waits for a lock as long as it may take
 * at all. */
void sqlite_start_clock(struct sqlite_store *db, bool patient);

/* A writing transaction, on the schema that was checked when the file was opened, or one that fits
 * as well. ERR_BUSY when others write for longer than the lock timeout. */
int sqlite_begin(struct sqlite_store *db, struct err *err);
int sqlite_commit(struct sqlite_store *db, struct err *err);
/* of a relaxed store: what is not committed yet is; else nothing */
int sqlite_keep(struct sqlite_store *db, struct err *err);
void sqlite_rollback(struct sqlite_store *db); /* nothing when no transaction is open */
/* the end of every call: no transaction is left open, a distrusted handle is closed */
void sqlite_settle_down(struct sqlite_store *db);

/* Runs the statement to its end, with the struct of its parameters: rows changed, or a negative
 * ERR_. */
int64_t sqlite_run_statement(struct sqlite_store *db, struct err *err, enum sqlite_statement which,
                             const void *in);
#define sqlite_run(db, err, statement, ...)                                                                  \
    sqlite_run_statement((db), (err), (statement), SQL_IN(statement, __VA_ARGS__))

/* A query: 1 and *row, whose columns may be read until sqlite_done(), 0 when there is none, or a
 * negative ERR_. What the parameters point to must live until then. */
int sqlite_begin_query(struct sqlite_store *db, struct err *err, sqlite3_stmt **row,
                       enum sqlite_statement which, const void *in);
#define sqlite_query(db, err, row, statement, ...)                                                           \
    sqlite_begin_query((db), (err), (row), (statement), SQL_IN(statement, __VA_ARGS__))
int sqlite_next(struct sqlite_store *db, struct err *err, sqlite3_stmt *row);
void sqlite_done(sqlite3_stmt *row);          /* NULL is fine */

/* The row as the struct of the statement's columns; its texts last until the next row or
 * sqlite_done(). 0; ERR_DATA when a column does not hold what is declared, and was converted;
 * ERR_NOMEM. */
int sqlite_read_columns(sqlite3_stmt *row, enum sqlite_statement which, void *out);
#define sqlite_columns(row, statement, ...)                                                                  \
    sqlite_read_columns((row), (statement), SQL_OUT(statement, __VA_ARGS__))

/* A query of one row at most that has no texts: 1; 0 and *out all zero when there is none; or a
 * negative ERR_. */
int sqlite_ask_row(struct sqlite_store *db, struct err *err, enum sqlite_statement which, void *out,
                   size_t size, const void *in);
#define sqlite_ask(db, err, statement, out, ...)                                                             \
    sqlite_ask_row((db), (err), (statement), SQL_OUT(statement, out), sizeof *(out),                         \
                   SQL_IN(statement, __VA_ARGS__))

/* The words and the code of the failure `rc` that the connection just had. */
int sqlite_fail(struct sqlite_store *db, int rc, struct err *err);

/* Prepares what is not kept; the caller finalizes it. */
int sqlite_prepare(struct sqlite_store *db, const char *sql, sqlite3_stmt **out, struct err *err);
int sqlite_exec(struct sqlite_store *db, const char *sql, struct err *err);

int64_t sqlite_clock_us(const struct sqlite_store *db);
/* The time that counts: `now` when it is virtual, else the clock's. In seconds. */
int64_t sqlite_now(const struct sqlite_store *db, int64_t now);

#endif
