/* run_check.c - see run_check.h. What an engine does for it is run/plan_check.c. */
#include "run_check.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include "../base/cleanup.h"
#include "../base/moment.h"
#include "../base/nearest.h"
#include "../base/utf8.h"
#include "../rules/field.h"
#include "../rules/slot.h"
#include "../run/engine.h"
#include "../run/plans.h"
#include "../store/enqueue_check.h"
#include "app.h"
#include "report.h"
#include "telling.h"
#include "text.h"
#include "unknown_job.h"

/* ---- looks at its row ---- */

static int row_of_job(const struct store_rows *rows, const char *job)
{
    for (int r = 0; r < rows->rows; r++) {
        const char *found = rows_value(rows, r, "job_exec");
        if (found && !strcmp(found, job))
            return r;
    }
    return -1;
}

static struct check_look read_look(const struct store_rows *rows, const char *job)
{
    int row = row_of_job(rows, job);
    if (row < 0)
        return (struct check_look){ 0 };
    return (struct check_look){
        .waits = true,
        .id = rows_number(rows, row, "id"),
        .run_count = rows_number(rows, row, "run_count"),
        .failure_count = rows_number(rows, row, "failure_count"),
        .recurs = rows_number(rows, row, "recurs"),
        .slot = rows_number(rows, row, "next_check_at"),
        .has_begun = rows_number(rows, row, "is_begun"),
        .is_leased = rows_value(rows, row, "engine"),
    };
}

static int look(struct app *app, const struct run_check *c, struct store_rows *rows, struct err *err)
{
    const char *params[] = { c->entity, c->key, c->job };
    return app_rows(app, "checks_of_key", params, 3, rows, err);
}

/* ---- there is none, or more than one ---- */

static void put_check(struct app *app, const struct run_check *c)
{
    const char *names[] = { c->entity, c->key, c->job };
    for (int i = 0; i < 3 && names[i]; i++) {
        fputc(' ', app->out);
        text_put(app->out, names[i], 0);
    }
}

/* Another job that waits for this row; else another key of this entity, among a thousand. */
static const char *nearest_check(struct app *app, const struct run_check *c)
{
    struct err err;
    struct store_rows rows;
    struct nearest job = { .wanted = c->job ? c->job : "" }, key = { .wanted = c->key };
    struct run_check any = { .entity = c->entity, .key = c->key };
    if (c->job && look(app, &any, &rows, &err) >= 0)
        for (int r = 0; r < rows.rows; r++)
            nearest_look(&job, rows_value(&rows, r, "job_exec"));
    if (nearest_word(&job))
        return arena_printf(app->arena, "; did you mean the job '%.*s'?", UTF8_SHOWN(nearest_word(&job)));
    const char *params[] = { c->entity, NULL, c->job, NULL, NULL, "1000", "1000" };
    if (app_rows(app, "list", params, 7, &rows, &err) >= 0)
        for (int r = 0; r < rows.rows; r++)
            if (rows_value(&rows, r, "entity_key"))
                nearest_look(&key, rows_value(&rows, r, "entity_key"));
    if (nearest_word(&key))
        return arena_printf(app->arena, "; did you mean the key '%.*s'?", UTF8_SHOWN(nearest_word(&key)));
    return NULL;
}

static int tell_none(struct app *app, const struct run_check *c)
{
    const char *hint = nearest_check(app, c);
    if (app->json)
        report_print_object(app, json_pack("{s:s, s:s, s:s?, s:s}", "entity_name", c->entity, "entity_key",
                                           c->key, "job_exec", c->job, "outcome", "not_found"));
    else {
        fputs("no check waits for", app->out);
        put_check(app, c);
        fputs(hint ? hint : "; prescient enqueue ... --at-once writes one down", app->out);
        fputc('\n', app->out);
    }
    if (c->job)
        unknown_job_remark(app, c->job);
    return EXIT_TROUBLE;
}

static int tell_several(struct app *app, const struct store_rows *rows)
{
    const char *names = rows_value(rows, 0, "job_exec");
    for (int r = 1; r < rows->rows && names; r++)
        names = arena_printf(app->arena, "%s, %s", names, rows_value(rows, r, "job_exec"));
    const char *why = arena_printf(app->arena, "several jobs wait for that row: name one of them as JOB: %s",
                                   names ? names : "");
    return app_usage(app, why ? why : "several jobs wait for that row: name one of them as JOB");
}

