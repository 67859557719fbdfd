/* prescient replay - every slot between two moments, in order, on a virtual clock, as fast as it
 * goes. */
#include <inttypes.h>
#include <stdio.h>

#include "../base/moment.h"
#include "app.h"
#include "engine_command.h"
#include "progress.h"
#include "telling.h"

static int replay_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "from", 'f', "TIME", "the first slot" },
    { "to", 't', "TIME", "the last slot" },
    { "deliver", 'd', NULL, "hand events to listeners, and run deliveries that are due" },
    { 0 }
};

const struct command cmd_replay = {
    .name = "replay", .group = COMMAND_RUNNING,
    .args = "--from TIME --to TIME [--deliver]",
    .help = "run every slot between two moments on a virtual clock",
    .more = "Jobs get the virtual time. A check that asks for another look before --to is run again.\n"
            "Listeners hear nothing of what it emits, unless --deliver says so.\n"
            "Checks of the past have to be enqueued as of then, or they go to the next slot of today.",
    .examples = "prescient --now 2026-03-01 enqueue --from orders-of-march.csv\n"
                "prescient replay --from 2026-03-01 --to 2026-04-01",
    .options = options,
    .main = replay_main,
};

struct shown { struct app *app; struct progress bar; int64_t from; };

static void show(void *ctx, int64_t slot, int64_t slots)
{
    struct shown *s = ctx;
    char at[MOMENT_TEXT], detail[96];
    const struct telling t = telling_of(s->app);
    snprintf(detail, sizeof detail, "%s, %" PRId64 " slots", told_moment(slot, &t, at), slots);
    progress_show(&s->bar, slot - s->from, detail);
}

static int replay_main(struct app *app, const struct args *args)
{
    struct plan_replay plan = { 0 };
    struct err err;
    if (!args_has(args, 'f') || !args_has(args, 't'))
        return app_usage(app, "--from and --to are needed");
    if (app_moment_option(app, args, 'f', &plan.from, &err) < 0 ||
        app_moment_option(app, args, 't', &plan.to, &err) < 0)
        return app_fail(app, &err);
    if (plan.from > plan.to || plan.from < 1)
        return app_usage(app, "--from must not be later than --to, and not before 1970-01-01T00:00:01Z");
    plan.delivers = args_has(args, 'd');
    if (!plan.delivers)
        app->settings.nlisteners = 0;   /* what it emits is of the past, and goes to nobody today */
    struct shown shown = { .app = app, .from = plan.from };
    progress_init(&shown.bar, "replay", plan.to - plan.from + 1, !app->quiet);
    plan.next = plan.from;
    plan.progress = show;
    plan.ctx = &shown;
    return engine_command(app, &plan_replay, &plan, plan.from, &shown.bar);
}
