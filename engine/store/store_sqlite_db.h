/* store_sqlite_db.h - one connection to a SQLite file: opening, checks that it is still the same
 * file, kept statements, and failures as ERR_ codes with messages. Only the store_sqlite files
 * include it. */
#ifndef PRESCIENT_STORE_SQLITE_DB_H
#define PRESCIENT_STORE_SQLITE_DB_H

#include <sqlite3.h>
#include <sys/types.h>

#include "migrate.h"
#include "store_ops.h"
#include "sqlite_statements.h"
#include "store_sqlite_answers.h"

struct sqlite_store {
    struct store head;
    char *path;
    char *engine;                       /* NULL outside an engine */
    int32_t slot_length_wanted_s;       /* the length in the settings; 0: any */
    int64_t statement_timeout_us, lock_timeout_us;
    sqlite3 *db;                        /* NULL: not connected; the next call opens it */
    dev_t device;                       /* of the file that is open */
    ino_t inode;
    sqlite3_stmt *statements[SQLITE_STATEMENTS];  /* those prepared so far */
    struct sqlite_answers answers;      /* of the current settle: the table prescient_answers */
    int64_t deadline_us;                /* of the current call, by the monotonic clock */
    /* how long the current statement may wait for a lock, by the monotonic clock */
    int64_t lock_until_us;
    /* the schema cookie (PRAGMA schema_version) when the schema was checked */
    int64_t schema_cookie;
    int schema_version;
    /* a replay: calls share a transaction, which is committed at intervals and by a hello */
    bool relaxed;
    bool reads_only;                /* SQLite refuses what would write */
    /* when the shared transaction began, by the monotonic clock; 0: none is open */
    int64_t group_us;
    bool in_call;                       /* a call's savepoint is open in the shared transaction */
    /* the shared transaction was lost, and with it calls that had already succeeded */
    bool group_lost;
    bool may_write; /* this user has the rights to the file and its folder: asked once a handle */
    bool was_open;  /* the file existed once: if it is missing now, it was removed */
    /* Close the handle. After an I/O error its cache may differ from the disk. A handle that SQLite
     * could open only for reading, for instance for lack of a descriptor, never writes again. */
    bool distrusted;
};

/* Opens the file and checks its schema. If it is open already, checks that its path still leads to
 * the same file: ERR_LOST when it was replaced or removed. ERR_SCHEMA when there is no file or no
 * schema. */
int sqlite_connect(struct sqlite_store *db, struct err *err);
bool sqlite_has_moved(struct sqlite_store *db);     /* the path leads to another file, or to none */
/* ERR_LOST where the path does not lead to the file that is open. Each transaction begins with it:
 * SQLite finds a journal by its name, takes that of the new file for one that a crash has left, and
 * rolls it back, in the old file, and removes it. */
int sqlite_check_file(struct sqlite_store *db, struct err *err);
/* Opens the file, creates it if it is missing, and checks nothing. For migrations. */
int sqlite_create(struct sqlite_store *db, struct err *err);
void sqlite_disconnect(struct sqlite_store *db);

/* ---- its schema (store_sqlite_check.c) ---- */

/* ERR_SCHEMA: there is none, or none for this program. ERR_SETTINGS, ERR_CHANGED: its slots have
 * another length than the settings say, or than before. */
int sqlite_check_schema(struct sqlite_store *db, struct err *err);
/* The same where the schema has changed since it was checked. */
int sqlite_check_cookie(struct sqlite_store *db, struct err *err);
/* Whether migrations of other names have made it (migrate.h). The table of migrations exists. */
int sqlite_find_unreleased(struct sqlite_store *db, bool *is_unreleased, struct err *err);
/* The messages about a file of an unreleased program, or of a newer one: ERR_SCHEMA. */
int sqlite_refuse_unreleased(const struct sqlite_store *db, struct err *err);
int sqlite_refuse_newer(const struct sqlite_store *db, const struct migrate_state *found, struct err *err);

/* Whether this user may read the file, or write it and what SQLite keeps beside it: 0; ERR_LOST,
 * ERR_REASON_DENIED and words for who may change that (store_sqlite_rights.c). */
