/* standing_pauses.c - see standing_pauses.h. Names and reasons are other people's text: they are
 * cut here, and what prints them takes control characters out. */
#include "standing_pauses.h"

#include <inttypes.h>
#include <string.h>
#include "../base/utf8.h"
#include "report.h"
#include "telling.h"

#define PAUSES_ASKED "4"
#define CHECKS_COUNTED "1000"   /* of each: status is asked often, and `pauses` counts on */
#define OR_NOTHING(text) ((text) ? (text) : "")
enum { PAUSES_NAMED = 3, DAY_S = 86400 };

int standing_pauses_ask(struct app *app, struct store_rows *out, struct err *err)
{
    const char *params[] = { NULL, PAUSES_ASKED, CHECKS_COUNTED };
    return app_rows(app, "pauses", params, 3, out, err);
}

static bool is_on(const struct store_rows *pauses, int row)
{
    return !strcmp(OR_NOTHING(rows_value(pauses, row, "state")), "on");
}

static const char *checks_words(struct app *app, const struct store_rows *pauses, int row)
{
    int64_t n = rows_number(pauses, row, "checks");
    const char *more = rows_is_true(pauses, row, "is_at_least") ? " or more" : "";
    return arena_printf(app->arena, "%" PRId64 "%s %s", n, more, n == 1 ? "check" : "checks");
}

/* "job noop (4 checks, since 2026-03-01T13:15:00Z by ada: their API is down)" */
static const char *pause_words(struct app *app, const struct store_rows *pauses, int row)
{
    const char *by = rows_value(pauses, row, "paused_by"), *reason = rows_value(pauses, row, "reason");
    const char *by_words = by ? arena_printf(app->arena, " by %.*s", UTF8_SHOWN(by)) : "";
    const char *why = reason ? arena_printf(app->arena, ": %.*s", UTF8_SHOWN(reason)) : "";
    const char *from = is_on(pauses, row) ? "since" : "ending, of";
    const char *since = telling_moment(app, rows_number(pauses, row, "paused_at"));
    return arena_printf(app->arena, "%s %.*s (%s, %s %s%s%s)", OR_NOTHING(rows_value(pauses, row, "what")),
                        UTF8_SHOWN(rows_value(pauses, row, "name")),
                        OR_NOTHING(checks_words(app, pauses, row)), from, since, OR_NOTHING(by_words),
                        OR_NOTHING(why));
}

const char *standing_pauses_words(struct app *app, const struct store_rows *pauses)
{
    const char *all = NULL;
    for (int row = 0; row < pauses->rows && row < PAUSES_NAMED; row++)
        all = arena_printf(app->arena, "%s%s%s", OR_NOTHING(all), row ? "; " : "",
                           OR_NOTHING(pause_words(app, pauses, row)));
    return pauses->rows > PAUSES_NAMED ? arena_printf(app->arena, "%s; and others", OR_NOTHING(all)) : all;
}

bool standing_pauses_are_old(const struct store_rows *pauses, int64_t now)
{
    for (int row = 0; row < pauses->rows; row++)
        if (is_on(pauses, row) && now - rows_number(pauses, row, "paused_at") > DAY_S)
            return true;
    return false;
}

json_t *standing_pauses_json(struct app *app, const struct store_rows *pauses)
{
    json_t *all = report_made(app, json_array());
    for (int row = 0; row < pauses->rows; row++)
        report_added(app, json_array_append_new(all, report_made(app, rows_object(pauses, row))));
    return all;
}
