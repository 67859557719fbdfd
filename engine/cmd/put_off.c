/* put_off.c - see put_off.h. Names of jobs are other people's text: they are cut here, and what
 * prints them takes control characters out. */
#include "put_off.h"

#include <inttypes.h>
#include <string.h>
#include "../base/moment.h"
#include "../base/utf8.h"
#include "report.h"
#include "telling.h"

#define JOBS_NAMED "10"
#define OR_NOTHING(text) ((text) ? (text) : "")
#define COUNTED 10000           /* as in the statement */

int put_off_ask(struct app *app, struct store_rows *out, struct err *err)
{
    const char *params[] = { JOBS_NAMED };
    return app_rows(app, "put_off", params, 1, out, err);
}

static bool is_known(const struct app *app, const struct store_rows *rows, int row)
{
    const char *job = rows_value(rows, row, "job_exec");
    return job && settings_job(&app->settings, job, NULL);
}

static const char *suggestion(struct app *app, const struct store_rows *rows, int row)
{
    if (is_known(app, rows, row))
        return NULL;
    return settings_nearest_job(&app->settings, rows_value(rows, row, "job_exec"));
}

/* "typo (2, since 2026-03-01T13:15:00Z; did you mean 'type'?)" */
static const char *job_words(struct app *app, const struct store_rows *rows, int row)
{
    const char *word = suggestion(app, rows, row), *hint = "";
    if (word)
        hint = arena_printf(app->arena, "; did you mean '%.*s'?", UTF8_SHOWN(word));
    return arena_printf(app->arena, "%.*s (%" PRId64 ", since %s%s)",
                        UTF8_SHOWN(rows_value(rows, row, "job_exec")), rows_number(rows, row, "checks"),
                        telling_moment(app, rows_number(rows, row, "since_at")), hint);
}

/* The jobs that are in the settings, or those that are not. */
static const char *group_words(struct app *app, const struct store_rows *rows, bool known, const char *why)
{
    int64_t checks = 0;
    const char *names = "";
    for (int r = 0; r < rows->rows; r++) {
        if (is_known(app, rows, r) != known)
            continue;
        const char *comma = checks ? ", " : "";
        checks += rows_number(rows, r, "checks");
        names = arena_printf(app->arena, "%s%s%s", names, comma, job_words(app, rows, r));
    }
    if (!checks)
        return NULL;
    return arena_printf(app->arena, "%" PRId64 " %s %s: %s", checks,
                        checks == 1 ? "check waits" : "checks wait", why, names);
}

/* "; 7 more are of other jobs" */
static const char *rest_words(struct app *app, const struct store_rows *rows)
{
    int64_t total = rows_number(rows, 0, "total"), named = 0;
    for (int r = 0; r < rows->rows; r++)
        named += rows_number(rows, r, "checks");
    const char *more = "", *rest = "";
    if (total > named)
        more = arena_printf(app->arena, "; %" PRId64 " more are of other jobs", total - named);
    if (total >= COUNTED)
        rest = arena_printf(app->arena, "; there may be more than these %d, which are the oldest", COUNTED);
    return arena_printf(app->arena, "%s%s", OR_NOTHING(more), OR_NOTHING(rest));
}

const char *put_off_words(struct app *app, const struct store_rows *rows)
{
    const char *unknown = group_words(app, rows, false, "for jobs that no engine has");
    const char *known = group_words(app, rows, true, "for jobs that could not be run");
    if (!unknown && !known)
        return NULL;
    const char *both = unknown && known ? "; " : "";
    return arena_printf(app->arena, "%s%s%s%s", OR_NOTHING(unknown), both, OR_NOTHING(known),
                        rest_words(app, rows));
}

const char *put_off_advice(struct app *app, const struct store_rows *rows)
{
    char horizon[MOMENT_TEXT];
    bool some_unknown = false;
    for (int r = 0; r < rows->rows; r++)
        some_unknown |= !is_known(app, rows, r);
    if (!some_unknown)
        return "their plug-in did not load, or timeouts held them back: prescient jobs and the engine's log "
               "have the reason";
    duration_format_us(app->settings.defaults.horizon_s * 1000000, horizon);
    return arena_printf(app->arena,
                        "add the job to the settings of an engine, or end the checks (prescient resolve); "
                        "%s after they were due they end as unknown_job, and prescient retry enqueues them "
                        "again",
                        horizon);
}

json_t *put_off_json(struct app *app, const struct store_rows *rows)
{
    json_t *all = report_made(app, json_array());
    for (int r = 0; r < rows->rows; r++) {
        json_t *object = report_made(app, rows_object(rows, r));
        report_added(app, json_object_set_new(object, "is_known", json_boolean(is_known(app, rows, r))));
        report_added(app, json_array_append_new(all, object));
    }
    return all;
}
