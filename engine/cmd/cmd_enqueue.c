/* prescient enqueue - one check from the command line, or one for each line of a CSV file. */
#include <inttypes.h>
#include <string.h>
#include "../rules/field.h"
#include "../rules/slot.h"
#include "../store/enqueue_check.h"
#include "action.h"
#include "app.h"
#include "drawing.h"
#include "load.h"
#include "report.h"
#include "telling.h"
#include "text.h"
#include "unknown_job.h"

static int enqueue_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "payload", 'p', "JSON", "what the job gets beside the key; at most 64 KiB" },
    { "conflict", 'c', "WORD",
      "when the check is pending already: keep it (the default), move it if the new time is earlier, or "
      "replace it" },
    { "priority", 'r', "N", "lower runs earlier within the slot (0)" },
    { "within", 'w', "DURATION",
      "at WHEN or up to so much later (2h): in a slot that is drawn, an empty one rather than a full one" },
    { "concurrency-key", 'k', "KEY",
      "checks that share one are not run at the same moment (see prescient keys)" },
    { "tenant", 't', "NAME", "whose it is: tenants take turns at workers (its entity)" },
    { "at-once", 'o', NULL,
      "in the next second, instead of WHEN; a check that is pending already is moved there unless "
      "--conflict says otherwise" },
    { "from", 'f', "FILE", "read checks from a CSV file, - for stdin" },
    { "skip-bad", 'b', NULL, "skip bad lines of the file instead of stopping" },
    { "start-line", 'l', "N", "begin at this line of the file" },
    { 0 }
};

static const struct option_words values[] = { { "conflict", field_conflicts }, { 0 } };

const struct command cmd_enqueue = {
    .name = "enqueue", .group = COMMAND_CHECKS,
    .args = "ENTITY KEY JOB WHEN | ENTITY KEY JOB --at-once | --from FILE",
    .examples = "prescient enqueue orders 42 unshipped_order +3h\n"
                "prescient enqueue --from orders.csv --skip-bad",
    .operands = { 0, 4 },
    .help = "enqueue a check of a row, or one for each line of a CSV file",
    .more = "WHEN is a time (2026-03-01T13:15:00Z), seconds since 1970, or relative to now (+3h). It is "
            "rounded up to a slot.\n"
            "A time that has passed gives the next slot. With --now TIME the clock stands at TIME: so old "
            "rows are enqueued for prescient replay.\n"
            "The first line of a file names its columns: entity_name, entity_key, job_exec, check_at, and "
            "payload, "
            "priority, within, concurrency_key, tenant if wanted;\n"
            "every 10,000 lines are one transaction. After a failure it prints the line to continue from.",
    .options = options, .words = values,
    .main = enqueue_main,
    .role = "prescient_enqueuer",
};

struct enqueue {
    const char *payload, *conflict, *within, *concurrency_key, *tenant;     /* NULL: not given */
    int64_t priority;
    struct load_options load;
};

static int read_options(const struct args *args, struct enqueue *e, struct err *err)
{
    *e = (struct enqueue){
        .payload = args_text(args, 'p'),
        .conflict = args_text(args, 'c'),
        .within = args_text(args, 'w'),
        .concurrency_key = args_text(args, 'k'),
        .tenant = args_text(args, 't'),
        .load = { .file = args_text(args, 'f'), .conflict = "keep", .skip_bad = args_has(args, 'b') },
    };
    if (args_has(args, 'c'))
        e->load.conflict = args_text(args, 'c');
    int rc = field_check_conflict(e->load.conflict, err);
    if (rc < 0)
        return rc;
    rc = args_number(args, 'r', ENQUEUE_PRIORITY_MIN, ENQUEUE_PRIORITY_MAX, &e->priority, err);
    if (rc < 0)
        return rc;
    return args_number(args, 'l', 2, INT64_MAX, &e->load.start_line, err);
}

static void print_enqueued(struct app *app, const struct store_rows *rows, char **names)
{
    if (app->json) {
        report_print_object(app, rows_object(rows, 0));
        return;
    }
    const char *outcome = rows_value(rows, 0, "outcome");
    const char *at = telling_cell(app, CELL_MOMENT, rows_value(rows, 0, "next_check_at"), false);
    fprintf(app->out, "%s: ", outcome ? outcome : "?");
    for (int i = 0; i < 3; i++) {
        text_put(app->out, names[i], 0);
        fputc(' ', app->out);
    }
    fprintf(app->out, "at %s\n", at ? at : "?");
}

/* A time that has passed is filed under the next slot. Nothing was asked for that is wrong, but who
 * mistyped a date wants to see it. */
