/* bench_main.c - the program that `prescient bench` starts: how fast prescient is with this
 * database on this machine, beside bare SQL for the same rows. */
#include <string.h>

#include "../engine/cmd/app.h"
#include "bench.h"
#include "../engine/cmd/launch.h"

static int bench_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "checks", 'n', "N", "checks due in one slot (200000)" },
    { "singles", 'i', "N", "checks enqueued one by one (2000)" },
    { "future", 'f', "N", "add N waiting checks first, in the order of time" },
    { "scattered", 's', NULL, "add them in no order instead, with the due ones among them" },
    { "old-snapshot", 'o', "N",
      "hold a snapshot in another session while N checks are settled first, and from then on (PostgreSQL)" },
    { "engines", 'e', "K", "engines at once (1)" },
    { "rounds", 'r', "R", "rounds over everything (5); the results are medians" },
    { "only", 'y', "NAMES",
      "only these measures, separated by commas: enqueue,bulk,end,again,recur,emit,look,loop, or names as in "
      "--json" },
    { "at", 'H', "HOUR", "load: the hour of the day (9)" },
    { "minutes", 'm', "FROM-TO", "load: first and last minute in it (0-9)" },
    { "heavy", 'v', "M:N,...", "load: N checks in minute M, and so on (2:20000,5:15000,7:20000)" },
    { "failing", 'F', "PERCENT", "load: share of checks that fail at each look (1)" },
    { "slow", 'S', "PERCENT", "load: share of checks that take longer than the timeout (0.1)" },
    { "timeout", 'T', "DURATION", "load: timeout of one check (5s)" },
    { "tenants", 't', "N", "load: entity names (10)" },
    { "slot-length", 'l', "DURATION", "load: length of a slot (1m)" },
    { "live", 'L', NULL,
      "load: by the clock, with a daemon, beginning at the next slot; else on a virtual clock" },
    { 0 }
};

static const struct command bench = {
    .name = "bench", .group = COMMAND_PROGRAM,
    .args = "[load]",
    .operands = { 0, 1 },
    .help = "measure passes and enqueues beside the bare SQL; `bench load` replays a rush hour",
    .more = "Works in a place of its own, dropped at the end: the schema prescient_bench in the store's "
            "database, or for SQLite a\n"
            "file in a temporary folder. The real tables are not touched, but the server's time and disk are "
            "used.\n"
            "Engines run as processes of their own with your settings. Rounds go over all measures in turn.",
    .examples = "prescient bench --checks 2000 --rounds 3 --only enqueue,end",
    .options = options,
    .main = bench_main,
};

const struct command *const command_table[] = { &bench, NULL };

int main(int argc, char **argv) { return launch_main(argc, argv); }

/* ---- its options ---- */

int bench_refuse_options(const struct args *args, const char *letters, const char *why, struct err *err)
{
    char letter = args_last(args, letters);
    return letter ? err_set(err, ERR_INPUT, "--%s: %s", args_name(args, letter), why) : 0;
}

int bench_common_options(const struct args *args, struct bench_options *o, struct err *err)
{
    int64_t engines = o->engines;
    int rc = args_number(args, 'e', 1, BENCH_ENGINES_MAX, &engines, err);
    if (rc < 0)
        return rc;
    o->engines = (int)engines;
    o->scattered = args_has(args, 's');
    return args_number(args, 'f', 0, 1000000000, &o->future, err);
}

static int read_options(const struct args *args, struct bench_options *o, struct err *err)
{
    int rc = bench_refuse_options(args, "HmvFSTtlL", "this option belongs to `bench load`", err);
    if (rc < 0)
        return rc;
    rc = bench_common_options(args, o, err);
    if (rc < 0)
        return rc;
    rc = args_number(args, 'n', 1, 100000000, &o->checks, err);
    if (rc < 0)
        return rc;
    rc = args_number(args, 'i', 1, 10000000, &o->singles, err);
    if (rc < 0)
        return rc;
    rc = args_number(args, 'o', 1, 1000000000, &o->old_snapshot, err);
    if (rc < 0)
        return rc;
    int64_t rounds = o->rounds;
    rc = args_number(args, 'r', 1, BENCH_ROUNDS_MAX, &rounds, err);
    if (rc < 0)
        return rc;
    o->rounds = (int)rounds;
    o->only = args_text(args, 'y');
    return 0;
}

static int bench_main(struct app *app, const struct args *args)
{
    struct bench b = { .app = app,
                       .interrupt.fd = -1,
                       .o = { .checks = 200000, .singles = 2000, .engines = 1, .rounds = 5 } };
    struct err err = { 0 };
    const char *what = args_operand(args, 0);
    if (what && strcmp(what, "load") != 0)
        return app_usage(app, "bench takes no arguments but `load`");
    if (what)
        return bench_load_main(app, args);
    if (read_options(args, &b.o, &err) < 0)
        return app_fail(app, &err);
    if (app->now)
        return app_usage(app, "--now: bench measures by the real clock");
    return bench_measures(&b);
}
