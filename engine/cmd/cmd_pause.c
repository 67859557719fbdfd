/* prescient pause - lets the checks of a job, an entity, a schedule or a tenant wait until
 * they are resumed. */
#include <string.h>
#include "../base/utf8.h"
#include "../rules/field.h"
#include "app.h"
#include "paused.h"
#include "report.h"
#include "unknown_job.h"

static int pause_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    PAUSED_JOB, PAUSED_ENTITY, PAUSED_SCHEDULE, PAUSED_TENANT,
    { "reason", 'r', "TEXT", "why; shown with the pause" }, { 0 }
};

const struct command cmd_pause = {
    .name = "pause", .group = COMMAND_PLANS,
    .args = "--job JOB | --entity ENTITY | --schedule NAME | --tenant NAME",
    .help = "let checks wait until they are resumed",
    .more =
        "Engines hear of it within a second. A check that comes up is not run and not counted as missed; one "
        "that a worker runs already ends as usual. What is paused already stays so: exit code 0.",
    .examples = "prescient pause --job unshipped_order --reason \"the shop moves\"",
    .options = options,
    .main = pause_main,
    .role = "prescient_operator",
};

/* A name that is misspelt pauses nothing; what comes later under it is paused all the same. */
static void remark_unknown(struct app *app, const struct paused *p, const struct store_rows *rows)
{
    if (p->job)
        unknown_job_remark(app, p->job);
    const char *has_checks = rows_value(rows, 0, "has_checks");
    bool has_none = has_checks && strchr("f0", *has_checks);
    if (p->entity && !field_is_of_engines(p->entity) && has_none)
        app_remark(app, "no check of entity '%.*s' waits at this moment", UTF8_SHOWN(p->entity));
    if (p->tenant && has_none)
        app_remark(app, "no check of tenant '%.*s' is among the next 10,000", UTF8_SHOWN(p->tenant));
}

static int pause_main(struct app *app, const struct args *args)
{
    struct paused p;
    struct err err = { 0 };
    struct store_rows rows;
    if (paused_read(args, &p, &err) < 0)
        return app_usage(app, err.text);
    const char *params[] = { p.job, p.entity, p.schedule, p.tenant, args_text(args, 'r') };
    if (app_rows(app, "pause", params, 5, &rows, &err) < 0)
        return app_fail(app, &err);
    remark_unknown(app, &p, &rows);
    if (app->json) {
        report_print_object(app, rows_object(&rows, 0));
        return EXIT_WELL;
    }
    const char *outcome = rows_value(&rows, 0, "outcome");
    bool is_new = outcome && !strcmp(outcome, "paused");
    paused_print(app, &p, is_new ? "is paused; `prescient resume` with the same words ends that"
                                 : "was paused already; `prescient pauses` shows by whom");
    return EXIT_WELL;
}
