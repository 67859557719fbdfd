/* withheld.c - says how many events are withheld, by which transaction, and what ends that. */
#include "withheld.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../base/cleanup.h"
#include "../base/moment.h"

#define WITHHELD_COUNTED 1000           /* the statement counts up to here */
#define SECOND_US INT64_C(1000000)
#define LOOK_US (5 * SECOND_US)         /* between two looks of a reader that stays */
#define TELL_US (3600 * SECOND_US)

const char *withheld_words(struct arena *a, const struct store_rows *rows, const char *what)
{
    int64_t n = rows_number(rows, 0, "events_withheld");
    const char *by = rows_value(rows, 0, "withheld_by"), *us = rows_value(rows, 0, "withheld_us");
    if (n <= 0 || !by)
        return NULL;
    const char *age = "since when is not visible to this role";
    char text[MOMENT_TEXT];
    if (us)
        age = duration_format_us(rows_number(rows, 0, "withheld_us") / SECOND_US * SECOND_US, text);
    return arena_printf(a, "%" PRId64 "%s%s by %s, %s", n, n >= WITHHELD_COUNTED ? " or more" : "", what, by,
                        age);
}

/* Fails when the store is away: the next read reports that. */
static int ask(struct app *app, struct arena *a, struct store_rows *out)
{
    struct err err = { 0 };
    struct store *st = a ? app_store(app, &err) : NULL;
    if (!st)
        return -1;
    struct store_report report = STORE_REPORT_INIT;
    report.name = "withheld";
    report.arena = a;
    int rc = store_do(st, &report.call);
    *out = report.rows;
    return rc;
}

static void remark(struct app *app, struct arena *a, const struct store_rows *rows)
{
    bool one = rows_number(rows, 0, "events_withheld") == 1;
    const char *words = withheld_words(a, rows, one ? " event withheld" : " events withheld");
    const char *advice = rows_value(rows, 0, "withheld_advice");
    if (words)
        app_remark(app, "%s: shown when that transaction is over; %s", words, advice ? advice : "");
}

int64_t withheld_remark(struct app *app)
{
    struct store_rows rows;
    if (ask(app, app->arena, &rows) < 0)
        return 0;
    remark(app, app->arena, &rows);
    return rows_number(&rows, 0, "events_withheld");
}

bool withheld_watch_is_due(const struct withheld_watch *w, int64_t now_us)
{
    return now_us >= w->look_us;
}

bool withheld_watch_saw(struct withheld_watch *w, const char *xid, int64_t now_us)
{
    w->look_us = now_us + LOOK_US;
    if (!xid || strcmp(xid, w->xid) != 0) {
        snprintf(w->xid, sizeof w->xid, "%s", xid ? xid : "");
        w->since_us = now_us;
        w->told_us = 0;
        return false;
    }
    int64_t pause_us = w->told_us - w->since_us;        /* doubles the time since it was first seen */
    if (pause_us > TELL_US)
        pause_us = TELL_US;
    if (w->told_us && now_us - w->told_us < pause_us)
        return false;
    w->told_us = now_us;
    return true;
}

void withheld_watch_look(struct withheld_watch *w, struct app *app, int64_t now_us)
{
    struct store_rows rows;
    if (!withheld_watch_is_due(w, now_us))
        return;
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    if (ask(app, a, &rows) < 0)
        return;
    if (withheld_watch_saw(w, rows_value(&rows, 0, "withheld_xid"), now_us))
        remark(app, a, &rows);
}
