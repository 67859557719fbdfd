/* prescient keys - concurrency keys: which have runs, where, and how many checks wait for them. */
#include "filter.h"

static int keys_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "limits", 'm', NULL, "how many checks of a key may run at the same moment, where it is not one" },
    FILTER_LIMITED, FILTER_WIDE, { 0 }
};

const struct command cmd_keys = {
    .name = "keys", .group = COMMAND_PLANS, .args = "",
    .help = "list concurrency keys: who runs checks of them, and how many wait",
    .more = "A line a place: an engine holds it while checks of the key run, until when it is not given "
            "back or renewed. Of 10000 checks that are due, or will be within a slot, those of the key are "
            "counted as waiting; a key without a place has only such.\n"
            "prescient concurrency says how many places a key has.",
    .examples = "prescient keys\nprescient keys --limits",
    .options = options, .main = keys_main,
    .role = "prescient_reader", .only_reads = true,
};

static int keys_main(struct app *app, const struct args *args)
{
    static const struct report_view keys = {
        .columns = "concurrency_key place engine taken_at held_until is_wanted waiting",
        .when_empty = "no concurrency key has a run, and no check that is due waits for one",
    };
    static const struct report_view limits = {
        .columns = "pattern places set_at set_by",
        .when_empty = "one check of each concurrency key runs at a moment",
    };
    struct filter f;
    struct err err;
    bool lists_limits = args_has(args, 'm');
    if (filter_read(app, args, &f, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = { filter_limit_param(app, &f) };
    if (lists_limits)
        return filter_print(app, &f, "concurrency_limits", params, 1, &limits);
    return filter_print(app, &f, "keys", params, 1, &keys);
}
