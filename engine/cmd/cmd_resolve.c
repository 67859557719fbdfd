/* prescient resolve - ends checks that need not run: what they wait for has happened. */
#include <inttypes.h>
#include "app.h"
#include "report.h"

static int resolve_main(struct app *app, const struct args *args);

const struct command cmd_resolve = {
    .name = "resolve", .group = COMMAND_CHECKS,
    .args = "ENTITY KEY [JOB]",
    .examples = "prescient resolve orders 42",
    .operands = { 2, 3 },
    .help = "end the checks of a row: what they wait for has happened",
    .main = resolve_main,
    .role = "prescient_enqueuer",
};

/* That nothing was resolved is no failure, as the checks may have ended; but a name may be a
 * mistyped one. Nor is it a failure that this cannot be asked: the answer was given. */
static void tell_doubt(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *params[] = { args_operand(args, 0), args_operand(args, 1), args_operand(args, 2) };
    if (app_rows(app, "resolve_doubt", params, 3, &rows, &err) < 0) {
        app_remark(app, "whether a name is mistyped cannot be asked: %s", err.text);
        return;
    }
    const char *doubt = rows_value(&rows, 0, "doubt");
    if (doubt)
        app_remark(app, "%s", doubt);
}

static int resolve_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *params[] = { args_operand(args, 0), args_operand(args, 1), args_operand(args, 2),
                             app_now_param(app) };
    if (app_rows(app, "resolve", params, 4, &rows, &err) < 0)
        return app_fail(app, &err);
    int64_t resolved = rows_number(&rows, 0, "resolved");
    if (app->json)
        report_print_object(app, rows_object(&rows, 0));
    else
        fprintf(app->out, "%" PRId64 " %s resolved\n", resolved, resolved == 1 ? "check" : "checks");
    if (resolved == 0)
        tell_doubt(app, args);
    return EXIT_WELL;
}
