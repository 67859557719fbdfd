/* prescient sweep - the catch-up: every late slot that still holds checks, oldest first. */
#include "app.h"
#include "engine_command.h"

static int sweep_main(struct app *app, const struct args *args);

const struct command cmd_sweep = {
    .name = "sweep", .group = COMMAND_RUNNING,
    .args = "",
    .help = "run the checks of missed slots, oldest slot first",
    .more = "Searches the whole table once, so it also finds checks that were put below the sweep's mark by "
            "hand.",
    .examples = "prescient sweep",
    .main = sweep_main,
};

static int sweep_main(struct app *app, const struct args *args)
{
    struct plan_sweep plan = { .kind = TARGET_SWEEP };
    (void)args;
    return engine_command(app, &plan_sweep, &plan, app->now, NULL);
}
