/* business_sqlite.c - the business database in a SQLite file, opened read-only. A query ends at its
 * deadline: the busy timeout ends a wait for a lock, the progress handler ends work. */
#include "business.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHED = 64, STEPS_BETWEEN_LOOKS = 1000 };

struct cached { sqlite3_stmt *stmt; uint64_t used; };

struct sqlite_business {
    struct business base;
    char *path;
    bool unprepared;
    sqlite3 *db;
    dev_t device;                       /* of the file that is open */
    ino_t inode;
    int64_t deadline_us;
    struct cached cache[CACHED];
    uint64_t queries;
};

static bool sqlite_claims(const char *url)
{
    return !strncmp(url, "sqlite:", 7);
}

/* "sqlite:FILE", and "sqlite://" + path as other programs write it. */
static const char *file_of(const char *url)
{
    const char *file = url + strlen("sqlite:");
    return !strncmp(file, "//", 2) ? file + 2 : file;
}

static int sqlite_open_business(const struct business_options *o, struct business **out, struct err *err)
{
    if (!*file_of(o->url))
        return err_set(err, ERR_SETTINGS, "business: 'sqlite:' names no file; expected sqlite:FILE");
    struct sqlite_business *b = calloc(1, sizeof *b);
    char *path = strdup(file_of(o->url));
    if (!b || !path) {
        free(b);
        free(path);
        return err_set(err, ERR_NOMEM, "business database: out of memory");
    }
    b->path = path;
    b->unprepared = o->unprepared;
    *out = &b->base;
    return 0;
}

static void disconnect(struct sqlite_business *b)
{
    for (int i = 0; i < CACHED; i++) {
        sqlite3_finalize(b->cache[i].stmt);
        b->cache[i] = (struct cached){ 0 };
    }
    sqlite3_close(b->db);
    b->db = NULL;
}

static void sqlite_close_business(struct business *base)
{
    struct sqlite_business *b = (struct sqlite_business *)base;
    disconnect(b);
    free(b->path);
    free(b);
}

/* The SQLSTATEs that PostgreSQL would have given, for what has nothing to do with a row. */
#define WRONG_STATEMENT "42000"
#define NO_DATABASE "08001"
#define NO_SUCH_DATABASE "3D000"

static int of_job(const char *sqlstate, int rc, struct err *err)
{
    if (err)
        memcpy(err->sqlstate, sqlstate, sizeof NO_DATABASE);
    return rc;
}

static bool is_no_database(int code)
{
    return code == SQLITE_CANTOPEN || code == SQLITE_NOTADB || code == SQLITE_PERM || code == SQLITE_AUTH;
}

/* `code`: 0, or that of a statement that was compiled before. A table that has gone since is found
 * when it is run. */
static bool is_wrong_now(struct sqlite_business *b, const char *sql, int code)
{
    sqlite3_stmt *stmt = NULL;
    bool is_wrong = code == SQLITE_ERROR && sqlite3_prepare_v2(b->db, sql, -1, &stmt, NULL) == SQLITE_ERROR;
    sqlite3_finalize(stmt);
    return is_wrong;
}

static int failed(struct sqlite_business *b, const char *doing, struct err *err)
{
    int code = sqlite3_errcode(b->db) & 0xff;
    if (code == SQLITE_INTERRUPT || (code == SQLITE_BUSY && business_remaining_ms(b->deadline_us) == 0))
        return err_set(err, ERR_BUSY, "business database: %s: out of time", doing);
    int rc = err_set(err, code == SQLITE_BUSY ? ERR_BUSY : ERR_GENERAL, "business database: %s: %s", doing,
                     sqlite3_errmsg(b->db));
    return is_no_database(code) ? of_job(NO_DATABASE, rc, err) : rc;
}

static bool is_damaged(int code)
{
    return code == SQLITE_IOERR || code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_CANTOPEN;
}

static int deadline_passed(void *ctx)
{
    const struct sqlite_business *b = ctx;
    return business_now_us() >= b->deadline_us;
}

/* By default SQLite reads a quoted name that no column has as a string, so a misspelt "shiped_at"
 * would not be NULL, and every order would be shipped. A schema that has such strings can still be
 * opened: they are not looked at again. */
