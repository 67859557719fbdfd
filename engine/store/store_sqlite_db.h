/* store_sqlite_db.h - one connection to a SQLite file: opened, watched, its statements kept, its
 * failures put into words. Included by the store_sqlite files only. */
#ifndef PRESCIENT_STORE_SQLITE_DB_H
#define PRESCIENT_STORE_SQLITE_DB_H

#include <sqlite3.h>

#include "store_ops.h"
#include "store_sqlite_answers.h"

/* Statements that stay prepared; the names are those of the blocks in store_sqlite.sql. */
#define SQLITE_STATEMENTS(X)                                                                                 \
    X(begin)                                                                                                 \
    X(commit)                                                                                                \
    X(rollback) X(savepoint) X(release_savepoint) X(rollback_savepoint) X(schema_cookie) X(has_schema)       \
        X(schema_version) X(slot_state) X(slot_count) X(slot_open) X(slot_has_rows) X(slot_reopen)           \
            X(lease_look) X(lease_take) X(lease_held) X(renew) X(release) X(read_page) X(settle_look)        \
                X(settle_archive) X(settle_anew) X(settle_delete) X(settle_move) X(settle_run)               \
                    X(effect_emit) X(effect_enqueue) X(resolve) X(finish_look) X(finish) X(relook_close)     \
                        X(relook_leases) X(relook) X(late_slot) X(swept_until) X(mark_swept) X(full_look_at) \
                            X(note_full_look) X(migration_find) X(migration_add) X(slot_length)              \
                                X(set_slot_length) X(reslot_leases) X(reslot_table) X(reslot_indexes)        \
                                    X(reslot_copy) X(reslot_forget_sequence) X(reslot_keep_sequence)         \
                                        X(pending_row) X(pending_count) X(events_handed_out) X(enqueue)      \
                                            X(reschedule) X(load_new) X(prune_history) X(prune_runs)         \
                                                X(prune_passes) X(prune_events) X(prune_history_count)       \
                                                    X(prune_runs_count) X(prune_passes_count)                \
                                                        X(prune_events_count) X(prune_claim)

enum sqlite_statement {
#define STATEMENT_ENUM(name) STATEMENT_##name,
    SQLITE_STATEMENTS(STATEMENT_ENUM)
#undef STATEMENT_ENUM
        STATEMENTS_END
};

struct sqlite_store {
    struct store head;
    char *path;
    char *engine;                       /* NULL outside an engine */
    int32_t slot_length_wanted_s;       /* what the settings say; 0: any */
    int64_t statement_timeout_us, lock_timeout_us;
    sqlite3 *db;                        /* NULL: not connected; the next call opens it */
    sqlite3_stmt *statements[STATEMENTS_END];
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

/* Binds by `format`, one letter a parameter: i int64_t, p pointer to one or NULL, t text or NULL,
 * o owner of a lease. What is bound must live until the statement is done. Then runs the statement
 * to its end: rows changed, or a negative ERR_. */
int64_t sqlite_run(struct sqlite_store *db, struct err *err, enum sqlite_statement which, const char *format,
                   ...);

/* The same for a query: 1 and *row, whose columns may be read until sqlite_done(), 0 when there is
 * none, or a negative ERR_. */
int sqlite_query(struct sqlite_store *db, struct err *err, sqlite3_stmt **row, enum sqlite_statement which,
                 const char *format, ...);
int sqlite_next(struct sqlite_store *db, struct err *err, sqlite3_stmt *row);
void sqlite_done(sqlite3_stmt *row); /* NULL is fine */

/* One integer of one row (0 when there is none or it is NULL). */
int sqlite_number(struct sqlite_store *db, struct err *err, int64_t *out, enum sqlite_statement which,
                  const char *format, ...);

/* The words and the code of the failure `rc` that the connection just had. */
int sqlite_fail(struct sqlite_store *db, int rc, struct err *err);

/* Prepares what is not kept; the caller finalizes it. */
int sqlite_prepare(struct sqlite_store *db, const char *sql, sqlite3_stmt **out, struct err *err);
int sqlite_exec(struct sqlite_store *db, const char *sql, struct err *err);

int64_t sqlite_clock_us(const struct sqlite_store *db);
/* The time that counts: `now` when it is virtual, else the clock's. In seconds. */
int64_t sqlite_now(const struct sqlite_store *db, int64_t now);

#endif