static void remark_past(struct app *app, const struct store_rows *rows, int64_t wanted)
{
    struct err err = { 0 };
    int64_t now = 0;
    int32_t length_s = store_slot_length_s(app->store);
    const char *outcome = rows_value(rows, 0, "outcome");
    if (!outcome || !strcmp(outcome, "kept") ||
        rows_number(rows, 0, "next_check_at") == slot_ceil(wanted, length_s))
        return;
    if (app_now(app, &now, &err) == 0 && slot_has_passed(wanted, now, length_s))
        app_remark(app, "%s has passed: the check is filed under the next slot",
                   telling_moment(app, wanted));
}

static void tell_unknown_job(struct app *app, const char *job)
{
    struct unknown_jobs unknown = { 0 };
    unknown_jobs_note(&unknown, app, job);
    unknown_jobs_tell(&unknown, app);
}

static int enqueue_at_once(struct app *app, const struct enqueue *e, char **argv)
{
    struct err err = { 0 };
    struct load_row row = {
        .entity_name = argv[0], .entity_key = argv[1], .job_exec = argv[2], .payload = e->payload,
        .concurrency_key = e->concurrency_key, .tenant = e->tenant,
    };
    if (enqueue_check_row(&row, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = {
        argv[0],    argv[1],
        argv[2],    e->payload,
        e->conflict, arena_printf(app->arena, "%" PRId64, e->priority),
        app_now_param(app), e->concurrency_key,
        e->tenant,
    };
    struct store_rows rows;
    if (app_rows(app, "enqueue_now", params, sizeof params / sizeof *params, &rows, &err) < 0)
        return app_fail(app, &err);
    print_enqueued(app, &rows, argv);
    tell_unknown_job(app, argv[2]);
    return EXIT_WELL;
}

static int draw(struct app *app, const char *within, struct load_row *row, struct err *err)
{
    struct drawing drawing = { 0 };
    int64_t now = 0;
    int rc = app_now(app, &now, err);
    return rc < 0 ? rc : drawing_draw(&drawing, app, within, now, row, err);
}

static int enqueue_one(struct app *app, const struct enqueue *e, char **argv)
{
    struct err err = { 0 };
    struct load_row row = {
        .entity_name = argv[0], .entity_key = argv[1], .job_exec = argv[2], .payload = e->payload,
        .concurrency_key = e->concurrency_key, .tenant = e->tenant,
    };
    if (app_moment(app, argv[3], &row.at, &err) < 0 || enqueue_check_row(&row, &err) < 0)
        return app_fail(app, &err);
    if (e->within && draw(app, e->within, &row, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = {
        argv[0], argv[1], argv[2], arena_printf(app->arena, "%" PRId64, row.at), e->payload, e->load.conflict,
        arena_printf(app->arena, "%" PRId64, e->priority), app_now_param(app),
        e->concurrency_key, e->tenant,
    };
    struct store_rows rows;
    if (app_rows(app, "enqueue", params, sizeof params / sizeof *params, &rows, &err) < 0)
        return app_fail(app, &err);
    print_enqueued(app, &rows, argv);
    remark_past(app, &rows, row.at);
    tell_unknown_job(app, argv[2]);
    return EXIT_WELL;
}

/* ---- the three ways ---- */

static int enqueue_file(struct app *app, const struct args *args)
{
    struct enqueue e;
    struct err err;
    if (args->noperands)
        return app_usage(app, "--from takes the checks from the file, and none from the command line");
    if (read_options(args, &e, &err) < 0)
        return app_fail(app, &err);
    return load_csv(app, &e.load);
}

static int enqueue_now(struct app *app, const struct args *args)
{
    struct enqueue e;
    struct err err;
    if (args->noperands != 3)
        return app_usage(app, "--at-once takes ENTITY KEY JOB, and no WHEN");
    if (read_options(args, &e, &err) < 0)
        return app_fail(app, &err);
    return enqueue_at_once(app, &e, args->operands);
}

static int enqueue_then(struct app *app, const struct args *args)
{
    struct enqueue e;
    struct err err;
    if (args->noperands < 4)
        return app_usage(app, "too few arguments: WHEN is missing, or --at-once");
    if (read_options(args, &e, &err) < 0)
        return app_fail(app, &err);
    return enqueue_one(app, &e, args->operands);
}

enum { FILE_OF_CHECKS, AT_ONCE, WHEN };
static const struct action ways[] = {
    [FILE_OF_CHECKS] = { "--from", "fcbl", enqueue_file },
    [AT_ONCE] = { "--at-once", "opcrkt", enqueue_now },
    [WHEN] = { "ENTITY KEY JOB WHEN", "pcrwkt", enqueue_then },
    { 0 },
};

static int enqueue_main(struct app *app, const struct args *args)
{
    int way = WHEN;
    if (args_has(args, 'f'))
        way = FILE_OF_CHECKS;
    else if (args_has(args, 'o'))
        way = AT_ONCE;
    return action_run(app, ways, &ways[way], args);
}
