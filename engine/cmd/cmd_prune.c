/* prescient prune - drop old history, runs, passes, events, pauses, hours of runs and changes. */
#include <inttypes.h>
#include "../base/moment.h"
#include "../base/utf8.h"
#include "app.h"
#include "consumers.h"
#include "report.h"
#include "telling.h"

static int prune_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "keep", 'k', "DURATION", "keep what is younger than that (default: the setting keep)" },
    { "dry-run", 'n', NULL, "only print what would be dropped" },
    { 0 }
};

const struct command cmd_prune = {
    .name = "prune", .group = COMMAND_STORE,
    .args = "",
    .help = "drop old history, runs, passes, events, pauses, hours of runs and changes",
    .more = "Waiting checks are never dropped. On PostgreSQL history, runs and events are dropped by whole "
            "days, and\nthose of today and yesterday stay.",
    .examples = "prescient prune --keep 90d --dry-run",
    .options = options,
    .main = prune_main,
};

struct prune_ctx { struct store *st; int64_t before; bool dry_run; struct prune_counts counts; };

static int prune_once(void *ctx, struct err *err)
{
    struct prune_ctx *p = ctx;
    struct prune_counts counts = { 0 };
    int rc = store_prune(p->st, p->before, p->dry_run, &counts, err);
    if (rc < 0 && p->dry_run)
        return rc;
    p->counts.history += counts.history; /* a try that failed may have dropped something first */
    p->counts.runs += counts.runs;
    p->counts.passes += counts.passes;
    p->counts.events += counts.events;
    p->counts.pauses += counts.pauses;
    p->counts.hours += counts.hours;
    p->counts.changes += counts.changes;
    p->counts.by_days = counts.by_days;
    return rc;
}

static void print_json(struct app *app, const struct prune_ctx *p, const char *before)
{
    const struct prune_counts *c = &p->counts;
    const char *unit = c->by_days ? "days" : "rows";
    json_t *counted = report_made(
        app, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "history", unit, "runs", unit, "passes",
                       "rows", "events", unit, "pauses", "rows", "hours", "rows", "changes", "rows"));
    report_print_object(app, json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "before", before,
                                       "dry_run", p->dry_run, "history", (json_int_t)c->history, "runs",
                                       (json_int_t)c->runs, "passes", (json_int_t)c->passes, "events",
                                       (json_int_t)c->events, "pauses", (json_int_t)c->pauses, "hours",
                                       (json_int_t)c->hours, "changes", (json_int_t)c->changes,
                                       "counted", counted));
}

static void print_counts(struct app *app, const struct prune_ctx *p)
{
    const struct prune_counts *c = &p->counts;
    const char *unit = c->by_days ? "days" : "rows";
    const char *before = telling_moment(app, p->before);    /* with --json in UTC */
    if (app->json)
        print_json(app, p, before);
    else
        fprintf(app->out,
                "%s from before %s: history %" PRId64 " %s, runs %" PRId64 " %s, events %" PRId64
                " %s, passes %" PRId64 " rows, pauses %" PRId64 " rows, hours %" PRId64
                " rows, changes %" PRId64 " rows\n",
                p->dry_run ? "would drop" : "dropped", before, c->history, unit, c->runs, unit, c->events,
                unit, c->passes, c->pauses, c->hours, c->changes);
}

/* A number without a unit means seconds, and would drop nearly everything for good; so a day is the
 * least, as in the setting. */
static int read_keep(const char *keep, int64_t *keep_us, struct err *err)
{
    if (duration_parse_us(keep, keep_us, err) < 0)
        return err_wrap(err, err->code, "--keep");
    if (*keep_us >= INT64_C(86400) * 1000000)
        return 0;
    return err_set(err, ERR_INPUT,
                   "--keep: \"%.*s\" is less than a day: expected a day or more, with its unit, such as 90d",
                   UTF8_SHOWN(keep));
}

static int prune_main(struct app *app, const struct args *args)
{
    struct prune_ctx p = { .dry_run = args_has(args, 'n') };
    struct err err = { 0 };
    const char *keep = args_text(args, 'k');
    int64_t keep_us = app->settings.keep_us, now;
    if (!keep && keep_us == 0)
        return app_usage(app, "no age given: use --keep 90d, or set keep in the settings");
    if (keep && read_keep(keep, &keep_us, &err) < 0)
        return app_fail(app, &err);
    if (app_now(app, &now, &err) < 0 || !(p.st = app_store(app, &err)))
        return app_fail(app, &err);
    p.before = now - keep_us / 1000000;
    if (p.before < 0)
        p.before = 0;
    consumers_warn_of_prune(app, p.before, p.dry_run);
    if (app_insist(app, prune_once, &p, &err) < 0)
        return app_fail(app, &err);
    print_counts(app, &p);
    return EXIT_WELL;
}
