/* prescient schedule - what runs again and again: made, changed, shown, switched, removed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "../base/moment.h"
#include "../rules/recurrence.h"
#include "../view/schedule_rule.h"
#include "../view/schedule_times.h"
#include "action.h"
#include "app.h"
#include "filter.h"
#include "report.h"
#include "schedule_file.h"
#include "schedule_load.h"
#include "telling.h"
#include "text.h"
#include "unknown_job.h"

static int schedule_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "every", 'e', "DURATION", "so long after the end of each run (5m, 1h30m)" },
    { "cron", 'c', "TEXT", "at the times of a cron text ('0 6 * * mon-fri')" },
    { "timezone", 'z', "ZONE", "of the cron text (Europe/Amsterdam); without it UTC" },
    { "missed", 'm', "WORD", "what becomes of missed times: run_once (the default), run_all or skip" },
    { "bias", 'b', "FRACTION", "of --every, by which each time may be off (0.0667)" },
    { "payload", 'p', "JSON", "what the job gets beside the key; at most 64 KiB" },
    { "concurrency-key", 'k', "KEY", "of its checks: those that share one are not run at the same moment" },
    { "tenant", 't', "NAME", "whose its checks are: tenants take turns at workers (their entity)" },
    { "why", 'y', "WORDS", "on, off: why; kept with who and when" },
    { "dry-run", 'n', NULL, "load: print what would change, and change nothing" },
    { "format", 'F', "WORD", "load: csv or libconfig; by default as the file's name ends (.cfg, .conf)" },
    { "job", 'j', "NAME", "list: only of this job" },
    { "after", 'a', "NAME", "list: only names behind this one: the next page" },
    FILTER_LIMITED,
    { 0 }
};

static const struct option_words values[] = {
    { "missed", recurrence_missed_words }, { "format", schedule_file_formats }, { 0 }
};

const struct command cmd_schedule = {
    .name = "schedule", .group = COMMAND_PLANS,
    .args = "add NAME ENTITY KEY JOB (--every DURATION | --cron TEXT) | set NAME ... | list [PREFIX] | "
            "show NAME | on NAME | off NAME | remove NAME | load FILE [--dry-run]",
    .examples = "prescient schedule add stock shop 7 sync --every 5m\n"
                "prescient schedule show stock",
    .operands = { 1, 5 },
    .help = "make, change, list and show what runs again and again",
    .more = "load makes what is there equal to a file. What the file lacks is removed. It is CSV with the "
            "columns name,\n"
            "entity_name, entity_key, job_exec, every or cron, and if wanted timezone, missed, bias, "
            "payload,\n"
            "concurrency_key, tenant;\n"
            "or libconfig:\n"
            "  schedules = ( { name = \"stock\"; entity_name = \"shop\"; entity_key = \"7\"; job_exec = "
            "\"sync\"; every = \"5m\"; } );\n"
            "list is in the order of names by their bytes, at most --limit of them.\n"
            "set changes what is given and leaves the rest. show has the next ten times; they assume that an "
            "engine runs each\n"
            "at its time, at once what is late, and runs of less than a second.\n"
            "off and remove end the check that waits. prescient-schedule(7) has the rules.",
    .options = options, .words = values,
    .main = schedule_main,
};

/* ---- what is asked for ---- */

static int read_wanted(struct app *app, const struct args *args, struct schedule_rule *w, struct err *err)
{
    *w = (struct schedule_rule){
        .cron = args_text(args, 'c'),
        .zone = args_text(args, 'z'),
        .missed = args_text(args, 'm'),
        .payload = args_text(args, 'p'),
        .concurrency_key = args_text(args, 'k'),
        .tenant = args_text(args, 't'),
    };
    if (args_has(args, 'e') && w->cron)
        return err_set(err, ERR_INPUT, "--every and --cron are two rules, expected one of them");
    if (args_has(args, 'e') && w->zone)
        return err_set(err, ERR_INPUT,
                       "a timezone belongs to --cron; --every counts from the end of a run");
    if (args_has(args, 'b') && w->cron)
        return err_set(err, ERR_INPUT, "a bias belongs to --every; --cron has the times themselves");
    if (w->missed && schedule_check_missed(w->missed, args_has(args, 'e'), err) < 0)
        return err->code;
    int rc = args_has(args, 'e') ? schedule_read_every(app->arena, args_text(args, 'e'), &w->every, err) : 0;
    if (rc < 0)
        return rc;
    rc = args_has(args, 'b') ? schedule_read_bias(app->arena, args_text(args, 'b'), &w->bias, err) : 0;
    if (rc < 0)
        return rc;
    return schedule_read_cron(app->arena, w->cron, w->zone, &w->cron, err);
}

static int refuse_missing(struct app *app, const char *name)
{
    struct err err = { 0 };
    err_set(&err, ERR_INPUT, "there is no schedule '%s'; prescient schedule list has them", name);
    return app_fail(app, &err);
}

/* ---- add, set ---- */

