/* prescient retry - enqueues again what ended in failure. */
#include <inttypes.h>
#include <string.h>
#include "../rules/idempotency.h"
#include "app.h"
#include "report.h"

static int retry_main(struct app *app, const struct args *args);

static const struct command_option options[] = { { "job", 'j', "NAME", "only of this job" },
                                                 { "since", 's', "TIME",
                                                   "only what failed from this time on" },
                                                 { "at", 'a', "TIME", "when to look again (the next slot)" },
                                                 { "limit", 'l', "N", "at most N (1000), newest first" },
                                                 { "all", 'A', NULL,
                                                   "everything that failed; not beside a part of it" },
                                                 { 0 } };

const struct command cmd_retry = {
    .name = "retry",
    .args = "[ENTITY [KEY]]",
    .operands = { 0, 2 },
    .help = "enqueue again what ended as failed, timeout, crashed, bad_answer or unknown_job",
    .more = "Each keeps its payload. A check that is waiting already stays as it is (kept), but for that of\n"
            "a schedule: it is run at the time asked for (moved), and its rule goes on from there.\n"
            "Deliveries are not among them: prescient deliveries --again.",
    .options = options,
    .main = retry_main,
};

static int count_of(const struct store_rows *rows, const char *outcome)
{
    int n = 0;
    for (int i = 0; i < rows->rows; i++) {
        const char *is = rows_value(rows, i, "outcome");
        n += is && !strcmp(is, outcome);
    }
    return n;
}

static void remark(struct app *app, const struct store_rows *rows)
{
    int kept = count_of(rows, "kept"), moved = count_of(rows, "moved");
    if (kept)
        app_remark(app, "kept: %d %s already and will be run at the time shown", kept,
                   kept == 1 ? "check waits" : "checks wait");
    if (moved)
        app_remark(app, "moved: %d %s run at the time shown; the rule goes on from there", moved,
                   moved == 1 ? "check of a schedule is" : "checks of schedules are");
}

static int retry_main(struct app *app, const struct args *args)
{
    static const char nothing[] = "nothing to retry (deliveries that failed: prescient deliveries --failed)";
    struct err err = { 0 };
    const char *entity = args_operand(args, 0), *job = args_text(args, 'j');
    const char *since = NULL, *at = NULL;
    int64_t limit = 1000;
    bool takes_a_part = entity || job || args_has(args, 's');
    if (!takes_a_part && !args_has(args, 'A'))
        return app_usage(app, "give one of ENTITY, --job, --since and --all");
    if (entity && !strcmp(entity, DELIVERY_ENTITY))
        return app_usage(app, "deliveries are sent again by 'prescient deliveries --again ID'; those that "
                              "failed: prescient deliveries --failed");
    if (takes_a_part && args_has(args, 'A'))
        return app_usage(app, "--all is everything that failed; ENTITY, --job and --since take a part of it");
    if (app_moment_option_param(app, args, 's', &since, &err) < 0 ||
        app_moment_option_param(app, args, 'a', &at, &err) < 0 ||
        args_number(args, 'l', 1, INT32_MAX, &limit, &err) < 0)
        return app_fail(app, &err);
    if (!at)
        at = app_moment_param(app, "now", &err);
    if (!at)
        return app_fail(app, &err);
    const char *params[] = { entity, args_operand(args, 1), job, since, at, app_now_param(app),
                             arena_printf(app->arena, "%" PRId64, limit) };
    struct store_rows rows;
    if (app_rows(app, "retry", params, 7, &rows, &err) < 0)
        return app_fail(app, &err);
    report_print(app, &rows, &(struct report_view){ .when_empty = nothing });
    remark(app, &rows);
    return EXIT_WELL;
}
