/* prescient daemon - each slot at its time, for ever. */
#include "app.h"
#include "engine_command.h"

static int daemon_main(struct app *app, const struct args *args);

const struct command cmd_daemon = {
    .name = "daemon", .group = COMMAND_RUNNING,
    .args = "",
    .help = "run each slot at its time, and what was missed",
    .more = "Stays in the foreground; logs to stderr. On TERM or INT it takes nothing new, lets running jobs "
            "answer, and gives its\n"
            "leases back; a second signal ends it at once.",
    .examples = "prescient daemon",
    .main = daemon_main,
};

static int daemon_main(struct app *app, const struct args *args)
{
    struct plan_daemon plan = { 0 };
    (void)args;
    if (app->now)
        return app_usage(app, "--now: a daemon has no virtual time; use replay");
    return engine_command(app, &plan_daemon, &plan, 0, true);
}
