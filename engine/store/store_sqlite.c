/* store_sqlite.c - the SQLite store. Each call runs to its end inside store_begin, in one
 * transaction if it writes; there is no server and nothing to poll. The other store_sqlite_ files
 * carry out the calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_sqlite_calls.h"

/* Who only looks needs no right to write: no failure, but doctor has to know. */
static void note_rights(const struct sqlite_store *db, struct store_hello *hello)
{
    struct err err;
    bool is_denied = sqlite_check_rights(db, true, &err) < 0;
    hello->read_only = db->reads_only || is_denied || sqlite3_db_readonly(db->db, "main") == 1;
    snprintf(hello->denied, sizeof hello->denied, "%.*s", (int)sizeof hello->denied - 1,
             is_denied ? err.text : "");
}

static int sqlite_hello(struct sqlite_store *db, struct store_call *call)
{
    struct store_hello *hello = (struct store_hello *)call;
    hello->now_us = sqlite_clock_us(db);
    hello->slot_length_s = db->head.slot_length_s;
    hello->schema_version = db->schema_version;
    note_rights(db, hello);
    snprintf(hello->server, sizeof hello->server, "SQLite %s", sqlite3_libversion());
    struct sqlite_full_look_at_out full_look = { 0 };
    int rc = sqlite_ask(db, &call->err, STATEMENT_FULL_LOOK_AT, &full_look, NULL);
    if (rc < 0)
        return rc;
    hello->full_look_at = full_look.value;
    struct sqlite_pace_out pace = { 0 };
    rc = sqlite_ask(db, &call->err, STATEMENT_PACE, &pace, NULL);
    if (rc < 0)
        return rc;
    hello->pace_s = pace.seconds;
    return sqlite_keep(db, &call->err);
}

/* There are none, but an engine that begins learns here that it may not write. */
static int sqlite_keep_days(struct sqlite_store *db, struct store_call *call)
{
    ((struct store_keep_days *)call)->made = ((struct store_keep_days *)call)->indexed = 0;
    *((struct store_keep_days *)call)->noted = '\0';
    return sqlite_check_rights(db, true, &call->err);
}

/* Who waits for events looks at the file. */
static int sqlite_notify(struct sqlite_store *db, struct store_call *call)
{
    (void)db, (void)call;
    return 0;
}

/* Each whole second may be a slot, and a time is whole seconds. */
static int sqlite_refile(struct sqlite_store *db, struct store_call *call)
{
    (void)db;
    ((struct store_refile *)call)->refiled = ((struct store_refile *)call)->until = 0;
    return 0;
}

static const struct {
    int (*run)(struct sqlite_store *db, struct store_call *call);
    bool writes;
} calls[STORE_OPS] = {
    [STORE_HELLO] = { sqlite_hello, false },          [STORE_OPEN_SLOT] = { sqlite_open_slot, false },
    [STORE_RENEW] = { sqlite_renew, true },           [STORE_READ_PAGE] = { sqlite_read_page, false },
    [STORE_SETTLE] = { sqlite_settle, true },         [STORE_FINISH] = { sqlite_finish, true },
    [STORE_RELEASE] = { sqlite_release, true },       [STORE_RELOOK] = { sqlite_relook, true },
    [STORE_FINE_SLOTS] = { sqlite_fine_slots, false },
    [STORE_PULSE] = { sqlite_pulse, false },          [STORE_LATE_SLOT] = { sqlite_late_slot, false },
    [STORE_MARK_SWEPT] = { sqlite_mark_swept, true }, [STORE_KEEP_DAYS] = { sqlite_keep_days, false },
    [STORE_PRUNE] = { sqlite_prune, true },           [STORE_REPORT] = { sqlite_report, false },
    [STORE_PAUSES] = { sqlite_pauses, false },        [STORE_END_PAUSES] = { sqlite_end_pauses, true },
    [STORE_KEEP_DIGESTS] = { sqlite_keep_digests, true },
    [STORE_NOTE_LISTENERS] = { sqlite_note_listeners, true },
    [STORE_NOTE_LOADS] = { sqlite_note_loads, true }, [STORE_NOTE_RUNS] = { sqlite_note_runs, true },
    [STORE_NOTE_RUNNING] = { sqlite_note_running, true },
    [STORE_NOTIFY] = { sqlite_notify, false },        [STORE_REFILE] = { sqlite_refile, false },
    [STORE_RECALL] = { sqlite_recall, true },         [STORE_TAKE_PLACES] = { sqlite_take_places, true },
    [STORE_RENEW_PLACES] = { sqlite_renew_places, true },
    [STORE_RETURN_PLACES] = { sqlite_return_places, true },
};

