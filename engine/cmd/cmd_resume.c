/* prescient resume - ends a pause: its checks are run. */
#include <string.h>
#include "app.h"
#include "paused.h"
#include "report.h"

static int resume_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    PAUSED_JOB, PAUSED_ENTITY, PAUSED_SCHEDULE, PAUSED_TENANT,
    { "reslot", 's', NULL, "all checks in the next slot together, not spread over its seconds" }, { 0 }
};

const struct command cmd_resume = {
    .name = "resume", .group = COMMAND_PLANS,
    .args = "--job JOB | --entity ENTITY | --schedule NAME | --tenant NAME",
    .help = "run the checks of a pause again",
    .more = "Engines spread the checks that have waited over the seconds of the next slot, a page at a time. "
            "Exit code 1 when it is not paused.",
    .examples = "prescient resume --job unshipped_order",
    .options = options,
    .main = resume_main,
    .role = "prescient_operator",
};

static int resume_main(struct app *app, const struct args *args)
{
    struct paused p;
    struct err err = { 0 };
    struct store_rows rows;
    if (paused_read(args, &p, &err) < 0)
        return app_usage(app, err.text);
    const char *params[] = { p.job, p.entity, p.schedule, p.tenant, args_has(args, 's') ? "true" : NULL };
    if (app_rows(app, "resume", params, 5, &rows, &err) < 0)
        return app_fail(app, &err);
    const char *outcome = rows_value(&rows, 0, "outcome");
    bool resumed = outcome && !strcmp(outcome, "resumed");
    if (app->json)
        report_print_object(app, rows_object(&rows, 0));
    else
        paused_print(app, &p, resumed ? "is resumed; engines move its checks to the next slot"
                                      : "is not paused; `prescient pauses` lists what is");
    return resumed ? EXIT_WELL : EXIT_TROUBLE;
}
