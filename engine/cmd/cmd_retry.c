/* prescient retry - enqueues again what ended in failure: what failed is listed once, and goes back
 * page by page, each in a transaction of its own. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "../base/cleanup.h"
#include "../rules/idempotency.h"
#include "app.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

enum { PAGE_CHECKS = 1000, SHOWN_MOST = 1000 };

static int retry_main(struct app *app, const struct args *args);

static const struct command_option options[] = { { "job", 'j', "NAME", "only of this job" },
                                                 { "since", 's', "TIME",
                                                   "only what failed from this time on" },
                                                 { "at", 'a', "TIME", "when to look again (the next slot)" },
                                                 { "limit", 'l', "N",
                                                   "put back at most N, newest first; what waits already "
                                                   "does not count (all)" },
                                                 { "all", 'A', NULL,
                                                   "everything that failed; not beside a part of it" },
                                                 { 0 } };

const struct command cmd_retry = {
    .name = "retry", .group = COMMAND_CHECKS,
    .args = "[ENTITY [KEY]]",
    .examples = "prescient retry --since -1d",
    .operands = { 0, 2 },
    .help = "enqueue again what ended as failed, timeout, crashed, bad_answer or unknown_job, or was put off",
    .more = "Each keeps its payload. A check that is waiting already stays as it is (kept), but for that of\n"
            "a schedule: it is run at the time asked for (moved), and its rule goes on from there.\n"
            "Every 1,000 are one transaction: after --limit, Ctrl-C or a failure the same command goes on.\n"
            "Checks that were put off as their job could not be run are filed into the next slot, too, but\n"
            "not with --at or --limit.\n"
            "Deliveries are not among them: prescient deliveries --again.",
    .options = options,
    .main = retry_main,
};

struct retry {
    struct app *app;
    const char *at;
    int64_t limit;                  /* 0: none */
    struct store_rows found;        /* the marks of what failed, newest first */
    int asked;                      /* so many of them */
    int64_t put, kept, moved;       /* `put` includes `moved` */
    bool recalls;                   /* no other time and no limit are asked for */
    int64_t recalled;               /* checks that were put off */
    struct store_rows done;         /* what is shown; its cells are of malloc */
    struct interrupt interrupt;
    struct progress progress;
    struct arena *page;
};

/* ---- pages ---- */

static int ask(struct retry *r, struct store_report *report, struct err *err)
{
    struct store *st = app_store(r->app, err);
    if (!st)
        return err->code;
    int rc = app_call(r->app, st, &report->call);
    *err = report->call.err;
    return rc;
}

static int find(struct retry *r, const char *const *params, int nparams, struct err *err)
{
    struct store_report report = STORE_REPORT_INIT;
    report.name = "retry_found";
    report.params = params;
    report.nparams = nparams;
    report.arena = r->app->arena;
    int rc = ask(r, &report, err);
    r->found = report.rows;
    return rc;
}

/* The next `n` marks as a JSON array; each is JSON already. NULL: no memory. */
static const char *marks(struct retry *r, int n)
{
    size_t size = 3, used = 0;
    for (int i = 0; i < n; i++)
        size += strlen(rows_value(&r->found, r->asked + i, "mark")) + 1;
    char *text = arena_alloc(r->page, size);
    if (!text)
        return NULL;
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, size - used, "%c%s", i ? ',' : '[',
                                 rows_value(&r->found, r->asked + i, "mark"));
    snprintf(text + used, size - used, "]");
    return text;
}

static bool keep_names(struct retry *r, const struct store_rows *rows)
{
    struct arena *a = r->app->arena;
    size_t n = (size_t)rows->columns;
    r->done.names = arena_alloc(a, n * sizeof *r->done.names);
    r->done.kinds = arena_alloc(a, n * sizeof *r->done.kinds);
    if (!r->done.names || !r->done.kinds)
        return false;
    for (int c = 0; c < rows->columns; c++)
        r->done.names[c] = arena_strdup(a, rows->names[c]);
    memcpy(r->done.kinds, rows->kinds, n * sizeof *r->done.kinds);
    r->done.columns = rows->columns;
    return true;
}

