/* prescient config - the settings in force, a sample of all there are, or whether they are good. */
#include <inttypes.h>
#include <string.h>
#include "../rules/slot.h"
#include "app.h"
#include "probe.h"
#include "report.h"
#include "../base/settings_print.h"

static int config_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "print", 'p', NULL, "print the settings in force, from flags, environment and file (the default)" },
    { "check", 'k', NULL, "read the settings and try every plug-in; report what is wrong" },
    { "sample", 's', NULL, "print all settings with their defaults, bounds and meaning" },
    { 0 }
};

const struct command cmd_config = {
    .name = "config", .args = "",
    .help = "print or check the settings",
    .more = "Passwords in URLs are printed as ***.",
    .options = options, .main = config_main, .plain = true,
};

static int load(struct app *app, struct err *err)
{
    return settings_load(&app->settings, app->settings_file, app->flags, app->nflags, err);
}

static int print(struct app *app, bool commented, struct err *err)
{
    int rc = settings_print(&app->settings, app->out, commented, false, err);
    /* launch.c reports an output that was closed */
    return rc < 0 && !ferror(app->out) ? app_fail(app, err) : EXIT_WELL;
}

static int config_print(struct app *app, struct err *err)
{
    return load(app, err) < 0 ? app_fail(app, err) : print(app, false, err);
}

static int config_sample(struct app *app, struct err *err)
{
    return settings_parse(&app->settings, "", "sample", err) < 0 ? app_fail(app, err) : print(app, true, err);
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

static int config_check(struct app *app, struct err *err)
{
    if (load(app, err) < 0)
        return app_fail(app, err);
    const struct settings *s = &app->settings;
    int refused = 0;
    for (int i = 0; i < s->njobs; i++) {
        struct probe probe;
        probe_plugin(s, s->jobs[i].plugin, &probe);
        if (probe.loaded)
            continue;
        refused++;
        err_set(err, ERR_SETTINGS, "job %s: plug-in %s: %s", s->jobs[i].name, s->jobs[i].plugin, probe.why);
        app_fail(app, err);
    }
    if (refused)
        return EXIT_BAD_SETTINGS;
    warn_of_serve(app);
    if (!app->json)
        fprintf(app->out, "the settings are good: %d %s, every plug-in loads\n", s->njobs,
                s->njobs == 1 ? "job" : "jobs");
    else
        report_print_object(app, json_pack("{s:b, s:i}", "good", 1, "jobs", s->njobs));
    return EXIT_WELL;
}

static int config_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    switch (args_last(args, "pks")) {
    case 'k': return config_check(app, &err);
    case 's': return config_sample(app, &err);
    default: return config_print(app, &err);
    }
}