/* ---- asking for it ---- */

struct asked {
    struct check_look before, after;
    int64_t filed_at;                   /* 0: a check that is due already is not asked for again */
    int64_t clock_at;                   /* the database's, before all */
    const char *engine;                 /* whose lease its slot is under; NULL: nobody's */
};

static int ask(struct app *app, const struct run_check *c, struct asked *a, struct err *err)
{
    struct store_rows rows;
    const char *params[] = { c->entity, c->key, c->job };
    if (!check_watch_must_ask(&a->before)) {
        a->after = a->before;
        return 0;
    }
    int rc = app_rows(app, "pull_forward", params, 3, &rows, err);
    if (rc < 0)
        return rc;
    a->filed_at = rows_number(&rows, 0, "next_check_at");
    rc = look(app, c, &rows, err);
    if (rc < 0)
        return rc;
    a->after = read_look(&rows, c->job);
    return 0;
}

static void remark_asked(struct app *app, const struct asked *a)
{
    if (!a->filed_at)
        app_remark(app, "it is due since %s, and is run with its slot",
                   telling_moment_away(app, a->before.slot));
    else if (a->before.has_begun)
        app_remark(app, "its slot is being run by %s: it is run again after that", a->engine);
    else
        app_remark(app, "it is run at %s", telling_moment_away(app, a->filed_at));
}

/* ---- what came of it ---- */

/* The newest row of a report that is a run under `slot`; -1: none is on record. */
static int row_of_slot(const struct store_rows *rows, int64_t slot)
{
    for (int r = 0; r < rows->rows; r++)
        if (rows_value(rows, r, "entity_name") && rows_number(rows, r, "slot_at") == slot)
            return r;
    return -1;
}

struct record {
    struct store_rows rows;
    int row;                            /* -1: none */
    bool is_over;                       /* of the history */
};

/* The run that ended the check, or its run row. A check that somebody resolved has the slot it
 * waited in. */
static int find_record(struct app *app, const struct run_check *c, const struct plan_check *p,
                       const struct asked *a, struct record *out, struct err *err)
{
    static const char *const reports[] = { "history", "runs" };
    const char *since = arena_printf(app->arena, "%" PRId64, a->clock_at - 60);
    const char *params[] = { c->entity, c->key, c->job, NULL, since, NULL, "20", "5000" };
    out->row = -1;
    for (int i = 0; i < 2 && out->row < 0; i++) {
        int rc = app_rows(app, reports[i], params, 8, &out->rows, err);
        if (rc < 0)
            return rc;
        out->row = row_of_slot(&out->rows, p->watch.slot);
        out->is_over = i == 0;
    }
    return 0;
}

/* What is no answer. A check whose job is broken was not asked about: it is put off. */
static int exit_of(const char *outcome)
{
    static const struct { const char *outcome; int exit; } troubles[] = {
        { "failed", EXIT_TROUBLE },      { "timeout", EXIT_TROUBLE },  { "crashed", EXIT_TROUBLE },
        { "bad_answer", EXIT_TROUBLE },  { "resolved", EXIT_TROUBLE }, { "skipped", EXIT_TROUBLE },
        { "unknown_job", EXIT_TROUBLE }, { "job_broken", EXIT_TRY_AGAIN },
    };
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
        if (!strcmp(outcome, troubles[i].outcome))
            return troubles[i].exit;
    return EXIT_WELL;
}

static json_t *moment_or_null(struct app *app, int64_t at)
{
    char text[MOMENT_TEXT];
    const char *words = slot_is_of_pause(at) ? "paused" : moment_format(at, text);
    const char *copy = at ? arena_strdup(app->arena, words) : NULL;
    return copy ? json_string(copy) : json_null();
}

static void put_next(struct app *app, int64_t next_at)
{
    if (slot_is_of_pause(next_at))
        fputs("; it waits until it is resumed\n", app->out);
    else if (next_at)
        fprintf(app->out, "; it waits for %s\n", telling_moment_away(app, next_at));
    else
        fputs("; it waits no more\n", app->out);
}

/* `next_at` 0: it waits no more. */
static void print_json(struct app *app, const struct run_check *c, const char *outcome, int64_t next_at,
                       const struct record *r)
{
    json_t *run = r && r->row >= 0 ? rows_object(&r->rows, r->row) : json_null();
    report_print_object(app, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "entity_name", c->entity,
                                       "entity_key", c->key, "job_exec", c->job, "outcome", outcome,
                                       "next_check_at", moment_or_null(app, next_at), "run", run));
}

