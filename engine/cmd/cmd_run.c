/* prescient run - the current slot, then late ones; cron and systemd timers call it. Or one check,
 * now. */
#include "../base/moment.h"
#include "../base/utf8.h"
#include "app.h"
#include "engine_command.h"
#include "run_check.h"

static int run_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "slot", 's', "TIME", "this slot instead of the current one; nothing else is run" },
    { "no-sweep", 'n', NULL, "leave late slots to a separate sweep" },
    { "check", 'c', NULL, "run the check of a row in the next second, and wait until it has run" },
    { "within", 'w', "TIME", "with --check: wait no longer than that (1m)" },
    { 0 }
};

const struct command cmd_run = {
    .name = "run", .group = COMMAND_RUNNING,
    .args = "[--check ENTITY KEY [JOB]]",
    .examples = "prescient run\n"
                "prescient run --check orders 42",
    .operands = { 0, 3 },
    .help = "run the checks of the current slot, then late ones; for cron",
    .more = "Started a moment before a slot begins, it waits for the slot. Several may run at once, on one "
            "host or many: each\n"
            "check is run by one of them.\n"
            "With --check the exit code is 0 when the job has answered, 1 when it failed or no such check "
            "waits, and 75 when\n"
            "nobody has run it in time; then it stays asked for.",
    .options = options,
    .main = run_main,
};

static int read_within(const char *text, int64_t *out, struct err *err)
{
    const int64_t second_us = 1000 * 1000;
    int64_t given_us = 0;
    if (duration_parse_us(text, &given_us, err) < 0)
        return err_wrap(err, err->code, "--within");
    if (given_us < second_us || given_us > 86400 * second_us)
        return err_set(err, ERR_INPUT, "--within: \"%.*s\" is not between 1s and 24h", UTF8_SHOWN(text));
    *out = given_us;
    return 0;
}

static int one_check(struct app *app, const struct args *args)
{
    struct err err;
    struct run_check wanted = { args_operand(args, 0), args_operand(args, 1), args_operand(args, 2),
                                60 * INT64_C(1000000) };
    if (args_has(args, 's') || args_has(args, 'n'))
        return app_usage(app, "--check runs one check; --slot and --no-sweep are of whole slots");
    if (app->now)
        return app_usage(app, "--check runs a check now, by the store's clock; --now cannot be given");
    if (args->noperands < 2)
        return app_usage(app, "--check takes ENTITY KEY, and JOB where several jobs wait for that row");
    if (args_has(args, 'w') && read_within(args_text(args, 'w'), &wanted.within_us, &err) < 0)
        return app_fail(app, &err);
    return run_check(app, &wanted);
}

static int run_main(struct app *app, const struct args *args)
{
    struct plan_run plan = { .no_sweep = args_has(args, 'n') };
    struct err err;
    if (args_has(args, 'c'))
        return one_check(app, args);
    if (args->noperands)
        return app_usage(app, "too many arguments: a check is run by --check ENTITY KEY [JOB]");
    if (args_has(args, 'w'))
        return app_usage(app, "--within belongs to --check");
    if (app_moment_option(app, args, 's', &plan.slot, &err) < 0)
        return app_fail(app, &err);
    return engine_command(app, &plan_run, &plan, app->now, NULL);
}
