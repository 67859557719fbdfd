/* prescient reschedule - look at another time than planned. */
#include <inttypes.h>
#include <string.h>
#include "app.h"
#include "report.h"
#include "telling.h"
#include "text.h"

static int reschedule_main(struct app *app, const struct args *args);

const struct command cmd_reschedule = {
    .name = "reschedule", .group = COMMAND_CHECKS,
    .args = "ENTITY KEY JOB WHEN",
    .examples = "prescient reschedule orders 42 unshipped_order +1d",
    .operands = { 4, 4 },
    .help = "move a waiting check to another time",
    .more = "Exit code 1 when no such check waits.",
    .main = reschedule_main,
    .role = "prescient_enqueuer",
};

static void print_none(struct app *app, char **check)
{
    fputs("no check waits for", app->out);
    for (int i = 0; i < 3; i++) {
        fputc(' ', app->out);
        text_put(app->out, check[i], 0);
    }
    fputs("; prescient enqueue writes one down\n", app->out);
}

static int reschedule_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct store_rows rows;
    char **o = args->operands;
    const char *when = app_moment_param(app, o[3], &err);
    if (!when)
        return app_fail(app, &err);
    const char *params[] = { o[0], o[1], o[2], when, app_now_param(app) };
    if (app_rows(app, "reschedule", params, 5, &rows, &err) < 0)
        return app_fail(app, &err);
    const char *outcome = rows_value(&rows, 0, "outcome");
    bool moved = outcome && !strcmp(outcome, "moved");
    const char *to = telling_cell(app, CELL_MOMENT, rows_value(&rows, 0, "next_check_at"), false);
    if (app->json)
        report_print_object(app, rows_object(&rows, 0));
    else if (moved)
        fprintf(app->out, "moved to %s\n", to ? to : "?");
    else
        print_none(app, o);
    return moved ? EXIT_WELL : EXIT_TROUBLE;
}