static void print_text(struct app *app, const struct run_check *c, const char *outcome, int64_t next_at,
                       const struct record *r)
{
    char took[MOMENT_TEXT];
    const char *note = rows_value(&r->rows, r->row, "note"), *engine = rows_value(&r->rows, r->row, "engine");
    int64_t us = rows_number(&r->rows, r->row, r->is_over ? "last_run_us" : "run_us");
    fprintf(app->out, "%s:", outcome);
    put_check(app, c);
    fprintf(app->out, ", in %s", duration_format_us(us, took));
    if (engine)
        fprintf(app->out, " by %s", engine);
    put_next(app, next_at);
    if (!note || !*note)
        return;
    fputs("note: ", app->out);
    text_put(app->out, note, 0);
    fputc('\n', app->out);
}

static int tell_run(struct app *app, const struct run_check *c, const struct record *r, int64_t next_at)
{
    const char *outcome = rows_value(&r->rows, r->row, "outcome");
    if (!outcome)
        outcome = "?";
    if (app->json)
        print_json(app, c, outcome, next_at, r);
    else
        print_text(app, c, outcome, next_at, r);
    return exit_of(outcome);
}

/* Of how the run ended: the outcome in JSON, and words. */
static const struct ended { const char *outcome, *words; } ends[] = {
    [CHECK_WATCH_UNKNOWN] = { "unrecorded", "no run is on record" },
    [CHECK_WATCH_ANSWERED] = { "answered", "it has run" },
    [CHECK_WATCH_FAILED] = { "failed", "it has run, and failed" },
};

/* Nothing of the run is on record: keep_runs leaves it out, or somebody enqueued the check anew.
 * The row of the check tells whether it has run. */
static int tell_unrecorded(struct app *app, const struct run_check *c, enum check_watch_run run,
                           int64_t next_at)
{
    if (app->json)
        print_json(app, c, ends[run].outcome, next_at, NULL);
    else {
        fprintf(app->out, "%s:", ends[run].words);
        put_check(app, c);
        put_next(app, next_at);
    }
    if (run == CHECK_WATCH_UNKNOWN)
        app_warn(app, "the setting keep_runs (%s) leaves its run out, or it was enqueued anew meanwhile",
                 app->settings.keep_runs);
    else
        app_remark(app, "what came of it is not on record: the setting keep_runs of its engine (%s here)",
                   app->settings.keep_runs);
    return run == CHECK_WATCH_ANSWERED ? EXIT_WELL : EXIT_TROUBLE;
}

static int tell_not_run(struct app *app, const struct run_check *c, const char *outcome, const char *words,
                        int64_t next_at)
{
    if (app->json)
        print_json(app, c, outcome, next_at, NULL);
    else {
        fprintf(app->out, "%s:", words);
        put_check(app, c);
        put_next(app, next_at);
    }
    return EXIT_TRY_AGAIN;
}

static const char *why_put_off(const struct store_rows *rows, int row)
{
    if (slot_is_of_pause(rows_number(rows, row, "next_check_at")))
        return "it is paused: prescient pauses has since when, by whom and why";
    if (rows_value(rows, row, "put_off_at"))
        return "its job is broken, or no engine that looked can run it; prescient doctor has more";
    return "its job is held back after failures, or somebody moved it; prescient doctor has more";
}

static int tell_put_off(struct app *app, const struct run_check *c, const struct store_rows *rows)
{
    int row = row_of_job(rows, c->job);
    app_warn(app, "%s", why_put_off(rows, row));
    return tell_not_run(app, c, "put_off", "put off without a run", rows_number(rows, row, "next_check_at"));
}

static int tell_too_late(struct app *app, const struct run_check *c, const struct store_rows *rows)
{
    int row = row_of_job(rows, c->job);
    char within[MOMENT_TEXT];
    const char *engine = rows_value(rows, row, "engine");
    if (engine)
        app_warn(app, "its slot is held by %s; prescient doctor has more", engine);
    else if (!settings_job(&app->settings, c->job, NULL))
        app_warn(app, "no engine that has its job is running; prescient jobs lists those of this one");
    return tell_not_run(app, c, "not_run",
                        arena_printf(app->arena, "not run within %s",
                                     duration_format_us(c->within_us, within)),
                        rows_number(rows, row, "next_check_at"));
}

