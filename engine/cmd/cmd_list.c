/* prescient list - the waiting checks. */
#include "filter.h"

static int list_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    FILTER_JOB, FILTER_FROM, FILTER_BEFORE, FILTER_LIMITED, FILTER_WIDE, { 0 }
};

const struct command cmd_list = {
    .name = "list", .group = COMMAND_LOOKING,
    .args = "[ENTITY [KEY]]",
    .examples = "prescient list --job unshipped_order --before +4h",
    .operands = { 0, 2 },
    .help = "list the checks that wait, soonest first",
    .more =
        "Checks of one job, or of an entity with more than 1000, are searched among the first 10000 of all. "
        "Where that\n"
        "ends the list, a line on stderr says so; --limit 0 searches all.",
    .options = options,
    .main = list_main,
    .role = "prescient_reader", .only_reads = true,
};

static int list_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "next_check_at entity_name=entity entity_key=key job_exec=job check_count=checks "
                   "failure_count=failures payload",
        .when_empty = "no checks wait",
        .ordered_by = "next_check_at",
        .due = "next_check_at",
    };
    struct filter f;
    struct err err;
    if (filter_read(app, args, &f, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = {
        f.entity, f.key, f.job, f.from, f.before, filter_limit_param(app, &f), filter_look_param(app, &f)
    };
    return filter_print(app, &f, "list", params, 7, &view);
}
