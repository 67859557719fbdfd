/* prescient doctor - looks for everything that can be wrong around the checks, and advises what to
 * do about it. Each look is a function that adds findings; one that fails is a finding itself. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/cleanup.h"
#include "../base/moment.h"
#include "../base/settings_mask.h"
#include "../base/utf8.h"
#include "../rules/job_limits.h"
#include "../rules/slot.h"
#include "../store/store_schema.h"
#include "app.h"
#include "compared.h"
#include "gone_objects.h"
#include "missing_digests.h"
#include "probe.h"
#include "put_off.h"
#include "refused.h"
#include "report.h"
#include "standing_pauses.h"
#include "telling.h"
#include "text.h"
#include "waiting_jobs.h"

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

#define SKEW_WARN_US 2000000        /* the machine's clock against the database's */
#define PLAN_ROWS_LEAST 1000        /* with fewer rows a database rightly reads the whole table */

enum level { OK, WARN, ERROR };
static const struct { const char *name, *colour; } levels[] = {
    [OK] = { "ok", "\033[32m" }, [WARN] = { "warn", "\033[33m" }, [ERROR] = { "error", "\033[31m" },
};

struct doctor {
    struct app *app;
    bool colour;
    json_t *findings;               /* with --json */
    int counts[3];
    bool full;                      /* also what takes long */
    bool reachable;                 /* the store answers; without it, looks that need it are skipped */
    struct store_hello hello;
    int64_t wall_us;                /* the machine's clock in the middle of the hello */
    struct store_rows status;
};

/* ---- findings -------------------------------------------------------------------------------- */

static void finding_print(struct doctor *d, enum level level, const char *what, const char *found,
                          const char *advice)
{
    FILE *out = d->app->out;
    if (d->colour)
        fputs(levels[level].colour, out);
    fprintf(out, "%-5s", levels[level].name);
    if (d->colour)
        fputs("\033[0m", out);
    fputs("  ", out);
    text_put(out, what, 0);
    fputs(": ", out);
    text_put(out, found, 0);
    fputc('\n', out);
    if (advice && level != OK) {
        fputs("       ", out);
        text_put(out, advice, 0);
        fputc('\n', out);
    }
    fflush(out);
}

/* `advice` may be NULL or empty. */
static void finding(struct doctor *d, enum level level, const char *what, const char *found,
                    const char *advice)
{
    if (advice && !*advice)
        advice = NULL;
    d->counts[level]++;
    if (!d->findings) {
        finding_print(d, level, what, found, advice);
        return;
    }
    json_t *object = json_pack("{s:s, s:s, s:s, s:s?}", "what", what, "level", levels[level].name, "found",
                               found, "advice", advice);
    report_added(d->app, json_array_append_new(d->findings, object));
}

static void finding_err(struct doctor *d, const char *what, const struct err *err, const char *advice)
{
    finding(d, ERROR, what, err->text, advice);
}

