/* prescient reslot - the other catch-up: all late checks move to the next slot, none is run. */
#include "app.h"
#include "engine_command.h"

static int reslot_main(struct app *app, const struct args *args);

const struct command cmd_reslot = {
    .name = "reslot", .group = COMMAND_RUNNING,
    .args = "",
    .help = "move all late checks, and those that were put off, to the next slot, running none",
    .more =
        "This counts neither as a check nor as a failure. It uses the same leases as a pass, so it may run "
        "beside engines.",
    .examples = "prescient reslot",
    .main = reslot_main,
};

static int reslot_main(struct app *app, const struct args *args)
{
    struct plan_sweep plan = { .kind = TARGET_RESLOT };
    (void)args;
    return engine_command(app, &plan_sweep, &plan, app->now, NULL);
}
