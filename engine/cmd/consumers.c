/* consumers.c - see consumers.h. */
#include "consumers.h"

#include <inttypes.h>
#include <string.h>

#include "consumer.h"
#include "report.h"
#include "withheld.h"

enum { OTHERS_NAMED = 8 };
enum { UNREAD_COUNTED = 10000 };    /* the statements count up to here */

int consumers_list(struct app *app)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (app_rows(app, "consumers", NULL, 0, &rows, &err) < 0)
        return app_fail(app, &err);
    report_print(app, &rows, &(struct report_view){ .when_empty = "no consumers" });
    for (int r = 0; r < rows.rows; r++)
        if (rows_number(&rows, r, "unread") == UNREAD_COUNTED && !app->json)
            app_remark(app, "%s has %d unread events or more", rows_value(&rows, r, "name"), UNREAD_COUNTED);
    return EXIT_WELL;
}

const char *consumers_others(struct app *app, const char *name)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *all = "";
    int named = 0;
    if (app_rows(app, "consumers", NULL, 0, &rows, &err) < 0)
        return NULL;
    for (int r = 0; r < rows.rows && all && named <= OTHERS_NAMED; r++) {
        const char *other = rows_value(&rows, r, "name");
        if (strcmp(other, name) == 0)
            continue;
        const char *shown = named++ < OTHERS_NAMED ? other : "...";
        all = arena_printf(app->arena, "%s%s%s", all, *all ? ", " : "", shown);
    }
    return all;
}

/* Where a consumer is to go on. */
struct place {
    const char *cursor;
    const char *report, *at;        /* what finds the cursor, and its parameter; NULL: it is known */
};

static int read_place(struct app *app, const char *to, struct place *out, struct err *err)
{
    struct event_cursor cursor;
    *out = (struct place){ .cursor = to };
    if (event_cursor_split(to, &cursor))
        return 0;
    *out = (struct place){ .report = "events_end" };
    if (!strcmp(to, "now"))
        return 0;
    *out = (struct place){ .report = "events_from", .at = app_moment_param(app, to, err) };
    return out->at ? 0 : err_wrap(err, err->code, "--to (a cursor, now, or a time such as -1d)");
}

static int find_place(struct app *app, struct store *st, struct place *place, struct err *err)
{
    struct store_rows rows;
    if (!place->report)
        return 0;
    int rc = consumer_ask(st, place->report, &place->at, place->at ? 1 : 0, app->arena, &rows, err);
    if (rc < 0)
        return rc;
    place->cursor = rows_value(&rows, 0, "cursor");
    return place->cursor ? 0 : err_set(err, ERR_GENERAL, "the store has given no cursor");
}

static int reset_to(struct store *st, const char *name, const struct place *place, struct err *err)
{
    struct event_cursor to;
    if (!event_cursor_split(place->cursor, &to))
        return err_set(err, ERR_GENERAL, "the store has given '%.80s' as a cursor", place->cursor);
    const char *params[] = { name, to.numbers[0], to.numbers[1], to.numbers[2] };
    return consumer_change(st, "cursor_reset", params, 4, err);
}

/* All of it with the rights that move a cursor: who lacks those hears of them, and not of what they
 * include. */
static int reset(struct app *app, const char *name, struct place *place, struct err *err)
{
    struct store *st;
    int rc = consumer_store(app, &st, err);
    if (rc < 0)
        return rc;
    rc = find_place(app, st, place, err);
    if (rc == 0)
        rc = reset_to(st, name, place, err);
    store_free(st);
    return rc;
}

int consumers_reset(struct app *app, const char *name, const char *to)
{
    struct err err = { 0 };
    struct place place;
    if (consumer_check_name(name, &err) < 0 || read_place(app, to, &place, &err) < 0)
        return app_fail(app, &err);
    int rc = reset(app, name, &place, &err);
    if (rc < 0)
        return app_fail(app, &err);
    if (app->json)
        report_print_object(app, json_pack("{s:s, s:s, s:b}", "name", name, "cursor", place.cursor, "is_new",
                                           rc));
    else
        fprintf(app->out, "%s%s reads on behind %s\n", name, rc ? " is new, and" : "", place.cursor);
    if (place.report)                   /* events that were written by then stand behind that place */
        withheld_remark(app);
    return EXIT_WELL;
}

int consumers_forget(struct app *app, const char *name)
{
    struct err err = { 0 };
    struct store *st;
    int rc = consumer_store(app, &st, &err);
    if (rc < 0)
        return app_fail(app, &err);
    rc = consumer_change(st, "cursor_forget", &name, 1, &err);
    store_free(st);
    if (rc == 0)
        rc = err_set(&err, ERR_INPUT, "there is no consumer '%s': prescient events --consumers has all",
                     name);
    if (rc < 0)
        return app_fail(app, &err);
    if (app->json)
        report_print_object(app, json_pack("{s:s}", "forgotten", name));
    else
        fprintf(app->out, "%s is forgotten\n", name);
    return EXIT_WELL;
}

void consumers_warn_of_prune(struct app *app, int64_t before, bool dry_run)
{
    struct err err = { 0 };
    struct store_rows rows;
    const char *at = arena_printf(app->arena, "%" PRId64, before);
    if (!at || app_rows(app, "consumers_unread", &at, 1, &rows, &err) < 0) {
        log_info(&app->log, "which consumers have unread events is not known: %s", err.text);
        return;
    }
    for (int r = 0; r < rows.rows; r++) {
        int64_t n = rows_number(&rows, r, "unread");
        const char *what = dry_run ? "would drop" : "drops";
        app_warn(app, "%s events that the consumer %s has not read: %" PRId64 "%s", what,
                 rows_value(&rows, r, "name"), n, n == UNREAD_COUNTED ? " or more" : "");
    }
}
