/* prescient run - the slot that is now, then what is late; what cron and systemd timers call. */
#include "app.h"
#include "engine_command.h"

static int run_main(struct app *app, int argc, char **argv);

static const struct command_option options[] = {
    { "slot", 's', "TIME", "this slot instead of the one that is now; nothing else is run" },
    { "no-sweep", 'n', NULL, "leave late slots to a sweep of its own" },
    { 0 }
};

const struct command cmd_run = {
    .name = "run",
    .args = "",
    .help = "run the checks of the slot that is now, then what is late; for cron",
    .more = "Started a moment before a slot begins, it waits for it. Several may run at once, on one host or "
            "many: each check is\n"
            "run by one of them.",
    .options = options,
    .main = run_main,
};

static int run_main(struct app *app, int argc, char **argv)
{
    struct plan_run plan = { 0 };
    struct err err = { 0 };
    const char *value;
    int at = 0, first = 0, letter;
    while ((letter = app_option(app, argc, argv, &at, &value, &first)) > 0) {
        if (letter == 'n')
            plan.no_sweep = true;
        else if (app_moment(app, value, &plan.slot, &err))
            return app_fail(app, &err);
    }
    if (letter < 0)
        return EXIT_BAD_USAGE;
    if (first < argc)
        return app_usage(app, "run takes no arguments");
    return engine_command(app, &plan_run, &plan, app->now, false);
}