/* An `every` that slots cannot keep, by the bias that the schedule now has. */
static void tell_period(struct app *app, const char *name, const struct schedule_rule *w)
{
    struct err err = { 0 };
    struct store_rows row;
    if (!w->every && !w->bias)
        return;
    const char *params[] = { name };
    if (app_rows(app, "schedule", params, 1, &row, &err) < 0 || !row.rows)
        return; /* it was written: what it becomes is only told */
    const char *bias = rows_value(&row, 0, "bias");
    if (bias && schedule_read_bias(app->arena, bias, &bias, &err) < 0)
        return;
    const char *words = schedule_becomes(app->arena, store_slot_length_s(app->store),
                                         rows_value(&row, 0, "every_s"), bias);
    if (words)
        app_remark(app, "%s", words);
}

/* NULL: the job stays as it is. */
static void tell_job(struct app *app, const char *job)
{
    struct unknown_jobs unknown = { 0 };
    if (job)
        unknown_jobs_note(&unknown, app, job);
    unknown_jobs_tell(&unknown, app);
}

static int put(struct app *app, const char *mode, char *const names[4], const struct args *args)
{
    struct err err = { 0 };
    struct schedule_rule w;
    struct store_rows rows;
    if (read_wanted(app, args, &w, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = { mode,   names[0], names[1], names[2],  names[3],           w.every,
                             w.bias, w.cron,   w.zone,   w.missed,  w.payload,          app_now_param(app),
                             w.concurrency_key, w.tenant };
    if (app_rows(app, "schedule_put", params, sizeof params / sizeof *params, &rows, &err) < 0)
        return app_fail(app, &err);
    const char *outcome = rows_value(&rows, 0, "outcome");
    if (outcome && !strcmp(outcome, "not_found"))
        return refuse_missing(app, names[0]);
    const char *at = telling_cell(app, CELL_MOMENT, rows_value(&rows, 0, "next_check_at"), false);
    tell_period(app, names[0], &w);
    tell_job(app, names[3]);
    if (app->json) {
        report_print_object(app, rows_object(&rows, 0));
        return EXIT_WELL;
    }
    fprintf(app->out, "%s: ", outcome ? outcome : "?");
    text_put(app->out, names[0], 0);
    if (at)
        fprintf(app->out, "; an engine looks for its first time in the slot %s", at);
    fputc('\n', app->out);
    return EXIT_WELL;
}

static int run_add(struct app *app, const struct args *args)
{
    if (args->noperands != 5)
        return app_usage(app, "add takes NAME ENTITY KEY JOB");
    if (!args_has(args, 'e') && !args_has(args, 'c'))
        return app_usage(app, "a schedule needs --every or --cron");
    return put(app, "add", args->operands + 1, args);
}

static int run_set(struct app *app, const struct args *args)
{
    char *names[4] = { args->noperands > 1 ? args->operands[1] : NULL };
    if (args->noperands != 2 && args->noperands != 5)
        return app_usage(app, "set takes NAME, or NAME ENTITY KEY JOB");
    for (int i = 1; i < args->noperands - 1; i++)
        names[i] = args->operands[i + 1];
    return put(app, "set", names, args);
}

/* ---- list, show ---- */

static int run_list(struct app *app, const struct args *args)
{
    struct report_view view = {
        .columns = "name entity_name=entity entity_key=key job_exec=job every_s=every cron timezone missed "
                   "is_active=on next_check_at",
        .when_empty = "no schedules; prescient schedule add makes one",
    };
    struct filter f = { .limit = FILTER_LIMIT, .job = args_text(args, 'j') };
    struct err err = { 0 };
    const char *prefix = args->noperands > 1 ? args->operands[1] : NULL;
    if (args->noperands > 2)
        return app_usage(app, "list takes the beginning of a name, or nothing");
    if (args_number(args, 'l', 0, INT64_MAX, &f.limit, &err) < 0)
        return app_fail(app, &err);
    if (prefix || f.job || args_has(args, 'a'))
        view.when_empty = "no such schedules; prescient schedule list has all";
    const char *params[] = { prefix, NULL, NULL, f.job, filter_limit_param(app, &f), args_text(args, 'a') };
    return filter_print(app, &f, "schedules", params, 6, &view);
}

/* The time of --now, else the database's. */
static int64_t now_of(struct app *app, const struct store_rows *row)
{
    const char *given = app_now_param(app);
    return given ? strtoll(given, NULL, 10) : rows_number(row, 0, "clock_at");
}

/* What schedule_times needs, and nobody else. */
static bool is_shown(const char *column)
{
    static const char *const hidden[] = { "has_begun", "is_paused", "clock_at" };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (!strcmp(column, hidden[i]))
            return false;
    return true;
}

static void print_times(struct app *app, const struct schedule_times *times)
{
    if (!times->n)
        fprintf(app->out, "%-16s%s\n", "next times", times->none);
    for (int i = 0; i < times->n; i++) {
        fprintf(app->out, "%-16s%s", i ? "" : "next times", telling_moment_away(app, times->at[i]));
        if (i == 0 && times->late_since)
            fprintf(app->out, ", at once: it is late, since %s", telling_moment_away(app, times->late_since));
        fputc('\n', app->out);
    }
}

static void print_shown(struct app *app, const struct store_rows *row, const struct schedule_times *times)
{
    for (int c = 0; c < row->columns; c++) {
        const char *shown = telling_cell(app, row->kinds[c], row->cells[c], false);
        if (!shown || !is_shown(row->names[c]))
            continue;
        fprintf(app->out, "%-16s", row->names[c]);
        text_put(app->out, shown, 0);
        fputc('\n', app->out);
    }
    print_times(app, times);
}

static void print_json(struct app *app, const struct store_rows *row, const struct schedule_times *times)
{
    char text[MOMENT_TEXT];
    json_t *object = report_made(app, rows_object(row, 0)), *list = report_made(app, json_array());
    for (int c = 0; c < row->columns; c++)
        if (!is_shown(row->names[c]))
            json_object_del(object, row->names[c]);
    for (int i = 0; i < times->n; i++)
        report_added(app, json_array_append_new(list, json_string(moment_format(times->at[i], text))));
    if (!times->n)
        report_added(app, json_object_set_new(object, "no_times", json_string(times->none)));
    report_added(app, json_object_set_new(object, "next_times", list));
    report_print_object(app, object);
}

static int run_show(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct store_rows row;
    struct schedule_times times = { .n = 0 };
    if (args->noperands != 2)
        return app_usage(app, "show takes NAME");
    const char *params[] = { args->operands[1] };
    if (app_rows(app, "schedule", params, 1, &row, &err) < 0)
        return app_fail(app, &err);
    if (!row.rows)
        return refuse_missing(app, args->operands[1]);
    if (schedule_times(&row, now_of(app, &row), &times, &err) < 0)
        return app_fail(app, &err);
    if (app->json)
        print_json(app, &row, &times);
    else
        print_shown(app, &row, &times);
    return EXIT_WELL;
}

/* ---- on, off, remove ---- */

/* `done` and `was` follow the name. NULL: there is no such schedule. */
static int change(struct app *app, const char *report, const char *const *params, int nparams,
                  const char *column, const char *done, const char *was)
{
    struct err err = { 0 };
    struct store_rows row;
    if (app_rows(app, report, params, nparams, &row, &err) < 0)
        return app_fail(app, &err);
    if (!rows_value(&row, 0, column))
        return refuse_missing(app, params[0]);
    bool is_done = rows_is_true(&row, 0, column);
    if (app->json)
        report_print_object(app, rows_object(&row, 0));
    else {
        text_put(app->out, params[0], 0);
        fprintf(app->out, ": %s\n", is_done ? done : was);
    }
    return is_done ? EXIT_WELL : EXIT_TROUBLE;
}

static int run_on(struct app *app, const struct args *args)
{
    if (args->noperands != 2)
        return app_usage(app, "on takes NAME");
    const char *params[] = { args->operands[1], "true", args_text(args, 'y'), app_now_param(app) };
    return change(app, "schedule_switch", params, 4, "is_changed", "on", "it was on");
}

static int run_off(struct app *app, const struct args *args)
{
    if (args->noperands != 2)
        return app_usage(app, "off takes NAME");
    const char *params[] = { args->operands[1], "false", args_text(args, 'y'), app_now_param(app) };
    return change(app, "schedule_switch", params, 4, "is_changed", "off, and its check is ended",
                  "it was off");
}

static int run_remove(struct app *app, const struct args *args)
{
    if (args->noperands != 2)
        return app_usage(app, "remove takes NAME");
    const char *params[] = { args->operands[1], app_now_param(app) };
    return change(app, "schedule_remove", params, 2, "is_removed", "removed, and its check is ended",
                  "there is no such schedule");
}

static int run_load(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    if (args->noperands != 2)
        return app_usage(app, "load takes FILE");
    struct schedule_load what = { args->operands[1], args_text(args, 'F'), args_has(args, 'n') };
    if (schedule_load(app, &what, &err) < 0)
        return app_fail(app, &err);
    return EXIT_WELL;
}

#define RULE "eczmbpkt"         /* the options of a rule */

static const struct action actions[] = {
    { "add", RULE, run_add, "prescient_operator", false },
    { "set", RULE, run_set, "prescient_operator", false },
    { "list", "jal", run_list, "prescient_reader", true },
    { "show", "", run_show, "prescient_reader", true },
    { "on", "y", run_on, "prescient_operator", false },
    { "off", "y", run_off, "prescient_operator", false },
    { "remove", "", run_remove, "prescient_operator", false },
    { "load", "nF", run_load, NULL, false },
    { 0 },
};

static int schedule_main(struct app *app, const struct args *args)
{
    const struct action *action = action_find(actions, args->operands[0]);
    if (!action)
        return app_usage(app, "expected add, set, list, show, on, off, remove or load");
    return action_run(app, actions, action, args);
}
