/* prescient retry - enqueues again what ended in failure. */
#include <inttypes.h>
#include "app.h"
#include "report.h"

static int retry_main(struct app *app, const struct args *args);

static const struct command_option options[] = { { "job", 'j', "NAME", "only of this job" },
                                                 { "since", 's', "TIME",
                                                   "only what failed from this time on" },
                                                 { "at", 'a', "TIME", "when to look again (the next slot)" },
                                                 { "limit", 'l', "N", "at most N (1000), newest first" },
                                                 { "all", 'A', NULL, "everything that failed" },
                                                 { 0 } };

const struct command cmd_retry = {
    .name = "retry",
    .args = "[ENTITY [KEY]]",
    .operands = { 0, 2 },
    .help = "enqueue again what ended as failed, timeout, crashed, bad_answer or unknown_job",
    .more = "Each keeps its payload. A check that is waiting already stays as it is.",
    .options = options,
    .main = retry_main,
};

static int retry_main(struct app *app, const struct args *args)
{
    struct err err;
    const char *entity = args_operand(args, 0), *job = args_text(args, 'j');
    const char *since = NULL, *at = NULL;
    int64_t limit = 1000;
    if (!entity && !job && !args_has(args, 's') && !args_has(args, 'A'))
        return app_usage(app, "give one of ENTITY, --job, --since and --all");
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
    return app_report(app, "retry", params, 7, "nothing to retry");
}
