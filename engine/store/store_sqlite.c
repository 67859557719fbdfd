/* store_sqlite.c - the SQLite store: each call runs to its end inside store_begin, in one
 * transaction when it writes. No server and nothing to poll; what the calls do stands in the
 * store_sqlite_ files beside this one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_sqlite_calls.h"

static int lite_hello(struct lite *db, struct store_call *call)
{
    struct store_hello *hello = (struct store_hello *)call;
    hello->now_us = lite_clock_us(db);
    hello->slot_length_s = db->head.slot_length_s;
    hello->schema_version = db->schema_version;
    hello->read_only = sqlite3_db_readonly(db->db, "main") == 1;
    snprintf(hello->server, sizeof hello->server, "SQLite %s", sqlite3_libversion());
    int rc = lite_number(db, &call->err, &hello->full_look_at, LITE_full_look_at, "");
    return rc < 0 ? rc : lite_keep(db, &call->err);
}

static int lite_keep_days(struct lite *db, struct store_call *call)
{
    (void)db;
    ((struct store_keep_days *)call)->made = ((struct store_keep_days *)call)->indexed = 0;
    *((struct store_keep_days *)call)->noted = '\0';
    return 0;
}

static const struct {
    int (*run)(struct lite *db, struct store_call *call);
    bool writes;
} calls[STORE_OPS] = {
    [STORE_HELLO] = { lite_hello, false },
    [STORE_OPEN_SLOT] = { lite_open_slot, true },
    [STORE_RENEW] = { lite_renew, true },
    [STORE_READ_PAGE] = { lite_read_page, false },
    [STORE_SETTLE] = { lite_settle, true },
    [STORE_FINISH] = { lite_finish, true },
    [STORE_RELEASE] = { lite_release, true },
    [STORE_RELOOK] = { lite_relook, true },
    [STORE_PULSE] = { lite_pulse, false },
    [STORE_LATE_SLOT] = { lite_late_slot, false },
    [STORE_MARK_SWEPT] = { lite_mark_swept, true },
    [STORE_KEEP_DAYS] = { lite_keep_days, false },
    [STORE_PRUNE] = { lite_prune, true },
    [STORE_REPORT] = { lite_report, false },
};

static int run_call(struct lite *db, struct store_call *call)
{
    bool is_report = call->op == STORE_REPORT;
    bool writes = calls[call->op].writes || (is_report && lite_report_writes((struct store_report *)call));
    lite_start_clock(db, is_report);
    int rc = lite_connect(db, &call->err);
    rc = rc < 0 || !writes ? rc : lite_begin(db, &call->err);
    rc = rc < 0 ? rc : calls[call->op].run(db, call);
    if (rc >= 0 && writes)
        rc = lite_commit(db, &call->err);
    lite_settle_down(db);
    if (rc == ERR_DATA && is_report)            /* what was refused came from the user, not from a job */
        rc = call->err.code = ERR_INPUT;
    return rc < 0 ? rc : 0;
}

static void sqlite_begin(struct store *st, struct store_call *call)
{
    call->rc = run_call((struct lite *)st, call);
    if (call->rc == 0)
        err_clear(&call->err);
}

static bool sqlite_step(struct store *st) { (void)st; return true; }
static int sqlite_fd(const struct store *st) { (void)st; return -1; }
static short sqlite_wants(const struct store *st) { (void)st; return 0; }
static int64_t sqlite_deadline_us(const struct store *st) { (void)st; return INT64_MAX; }
static void sqlite_abandon(struct store *st) { lite_disconnect((struct lite *)st); }

static void sqlite_free(struct store *st)
{
    struct lite *db = (struct lite *)st;
    lite_disconnect(db);
    free(db->path);
    free(db->engine);
    free(db);
}

/* ---- the URL --------------------------------------------------------------------------------- */

static bool sqlite_claims(const char *url) { return strncmp(url, "sqlite:", 7) == 0; }

/* "sqlite:FILE", and "sqlite:///FILE" as other programs write it. Absolute from now on: a daemon
 * changes its folder. */
static char *path_of(const char *url)
{
    const char *file = url + strlen("sqlite:");
    if (strncmp(file, "//", 2) == 0)
        file += 2;
    char *cwd = *file == '/' ? NULL : getcwd(NULL, 0), *path = NULL;
    if (asprintf(&path, "%s%s%s", cwd ? cwd : "", cwd ? "/" : "", file) < 0)
        path = NULL;
    free(cwd);
    return path;
}

static int refuse_file(const char *url, struct err *err)
{
    const char *file = url + strlen("sqlite:");
    if (!*file || strcmp(file, "//") == 0)
        return err_set(err, ERR_INPUT, "store: '%s' names no file; expected sqlite:FILE", url);
    if (strcmp(file, ":memory:") == 0)
        return err_set(err, ERR_INPUT, "store: '%s' lives in one process only; expected sqlite:FILE", url);
    return 0;
}

/* analyze: -Wno-analyzer-malloc-leak: what is handed out is the head of `db`, which sqlite_free()
 * frees; gcc sees two things there. */
static int sqlite_open(const struct store_options *options, struct store **out, struct err *err)
{
    int rc = refuse_file(options->url, err);
    if (rc < 0)
        return rc;
    struct lite *db = calloc(1, sizeof *db);
    if (!db)
        return err_set(err, ERR_NOMEM, "out of memory");
    db->head = (struct store){ .ops = &store_sqlite_ops, .clock = options->clock };
    db->path = path_of(options->url);
    db->engine = options->engine ? strdup(options->engine) : NULL;
    db->slot_length_wanted_s = options->slot_length_s;
    db->statement_timeout_us = options->statement_timeout_ms * 1000LL;
    db->lock_timeout_us = options->lock_timeout_ms * 1000LL;
    db->relaxed = options->relaxed;
    if (!db->path || (options->engine && !db->engine)) {
        sqlite_free(&db->head);
        return err_set(err, ERR_NOMEM, "out of memory");
    }
    *out = &db->head;
    return 0;
}

const struct store_ops store_sqlite_ops = {
    .scheme = "sqlite",
    .claims = sqlite_claims,
    .open = sqlite_open,
    .close = sqlite_free,
    .begin = sqlite_begin,
    .step = sqlite_step,
    .fd = sqlite_fd,
    .wants = sqlite_wants,
    .deadline_us = sqlite_deadline_us,
    .abandon = sqlite_abandon,
    .load = lite_load,
    .migrate = lite_migrate,
};
