/* doctor_store.c - see doctor.h: the database, its schema, its clock, and what it has found of
 * itself. */
#include <inttypes.h>
#include <string.h>
#include "../base/clock.h"
#include "../base/moment.h"
#include "../base/settings_mask.h"
#include "../store/store_schema.h"
#include "../view/rows.h"
#include "app.h"
#include "doctor.h"
#include "gone_objects.h"
#include "telling.h"

#define SKEW_WARN_US 2000000 /* the machine's clock against the database's */
#define PLAN_ROWS_LEAST 1000 /* with fewer rows a database rightly reads the whole table */

/* An environment variable wins over the file. */
static const char *store_from(struct doctor *d)
{
    const struct settings *s = &d->app->settings;
    if (!s->store_from)
        return "";
    return doctor_text(d, " (the store of %s, not that of %s)", s->store_from, s->store_instead_of);
}

static const char *connection_advice(struct doctor *d, const struct err *err, const char *url)
{
    static const char no_database[] = "3D000";
    if (err->code == ERR_SCHEMA && strcmp(err->sqlstate, no_database) != 0)
        return "prescient init creates or upgrades the schema";
    return doctor_text(d, "the setting store is %s%s", url, store_from(d));
}

static void finding_read_only(struct doctor *d)
{
    const char *advice = "connect to the primary: add target_session_attrs=read-write to the URL";
    if (!strcmp(store_scheme(d->app->store), "sqlite"))
        advice = "where this user has the rights to the file and its folder, the file system is mounted for "
                 "reading only";
    if (*d->hello.denied)
        doctor_finding(d, ERROR, "store", doctor_text(d, "no check can run: %s", d->hello.denied), NULL);
    else
        doctor_finding(d, ERROR, "store", "the database is read-only: no check can run", advice);
}

void doctor_connection(struct doctor *d)
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
        doctor_failed(d, "store", &err, connection_advice(d, &err, url));
        return;
    }
    d->reachable = true;
    doctor_finding(d, OK, "store", doctor_text(d, "%s, %s%s", url, d->hello.server, store_from(d)), NULL);
    if (d->hello.read_only)
        finding_read_only(d);
}

void doctor_schema(struct doctor *d)
{
    char length[MOMENT_TEXT];
    struct err err = { 0 };
    struct migrate_options o = { .dry_run = true };
    int missing = store_migrate(d->app->store, &o, &err);
    if (missing < 0)
        doctor_failed(d, "schema", &err, NULL);
    else if (missing > 0)
        doctor_finding(
            d, WARN, "schema",
            doctor_text(d, "version %d; migrations to apply: %d", d->hello.schema_version, missing),
            "run prescient migrate");
    else
        doctor_finding(d, OK, "schema",
                       doctor_text(d, "version %d, slots of %s", d->hello.schema_version,
                                   duration_format_us(d->hello.slot_length_s * 1000000LL, length)),
                       NULL);
}

/* The line that makes again what was dropped. */
static const char *gone_advice(struct doctor *d, const struct gone_objects *gone)
{
    static const char file[] = "sqlite:";
    const char *store = d->app->settings.store;
    if (gone->lost_rows)
        return "what a table held is gone with it: restore a backup";
    if (!strncmp(store, file, strlen(file)))
        return doctor_text(d, "prescient schema --only %s | sqlite3 -bail %s makes it again", gone->names,
                           doctor_shell_word(d, store + strlen(file)));
    return doctor_text(d,
                       "as the owner of the schema: prescient schema --only %s | psql -v ON_ERROR_STOP=1 "
                       "DATABASE makes it again, then prescient init gives the rights",
                       gone->names);
}

/* Of another version, the schema may have more or less. */
void doctor_objects(struct doctor *d)
{
    struct err err = { 0 };
    struct gone_objects gone;
    if (d->hello.schema_version != store_schema_newest(store_scheme(d->app->store)))
        return;
    if (gone_objects_ask(d->app, &gone, &err) < 0)
        doctor_failed(d, "objects of the schema", &err, NULL);
    else if (gone.n)
        doctor_finding(d, gone.only_indexes ? WARN : ERROR, "objects of the schema",
                       doctor_text(d, "these were dropped: %s", gone.found), gone_advice(d, &gone));
    else
        doctor_finding(d, OK, "objects of the schema", "there", NULL);
}

/* Who does not serve needs none, so none is no trouble; a token that is over is. */
void doctor_tokens(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    int over = 0;
    if (app_rows(d->app, "tokens", NULL, 0, &rows, &err) < 0) {
        doctor_failed(d, "tokens", &err, NULL);
        return;
    }
    for (int i = 0; i < rows.rows; i++)
        over += !rows_is_true(&rows, i, "is_in_force");
    if (!rows.rows)
        doctor_finding(
            d, OK, "tokens",
            "none: whoever reaches prescient serve, where it runs, may do all; prescient token new makes "
            "one",
            NULL);
    else if (over)
        doctor_finding(d, WARN, "tokens", doctor_text(d, "%d of %d have expired", over, rows.rows),
                       "prescient token list has them; prescient token revoke NAME takes one away");
    else
        doctor_finding(d, OK, "tokens", doctor_text(d, "%d; who asks prescient serve needs one", rows.rows),
                       NULL);
}

