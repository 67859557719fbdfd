/* prescient pauses - what is paused, since when, by whom and why. */
#include "filter.h"

static int pauses_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "all", 'a', NULL, "those that are over, too" }, FILTER_LIMITED, FILTER_WIDE, { 0 }
};

const struct command cmd_pauses = {
    .name = "pauses", .group = COMMAND_PLANS, .args = "",
    .help = "list what is paused, and how many checks wait there",
    .more = "A state of `ending` is a pause that was resumed and whose checks are being moved. At most 10000 "
            "checks are counted.",
    .examples = "prescient pauses --all",
    .options = options, .main = pauses_main,
    .role = "prescient_reader", .only_reads = true,
};

static int pauses_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "what name state checks is_at_least=or_more paused_at paused_by reason resumed_at "
                   "resumed_by",
        .when_empty = "nothing is paused",
    };
    struct filter f;
    struct err err;
    if (filter_read(app, args, &f, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = { args_has(args, 'a') ? "true" : NULL, filter_limit_param(app, &f) };
    return filter_print(app, &f, "pauses", params, 2, &view);
}
