/* prescient doctor - looks for everything that can be wrong around the checks, and advises what to
 * do about it. What is looked at is in doctor.h. */
#include <stdlib.h>
#include "doctor.h"
#include "args.h"
#include "report.h"

static int doctor_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "full", 'f', NULL,
      "read a SQLite file of any size completely; with a rollback journal its writers wait meanwhile" },
    { 0 }
};

const struct command cmd_doctor = {
    .name = "doctor", .group = COMMAND_LOOKING, .args = "",
    .help = "look for trouble: settings, plug-ins, database, clock, missed slots",
    .more = "Exit code 0 when all is well, 1 when there are warnings or errors.",
    .examples = "prescient doctor",
    .options = options, .main = doctor_main,
};

static const struct { void (*look)(struct doctor *d); bool needs_store; } looks[] = {
    { doctor_settings, false },
    { doctor_jobs, false },            /* forks: before there is a connection */
    { doctor_connection, false },
    { doctor_schema, true },
    { doctor_objects, true },
    { doctor_serve, true },
    { doctor_tokens, true },
    { doctor_attempts, true },
    { doctor_clock, true },
    { doctor_status, true },
    { doctor_put_off, true },
    { doctor_waiting_jobs, true },
    { doctor_refused, true },
    { doctor_listeners, true },
    { doctor_digests, true },
    { doctor_pauses, true },
    { doctor_schedules, true },
    { doctor_inside, true },
    { doctor_growth, true },
    { doctor_plan, true },
    { doctor_pooler, true },
    { doctor_whole, true },
};

static int doctor_main(struct app *app, const struct args *args)
{
    struct doctor d = { .app = app,
                        .full = args_has(args, 'f'),
                        .colour = app->terminal && !getenv("NO_COLOR"),
                        .findings = app->json ? report_made(app, json_array()) : NULL };
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (d.reachable || !looks[i].needs_store)
            looks[i].look(&d);
    const char *warnings = d.counts[WARN] == 1 ? "warning" : "warnings";
    const char *errors = d.counts[ERROR] == 1 ? "error" : "errors";
    if (d.findings)
        report_print_object(app, d.findings);
    else
        fprintf(app->out, "%d ok, %d %s, %d %s\n", d.counts[OK], d.counts[WARN], warnings, d.counts[ERROR],
                errors);
    return d.counts[WARN] || d.counts[ERROR] ? EXIT_TROUBLE : EXIT_WELL;
}
