/* waiting_jobs.c - see waiting_jobs.h. Names of jobs are other people's text: they are cut here,
 * and what prints them takes control characters out. */
#include "telling.h"
#include "waiting_jobs.h"

#include <inttypes.h>
#include "../base/cleanup.h"
#include "../base/json_dump.h"
#include "../base/utf8.h"
#include "../rules/slot.h"
#include "report.h"

#define JOBS_ASKED "50"
#define OR_NOTHING(text) ((text) ? (text) : "")
enum { JOBS_NAMED = 10 };

/* The names of the settings' jobs as a JSON array, in the arena. */
static const char *known_jobs(struct app *app)
{
    json_t *names = report_made(app, json_array());
    for (int i = 0; i < app->settings.njobs; i++)
        report_added(app, json_array_append_new(names, json_string(app->settings.jobs[i].name)));
    CLEANUP(cleanup_free) char *text = json_dump_text(names, JSON_COMPACT);
    json_decref(names);
    return text ? arena_strdup(app->arena, text) : NULL;
}

/* The last row has no job: it tells whether all was looked at. */
static void take_end(struct waiting_jobs *jobs)
{
    int last = jobs->rows.rows - 1;
    if (last < 0 || rows_value(&jobs->rows, last, "job_exec"))
        return;
    jobs->is_part = rows_number(&jobs->rows, last, "is_part");
    jobs->rows.rows = last;
}

int waiting_jobs_ask(struct app *app, struct waiting_jobs *out, struct err *err)
{
    *out = (struct waiting_jobs){ .is_asked = app->settings.njobs > 0 };
    if (!out->is_asked)
        return 0;
    const char *params[] = { known_jobs(app), JOBS_ASKED };
    if (!params[0])
        return err_set(err, ERR_NOMEM, "out of memory");
    int rc = app_rows(app, "waiting_jobs", params, 2, &out->rows, err);
    if (rc < 0)
        return rc;
    take_end(out);
    return 0;
}

/* "typo (2, from 2026-03-01T13:15:00Z; did you mean 'type'?)" */
static const char *job_words(struct app *app, const struct store_rows *rows, int row)
{
    const char *job = rows_value(rows, row, "job_exec"), *hint = "", *from = "";
    const char *word = settings_nearest_job(&app->settings, job);
    if (word)
        hint = arena_printf(app->arena, "; did you mean '%.*s'?", UTF8_SHOWN(word));
    else if (!rows_value(rows, row, "has_run"))
        hint = "; perhaps of another engine";
    int64_t first_at = rows_number(rows, row, "first_at");
    if (slot_is_of_pause(first_at))
        from = ", paused";
    else if (rows_value(rows, row, "first_at"))
        from = arena_printf(app->arena, ", from %s", telling_moment(app, first_at));
    return arena_printf(app->arena, "%.*s (%" PRId64 "%s%s)", UTF8_SHOWN(job),
                        rows_number(rows, row, "checks"), OR_NOTHING(from), OR_NOTHING(hint));
}

static const char *named_words(struct app *app, const struct waiting_jobs *jobs)
{
    const struct store_rows *rows = &jobs->rows;
    int64_t checks = 0;
    const char *names = "";
    for (int r = 0; r < rows->rows; r++)
        checks += rows_number(rows, r, "checks");
    for (int r = 0; r < rows->rows && r < JOBS_NAMED; r++)
        names = arena_printf(app->arena, "%s%s%s", OR_NOTHING(names), r ? ", " : "", job_words(app, rows, r));
    const char *wait = checks == 1 ? "check waits" : "checks wait";
    const char *more = rows->rows > JOBS_NAMED ? ", and others" : "";
    return arena_printf(app->arena, "%" PRId64 " %s for jobs that are not in the settings: %s%s", checks,
                        wait, OR_NOTHING(names), more);
}

const char *waiting_jobs_words(struct app *app, const struct waiting_jobs *jobs)
{
    if (!jobs->is_asked)
        return "not known: the settings have no jobs";
    if (!jobs->rows.rows)
        return jobs->is_part ? "none was found, but only a part of all checks was looked at" : NULL;
    const char *words = named_words(app, jobs);
    if (!words || !jobs->is_part)
        return words;
    return arena_printf(app->arena, "at least %s; a part of all checks was looked at", words);
}

bool waiting_jobs_are_amiss(struct app *app, const struct waiting_jobs *jobs)
{
    for (int r = 0; r < jobs->rows.rows; r++)
        if (rows_value(&jobs->rows, r, "has_run") ||
            settings_nearest_job(&app->settings, rows_value(&jobs->rows, r, "job_exec")))
            return true;
    return false;
}

const char *waiting_jobs_advice(void)
{
    return "if the name is a mistake, end the checks (prescient resolve ENTITY KEY JOB) and enqueue them "
           "under the right one; else add the job to the settings of an engine. prescient list --job NAME "
           "--limit 0 shows them";
}

json_t *waiting_jobs_json(struct app *app, const struct waiting_jobs *jobs)
{
    if (!jobs->is_asked)
        return json_null();
    json_t *all = report_made(app, json_array());
    for (int r = 0; r < jobs->rows.rows; r++)
        report_added(app, json_array_append_new(all, report_made(app, rows_object(&jobs->rows, r))));
    return all;
}