static int tell(struct app *app, const struct run_check *c, const struct plan_check *p, const struct asked *a)
{
    struct err err = { 0 };
    struct store_rows rows;
    struct record record;
    if (look(app, c, &rows, &err) < 0)
        return app_fail(app, &err);
    int row = row_of_job(&rows, c->job);
    if (p->state == CHECK_WATCH_PUT_OFF && row >= 0)
        return tell_put_off(app, c, &rows);
    if (p->state == CHECK_WATCH_WAITS && row >= 0)
        return tell_too_late(app, c, &rows);
    if (find_record(app, c, p, a, &record, &err) < 0)
        return app_fail(app, &err);
    int64_t next_at = row < 0 ? 0 : rows_number(&rows, row, "next_check_at");
    if (record.row >= 0)
        return tell_run(app, c, &record, next_at);
    if (row >= 0 && rows_value(&rows, row, "put_off_at"))       /* broken, and keep_runs leaves that out */
        return tell_put_off(app, c, &rows);
    struct check_look seen = read_look(&rows, c->job);
    return tell_unrecorded(app, c, check_watch_judge(&p->watch, &seen), next_at);
}

/* ---- the command ---- */

static int wait_for_it(struct app *app, struct plan_check *p, struct err *err)
{
    struct engine *e = NULL;
    const struct engine_options options = { .settings = &app->settings, .log = &app->log };
    int rc = engine_new(&options, &e, err);
    if (rc < 0)
        return rc;
    rc = engine_run(e, &plan_check, p, err);
    engine_free(e);
    return rc == ERR_STOPPED ? 0 : rc;
}

static int run_asked(struct app *app, const struct run_check *c, const struct asked *a)
{
    CLEANUP(arena_freep) struct arena *looks = arena_new(4096);
    const char *params[] = { c->entity, c->key, c->job };
    struct err err = { 0 };
    struct plan_check p = {
        .watch = check_watch_begin(&a->before, a->filed_at, &a->after),
        .job = c->job,
        .runs_here = settings_job(&app->settings, c->job, NULL),
        .within_us = c->within_us,
        .report = STORE_REPORT_INIT,
        .read = read_look,
    };
    if (!looks)
        return app_fail(app, (err_set(&err, ERR_NOMEM, "out of memory"), &err));
    p.report.name = "checks_of_key";
    p.report.params = params;
    p.report.nparams = 3;
    p.report.arena = looks;
    if (wait_for_it(app, &p, &err) < 0)
        return app_fail(app, &err);
    return tell(app, c, &p, a);
}

/* Nothing asks for one of them to be run before its time. */
static struct err *refuse_of_engines(const struct run_check *c, struct err *err)
{
    err_set(err, ERR_INPUT,
            "--check does not run checks of %s: prescient reschedule ENTITY KEY JOB TIME moves one that "
            "waits, and prescient run runs what is due", c->entity);
    return err;
}

int run_check(struct app *app, const struct run_check *wanted)
{
    struct run_check c = *wanted;
    struct asked a = { 0 };
    struct err err = { 0 };
    struct store_rows rows;
    const struct load_row row = { .entity_name = c.entity, .entity_key = c.key,
                                  .job_exec = c.job ? c.job : "any", .at = 1 };
    if (field_is_of_engines(c.entity))
        return app_fail(app, refuse_of_engines(&c, &err));
    if (enqueue_check_row(&row, &err) < 0 || look(app, &c, &rows, &err) < 0)
        return app_fail(app, &err);
    if (rows.rows == 0)
        return tell_none(app, &c);
    if (rows.rows > 1)
        return tell_several(app, &rows);
    c.job = rows_value(&rows, 0, "job_exec");
    a.before = read_look(&rows, c.job);
    a.clock_at = rows_number(&rows, 0, "clock_at");
    a.engine = rows_value(&rows, 0, "engine");
    if (ask(app, &c, &a, &err) < 0)
        return app_fail(app, &err);
    remark_asked(app, &a);
    if (!settings_job(&app->settings, c.job, NULL))
        app_warn(app, "no such job here: '%.*s'; it waits for an engine that has it", UTF8_SHOWN(c.job));
    return run_asked(app, &c, &a);
}
