/* prescient reschedule - look at another time than planned. */
#include <inttypes.h>
#include <string.h>
#include "app.h"
#include "report.h"

static int reschedule_main(struct app *app, int argc, char **argv);

const struct command cmd_reschedule = {
    .name = "reschedule", .args = "ENTITY KEY JOB WHEN",
    .help = "move a check that waits to another time",
    .more = "Exit code 1 when no such check waits.",
    .main = reschedule_main,
};

static int reschedule_main(struct app *app, int argc, char **argv)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *value;
    int at = 0, first;
    if (app_option(app, argc, argv, &at, &value, &first) != 0)
        return EXIT_BAD_USAGE;
    int n = argc - first;
    if (n != 4)
        return app_usage(app, n < 4 ? "too few arguments" : "too many arguments");
    char **a = argv + first;
    const char *when = app_moment_param(app, a[3], &err);
    if (!when)
        return app_fail(app, &err);
    const char *params[] = { a[0], a[1], a[2], when, app_now_param(app) };
    if (app_rows(app, "reschedule", params, 5, &rows, &err) < 0)
        return app_fail(app, &err);
    const char *outcome = report_value(&rows, 0, "outcome");
    bool moved = outcome && !strcmp(outcome, "moved");
    const char *to = report_words(app->arena, CELL_MOMENT, report_value(&rows, 0, "next_check_at"));
    if (app->json)
        report_print_object(app, report_object(&rows, 0));
    else if (moved)
        fprintf(app->out, "moved to %s\n", to ? to : "?");
    else
        fprintf(app->out, "no such check waits\n");
    return moved ? EXIT_WELL : EXIT_TROUBLE;
}
