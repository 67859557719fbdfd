/* store_sqlite_session.c - a connection to a SQLite file from its opening to its end, whether it is
 * still the same file, and transactions. */
#include "store_sqlite_db.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "store_sqlite_functions.h"

#define GROUP_US (250 * 1000)            /* how long calls of a relaxed store share a transaction */
#define CACHE_KIB 32768
#define JOURNAL_LIMIT (16 << 20)  /* bytes of a journal that stay on disk between transactions */

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
    sqlite_heed_deadlines(db);
    sqlite3_snprintf(sizeof pragmas, pragmas,
                     "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; "
                     "PRAGMA cache_size = -%d; "
                     "PRAGMA journal_size_limit = %d%s",
                     CACHE_KIB, JOURNAL_LIMIT,
                     /* spilling would block the jobs' own reads */
                     db->relaxed ? "; PRAGMA cache_spill = OFF" : "");
    int rc = sqlite_answers_register(db->db, &db->answers);
    if (rc == SQLITE_OK)
        rc = sqlite_functions_register(db->db);
    if (rc != SQLITE_OK)
        return sqlite_fail(db, rc, err);
    rc = sqlite_exec(db, pragmas, err);
    if (rc < 0)
        return rc;
    rc = choose_journal(db, is_new, err);
    return rc < 0 || !db->reads_only ? rc : sqlite_exec(db, "PRAGMA query_only = ON", err);
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

/* Nor does a folder, a fifo or a device become a file. */
static int refuse_no_file(const struct sqlite_store *db, const struct stat *st, struct err *err)
{
    const char *what = S_ISDIR(st->st_mode) ? "a folder" : "no regular file";
    return err_set(err, db->was_open ? ERR_LOST : ERR_SETTINGS,
                   "%s is %s: correct `store`, which names a file", db->path, what);
}

/* `before`: what the path led to when it was opened, so that what took its place meanwhile is
 * noticed. NULL: nothing. */
static void note_file(struct sqlite_store *db, const struct stat *before)
{
    struct stat st = { 0 };
    if (!before && stat(db->path, &st) == 0)
        before = &st;
    db->device = before ? before->st_dev : 0;
    db->inode = before ? before->st_ino : 0;
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
    if (!missing && st.st_mode && !S_ISREG(st.st_mode))
        return refuse_no_file(db, &st, err);
    rc = sqlite3_open_v2(db->path, &db->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0),
                             NULL);
    note_file(db, missing ? NULL : &st);
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

int sqlite_connect(struct sqlite_store *db, struct err *err)
{
    if (db->group_lost)
        return sqlite_keep(db, err);
    if (db->db)
        return sqlite_check_file(db, err);
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

/* For want of room, memory or time, SQLite itself rolls the whole transaction back, with all calls
 * that share it. */
static void note_lost_group(struct sqlite_store *db)
{
    if (!db->group_us || !db->db || !sqlite3_get_autocommit(db->db))
        return;
    db->group_lost = true;
    db->in_call = false;
    db->group_us = 0;
}

void sqlite_disconnect(struct sqlite_store *db)
{
    if (!db->db)
        return;
    db->distrusted = db->distrusted || sqlite_has_moved(db);
    keep_or_lose_group(db);
    for (int i = 0; i < SQLITE_STATEMENTS; i++) {
        sqlite3_finalize(db->statements[i]);
        db->statements[i] = NULL;
    }
    /* Removes the persistent journal, unless another connection is writing or the handle cannot be
     * trusted: where the file was replaced, the name is that of another one's journal. It waits for
     * nobody; what comes after it waits as ever. */
    int64_t lock_until_us = db->lock_until_us;
    int rc;
    db->lock_until_us = 0;
    bool wal = is_wal(db, &rc);         /* unknown: change nothing */
    if (rc == SQLITE_OK && !wal && !db->distrusted && sqlite3_get_autocommit(db->db) &&
        !sqlite3_db_readonly(db->db, "main"))
        sqlite3_exec(db->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    sqlite3_close_v2(db->db);
    db->lock_until_us = lock_until_us;
    db->db = NULL;
    db->distrusted = db->may_write = false;
}

/* ---- transactions ---------------------------------------------------------------------------- */

static bool in_transaction(const struct sqlite_store *db)
{
    return db->db && !sqlite3_get_autocommit(db->db);
}

/* Before there is anything to write: on a file that may only be read, SQLite begins a transaction
 * and refuses the first row. A handle that is refused is closed, so the next call asks anew. */
static int check_may_write(struct sqlite_store *db, struct err *err)
{
    if (db->may_write)
        return 0;
    int rc = sqlite_check_rights(db, true, err);
    db->may_write = rc == 0;
    db->distrusted = db->distrusted || rc < 0;
    return rc;
}

static int begin_checked(struct sqlite_store *db, struct err *err)
{
    int denied = check_may_write(db, err);
    if (denied < 0)
        return denied;
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
    else
        note_lost_group(db);
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
    note_lost_group(db);
    sqlite_rollback(db);
    if (db->distrusted)
        sqlite_disconnect(db);
}
