/* failing_jobs.c - see failing_jobs.h. Names and notes are other people's text: they are cut here,
 * and what prints them takes control characters out. */
#include "failing_jobs.h"

#include <inttypes.h>
#include <string.h>
#include "../base/utf8.h"
#include "report.h"
#include "telling.h"

#define ROWS_LOOKED_AT "10000"
#define WITHIN_MS "500"
enum { HOUR_S = 3600, NOTE_SHOWN = 300 };

int failing_jobs_ask(struct app *app, int64_t now, struct store_rows *out, struct err *err)
{
    const char *since = arena_printf(app->arena, "%" PRId64, now - HOUR_S);
    const char *params[] = { since, ROWS_LOOKED_AT, WITHIN_MS };
    if (!since)
        return err_set(err, ERR_NOMEM, "out of memory");
    return app_rows(app, "failing_jobs", params, sizeof params / sizeof *params, out, err);
}

const char *failing_jobs_words(struct app *app, const struct store_rows *rows, int row)
{
    const char *note = rows_value(rows, row, "note");
    if (!note)
        note = "no reason was given";
    return arena_printf(app->arena,
                        "%.*s: %" PRId64 " run, %" PRId64 " failed, %" PRId64 " put off; since %s: %.*s",
                        UTF8_SHOWN(rows_value(rows, row, "job_exec")), rows_number(rows, row, "runs"),
                        rows_number(rows, row, "failed"), rows_number(rows, row, "broken"),
                        telling_moment(app, rows_number(rows, row, "first_at")),
                        (int)utf8_cut(note, strlen(note), NOTE_SHOWN), note);
}

json_t *failing_jobs_json(struct app *app, const struct store_rows *rows)
{
    json_t *all = report_made(app, json_array());
    for (int r = 0; r < rows->rows; r++)
        report_added(app, json_array_append_new(all, report_made(app, rows_object(rows, r))));
    return all;
}