static const char *text(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static const char *text(struct doctor *d, const char *fmt, ...)
{
    char buffer[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buffer, sizeof buffer, fmt, ap);
    va_end(ap);
    const char *kept = arena_strdup(d->app->arena, buffer);
    return kept ? kept : "out of memory";
}

/* ---- the settings file ----------------------------------------------------------------------- */

static bool has_password(const char *url)
{
    char masked[4096];
    if (!url)
        return false;
    settings_mask_url(url, masked, sizeof masked);
    return strcmp(url, masked) != 0;
}

/* Whether the first MiB of the file contains `wanted`. */
static bool file_holds(const char *file, const char *wanted)
{
    enum { ROOM = 1 << 20 };
    CLEANUP(cleanup_close) int fd = open(file, O_RDONLY | O_CLOEXEC);
    CLEANUP(cleanup_free) char *bytes = malloc(ROOM);
    if (fd < 0 || !bytes)
        return false;
    ssize_t n = read(fd, bytes, ROOM);
    return n > 0 && memmem(bytes, (size_t)n, wanted, strlen(wanted));
}

static void look_at_settings(struct doctor *d)
{
    const struct settings *s = &d->app->settings;
    const char *file = settings_file_used(d->app->settings_file);
    struct stat st;
    if (!file || stat(file, &st) < 0) {
        finding(d, OK, "settings", "no file; defaults, environment and flags", NULL);
        return;
    }
    bool secret = (has_password(s->store) && file_holds(file, s->store)) ||
                  (has_password(s->business) && file_holds(file, s->business));
    if (secret && st.st_mode & (S_IRWXG | S_IRWXO))
        finding(d, WARN, "settings",
                text(d, "%s holds a password and others may read it (mode %04o)", file, st.st_mode & 07777u),
                text(d, "chmod 600 %s, or put the password into ~/.pgpass", file));
    else
        finding(d, OK, "settings", file, NULL);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static const char *const probe_advice[PROBE_STEPS] = {
    [PROBE_LOAD] = "its checks wait until it loads",
    [PROBE_OPEN] = "its checks wait until it can be opened: correct its settings",
    [PROBE_ASK] = "its checks fail until that is mended",
};

static void look_at_job(struct doctor *d, struct prober *prober, int job)
{
    const struct job_settings *settings = &d->app->settings.jobs[job];
    struct probed found;
    char why[sizeof found.why + 256];
    bool was_tried = probe_job(prober, job, &found);
    if (found.is_usable) {
        const char *tried = found.can_probe ? "" : " is opened, and not tried: it has no probe";
        finding(d, OK, "job", text(d, "%s: %s%s", settings->name, found.path, tried), NULL);
        return;
    }
    probe_describe(settings, &found, why, sizeof why);
    if (was_tried)
        finding(d, ERROR, "job", why, probe_advice[found.failed]);
    else
        finding(d, WARN, "job", why, NULL);
}

static void look_at_business(struct doctor *d, const struct prober *prober)
{
    char url[1024];
    const struct settings *s = &d->app->settings;
    if (!prober->has_asked)
        return;
    settings_mask_url(s->business ? s->business : s->store, url, sizeof url);
    if (!*prober->business)
        finding(d, OK, "business", text(d, "%s answers queries of jobs", url), NULL);
    else
        finding(d, ERROR, "business", prober->business,
                text(d, "the setting %s is %s", s->business ? "business" : "store", url));
}

static void look_at_jobs(struct doctor *d)
{
    const struct settings *s = &d->app->settings;
    struct prober prober = { .settings = s };
    if (!s->njobs)
        finding(d, WARN, "jobs", "no job in the settings: every check waits",
                "add jobs = { NAME = { plugin = \"...\"; }; }; to the settings file");
    for (int i = 0; i < s->njobs; i++)
        look_at_job(d, &prober, i);
    look_at_business(d, &prober);
}

/* ---- the database ---------------------------------------------------------------------------- */

/* An environment variable wins over the file. */
static const char *store_from(struct doctor *d)
{
    const struct settings *s = &d->app->settings;
    if (!s->store_from)
        return "";
    return text(d, " (the store of %s, not that of %s)", s->store_from, s->store_instead_of);
}

static const char *connection_advice(struct doctor *d, const struct err *err, const char *url)
{
    static const char no_database[] = "3D000";
    if (err->code == ERR_SCHEMA && strcmp(err->sqlstate, no_database) != 0)
        return "prescient init creates or upgrades the schema";
    return text(d, "the setting store is %s%s", url, store_from(d));
}

static void finding_read_only(struct doctor *d)
{
    const char *advice = "connect to the primary: add target_session_attrs=read-write to the URL";
    if (!strcmp(store_scheme(d->app->store), "sqlite"))
        advice = "where this user has the rights to the file and its folder, the file system is mounted for "
                 "reading only";
    if (*d->hello.denied)
        finding(d, ERROR, "store", text(d, "no check can run: %s", d->hello.denied), NULL);
    else
        finding(d, ERROR, "store", "the database is read-only: no check can run", advice);
}

static void look_at_connection(struct doctor *d)
{
    struct err err = { 0 };
    char url[1024];
    settings_mask_url(d->app->settings.store, url, sizeof url);
    struct store *st = app_store(d->app, &err);
    if (st) {
        d->hello = (struct store_hello)STORE_HELLO_INIT;
        int64_t before = clock_wall_us(&clock_system);
        int rc = store_do(st, &d->hello.call);
        d->wall_us = before + (clock_wall_us(&clock_system) - before) / 2;
        if (rc < 0)
            err = d->hello.call.err;
    }
    if (err.code < 0) {
        finding_err(d, "store", &err, connection_advice(d, &err, url));
        return;
    }
    d->reachable = true;
    finding(d, OK, "store", text(d, "%s, %s%s", url, d->hello.server, store_from(d)), NULL);
    if (d->hello.read_only)
        finding_read_only(d);
}

static void look_at_schema(struct doctor *d)
{
    char length[MOMENT_TEXT];
    struct err err = { 0 };
    struct migrate_options o = { .dry_run = true };
    int missing = store_migrate(d->app->store, &o, &err);
    if (missing < 0)
        finding_err(d, "schema", &err, NULL);
    else if (missing > 0)
        finding(d, WARN, "schema",
                text(d, "version %d; migrations to apply: %d", d->hello.schema_version, missing),
                "run prescient migrate");
    else
        finding(d, OK, "schema", text(d, "version %d, slots of %s", d->hello.schema_version,
                                      duration_format_us(d->hello.slot_length_s * 1000000LL, length)), NULL);
}

/* One word for a shell. Whoever names a schedule or a row must not write a line for an admin. */
static const char *shell_word(struct doctor *d, const char *value)
{
    const char *word = "'";
    for (const char *end; (end = strchr(value, '\'')); value = end + 1)
        word = text(d, "%s%.*s'\\''", word, (int)(end - value), value);
    return text(d, "%s%s'", word, value);
}

/* The line that makes again what was dropped. */
static const char *gone_advice(struct doctor *d, const struct gone_objects *gone)
{
    static const char file[] = "sqlite:";
    const char *store = d->app->settings.store;
    if (gone->lost_rows)
        return "what a table held is gone with it: restore a backup";
    if (!strncmp(store, file, strlen(file)))
        return text(d, "prescient schema --only %s | sqlite3 -bail %s makes it again", gone->names,
                    shell_word(d, store + strlen(file)));
    return text(d, "as the owner of the schema: prescient schema --only %s | psql -v ON_ERROR_STOP=1 "
                "DATABASE makes it again, then prescient init gives the rights", gone->names);
}

/* Of another version, the schema may have more or less. */
static void look_at_objects(struct doctor *d)
{
    struct err err = { 0 };
    struct gone_objects gone;
    if (d->hello.schema_version != store_schema_newest(store_scheme(d->app->store)))
        return;
    if (gone_objects_ask(d->app, &gone, &err) < 0)
        finding_err(d, "objects of the schema", &err, NULL);
    else if (gone.n)
        finding(d, gone.only_indexes ? WARN : ERROR, "objects of the schema",
                text(d, "these were dropped: %s", gone.found), gone_advice(d, &gone));
    else
        finding(d, OK, "objects of the schema", "there", NULL);
}

/* Only this server's own settings are known here, not what other servers serve. */
static void look_at_serve(struct doctor *d)
{
    char mistakes[512];
    const struct settings *s = &d->app->settings;
    if (!s->nserve)
        return;
    if (slot_serve_mistakes(s->serve, s->nserve, d->hello.slot_length_s, mistakes, sizeof mistakes))
        finding(d, WARN, "serve", mistakes,
                "all servers together have to name each of these: a slot that none names runs an hour late");
    else
        finding(d, OK, "serve", "each minute names a slot", NULL);
}

/* Who does not serve needs none, so none is no trouble; a token that is over is. */
static void look_at_tokens(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    int over = 0;
    if (app_rows(d->app, "tokens", NULL, 0, &rows, &err) < 0) {
        finding_err(d, "tokens", &err, NULL);
        return;
    }
    for (int i = 0; i < rows.rows; i++)
        over += !rows_is_true(&rows, i, "is_in_force");
    if (!rows.rows)
        finding(d, OK, "tokens",
                "none: whoever reaches prescient serve, where it runs, may do all; prescient token new makes "
                "one", NULL);
    else if (over)
        finding(d, WARN, "tokens", text(d, "%d of %d have expired", over, rows.rows),
                "prescient token list has them; prescient token revoke NAME takes one away");
    else
        finding(d, OK, "tokens", text(d, "%d; who asks prescient serve needs one", rows.rows), NULL);
}

static void look_at_attempts(struct doctor *d)
{
    struct err err = { 0 };
    const struct settings *s = &d->app->settings;
    if (!job_limits_have_attempts(s))
        return;
    if (job_limits_fit(s, d->hello.slot_length_s, &err) < 0)
        finding_err(d, "attempts", &err, "no engine starts with these settings");
    else
        finding(d, OK, "attempts", "those of each job fit into a slot", NULL);
}

static void look_at_clock(struct doctor *d)
{
    char size_text[MOMENT_TEXT];
    int64_t skew_us = d->wall_us - d->hello.now_us;
    int64_t size = skew_us < 0 ? -skew_us : skew_us;
    const char *found = text(d, "this machine is %s %s the database",
                             duration_format_us(size / 1000 * 1000, size_text),
                             skew_us < 0 ? "behind" : "ahead of");
    if (size > SKEW_WARN_US)
        finding(d, WARN, "clock", found,
                "slots go by the database's clock, cron by this machine's: run an NTP client on both");
    else
        finding(d, OK, "clock", found, NULL);
}

/* For look_at_plan: how many checks wait, and the next slot. What is overdue is found by the
 * store's own looks. */
static void look_at_status(struct doctor *d)
{
    struct err err = { 0 };
    const char *params[] = { app_now_param(d->app) };
    if (app_rows(d->app, "status", params, 1, &d->status, &err) < 0)
        finding_err(d, "status", &err, NULL);
}

/* Checks that move on from slot to slot and that nobody runs. */
static void look_at_put_off(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (put_off_ask(d->app, &rows, &err) < 0) {
        finding_err(d, "checks put off", &err, NULL);
        return;
    }
    const char *words = put_off_words(d->app, &rows);
    if (words)
        finding(d, WARN, "checks put off", words, put_off_advice(d->app, &rows));
    else
        finding(d, OK, "checks put off", "none", NULL);
}

/* Checks whose slot is still ahead, and whose job nobody seems to have. */
static void look_at_waiting_jobs(struct doctor *d)
{
    struct err err = { 0 };
    struct waiting_jobs jobs;
    if (waiting_jobs_ask(d->app, &jobs, &err) < 0) {
        finding_err(d, "jobs of checks", &err, NULL);
        return;
    }
    const char *words = waiting_jobs_words(d->app, &jobs);
    if (waiting_jobs_are_amiss(d->app, &jobs))
        finding(d, WARN, "jobs of checks", words, waiting_jobs_advice());
    else if (jobs.is_asked)
        finding(d, OK, "jobs of checks", words ? words : "no check waits for a job that nobody has", NULL);
}

/* A receiver that says no for good: nobody tries again, so somebody has to know. */
static void look_at_refused(struct doctor *d)
{
    struct err err = { 0 };
    struct refused all = { .n = 0 };
    int64_t now = d->app->now ? d->app->now : d->hello.now_us / 1000000;
    int rc = refused_ask(d->app, now, d->hello.slot_length_s, &all, &err);
    if (rc < 0)
        finding_err(d, "refused for good", &err, NULL);
    else if (!all.n && all.has_more)
        finding(d, WARN, "refused for good",
                "nothing among the newest failures of the last day; there are more than were looked at",
                "prescient history --outcome failed --since -1d lists them");
    else if (!all.n)
        finding(d, OK, "refused for good", "nothing in the last day", NULL);
    const char *least = all.has_more ? "at least " : "";
    for (int i = 0; i < all.n; i++) {
        const struct refused_job *of = &all.jobs[i];
        const char *name = d->app->settings.jobs[of->job].name, *word = shell_word(d, name);
        finding(d, WARN, "refused for good",
                text(d, "job %s: %s%" PRId64 " checks and %" PRId64 " deliveries in the last day, the "
                     "newest: %.*s", name, least, of->checks, of->deliveries, UTF8_SHOWN(of->note)),
                of->deliveries ? "prescient deliveries --failed lists them; --again ID sends one once more"
                               : text(d, "once that is mended: prescient retry --job %s --since -1d", word));
    }
}

/* Which of them settles an event must not decide who hears of it. */
static void look_at_listeners(struct doctor *d)
{
    struct err err = { 0 };
    struct compared all;
    const char *advice =
        "engines read their settings when they start: restart those that lack what this file has, or name "
        "theirs with --config";
    if (compared_ask(d->app, &all, &err) < 0) {
        finding_err(d, "listeners", &err, NULL);
        return;
    }
    if (all.by_engines)
        advice = "an event is delivered as the engine has it that settles its check: give all engines the "
                 "same listeners, and start again those that run";
    for (int i = 0; i < all.n; i++)
        finding(d, WARN, "listeners", all.amiss[i], advice);
    if (!all.n)
        finding(d, OK, "listeners", all.words, NULL);
}

/* Nothing else shows that a digest stands still: its listener hears nothing, and nothing fails. */
static void look_at_digests(struct doctor *d)
{
    struct err err = { 0 };
    struct missing_digests missing;
    if (missing_digests_ask(d->app, &missing, &err) < 0)
        finding_err(d, "digests", &err, NULL);
    else if (missing.n)
        finding(d, WARN, "digests", text(d, "no check waits for that of the listener %s", missing.names),
                "prescient run files it now, a daemon with these settings within the hour; what was emitted "
                "since its last digest comes in the next one");
    else if (missing.digests)
        finding(d, OK, "digests", text(d, "%d, and a check waits for each", missing.digests), NULL);
}

static void look_at_pauses(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (standing_pauses_ask(d->app, &rows, &err) < 0) {
        finding_err(d, "pauses", &err, NULL);
        return;
    }
    const char *words = standing_pauses_words(d->app, &rows);
    enum level level = standing_pauses_are_old(&rows, d->hello.now_us / 1000000) ? WARN : OK;
    finding(d, level, "pauses", words ? words : "nothing is paused",
            "one was forgotten? prescient pauses lists them, prescient resume lets their checks run");
}

/* The line that mends the first. */
static const char *schedule_advice(struct doctor *d, const struct store_rows *rows, int row, bool is_on)
{
    const char *name = shell_word(d, rows_value(rows, row, "name"));
    if (is_on)
        return text(d, "prescient schedule off %s && prescient schedule on %s files it anew", name, name);
    return text(d, "prescient resolve %s %s %s ends it", shell_word(d, rows_value(rows, row, "entity_name")),
                shell_word(d, rows_value(rows, row, "entity_key")),
                shell_word(d, rows_value(rows, row, "job_exec")));
}

static void look_at_schedules(struct doctor *d)
{
    static const char *const amiss[] = { "off, and their checks wait and are run", "on, and have no check" };
    struct err err = { 0 };
    struct store_rows rows;
    if (app_rows(d->app, "schedules_amiss", NULL, 0, &rows, &err) < 0) {
        finding_err(d, "schedules", &err, NULL);
        return;
    }
    for (int r = 0; r < rows.rows; r++) {
        bool is_on = rows_is_true(&rows, r, "is_active");
        const char *more = rows_is_true(&rows, r, "is_at_least") ? " or more" : "";
        finding(d, WARN, "schedules",
                text(d, "%" PRId64 "%s %s; the first is '%s'", rows_number(&rows, r, "n"), more, amiss[is_on],
                     rows_value(&rows, r, "name")),
                schedule_advice(d, &rows, r, is_on));
    }
    if (!rows.rows)
        finding(d, OK, "schedules", "each that is on has its check", NULL);
}

static enum level level_named(const char *name)
{
    for (int i = OK; name && i <= ERROR; i++)
        if (!strcmp(name, levels[i].name))
            return (enum level)i;
    return ERROR;
}

/* The findings of a report: the store's own looks. */
static void findings_of(struct doctor *d, const char *report, const char *what_failed, const char *param)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *params[] = { param };
    if (app_rows(d->app, report, params, 1, &rows, &err) < 0) {
        finding_err(d, what_failed, &err, NULL);
        return;
    }
    for (int r = 0; r < rows.rows; r++) {
        const char *what = rows_value(&rows, r, "what");
        const char *found = rows_value(&rows, r, "found");
        enum level level = level_named(rows_value(&rows, r, "level"));
        if (!what)
            what = "database";
        finding(d, level, what, found ? telling_text(d->app, found) : "", rows_value(&rows, r, "advice"));
    }
}

static void look_inside(struct doctor *d) { findings_of(d, "doctor", "database", app_now_param(d->app)); }

/* The last look: it may take long, and all other findings have been printed by then. */
static void look_at_whole(struct doctor *d)
{
    findings_of(d, "whole", "file is whole", d->full ? "1" : NULL);
}

/* Warns of rows that are older than they should be, or old while nothing drops them. The slack is
 * for whole days, of which an engine drops a few at a time. */
static enum level growth_level(int64_t keep_s, int64_t oldest, int64_t now)
{
    enum { DAY_S = 86400, LONG_DAYS = 90, SLACK_DAYS = 3 };
    if (!oldest)
        return OK;
    int64_t limit_s = (int64_t)LONG_DAYS * DAY_S;
    if (keep_s)
        limit_s = keep_s + SLACK_DAYS * DAY_S;
    return now - oldest > limit_s ? WARN : OK;
}

static const char *size_text(struct doctor *d, int64_t bytes)
{
    return bytes >= INT64_C(1) << 30 ? text(d, ", %.1f GiB", (double)bytes / (1 << 30))
                                     : text(d, ", %.1f MiB", (double)bytes / (1 << 20));
}

static void look_at_growth(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (app_rows(d->app, "growth", NULL, 0, &rows, &err) < 0) {
        finding_err(d, "growth", &err, NULL);
        return;
    }
    int64_t keep_s = d->app->settings.keep_us / 1000000;
    const char *advice =
        "nothing drops old rows: set keep in the settings, or run prescient prune --keep 90d";
    if (keep_s)
        advice =
            "rows are older than keep: does an engine run, and does a session hold these tables for hours?";
    for (int r = 0; r < rows.rows; r++) {
        int64_t oldest = rows_number(&rows, r, "oldest_at");
        const char *size = "", *since = "";
        if (rows_value(&rows, r, "bytes"))
            size = size_text(d, rows_number(&rows, r, "bytes"));
        if (oldest)
            since = text(d, ", since %.10s", telling_moment(d->app, oldest));
        finding(d, growth_level(keep_s, oldest, d->hello.now_us / 1000000), rows_value(&rows, r, "what"),
                text(d, "about %" PRId64 " rows%s%s", rows_number(&rows, r, "rows"), size, since), advice);
    }
}

static void look_at_plan(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *slot = rows_value(&d->status, 0, "next_slot_at");
    const char *params[] = { slot ? slot : "0" };
    if (app_rows(d->app, "plan", params, 1, &rows, &err) < 0) {
        finding_err(d, "plan", &err, NULL);
        return;
    }
    const char *line = NULL;
    for (int r = 0; r < rows.rows && !line; r++) {
        const char *l = rows_value(&rows, r, "line");
        if (l && strcasestr(l, "index"))
            line = l + strspn(l, " ->");
    }
    if (line)
        finding(d, OK, "plan", text(d, "a slot is read by an index: %s", line), NULL);
    else if (rows_number(&d->status, 0, "pending") < PLAN_ROWS_LEAST)
        finding(d, OK, "plan", "too few checks wait for an index to be of use", NULL);
    else
        finding(
            d, WARN, "plan",
            text(d, "a slot is read without an index: %s", rows.rows ? rows_value(&rows, 0, "line") : "?"),
            "the statistics may be old: run ANALYZE, and check that prescient migrate has nothing to apply");
}

/* One of the last looks: a pooler shows only after some messages have passed it. */
static void look_at_pooler(struct doctor *d)
{
    struct store_hello hello = STORE_HELLO_INIT;
    if (store_do(d->app->store, &hello.call) < 0)
        finding_err(d, "pooler", &hello.call.err, NULL);
    else if (hello.lost_prepared)
        finding(d, WARN, "pooler",
                "the pooler loses prepared statements; each command and engine has to detect that again",
                "set prepared = false, or use PgBouncer 1.21 or newer with max_prepared_statements");
    else if (hello.pooled && d->app->settings.prepared)
        finding(d, OK, "pooler", "a pooler was detected; prepared statements work", NULL);
    else if (hello.pooled)
        finding(d, OK, "pooler", "a pooler was detected; prepared statements are switched off", NULL);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct { void (*look)(struct doctor *d); bool needs_store; } looks[] = {
    { look_at_settings, false },
    { look_at_jobs, false },            /* forks: before there is a connection */
    { look_at_connection, false },
    { look_at_schema, true },
    { look_at_objects, true },
    { look_at_serve, true },
    { look_at_tokens, true },
    { look_at_attempts, true },
    { look_at_clock, true },
    { look_at_status, true },
    { look_at_put_off, true },
    { look_at_waiting_jobs, true },
    { look_at_refused, true },
    { look_at_listeners, true },
    { look_at_digests, true },
    { look_at_pauses, true },
    { look_at_schedules, true },
    { look_inside, true },
    { look_at_growth, true },
    { look_at_plan, true },
    { look_at_pooler, true },
    { look_at_whole, true },
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
