/* prescient run - the current slot, then late ones; cron and systemd timers call it. */
#include "app.h"
#include "engine_command.h"

static int run_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "slot", 's', "TIME", "this slot instead of the current one; nothing else is run" },
    { "no-sweep", 'n', NULL, "leave late slots to a separate sweep" },
    { 0 }
};

const struct command cmd_run = {
    .name = "run",
    .args = "",
    .help = "run the checks of the current slot, then late ones; for cron",
    .more = "Started a moment before a slot begins, it waits for the slot. Several may run at once, on one "
            "host or many: each\n"
            "check is run by one of them.",
    .options = options,
    .main = run_main,
};

static int run_main(struct app *app, const struct args *args)
{
    struct plan_run plan = { .no_sweep = args_has(args, 'n') };
    struct err err;
    if (app_moment_option(app, args, 's', &plan.slot, &err) < 0)
        return app_fail(app, &err);
    return engine_command(app, &plan_run, &plan, app->now, false);
}
