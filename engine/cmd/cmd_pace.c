/* prescient pace - over which part of each slot its checks are spread. */
#include <inttypes.h>
#include <stdlib.h>
#include "../base/utf8.h"
#include "app.h"
#include "report.h"

static int pace_main(struct app *app, const struct args *args);

const struct command cmd_pace = {
    .name = "pace", .group = COMMAND_PLANS,
    .args = "[PART]",
    .operands = { 0, 1 },
    .help = "spread the checks of each slot over a part of its seconds",
    .more = "PART is 0 to 1: with 0.5 and slots of 15 minutes, the checks of 13:15 run from 13:15:00 to "
            "13:22:30, in 64 parts that begin one after the other. A check is of the same part in each of "
            "its slots. 0: they run one after the other, as fast as workers can. Without PART it says what "
            "holds. Urgent checks and what is asked for at once keep their time.\n"
            "It takes a daemon, which hears of it within a minute. `prescient run` waits for nothing: it "
            "runs the parts that have begun, and leaves the others to the call after it.",
    .examples = "prescient pace 0.5\nprescient pace",
    .main = pace_main,
};

static int read_part(const char *text, char out[16], struct err *err)
{
    char *end;
    double part = strtod(text, &end);
    if (end == text || *end || !(part >= 0 && part <= 1))
        return err_set(err, ERR_INPUT, "PART: found '%.*s', expected a number from 0 to 1", UTF8_SHOWN(text));
    snprintf(out, 16, "%.3f", part);
    return 0;
}

static void print_pace(struct app *app, const struct store_rows *rows)
{
    int64_t seconds = rows_number(rows, 0, "seconds");
    if (seconds > 1)
        fprintf(app->out, "the checks of a slot are spread over %" PRId64 " of its %d seconds\n", seconds,
                store_slot_length_s(app->store));
    else
        fputs("the checks of a slot are not spread\n", app->out);
}

static int pace_main(struct app *app, const struct args *args)
{
    char part[16];
    const char *wanted = args->operands[0], *params[] = { part };
    struct store_rows rows;
    struct err err = { 0 };
    if (wanted && read_part(wanted, part, &err) < 0)
        return app_fail(app, &err);
    if (wanted && app_rows(app, "set_pace", params, 1, &rows, &err) < 0)
        return app_fail(app, &err);
    if (app_rows(app, "pace", NULL, 0, &rows, &err) < 0)
        return app_fail(app, &err);
    if (app->json)
        report_print_object(app, rows_object(&rows, 0));
    else
        print_pace(app, &rows);
    return EXIT_WELL;
}
