/* seen_engines.c - see seen_engines.h. Names are other people's text: they are cut here, and what
 * prints them takes control characters out. */
#include "seen_engines.h"

#include <inttypes.h>
#include <string.h>
#include "../base/moment.h"
#include "../base/utf8.h"
#include "report.h"
#include "telling.h"

enum { JOBS_SHOWN = 200 };

int seen_engines_ask(struct app *app, struct seen_engines *out, struct err *err)
{
    int rc = app_rows(app, "engines", NULL, 0, &out->engines, err);
    return rc < 0 ? rc : app_rows(app, "lately", NULL, 0, &out->lately, err);
}

/* ---- one engine ---- */

static const char *text_of(const struct store_rows *rows, int row, const char *column)
{
    const char *text = rows_value(rows, row, column);
    return text ? text : "";
}

static const char *moment_of(struct app *app, const struct store_rows *rows, int row, const char *column)
{
    return rows_value(rows, row, column) ? telling_moment(app, rows_number(rows, row, column)) : NULL;
}

/* ", 0.2.0 on db1 (42) since ..." */
static const char *what_it_is(struct app *app, const struct store_rows *rows, int row)
{
    const char *version = text_of(rows, row, "version"), *host = text_of(rows, row, "host");
    const char *started = moment_of(app, rows, row, "started_at");
    if (!*version || !started)
        return "";
    return arena_printf(app->arena, ", %.*s on %.*s (%" PRId64 ") since %s", UTF8_SHOWN(version),
                        UTF8_SHOWN(host), rows_number(rows, row, "pid"), started);
}

/* "; jobs: pay, remind; slots of minutes 0, 30" */
static const char *what_it_serves(struct app *app, const struct store_rows *rows, int row)
{
    const char *jobs = text_of(rows, row, "jobs"), *minutes = text_of(rows, row, "serves");
    size_t shown = utf8_cut(jobs, strlen(jobs), JOBS_SHOWN);
    const char *more = jobs[shown] ? "..." : "";
    const char *named = *jobs ? jobs : "none";
    const char *slots = "";
    if (!rows_value(rows, row, "jobs"))
        named = "too many to be noted";
    if (*minutes)
        slots = arena_printf(app->arena, "; slots of minutes %.*s", UTF8_SHOWN(minutes));
    int length = named == jobs ? (int)shown : (int)strlen(named);
    return slots ? arena_printf(app->arena, "; jobs: %.*s%s%s", length, named, more, slots) : NULL;
}

static const char *engine_words(struct app *app, const struct store_rows *rows, int row)
{
    const char *engine = text_of(rows, row, "engine"), *file = text_of(rows, row, "file");
    const char *is = what_it_is(app, rows, row), *serves = what_it_serves(app, rows, row);
    const char *pass = moment_of(app, rows, row, "last_pass_at");
    if (!is || !serves)
        return NULL;
    return arena_printf(app->arena, "%.*s %s %.*s%s%s; last pass: %s; seen %s", UTF8_SHOWN(engine),
                        text_of(rows, row, "command"), UTF8_SHOWN(file), is, serves, pass ? pass : "none",
                        telling_moment_away(app, rows_number(rows, row, "seen_at")));
}

/* ---- all of them ---- */

int seen_engines_lines(const struct seen_engines *s)
{
    int n = s->engines.rows;
    return n > SEEN_ENGINES_NAMED ? SEEN_ENGINES_NAMED + 1 : n;
}

const char *seen_engines_words(struct app *app, const struct seen_engines *s, int line)
{
    if (line == SEEN_ENGINES_NAMED)
        return arena_printf(app->arena, "and %d more", s->engines.rows - SEEN_ENGINES_NAMED);
    return engine_words(app, &s->engines, line);
}

const char *seen_engines_last_pass(struct app *app, const struct seen_engines *s)
{
    const struct store_rows *rows = &s->lately;
    const char *over = moment_of(app, rows, 0, "last_pass_at");
    const char *slot = moment_of(app, rows, 0, "last_slot_at");
    if (!over || !slot)
        return NULL;
    return arena_printf(app->arena, "slot %s, over at %s: %" PRId64 " run, %" PRId64 " failed", slot, over,
                        rows_number(rows, 0, "last_run"), rows_number(rows, 0, "last_failed"));
}

const char *seen_engines_day(struct app *app, const struct seen_engines *s)
{
    int64_t runs = s->lately.rows ? rows_number(&s->lately, 0, "day_runs") : 0;
    if (!runs)
        return NULL;
    return arena_printf(app->arena, "%" PRId64 " of %" PRId64 " runs",
                        rows_number(&s->lately, 0, "day_failed"), runs);
}

json_t *seen_engines_json(struct app *app, const struct seen_engines *s)
{
    json_t *all = report_made(app, json_array());
    for (int r = 0; r < s->engines.rows; r++)
        report_added(app, json_array_append_new(all, report_made(app, rows_object(&s->engines, r))));
    return all;
}

json_t *seen_engines_lately_json(struct app *app, const struct seen_engines *s)
{
    return s->lately.rows ? report_made(app, rows_object(&s->lately, 0)) : json_null();
}
