/* prescient passes - which engine ran which slot, when, and with what result. */
#include "filter.h"

static int passes_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    FILTER_FROM, FILTER_BEFORE, FILTER_LIMITED, FILTER_WIDE, { 0 }
};

const struct command cmd_passes = {
    .name = "passes", .group = COMMAND_LOOKING, .args = "",
    .help = "list what engines did, by slot and bucket, newest first",
    .examples = "prescient passes --from -1h",
    .options = options, .main = passes_main,
    .role = "prescient_reader", .only_reads = true,
};

static int passes_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "slot_at bucket engine run done again failed timeout crashed late_us took_us left_jobs",
        .when_empty = "no passes yet",
        .ordered_by = "slot_at",
        .newest_first = true,
    };
    struct filter f;
    struct err err;
    if (filter_read(app, args, &f, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = { f.from, f.before, filter_limit_param(app, &f) };
    return filter_print(app, &f, "passes", params, 3, &view);
}