static void refuse_quoted_strings(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
}

/* What took its place has the name now, and may be reached by a link that was switched. */
static bool is_same_file(const struct sqlite_business *b)
{
    struct stat now;
    return stat(b->path, &now) == 0 && now.st_dev == b->device && now.st_ino == b->inode;
}

static int connect_file(struct sqlite_business *b, struct err *err)
{
    struct stat before = { 0 };
    if (b->db && is_same_file(b))
        return 0;
    disconnect(b);
    /* before it is opened: what takes its place meanwhile is noticed by the next query */
    (void)!stat(b->path, &before);
    b->device = before.st_dev;
    b->inode = before.st_ino;
    if (sqlite3_open_v2(b->path, &b->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        err_set(err, ERR_LOST, "business database: cannot open %s: %s", b->path,
                b->db ? sqlite3_errmsg(b->db) : "out of memory");
        disconnect(b);
        bool is_missing = access(b->path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR);
        return is_missing ? of_job(NO_SUCH_DATABASE, ERR_LOST, err) : ERR_LOST;
    }
    refuse_quoted_strings(b->db);
    sqlite3_progress_handler(b->db, STEPS_BETWEEN_LOOKS, deadline_passed, b);
    return 0;
}

/* The statement of this text: the cached one, else a new one in the place of the one that has not
 * been used for longest. */
static int prepare(struct sqlite_business *b, const char *sql, sqlite3_stmt **out, struct err *err)
{
    struct cached *oldest = &b->cache[0];
    for (int i = 0; i < CACHED; i++) {
        struct cached *c = &b->cache[i];
        if (c->stmt && !b->unprepared && !strcmp(sqlite3_sql(c->stmt), sql)) {
            c->used = b->queries;
            *out = c->stmt;
            return 0;
        }
        if (c->used < oldest->used)
            oldest = c;
    }
    sqlite3_stmt *stmt = NULL;
    const char *tail = NULL;
    if (sqlite3_prepare_v3(b->db, sql, -1, b->unprepared ? 0 : SQLITE_PREPARE_PERSISTENT, &stmt, &tail) !=
        SQLITE_OK) {
        bool is_wrong = (sqlite3_errcode(b->db) & 0xff) == SQLITE_ERROR;
        int rc = failed(b, "prepare", err);
        return is_wrong ? of_job(WRONG_STATEMENT, rc, err) : rc;
    }
    if (!stmt)
        return of_job(WRONG_STATEMENT, err_set(err, ERR_GENERAL, "business database: the query is empty"),
                      err);
    if (tail[strspn(tail, " \t\r\n;")] || !sqlite3_stmt_readonly(stmt)) {
        sqlite3_finalize(stmt);
        err_set(err, ERR_GENERAL, "business database: expected one statement that only reads");
        return of_job(WRONG_STATEMENT, ERR_GENERAL, err);
    }
    sqlite3_finalize(oldest->stmt);
    *oldest = (struct cached){ stmt, b->queries };
    *out = stmt;
    return 0;
}

/* $2 and ?2 are parameter 2. SQLite itself takes $2 for a name and numbers names in their order. */
static int parameter_number(sqlite3_stmt *stmt, int i)
{
    const char *name = sqlite3_bind_parameter_name(stmt, i);
    if (!name)
        return i;
    char *end;
    long number = strtol(name + 1, &end, 10);
    if (*end || end == name + 1 || number < 1 || number > 32766)
        return 0;
    return (int)number;
}

static int bind_all(struct sqlite_business *b, sqlite3_stmt *stmt, const struct prescient_value *params,
                    int n, struct err *err)
{
    int places = sqlite3_bind_parameter_count(stmt);
    for (int i = 1; i <= places; i++) {
        int number = parameter_number(stmt, i);
        if (number < 1 || number > n) {
            const char *name = sqlite3_bind_parameter_name(stmt, i);
            err_set(err, ERR_GENERAL, "business database: the query has a parameter %s, expected $1 to $%d",
                    name ? name : "?", n);
            return of_job(WRONG_STATEMENT, ERR_GENERAL, err);
        }
        const struct prescient_value *p = &params[number - 1];
        int rc = p->text ? sqlite3_bind_text64(stmt, i, p->text, p->len, SQLITE_STATIC, SQLITE_UTF8)
                         : sqlite3_bind_null(stmt, i);
        if (rc != SQLITE_OK)
            return failed(b, "bind", err);
    }
    return 0;
}

static bool take_row(struct arena *a, sqlite3_stmt *stmt, struct prescient_value *row, int columns)
{
    for (int c = 0; c < columns; c++) {
        row[c] = (struct prescient_value){ NULL, 0 };
        if (sqlite3_column_type(stmt, c) == SQLITE_NULL)
            continue;
        const char *text = (const char *)sqlite3_column_text(stmt, c);
        size_t len = (size_t)sqlite3_column_bytes(stmt, c);
        row[c].text = text ? arena_strndup(a, text, len) : NULL;
        row[c].len = len;
        if (!row[c].text)
            return false;
    }
    return true;
}

/* Room for one row more; doubles by copying, as an arena cannot grow a piece. */
static struct prescient_value *grow(struct arena *a, struct prescient_value *values, int rows, int columns,
                                    int *room)
{
    if (rows < *room)
        return values;
    int more = *room ? *room * 2 : 16;
    struct prescient_value *bigger = arena_alloc(a, (size_t)more * (size_t)columns * sizeof *bigger);
    if (bigger && rows)
        memcpy(bigger, values, (size_t)rows * (size_t)columns * sizeof *bigger);
    *room = more;
    return bigger;
}

static int read_rows(struct sqlite_business *b, sqlite3_stmt *stmt, struct err *err)
{
    struct arena *a = b->base.arena;
    struct prescient_rows *out = &b->base.rows;
    int columns, rows = 0, room = 0, rc;
    struct prescient_value *values = NULL;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        /* the first step prepares again when a table has changed */
        columns = sqlite3_column_count(stmt);
        values = grow(a, values, rows, columns, &room);
        if (!values || !take_row(a, stmt, values + (size_t)rows * (size_t)columns, columns))
            return err_set(err, ERR_NOMEM, "business database: out of memory after %d rows", rows);
        rows++;
    }
    if (rc != SQLITE_DONE)
        return failed(b, "query", err);
    columns = sqlite3_column_count(stmt);
    const char **names = arena_alloc(a, ((size_t)columns + 1) * sizeof *names);
    bool is_whole = names != NULL;
    for (int c = 0; is_whole && c < columns; c++)
        is_whole = (names[c] = arena_strdup(a, sqlite3_column_name(stmt, c)));
    if (!is_whole)
        return err_set(err, ERR_NOMEM, "business database: out of memory");
    *out = (struct prescient_rows){ .size = sizeof *out, .rows = rows, .columns = columns,
                                    .names = names, .values = values };
    return 0;
}

