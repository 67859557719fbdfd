/* prescient runs - runs that did not end their check: it waits again. */
#include "../rules/outcome.h"
#include "filter.h"

static int runs_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    FILTER_JOB, FILTER_OUTCOME, FILTER_SINCE, FILTER_BEFORE, FILTER_LIMITED, FILTER_WIDE, { 0 }
};

static const struct option_words values[] = { { "outcome", outcomes_of_runs }, { 0 } };

const struct command cmd_runs = {
    .name = "runs", .group = COMMAND_LOOKING,
    .args = "[ENTITY [KEY]]",
    .examples = "prescient runs --outcome failed --since -1d",
    .operands = { 0, 2 },
    .help = "list runs after which the check waits again, newest first",
    .more = "The run that ends a check is in the history. The setting keep_runs decides which runs are kept.",
    .options = options, .words = values,
    .main = runs_main,
    .role = "prescient_reader", .only_reads = true,
};

static int runs_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "run_at_us entity_name=entity entity_key=key job_exec=job check_number=look outcome "
                   "next_check_at run_us=took note",
        .when_empty = "no runs",
        .ordered_by = "run_at_us",
        .newest_first = true,
    };
    return filter_print_past(app, args, "runs", &view);
}
