/* prescient concurrency - how many checks of a concurrency key may run at the same moment. */
#include <string.h>
#include "../base/utf8.h"
#include "app.h"
#include "report.h"

static int concurrency_main(struct app *app, const struct args *args);

const struct command cmd_concurrency = {
    .name = "concurrency", .group = COMMAND_PLANS,
    .args = "PATTERN N|one",
    .operands = { 2, 2 },
    .help = "say how many checks of a concurrency key may run at the same moment",
    .more = "PATTERN is a key, or the beginning of keys and a * behind it; of several that match, the "
            "longest one counts. N is 1 to 1000; `one` removes the pattern. Without any, one check of each "
            "key runs.\n"
            "Where N gets smaller, runs that go on are not ended. prescient keys --limits lists what holds.",
    .examples = "prescient concurrency 'shop-*' 3\nprescient concurrency 'shop-*' one",
    .main = concurrency_main,
};

static const struct { const char *outcome, *words; } outcomes[] = {
    { "removed", "removed: one, unless a shorter pattern says otherwise" },
    { "not_found", "there was no such pattern; prescient keys --limits lists them" },
};

static void print_outcome(struct app *app, const char *pattern, const char *places, const char *outcome)
{
    const char *words = "?";
    if (outcome && !strcmp(outcome, "set")) {
        fprintf(app->out, "concurrency of %.*s: %s from now on\n", UTF8_SHOWN(pattern), places);
        return;
    }
    for (size_t i = 0; outcome && i < sizeof outcomes / sizeof *outcomes; i++)
        if (!strcmp(outcomes[i].outcome, outcome))
            words = outcomes[i].words;
    fprintf(app->out, "concurrency of %.*s: %s\n", UTF8_SHOWN(pattern), words);
}

static int concurrency_main(struct app *app, const struct args *args)
{
    const char *pattern = args->operands[0], *places = args->operands[1];
    bool removes = !strcmp(places, "one");
    int64_t n;
    struct store_rows rows;
    struct err err = { 0 };
    if (!removes && args_read_number("N", places, 1, 1000, &n, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = { pattern, removes ? NULL : places };
    if (app_rows(app, "concurrency", params, 2, &rows, &err) < 0)
        return app_fail(app, &err);
    const char *outcome = rows_value(&rows, 0, "outcome");
    bool is_found = !outcome || strcmp(outcome, "not_found") != 0;
    if (app->json)
        report_print_object(app, rows_object(&rows, 0));
    else
        print_outcome(app, pattern, places, outcome);
    return is_found ? EXIT_WELL : EXIT_TROUBLE;
}