static int sqlite_query(struct business *base, const char *sql, const struct prescient_value *params, int n,
                        int64_t deadline_us, struct err *err)
{
    struct sqlite_business *b = (struct sqlite_business *)base;
    sqlite3_stmt *stmt = NULL;
    b->deadline_us = deadline_us;
    b->queries++;
    int rc = connect_file(b, err);
    if (rc < 0)
        return rc;
    sqlite3_busy_timeout(b->db, business_remaining_ms(deadline_us));
    rc = prepare(b, sql, &stmt, err);
    if (rc < 0)
        return rc;
    rc = bind_all(b, stmt, params, n, err);
    if (rc == 0)
        rc = read_rows(b, stmt, err);
    int code = rc ? sqlite3_errcode(b->db) & 0xff : 0;
    sqlite3_reset(stmt);                /* releases its read lock */
    sqlite3_clear_bindings(stmt);
    if (is_damaged(code))
        disconnect(b);                  /* the file may have been replaced: the next query opens it again */
    else if (is_wrong_now(b, sql, code))
        return of_job(WRONG_STATEMENT, rc, err);
    return rc;
}

const struct business_ops business_sqlite_ops = {
    .dialect = "sqlite",
    .claims = sqlite_claims,
    .open = sqlite_open_business,
    .close = sqlite_close_business,
    .query = sqlite_query,
};
