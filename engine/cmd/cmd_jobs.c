/* prescient jobs - the jobs of the settings: plug-ins, limits, and whether they can be run. */
#include <inttypes.h>
#include <string.h>
#include "../base/moment.h"
#include "app.h"
#include "probe.h"
#include "report.h"
#include "table.h"

static int jobs_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "counts", 'c', NULL, "count the checks that wait for each job" },
    { "exact", 'x', NULL, "count every check, however many there are" },
    { 0 }
};

const struct command cmd_jobs = {
    .name = "jobs", .group = COMMAND_RUNNING,
    .args = "",
    .help = "list the jobs of the settings and whether they can be run",
    .more = "Each job is opened in a process of its own, and asks the business database what a check "
            "would, if it\n"
            "has a probe; one that has none is only opened (probed: no), and prescient try runs it. With "
            "--counts, jobs\n"
            "that wait in the database but are not in the settings are listed, too. Among more than 100000 "
            "checks the\n"
            "counts are estimates (~), from a sample; --exact counts each.\n"
            "Exit code 1 when a job cannot be run.",
    .examples = "prescient jobs --counts",
    .options = options,
    .main = jobs_main,
};

/* The columns. They make rows like those of a report, so that table and JSON are printed as
 * everywhere. */
enum {
    JOB,
    PLUGIN,
    USABLE,
    PROBED,
    TIMEOUT,
    MAX_CHECKS,
    HORIZON,
    MAX_FAILURES,
    ATTEMPTS,
    BATCH,
    SUMMARY,
    WHY,
    WAITING,
    NEXT,
    ESTIMATE,
    COLUMNS
};

#define COUNTED "100000" /* more checks than that are estimated, without --exact */
enum counting { NO_COUNTS, COUNTS, EXACT_COUNTS };

static const struct { const char *name; enum cell_kind kind;
} columns[COLUMNS] = {
    [JOB] = { "job", CELL_TEXT },
    [PLUGIN] = { "plugin", CELL_TEXT },
    [USABLE] = { "is_usable", CELL_BOOL },
    [PROBED] = { "is_probed", CELL_BOOL },
    [TIMEOUT] = { "timeout_us", CELL_DURATION_US },
    [MAX_CHECKS] = { "max_checks", CELL_NUMBER },
    [HORIZON] = { "horizon_us", CELL_DURATION_US },
    [MAX_FAILURES] = { "max_failures", CELL_NUMBER },
    [ATTEMPTS] = { "attempts", CELL_NUMBER },
    [BATCH] = { "batch", CELL_NUMBER },
    [SUMMARY] = { "summary", CELL_TEXT },
    [WHY] = { "why_not", CELL_TEXT },
    [WAITING] = { "checks", CELL_NUMBER },
    [NEXT] = { "next_check_at", CELL_MOMENT },
    [ESTIMATE] = { "is_estimate", CELL_BOOL },
};

static const char *number(struct app *app, int64_t n)
{
    return arena_printf(app->arena, "%" PRId64, n);
}

static bool job_row(struct app *app, struct prober *prober, int index, const char **row)
{
    const struct job_settings *job = &app->settings.jobs[index];
    struct probed found;
    probe_job(prober, index, &found);
    row[JOB] = job->name;
    row[PLUGIN] = job->plugin;
    row[USABLE] = found.is_usable ? "true" : "false";
    row[PROBED] = found.can_probe ? "true" : "false";
    row[TIMEOUT] = number(app, job->timeout_us);
    row[MAX_CHECKS] = number(app, job->max_checks);
    row[HORIZON] = number(app, job->horizon_s * 1000000);
    row[MAX_FAILURES] = number(app, job->max_failures);
    row[ATTEMPTS] = number(app, job->attempts);
    row[BATCH] = number(app, found.batches ? job->batch : 1);
    row[SUMMARY] = *found.summary ? arena_strdup(app->arena, found.summary) : NULL;
    row[WHY] = *found.why ? arena_strdup(app->arena, found.why) : NULL;
    return found.is_usable;
}

static const char **row_of(struct store_rows *rows, const char *job)
{
    for (int r = 0; r < rows->rows; r++)
        if (!strcmp(rows->cells[r * COLUMNS + JOB], job))
            return rows->cells + r * COLUMNS;
    return NULL;
}

/* Adds the counts to the jobs of the settings. A job that only the database has gets a row of its
 * own. All counts are estimates, or none. */
