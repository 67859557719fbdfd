/* prescient why - why nothing, or nothing more, has happened for a row. */
#include "../view/why_json.h"
#include "app.h"
#include "report.h"
#include "telling.h"
#include "text.h"

enum { SEARCH_MS = 1000 };

static int why_main(struct app *app, const struct args *args);

static const struct command_option options[] = { { "job", 'j', "NAME", "only of this job" }, { 0 } };

const struct command cmd_why = {
    .name = "why", .group = COMMAND_LOOKING, .args = "ENTITY KEY", .operands = { 2, 2 },
    .help = "say why nothing, or nothing more, has happened for a row",
    .more = "A sentence for each of its checks: of those that wait, and of the last of each other job. Then "
            "one\nfor each delivery of the newest events. With --json, `code` is for programs.",
    .examples = "prescient why orders 42\nprescient why orders 42 --job unshipped",
    .options = options, .main = why_main,
    .role = "prescient_reader", .only_reads = true,
};

static int rows_of(void *ctx, const char *report, const char *const *params, int nparams,
                   struct store_rows *out, struct err *err)
{
    return app_rows(ctx, report, params, nparams, out, err);
}

static void print_sentence(struct app *app, const char *job, const struct why *why)
{
    if (job) {
        text_put(app->out, job, 0);
        fputs(": ", app->out);
    }
    text_put(app->out, why->sentence, 0);
    fputc('\n', app->out);
}

static void print_sentences(struct app *app, const struct why_answer *answer)
{
    for (int i = 0; i < answer->nitems; i++)
        print_sentence(app, answer->items[i].job, &answer->items[i].why);
    for (int i = 0; i < answer->nevents; i++)
        print_sentence(app, answer->events[i].job, &answer->events[i].why);
}

static int why_main(struct app *app, const struct args *args)
{
    const struct telling telling = telling_of(app);
    struct why_source source = { .rows = rows_of, .ctx = app, .settings = &app->settings,
                                 .arena = app->arena, .telling = &telling, .search_ms = SEARCH_MS };
    struct why_answer answer;
    struct err err;
    const char *entity = args->operands[0], *key = args->operands[1];
    if (!app_store(app, &err) || app_now(app, &source.now, &err) < 0)
        return app_fail(app, &err);
    source.slot_length_s = store_slot_length_s(app->store);
    if (why_ask(&source, entity, key, args_text(args, 'j'), &answer, &err) < 0)
        return app_fail(app, &err);
    if (app->json)
        report_print_object(app, why_json(entity, key, &answer));
    else
        print_sentences(app, &answer);
    return EXIT_WELL;
}