static int run_connected(struct sqlite_store *db, struct store_call *call, bool writes)
{
    int rc = sqlite_connect(db, &call->err);
    if (rc < 0)
        return rc;
    if (writes) {
        rc = sqlite_begin(db, &call->err);
        if (rc < 0)
            return rc;
    }
    rc = calls[call->op].run(db, call);
    if (rc < 0)
        return rc;
    return writes ? sqlite_commit(db, &call->err) : 0;
}

static int run_call(struct sqlite_store *db, struct store_call *call)
{
    bool is_report = call->op == STORE_REPORT;
    bool writes = calls[call->op].writes || (is_report && sqlite_report_writes((struct store_report *)call));
    int64_t began_us = clock_mono_us(db->head.clock);
    sqlite_start_clock(db, is_report);
    if (is_report && call->within_ms)
        sqlite_wait_at_most(db, call->within_ms);
    int rc = run_connected(db, call, writes);
    sqlite_settle_down(db);
    call->busy_us = clock_mono_us(db->head.clock) - began_us;
    if (rc == ERR_DATA && is_report)  /* a report's values come from the user, not from a job */
        rc = call->err.code = ERR_INPUT;
    return rc;
}

static void ops_begin(struct store *st, struct store_call *call)
{
    call->rc = run_call((struct sqlite_store *)st, call);
    if (call->rc == 0)
        err_clear(&call->err);
}

static bool ops_step(struct store *st)
{
    (void)st;
    return true;
}
static int ops_fd(const struct store *st)
{
    (void)st;
    return -1;
}
static short ops_wants(const struct store *st)
{
    (void)st;
    return 0;
}
static int64_t ops_deadline_us(const struct store *st)
{
    (void)st;
    return INT64_MAX;
}
static void ops_abandon(struct store *st)
{
    sqlite_disconnect((struct sqlite_store *)st);
}

static void ops_free(struct store *st)
{
    struct sqlite_store *db = (struct sqlite_store *)st;
    sqlite_disconnect(db);
    free(db->path);
    free(db->engine);
    free(db);
}

/* ---- the URL --------------------------------------------------------------------------------- */

static bool ops_claims(const char *url)
{
    return strncmp(url, "sqlite:", 7) == 0;
}

/* "sqlite:FILE", or "sqlite:///FILE" as other programs write it. Made absolute, because a daemon
 * changes its folder. */
static char *path_of(const char *url)
{
    const char *file = url + strlen("sqlite:");
    if (strncmp(file, "//", 2) == 0)
        file += 2;
    char *cwd = *file == '/' ? NULL : getcwd(NULL, 0), *path = NULL;
    if (!cwd)
        return strdup(file);
    if (asprintf(&path, "%s/%s", cwd, file) < 0)
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

/* analyze: -Wno-analyzer-malloc-leak: the caller gets the head of `db`, which ops_free() frees; gcc
 * takes them for two objects. */
static int ops_open(const struct store_options *options, struct store **out, struct err *err)
{
    int rc = refuse_file(options->url, err);
    if (rc < 0)
        return rc;
    struct sqlite_store *db = calloc(1, sizeof *db);
    if (!db)
        return err_set(err, ERR_NOMEM, "out of memory");
    db->head = (struct store){ .ops = &store_sqlite_ops, .clock = options->clock };
    db->path = path_of(options->url);
    db->engine = options->engine ? strdup(options->engine) : NULL;
    db->slot_length_wanted_s = options->slot_length_s;
    db->statement_timeout_us = options->statement_timeout_ms * 1000LL;
    db->lock_timeout_us = options->lock_timeout_ms * 1000LL;
    db->relaxed = options->relaxed;
    db->reads_only = options->reads_only;
    if (!db->path || (options->engine && !db->engine)) {
        ops_free(&db->head);
        return err_set(err, ERR_NOMEM, "out of memory");
    }
    *out = &db->head;
    return 0;
}

const struct store_ops store_sqlite_ops = {
    .scheme = "sqlite",
    .claims = ops_claims,
    .open = ops_open,
    .close = ops_free,
    .begin = ops_begin,
    .step = ops_step,
    .fd = ops_fd,
    .wants = ops_wants,
    .deadline_us = ops_deadline_us,
    .abandon = ops_abandon,
    .load = sqlite_load,
    .post = sqlite_post,
    .migrate = sqlite_migrate,
};