int sqlite_check_rights(const struct sqlite_store *db, bool writes, struct err *err);

/* Whether this version of SQLite (a number like 3046001) keeps all transactions of a write-ahead
 * log; whether the file has such a log. */
bool sqlite_wal_is_safe(int version);
bool sqlite_has_wal(struct sqlite_store *db);

/* The connection gives up waiting for a lock, or a statement, when its deadline is over. */
void sqlite_heed_deadlines(struct sqlite_store *db);
/* Sets the deadlines of the call that begins now. A patient call may wait for a lock until its own
 * deadline. */
void sqlite_start_clock(struct sqlite_store *db, bool patient);
/* For a lock, from now on, in this call. */
void sqlite_wait_at_most(struct sqlite_store *db, int ms);

/* Begins a writing transaction, and checks the schema again if it has changed. ERR_BUSY when others
 * write for longer than the lock timeout. */
int sqlite_begin(struct sqlite_store *db, struct err *err);
int sqlite_commit(struct sqlite_store *db, struct err *err);
/* Commits the shared transaction of a relaxed store, if there is one. */
int sqlite_keep(struct sqlite_store *db, struct err *err);
void sqlite_rollback(struct sqlite_store *db); /* without an open transaction it does nothing */
/* Ends every call: rolls back what is still open, and closes a handle that cannot be trusted. */
void sqlite_settle_down(struct sqlite_store *db);

/* Runs a statement to its end: the number of changed rows, or a negative ERR_. `in` is the struct
 * of its parameters. */
int64_t sqlite_run_statement(struct sqlite_store *db, struct err *err, enum sqlite_statement which,
                             const void *in);
#define sqlite_run(db, err, statement, ...)                                                                  \
    sqlite_run_statement((db), (err), (statement), SQL_IN(statement, __VA_ARGS__))

/* Runs a query: 1 and *row, whose columns are valid until sqlite_done(); 0 without a row; or a
 * negative ERR_. Values that `in` points to must live until sqlite_done(). */
int sqlite_begin_query(struct sqlite_store *db, struct err *err, sqlite3_stmt **row,
                       enum sqlite_statement which, const void *in);
#define sqlite_query(db, err, row, statement, ...)                                                           \
    sqlite_begin_query((db), (err), (row), (statement), SQL_IN(statement, __VA_ARGS__))
int sqlite_next(struct sqlite_store *db, struct err *err, sqlite3_stmt *row);
void sqlite_done(sqlite3_stmt *row);          /* ends a query; NULL is fine */

/* Reads the row into the struct of the statement's columns; texts are valid until the next row or
 * sqlite_done(). 0; ERR_DATA when a column is not of its declared type; ERR_NOMEM. */
int sqlite_read_columns(sqlite3_stmt *row, enum sqlite_statement which, void *out);
#define sqlite_columns(row, statement, ...)                                                                  \
    sqlite_read_columns((row), (statement), SQL_OUT(statement, __VA_ARGS__))

/* Runs a query of at most one row, without texts: 1; 0 and *out all zero without a row; or a
 * negative ERR_. */
int sqlite_ask_row(struct sqlite_store *db, struct err *err, enum sqlite_statement which, void *out,
                   size_t size, const void *in);
#define sqlite_ask(db, err, statement, out, ...)                                                             \
    sqlite_ask_row((db), (err), (statement), SQL_OUT(statement, out), sizeof *(out),                         \
                   SQL_IN(statement, __VA_ARGS__))

/* Sets err to the code and the message of the connection's last failure `rc`; returns the code. */
int sqlite_fail(struct sqlite_store *db, int rc, struct err *err);

/* Prepares a statement that is not kept; the caller finalizes it. */
int sqlite_prepare(struct sqlite_store *db, const char *sql, sqlite3_stmt **out, struct err *err);
int sqlite_exec(struct sqlite_store *db, const char *sql, struct err *err);

int64_t sqlite_clock_us(const struct sqlite_store *db);
/* `now` in virtual time, else the machine's clock, in seconds. */
int64_t sqlite_now(const struct sqlite_store *db, int64_t now);

#endif