static void counts_add(struct store_rows *rows, const struct store_rows *counts)
{
    const char *is_estimate = counts->rows ? rows_value(counts, 0, "is_estimate") : "0";
    for (int r = 0; r < rows->rows; r++) {
        rows->cells[r * COLUMNS + WAITING] = "0";
        rows->cells[r * COLUMNS + ESTIMATE] = is_estimate;
    }
    for (int r = 0; r < counts->rows; r++) {
        const char *job = rows_value(counts, r, "job_exec");
        if (!job)
            continue;
        const char **row = row_of(rows, job);
        if (!row) {
            row = rows->cells + rows->rows++ * COLUMNS;
            row[JOB] = job;
            row[USABLE] = "false";
            row[WHY] = "not in the settings";
            row[ESTIMATE] = is_estimate;
        }
        row[WAITING] = rows_value(counts, r, "checks");
        row[NEXT] = rows_value(counts, r, "next_check_at");
    }
}

static int rows_new(struct app *app, int most, struct store_rows *out, struct err *err)
{
    *out = (struct store_rows){
        .columns = COLUMNS,
        .names = arena_zalloc(app->arena, sizeof *out->names * COLUMNS),
        .kinds = arena_zalloc(app->arena, sizeof *out->kinds * COLUMNS),
        .cells = arena_zalloc(app->arena, sizeof *out->cells * COLUMNS * (size_t)(most + 1)),
    };
    if (!out->names || !out->kinds || !out->cells)
        return err_set(err, ERR_NOMEM, "out of memory");
    for (int c = 0; c < COLUMNS; c++) {
        out->names[c] = columns[c].name;
        out->kinds[c] = columns[c].kind;
    }
    return 0;
}

static void jobs_print(struct app *app, const struct store_rows *rows, bool counted)
{
    struct report_view view = {
        .columns = counted ? "job plugin is_usable=usable is_probed=probed checks=waiting next_check_at "
                             "summary why_not"
                           : "job plugin is_usable=usable is_probed=probed timeout_us max_checks=checks "
                             "horizon_us max_failures=failures attempts batch summary why_not",
        .estimated = "checks",
        .when_empty = "no jobs in the settings; a job is jobs = { NAME = { plugin = \"...\"; }; };",
    };
    report_print(app, rows, &view);
}

/* Adds counts, and with them rows: so `rows` is replaced by a larger one. */
static int rows_count(struct app *app, enum counting counting, struct store_rows *rows, struct err *err)
{
    struct store_rows grown, counts;
    const char *params[] = { counting == EXACT_COUNTS ? NULL : COUNTED };
    if (app_rows(app, "jobs_pending", params, 1, &counts, err) < 0 ||
        rows_new(app, rows->rows + counts.rows, &grown, err) < 0)
        return err->code;
    memcpy(grown.cells, rows->cells, sizeof *rows->cells * COLUMNS * (size_t)rows->rows);
    grown.rows = rows->rows;
    *rows = grown;
    counts_add(rows, &counts);
    if (rows_number(&counts, 0, "is_estimate"))
        app_remark(app, "more than " COUNTED " checks wait, so these are estimates, and a job with few "
                                             "checks may have none; --exact counts all");
    return 0;
}

static int jobs_list(struct app *app, enum counting counting, struct err *err)
{
    const struct settings *s = &app->settings;
    struct store_rows rows;
    if (rows_new(app, s->njobs, &rows, err) < 0)
        return err->code;
    struct prober prober = { .settings = s };
    bool all_usable = true;
    /* before there is a connection: each try forks */
    for (rows.rows = 0; rows.rows < s->njobs; rows.rows++)
        all_usable = job_row(app, &prober, rows.rows, rows.cells + rows.rows * COLUMNS) && all_usable;
    if (counting != NO_COUNTS && rows_count(app, counting, &rows, err) < 0)
        return err->code;
    jobs_print(app, &rows, counting != NO_COUNTS);
    return all_usable ? EXIT_WELL : EXIT_TROUBLE;
}

static int jobs_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    enum counting counting = NO_COUNTS;
    if (args_has(args, 'x'))
        counting = EXACT_COUNTS;
    else if (args_has(args, 'c'))
        counting = COUNTS;
    int code = jobs_list(app, counting, &err);
    return code < 0 ? app_fail(app, &err) : code;
}