void doctor_clock(struct doctor *d)
{
    char size_text[MOMENT_TEXT];
    int64_t skew_us = d->wall_us - d->hello.now_us;
    int64_t size = skew_us < 0 ? -skew_us : skew_us;
    const char *found = doctor_text(d, "this machine is %s %s the database",
                                    duration_format_us(size / 1000 * 1000, size_text),
                                    skew_us < 0 ? "behind" : "ahead of");
    if (size > SKEW_WARN_US)
        doctor_finding(d, WARN, "clock", found,
                       "slots go by the database's clock, cron by this machine's: run an NTP client on both");
    else
        doctor_finding(d, OK, "clock", found, NULL);
}

/* For look_at_plan: how many checks wait, and the next slot. What is overdue is found by the
 * store's own looks. */
void doctor_status(struct doctor *d)
{
    struct err err = { 0 };
    const char *params[] = { app_now_param(d->app) };
    if (app_rows(d->app, "status", params, 1, &d->status, &err) < 0)
        doctor_failed(d, "status", &err, NULL);
}

/* The findings of a report: the store's own looks. */
static void findings_of(struct doctor *d, const char *report, const char *what_failed, const char *param)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *params[] = { param };
    if (app_rows(d->app, report, params, 1, &rows, &err) < 0) {
        doctor_failed(d, what_failed, &err, NULL);
        return;
    }
    for (int r = 0; r < rows.rows; r++) {
        const char *what = rows_value(&rows, r, "what");
        const char *found = rows_value(&rows, r, "found");
        enum level level = doctor_level_named(rows_value(&rows, r, "level"));
        if (!what)
            what = "database";
        doctor_finding(d, level, what, found ? telling_text(d->app, found) : "",
                       rows_value(&rows, r, "advice"));
    }
}

void doctor_inside(struct doctor *d)
{
    findings_of(d, "doctor", "database", app_now_param(d->app));
}

/* The last look: it may take long, and all other findings have been printed by then. */
void doctor_whole(struct doctor *d)
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
    return bytes >= INT64_C(1) << 30 ? doctor_text(d, ", %.1f GiB", (double)bytes / (1 << 30))
                                     : doctor_text(d, ", %.1f MiB", (double)bytes / (1 << 20));
}

void doctor_growth(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (app_rows(d->app, "growth", NULL, 0, &rows, &err) < 0) {
        doctor_failed(d, "growth", &err, NULL);
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
            since = doctor_text(d, ", since %.10s", telling_moment(d->app, oldest));
        doctor_finding(
            d, growth_level(keep_s, oldest, d->hello.now_us / 1000000), rows_value(&rows, r, "what"),
            doctor_text(d, "about %" PRId64 " rows%s%s", rows_number(&rows, r, "rows"), size, since), advice);
    }
}

void doctor_plan(struct doctor *d)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *slot = rows_value(&d->status, 0, "next_slot_at");
    const char *params[] = { slot ? slot : "0" };
    if (app_rows(d->app, "plan", params, 1, &rows, &err) < 0) {
        doctor_failed(d, "plan", &err, NULL);
        return;
    }
    const char *line = NULL;
    for (int r = 0; r < rows.rows && !line; r++) {
        const char *l = rows_value(&rows, r, "line");
        if (l && strcasestr(l, "index"))
            line = l + strspn(l, " ->");
    }
    if (line)
        doctor_finding(d, OK, "plan", doctor_text(d, "a slot is read by an index: %s", line), NULL);
    else if (rows_number(&d->status, 0, "pending") < PLAN_ROWS_LEAST)
        doctor_finding(d, OK, "plan", "too few checks wait for an index to be of use", NULL);
    else
        doctor_finding(
            d, WARN, "plan",
            doctor_text(d, "a slot is read without an index: %s",
                        rows.rows ? rows_value(&rows, 0, "line") : "?"),
            "the statistics may be old: run ANALYZE, and check that prescient migrate has nothing to apply");
}

/* One of the last looks: a pooler shows only after some messages have passed it. */
void doctor_pooler(struct doctor *d)
{
    struct store_hello hello = STORE_HELLO_INIT;
    if (store_do(d->app->store, &hello.call) < 0)
        doctor_failed(d, "pooler", &hello.call.err, NULL);
    else if (hello.lost_prepared)
        doctor_finding(
            d, WARN, "pooler",
            "the pooler loses prepared statements; each command and engine has to detect that again",
            "set prepared = false, or use PgBouncer 1.21 or newer with max_prepared_statements");
    else if (hello.pooled && d->app->settings.prepared)
        doctor_finding(d, OK, "pooler", "a pooler was detected; prepared statements work", NULL);
    else if (hello.pooled)
        doctor_finding(d, OK, "pooler", "a pooler was detected; prepared statements are switched off", NULL);
}
