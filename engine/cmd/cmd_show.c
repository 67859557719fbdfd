/* prescient show - everything about one row: its waiting checks, their runs, those that are over,
 * and what they have emitted, with the deliveries of each event. */
#include <inttypes.h>
#include <jansson.h>
#include "../view/item.h"
#include "app.h"
#include "report.h"

static int show_main(struct app *app, const struct args *args);

static const struct command_option options[] = { { "limit", 'l', "N", "at most N lines of each kind (20)" },
                                                 { 0 } };

const struct command cmd_show = {
    .name = "show", .group = COMMAND_LOOKING, .args = "ENTITY KEY", .operands = { 2, 2 },
    .help = "show the checks, runs, history and events of one row",
    .examples = "prescient show orders 42",
    .options = options, .main = show_main,
    .role = "prescient_reader", .only_reads = true,
};

static const struct part {
    const char *report, *title;
    int nparams;
    struct report_view view;
} parts[] = {
    { "list",
      "waiting",
      6,
      { .columns =
            "next_check_at job_exec=job check_count=checks failure_count=failures first_check_at payload",
        .when_empty = "  nothing", .due = "next_check_at" } },
    { "runs",
      "runs",
      7,
      { .columns = "run_at_us job_exec=job check_number=look outcome slot_at next_check_at run_us=took note",
        .when_empty = "  none" } },
    { "history",
      "history",
      7,
      { .columns = "ended_at_us job_exec=job outcome run_count=runs first_check_at total_run_us=took note",
        .when_empty = "  none" } },
    { "row_events",
      "events",
      3,
      { .columns = "emitted_at_us=emitted event job_exec=job listener state tries next_check_at "
                   "ended_at_us=ended note",
        .when_empty = "  none" } },
};

static int show_part(struct app *app, const struct part *part, char **names, const char *limit,
                     json_t *object)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *params[] = { names[0], names[1], NULL, NULL, NULL, NULL, NULL };
    params[part->nparams - 1] = limit;
    if (app_rows(app, part->report, params, part->nparams, &rows, &err) < 0)
        return app_fail(app, &err);
    item_leave_out(&rows, "cursor");
    const char *end = rows_take_end(app->arena, &rows);
    if (object) {
        json_t *array = json_array();
        for (int r = 0; r < rows.rows; r++)
            report_added(app, json_array_append_new(array, rows_object(&rows, r)));
        report_added(app, json_object_set_new(object, part->title, array));
    } else {
        fprintf(app->out, "%s%s:\n", part == parts ? "" : "\n", part->title);
        report_print(app, &rows, &part->view);
    }
    if (end)
        app_remark(app,
                   "not all %s were looked at: those before %s may have some of this row; "
                   "prescient events --entity ENTITY --key KEY --limit 0 looks at all",
                   part->title, end);
    return EXIT_WELL;
}

static int show_main(struct app *app, const struct args *args)
{
    struct err err;
    int64_t limit = 20;
    int code = EXIT_WELL;
    if (args_number(args, 'l', 1, INT32_MAX, &limit, &err) < 0)
        return app_fail(app, &err);
    const char *limit_param = arena_printf(app->arena, "%" PRId64, limit);
    json_t *object = app->json ? report_made(app, json_object()) : NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && code == EXIT_WELL; i++)
        code = show_part(app, &parts[i], args->operands, limit_param, object);
    if (object && code == EXIT_WELL)
        report_print_object(app, json_incref(object));
    json_decref(object);
    return code;
}