/* A table for people has the first ones. */
static bool keep_rows(struct retry *r, const struct store_rows *rows)
{
    int n = rows->rows;
    if (!r->app->json && n > SHOWN_MOST - r->done.rows)
        n = SHOWN_MOST - r->done.rows;
    if (!r->done.names && !keep_names(r, rows))
        return false;
    size_t columns = (size_t)rows->columns, before = (size_t)r->done.rows * columns;
    size_t more = (size_t)n * columns;
    const char **cells = realloc(r->done.cells, (before + more + 1) * sizeof *cells);
    if (!cells)
        return false;
    for (size_t i = 0; i < more; i++)
        cells[before + i] = arena_strdup(r->app->arena, rows->cells[i]);
    r->done.cells = cells;
    r->done.rows += n;
    return true;
}

static void count(struct retry *r, const struct store_rows *rows)
{
    for (int i = 0; i < rows->rows; i++) {
        const char *outcome = rows_value(rows, i, "outcome");
        bool is_kept = outcome && !strcmp(outcome, "kept");
        r->kept += is_kept;
        r->put += !is_kept;
        r->moved += outcome && !strcmp(outcome, "moved");
    }
}

static int put_back_page(struct retry *r, int n, struct err *err)
{
    struct store_report report = STORE_REPORT_INIT;
    const char *params[] = { marks(r, n), rows_value(&r->found, 0, "found"), r->at, app_now_param(r->app) };
    if (!params[0])
        return err_set(err, ERR_NOMEM, "out of memory");
    report.name = "retry";
    report.params = params;
    report.nparams = sizeof params / sizeof *params;
    report.arena = r->page;
    int rc = ask(r, &report, err);
    if (rc < 0)
        return rc;
    r->asked += n;
    count(r, &report.rows);
    bool is_kept = keep_rows(r, &report.rows);
    arena_reset(r->page);
    return is_kept ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

static void show(struct retry *r)
{
    char detail[64];
    snprintf(detail, sizeof detail, "%" PRId64 " checks", r->put);
    progress_show(&r->progress, r->asked, detail);
}

/* A signal is looked for behind a page, so that each call gets some done. */
static int put_back(struct retry *r, struct err *err)
{
    progress_init(&r->progress, "retrying", r->found.rows, !r->app->quiet);
    while (r->asked < r->found.rows && !(r->limit && r->put >= r->limit)) {
        int n = r->found.rows - r->asked;
        if (n > PAGE_CHECKS)
            n = PAGE_CHECKS;
        if (r->limit && n > r->limit - r->put)
            n = (int)(r->limit - r->put);
        show(r);
        int rc = put_back_page(r, n, err);
        if (rc < 0)
            return rc;
        if (r->asked < r->found.rows && interrupt_came(&r->interrupt))
            return err_set(err, ERR_STOPPED, "stopped by a signal");
    }
    return 0;
}

/* ---- checks that were put off ---- */

/* Until a call has found none: each moves what it finds away from where it looks. */
static int recall(struct retry *r, const char *const *of, struct err *err)
{
    const char *now = app_now_param(r->app);
    const char *params[] = { of[0], of[1], of[2], of[3], now, NULL, NULL };
    int64_t n;
    do {
        struct store_report report = STORE_REPORT_INIT;
        report.name = "retry_put_off";
        report.params = params;
        report.nparams = sizeof params / sizeof *params;
        report.arena = r->app->arena;
        int rc = ask(r, &report, err);
        if (rc < 0)
            return rc;
        n = 0;
        for (int i = 0; i < report.rows.rows; i++)
            n += rows_number(&report.rows, i, "recalled");
        r->recalled += n;
        params[5] = report.rows.rows ? rows_value(&report.rows, 0, "until_at") : NULL;
        params[6] = params[5] ? rows_value(&report.rows, 0, "until_id") : NULL;
    } while (n || params[5]);
    return 0;
}

/* ---- the answer ---- */

static void remark(const struct retry *r)
{
    struct app *app = r->app;
    int left = r->found.rows - r->asked;
    if (r->kept)
        app_remark(app, "kept: %" PRId64 " %s already and will be run at the time shown", r->kept,
                   r->kept == 1 ? "check waits" : "checks wait");
    if (r->moved)
        app_remark(app, "moved: %" PRId64 " %s run at the time shown; the rule goes on from there", r->moved,
                   r->moved == 1 ? "check of a schedule is" : "checks of schedules are");
    if (r->recalled)
        app_remark(app, "%" PRId64 " %s filed into the next slot", r->recalled,
                   r->recalled == 1 ? "check that was put off is" : "checks that were put off are");
    if (r->put + r->kept > r->done.rows)
        app_remark(app, "these are the first %d; --json shows all", r->done.rows);
    if (left || r->put + r->kept > r->done.rows)
        app_remark(app, "%" PRId64 " put back, %d left%s", r->put, left,
                   left ? "; the same command goes on with them" : "");
}

static void retry_free(struct retry *r)
{
    progress_clear(&r->progress);
    interrupt_release(&r->interrupt);
    arena_free(r->page);
    free(r->done.cells);
}

static int retry_run(struct retry *r, const char *const *of, struct err *err)
{
    int rc = r->recalls ? recall(r, of, err) : 0;
    if (rc == 0)
        rc = find(r, of, 4, err);
    if (rc < 0 || r->found.rows == 0)
        return rc;
    rc = interrupt_init(&r->interrupt, err);
    if (rc < 0)
        return rc;
    r->page = arena_new(1 << 20);
    return r->page ? put_back(r, err) : err_set(err, ERR_NOMEM, "out of memory");
}

static int retry_checks(struct retry *r, const char *const *of)
{
    static const char nothing[] = "nothing to retry (deliveries that failed: prescient deliveries --failed)";
    struct err err = { 0 };
    int rc = retry_run(r, of, &err);
    progress_clear(&r->progress);
    if (rc >= 0 || r->asked) {
        if (!r->recalled || r->done.rows || r->app->json)
            report_print(r->app, &r->done, &(struct report_view){ .when_empty = nothing });
        remark(r);
    }
    int code = rc < 0 ? app_fail(r->app, &err) : EXIT_WELL;
    retry_free(r);
    return code;
}

static int retry_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct retry r = { .app = app, .interrupt.fd = -1 };
    const char *entity = args_operand(args, 0), *job = args_text(args, 'j'), *since = NULL;
    bool takes_a_part = entity || job || args_has(args, 's');
    if (!takes_a_part && !args_has(args, 'A'))
        return app_usage(app, "give one of ENTITY, --job, --since and --all");
    if (entity && !strcmp(entity, DELIVERY_ENTITY))
        return app_usage(app, "deliveries are sent again by 'prescient deliveries --again ID'; those that "
                              "failed: prescient deliveries --failed");
    if (takes_a_part && args_has(args, 'A'))
        return app_usage(app, "--all is everything that failed; ENTITY, --job and --since take a part of it");
    if (app_moment_option_param(app, args, 's', &since, &err) < 0 ||
        app_moment_option_param(app, args, 'a', &r.at, &err) < 0 ||
        args_number(args, 'l', 1, INT32_MAX, &r.limit, &err) < 0)
        return app_fail(app, &err);
    r.recalls = !r.at && !r.limit;
    if (!r.at)
        r.at = app_moment_param(app, "now", &err);
    if (!r.at)
        return app_fail(app, &err);
    return retry_checks(&r, (const char *const[]){ entity, args_operand(args, 1), job, since });
}
