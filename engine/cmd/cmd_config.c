/* prescient config - the settings in force, a sample of all there are, or whether they are good. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include "../rules/job_limits.h"
#include "../rules/slot.h"
#include "app.h"
#include "digests_load.h"
#include "probe.h"
#include "report.h"
#include "settings_json.h"
#include "text.h"
#include "../base/settings_print.h"

static int config_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "print", 'p', NULL, "print the settings in force, and where each comes from (the default)" },
    { "check", 'k', NULL, "read the settings and try every job; report what is wrong" },
    { "sample", 's', NULL, "print all settings with their defaults, bounds and meaning" },
    { 0 }
};

const struct command cmd_config = {
    .name = "config", .group = COMMAND_PROGRAM, .args = "",
    .help = "print or check the settings",
    .more = "Passwords in URLs are printed as ***.\n"
            "--check opens each job in a process of its own and asks the business database what a check "
            "would. A mistake ends\n"
            "with exit code 78; a database that is away just now is only warned of.",
    .examples = "prescient config --check\n"
                "prescient config --sample >full.cfg\n"
                "prescient config --json",
    .options = options, .main = config_main, .plain = true,
};

static int load(struct app *app, struct err *err)
{
    return digests_load(app, err);
}

static int print(struct app *app, enum settings_comments comments, struct err *err)
{
    int rc = settings_print(&app->settings, app->out, comments, false, err);
    /* launch.c reports an output that was closed */
    return rc < 0 && !ferror(app->out) ? app_fail(app, err) : EXIT_WELL;
}

static void remark_store(struct app *app)
{
    const struct settings *s = &app->settings;
    if (s->store_from)
        app_remark(app, "the setting store is that of %s, not that of %s", s->store_from,
                   s->store_instead_of);
}

static int config_print(struct app *app, struct err *err)
{
    if (load(app, err) < 0)
        return app_fail(app, err);
    remark_store(app);
    if (!app->json)
        return print(app, SETTINGS_PLACED, err);
    json_t *object = settings_json(&app->settings, err);
    if (!object)
        return app_fail(app, err);
    report_print_object(app, object);
    return EXIT_WELL;
}

static int config_sample(struct app *app, struct err *err)
{
    if (app->json) {
        report_print_object(app, settings_json_sample());
        return EXIT_WELL;
    }
    int rc = settings_parse(&app->settings, "", "sample", err);
    return rc < 0 ? app_fail(app, err) : print(app, SETTINGS_EXPLAINED, err);
}

/* Only when the settings have the slot length; else an engine warns when it starts, and doctor. */
static void warn_of_serve(struct app *app)
{
    char mistakes[512];
    const struct settings *s = &app->settings;
    if (s->slot_length_s &&
        slot_serve_mistakes(s->serve, s->nserve, (int32_t)s->slot_length_s, mistakes, sizeof mistakes))
        fprintf(stderr, "prescient config: warning: %s; a slot that no server names runs an hour late\n",
                mistakes);
}

static void warn_of(const char *what)
{
    fputs("prescient config: warning: ", stderr);
    text_put(stderr, what, 0);
    fputc('\n', stderr);
}

/* Tries each job. A database that is away just now is no mistake of the settings, and a place that
 * checks them may not reach it at all. Returns how many jobs are refused. */
static int check_jobs(struct app *app, bool *is_unsure, struct err *err)
{
    const struct settings *s = &app->settings;
    struct prober prober = { .settings = s };
    int refused = 0;
    for (int i = 0; i < s->njobs; i++) {
        struct probed found;
        char why[sizeof found.why + 256];
        bool was_tried = probe_job(&prober, i, &found);
        probe_describe(&s->jobs[i], &found, why, sizeof why);
        if (!was_tried)
            warn_of(why);
        if (found.is_usable || found.is_unsure)
            continue;
        refused++;
        err_set(err, ERR_SETTINGS, "job %s", why);
        app_fail(app, err);
    }
    *is_unsure = *prober.business && !prober.business_refuses;
    if (*is_unsure)
        warn_of(prober.business);
    if (*prober.business && prober.business_refuses && !refused) {
        err_set(err, ERR_SETTINGS, "%s", prober.business);
        app_fail(app, err);
        refused++;
    }
    return refused;
}

