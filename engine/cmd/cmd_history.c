/* prescient history - checks that are over, and how they ended. */
#include "../rules/outcome.h"
#include "filter.h"

static int history_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    FILTER_JOB, FILTER_OUTCOME, FILTER_SINCE, FILTER_BEFORE, FILTER_LIMITED, FILTER_WIDE, { 0 }
};

static const struct option_words values[] = { { "outcome", outcomes_of_history }, { 0 } };

const struct command cmd_history = {
    .name = "history", .group = COMMAND_LOOKING, .args = "[ENTITY [KEY]]", .operands = { 0, 2 },
    .help = "list checks that are over, newest first",
    .examples = "prescient history orders 42\n"
                "prescient history --outcome failed --since -1d",
    .options = options, .words = values, .main = history_main,
    .role = "prescient_reader", .only_reads = true,
};

static int history_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "ended_at_us entity_name=entity entity_key=key job_exec=job outcome run_count=runs "
                   "last_run_us=took note",
        .when_empty = "no check is over",
        .ordered_by = "ended_at_us",
        .newest_first = true,
    };
    return filter_print_past(app, args, "history", &view);
}
