/* prescient resolve - what was waited for has happened: its checks need not run. */
#include <inttypes.h>
#include "app.h"
#include "report.h"

static int resolve_main(struct app *app, int argc, char **argv);

const struct command cmd_resolve = {
    .name = "resolve", .args = "ENTITY KEY [JOB]",
    .help = "end the checks of a row: what they wait for has happened",
    .main = resolve_main,
};

static int resolve_main(struct app *app, int argc, char **argv)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *value;
    int at = 0, first;
    if (app_option(app, argc, argv, &at, &value, &first) != 0)
        return EXIT_BAD_USAGE;
    int n = argc - first;
    if (n < 2 || n > 3)
        return app_usage(app, n < 2 ? "too few arguments" : "too many arguments");
    const char *params[] = { argv[first], argv[first + 1], n == 3 ? argv[first + 2] : NULL,
                             app_now_param(app) };
    if (app_rows(app, "resolve", params, 4, &rows, &err) < 0)
        return app_fail(app, &err);
    int64_t resolved = report_number(&rows, 0, "resolved");
    if (app->json)
        report_print_object(app, report_object(&rows, 0));
    else
        fprintf(app->out, "%" PRId64 " %s resolved\n", resolved, resolved == 1 ? "check" : "checks");
    return EXIT_WELL;
}