/* That of the settings, or else of the store. 0: neither, with a warning. */
static int32_t slot_length_of(struct app *app)
{
    struct err err;
    struct store_hello hello = STORE_HELLO_INIT;
    if (app->settings.slot_length_s)
        return (int32_t)app->settings.slot_length_s;
    struct store *st = app_store_new(app, &err);
    if (st && store_do(st, &hello.call) < 0) {
        err = hello.call.err;
        hello.slot_length_s = 0;
    }
    store_free(st);
    if (!hello.slot_length_s) {
        const char *why = arena_printf(app->arena,
                                       "whether the attempts of a job fit into a slot could not be tried: %s",
                                       err.text);
        warn_of(why ? why : "out of memory");
    }
    return hello.slot_length_s;
}

/* Only jobs with several attempts need the slot length. */
static int check_attempts(struct app *app, struct err *err)
{
    int32_t length_s = job_limits_have_attempts(&app->settings) ? slot_length_of(app) : 0;
    return length_s ? job_limits_fit(&app->settings, length_s, err) : 0;
}

/* A file that is there has to be a database, and this user's to write. That none is there yet, or
 * no schema in it, is for `prescient init`; another server is not asked here. */
static int check_store_file(struct app *app, struct err *err)
{
    static const char scheme[] = "sqlite:";
    struct store_hello hello = STORE_HELLO_INIT;
    if (strncmp(app->settings.store, scheme, strlen(scheme)) != 0)
        return 0;
    const char *file = app->settings.store + strlen(scheme);
    if (!strncmp(file, "//", 2))
        file += 2;
    if (access(file, F_OK) < 0 && errno == ENOENT)
        return 0;                       /* nor its folder, perhaps: on this machine it need not run */
    struct store *st = app_store_new(app, err);
    if (!st)
        return err->code;
    int rc = store_do(st, &hello.call);
    store_free(st);
    if (rc == ERR_SETTINGS || (rc < 0 && err_is_denied(&hello.call.err)))
        return err_set(err, ERR_SETTINGS, "%s", hello.call.err.text);
    return rc == 0 && *hello.denied ? err_set(err, ERR_SETTINGS, "%s", hello.denied) : 0;
}

static int config_check(struct app *app, struct err *err)
{
    bool is_unsure = false;
    if (load(app, err) < 0)
        return app_fail(app, err);
    remark_store(app);
    const struct settings *s = &app->settings;
    if (check_jobs(app, &is_unsure, err) > 0)
        return EXIT_BAD_SETTINGS;
    if (check_store_file(app, err) < 0)
        return app_fail(app, err);
    if (check_attempts(app, err) < 0)
        return app_fail(app, err);
    warn_of_serve(app);
    const char *tried = "every job can be run";
    if (is_unsure)
        tried = "every plug-in loads; what the jobs ask could not be tried";
    if (!app->json)
        fprintf(app->out, "the settings are good: %d %s, %s\n", s->njobs, s->njobs == 1 ? "job" : "jobs",
                tried);
    else
        report_print_object(app, json_pack("{s:b, s:i, s:b}", "good", 1, "jobs", s->njobs, "asked",
                                           !is_unsure));
    return EXIT_WELL;
}

static int config_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    if (args_has(args, 'p') + args_has(args, 'k') + args_has(args, 's') > 1)
        return app_usage(app, "expected one of --print, --check and --sample");
    switch (args_last(args, "pks")) {
    case 'k': return config_check(app, &err);
    case 's': return config_sample(app, &err);
    default: return config_print(app, &err);
    }
}
