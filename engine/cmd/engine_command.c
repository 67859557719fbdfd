/* engine_command.c - makes an engine, runs it, and prints what it did. */
#include "engine_command.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include "../base/settings_mask.h"
#include "app.h"
#include "metrics_file.h"
#include "progress.h"
#include "report.h"

static json_t *totals_object(struct app *app, const struct totals *totals, const char *plan)
{
    const struct pass_counts *c = &totals->counts;
    json_t *object = json_pack("{s:s, s:I}", "plan", plan, "slots", (json_int_t)totals->slots);
#define PASS_COUNT(name, words)                                                                              \
    report_added(app, json_object_set_new(object, #name, json_integer((json_int_t)c->name)));
    PASS_COUNTS(PASS_COUNT)
#undef PASS_COUNT
    json_t *held = json_integer((json_int_t)totals->held_by_others);
    report_added(app, json_object_set_new(object, "held_by_others", held));
    return object;
}

void engine_print_totals(struct app *app, const struct totals *totals, const char *plan)
{
    char counts[PASS_COUNTS_TEXT];
    if (app->json)
        report_print_object(app, totals_object(app, totals, plan));
    else if (!app->quiet)
        fprintf(app->out, "%s: %" PRId64 " slots, checks: %s\n", plan, totals->slots,
                pass_counts_format(&totals->counts, counts));
}

static int totals_exit_code(const struct totals *totals)
{
    if (totals->ended_badly || totals->skipped_some)
        return EXIT_TROUBLE;
    if (totals->held_by_others && !totals->counts.run)
        return EXIT_TRY_AGAIN;
    return EXIT_WELL;
}

/* Variables that others read, too, may lead to another database than the file beside it says. */
void engine_tell_store(struct app *app)
{
    const struct settings *s = &app->settings;
    const char *from = s->store_place, *instead_of = s->store_instead_of;
    char url[512];
    bool is_variable = from && !strchr(from, ':');
    bool is_others = is_variable && (!strcmp(from, "DATABASE_URL") || !strncmp(from, "PG", 2));
    settings_mask_url(s->store, url, sizeof url);
    if (is_others && instead_of)
        log_warn(&app->log, "the store is that of %s, %s, not that of %s", from, url, instead_of);
    else if (is_others)
        app_remark(app, "the store is that of %s, %s", from, url);
    else if (!from && !s->file)
        app_remark(app, "there are no settings here: the store is %s", url);
}

static void clear_bar(void *bar)
{
    progress_clear(bar);
}

int engine_command(struct app *app, const struct plan *plan, void *plan_state, int64_t virtual_now,
                   struct progress *bar)
{
    struct err err = { 0 };
    struct engine *e = NULL;
    int code;
    struct engine_options options = {
        .settings = &app->settings,
        .log = &app->log,
        .virtual_now = virtual_now,
        .relaxed = plan == &plan_replay,
        .leaves_deliveries = plan == &plan_replay && !((const struct plan_replay *)plan_state)->delivers,
    };
    struct metrics_file file = { app->settings.metrics_file, &app->log };
    if (file.path)
        options.metrics = (struct metrics_writer){ metrics_file_write, &file };
    engine_tell_store(app);
    int rc = engine_new(&options, &e, &err);
    if (rc < 0)
        return app_fail(app, &err);
    if (bar) {
        app->log.before_line = clear_bar;
        app->log.ctx = bar;
    }
    rc = engine_run(e, plan, plan_state, &err);
    if (bar)
        progress_clear(bar);
    if (rc < 0 && rc != ERR_STOPPED) {
        if (file.path && rc == ERR_LOST)
            metrics_file_write(&file, NULL);
        code = app_fail(app, &err);
    } else {
        engine_print_totals(app, engine_totals(e), app->command ? app->command->name : plan->name);
        code = totals_exit_code(engine_totals(e));
    }
    engine_free(e);
    app->log.before_line = NULL;
    return code;
}
