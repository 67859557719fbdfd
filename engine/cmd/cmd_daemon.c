/* prescient daemon - each slot at its time, for ever. Settings that are read again are those of a
 * new engine in the same process. */
#include <stdlib.h>

#include "../run/process.h"
#include "app.h"
#include "engine_command.h"
#include "metrics_file.h"
#include "reload.h"

static int daemon_main(struct app *app, const struct args *args);

const struct command cmd_daemon = {
    .name = "daemon",
    .group = COMMAND_RUNNING,
    .args = "",
    .help = "run each slot at its time, and what was missed",
    .more = "Stays in the foreground; logs to stderr. On TERM or INT it takes nothing new, lets running jobs "
            "answer, and gives its\n"
            "leases back; a second signal ends it at once. On HUP it reads the settings again and opens all "
            "plug-ins anew;\n"
            "what runs is finished under the settings of before.",
    .examples = "prescient daemon",
    .main = daemon_main,
};

/* An engine, and what it was made from. */
struct tenure {
    struct tenure *older;
    const struct engine *e;
    struct reload reload; /* of the first: nothing, as its settings are the app's */
    const struct settings *settings;
    struct plan_daemon plan;
    struct metrics_file file;
};

struct service {
    struct app *app;
    struct process process;
    struct supervisor supervisor;
    struct tenure *newest;
    const struct settings *in_force;
    struct totals totals; /* of those that are over */
};

/* What an open connection, or the slots in the store, depend on. */
static const char *const fixed[] = { "store", "schema", "schema_owner", "slot_length", NULL };

/* Each engine that reports something here has a tenure, until it is over. */
static struct tenure **find(struct service *s, const struct engine *e)
{
    struct tenure **t = &s->newest;
    while ((*t)->e != e)
        t = &(*t)->older;
    return t;
}

/* Takes the tenure, also where it fails. */
static struct engine *begin(struct service *s, struct tenure *t, struct err *err)
{
    struct app *app = s->app;
    struct engine *e = NULL;
    t->file = (struct metrics_file){ t->settings->metrics_file, &app->log };
    struct engine_options options = {
        .settings = t->settings,
        .log = &app->log,
        .patient = true,
        .supervisor = &s->supervisor,
        .kin = { process_has_child, &s->process },
    };
    if (t->file.path)
        options.metrics = (struct metrics_writer){ metrics_file_write, &t->file };
    if (engine_new(&options, &e, err) < 0) {
        reload_release(&t->reload);
        free(t);
        return NULL;
    }
    t->e = e;
    t->older = s->newest;
    s->newest = t;
    engine_begin(e, &plan_daemon, &t->plan);
    return e;
}

/* ---- other settings ---- */

static struct engine *read_and_begin(struct service *s, struct err *err)
{
    struct tenure *t = calloc(1, sizeof *t);
    if (!t) {
        err_set(err, ERR_NOMEM, "out of memory for another engine");
        return NULL;
    }
    if (reload_read(s->app, &(struct reload_from){ s->in_force, fixed, false }, &t->reload, err) < 0) {
        free(t);
        return NULL;
    }
    t->settings = &t->reload.settings;
    t->plan.takes_over = true;
    return begin(s, t, err);
}

static struct engine *renew(void *ctx)
{
    struct service *s = ctx;
    struct err err = { 0 };
    log_info(&s->app->log, "SIGHUP: reading the settings again");
    struct engine *e = read_and_begin(s, &err);
    if (!e)
        reload_tell_failure(s->app, &err);
    return e;
}

static void taken(void *ctx, const struct engine *e)
{
    struct service *s = ctx;
    const struct tenure *t = *find(s, e);
    s->in_force = t->settings;
    reload_tell(s->app, &t->reload);
}

static void refused(void *ctx, const struct engine *e, const struct err *why)
{
    struct service *s = ctx;
    (void)e;
    reload_tell_failure(s->app, why);
}

static void over(void *ctx, struct engine *e)
{
    struct service *s = ctx;
    struct tenure **place = find(s, e), *t = *place;
    totals_add(&s->totals, engine_totals(e));
    engine_free(e);
    *place = t->older;
    if (t->settings == s->in_force)
        s->in_force = NULL; /* it is the last one */
    reload_release(&t->reload);
    free(t);
}

/* ---- the command ---- */

static int serve_all(struct service *s, struct err *err)
{
    struct app *app = s->app;
    struct tenure *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(err, ERR_NOMEM, "out of memory for an engine");
    t->settings = s->in_force = &app->settings;
    struct engine *e = begin(s, t, err);
    return e ? process_run(&s->process, e, err) : err->code;
}

static int daemon_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    (void)args;
    if (app->now)
        return app_usage(app, "--now: a daemon has no virtual time; use replay");
    struct service s = { .app = app };
    supervisor_open(&s.supervisor);
    process_init(&s.process, &(struct process_options){
                                 .log = &app->log,
                                 .supervisor = &s.supervisor,
                                 .clock = &clock_system,
                                 .renew = renew,
                                 .taken = taken,
                                 .refused = refused,
                                 .over = over,
                                 .ctx = &s,
                             });
    engine_tell_store(app);
    int rc = serve_all(&s, &err), code = EXIT_WELL;
    if (rc < 0 && rc != ERR_STOPPED)
        code = app_fail(app, &err);
    else
        engine_print_totals(app, &s.totals, app->command->name);
    supervisor_close(&s.supervisor);
    return code;
}
