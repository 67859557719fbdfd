/* engine_command.c - makes an engine, runs it, and prints what it did. */
#include "engine_command.h"

#include <inttypes.h>
#include <jansson.h>
#include "report.h"

static int64_t checks_in_trouble(const struct pass_counts *c)
{
    return c->failed + c->timeout + c->crashed;
}

static void print_totals(struct app *app, const struct totals *totals, const char *plan)
{
    const struct pass_counts *c = &totals->counts;
    int64_t put_off = c->held_back + c->unknown_job;
    if (app->json)
        report_print_object(
            app, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
                           "plan", plan, "slots", (json_int_t)totals->slots, "run", (json_int_t)c->run,
                           "done", (json_int_t)c->done, "again", (json_int_t)c->again, "deferred",
                           (json_int_t)c->deferred, "guarded", (json_int_t)c->guarded, "failed",
                           (json_int_t)c->failed, "timeout", (json_int_t)c->timeout, "crashed",
                           (json_int_t)c->crashed, "held_back", (json_int_t)c->held_back, "unknown_job",
                           (json_int_t)c->unknown_job, "superseded", (json_int_t)c->superseded, "locked",
                           (json_int_t)c->locked, "held_by_others", (json_int_t)totals->held_by_others));
    else if (!app->quiet)
        fprintf(app->out,
                "%s: %" PRId64 " slots, %" PRId64 " checks run: %" PRId64 " done, %" PRId64 " again, %" PRId64
                " deferred, %" PRId64 " ended by a guard, %" PRId64 " failed, %" PRId64 " timeout, %" PRId64
                " crashed; %" PRId64 " put off, %" PRId64 " superseded\n",
                plan, totals->slots, c->run, c->done, c->again, c->deferred, c->guarded, c->failed,
                c->timeout, c->crashed, put_off, c->superseded);
}

/* A daemon ends well: its checks in trouble are in the history. */
static int totals_exit_code(const struct totals *totals, bool patient)
{
    if (patient)
        return EXIT_WELL;
    if (checks_in_trouble(&totals->counts) || totals->skipped_some)
        return EXIT_TROUBLE;
    if (totals->held_by_others && !totals->counts.run)
        return EXIT_TRY_AGAIN;
    return EXIT_WELL;
}

int engine_command(struct app *app, const struct plan *plan, void *plan_state, int64_t virtual_now,
                   bool patient)
{
    struct err err = { 0 };
    struct engine *e = NULL;
    int code;
    struct engine_options options = {
        .settings = &app->settings,
        .log = &app->log,
        .virtual_now = virtual_now,
        .patient = patient,
        .relaxed = plan == &plan_replay,
    };
    int rc = engine_new(&options, &e, &err);
    if (rc < 0)
        return app_fail(app, &err);
    rc = engine_run(e, plan, plan_state, &err);
    if (rc < 0 && rc != ERR_STOPPED) {
        code = app_fail(app, &err);
    } else {
        print_totals(app, engine_totals(e), plan->name);
        code = totals_exit_code(engine_totals(e), patient);
    }
    engine_free(e);
    return code;
}
