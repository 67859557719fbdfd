/* prescient events - what jobs announced, in the order in which consumers read it; with --follow,
 * as it happens. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "../base/clock.h"
#include "app.h"
#include "interrupt.h"
#include "report.h"
#include "text.h"
#include "withheld.h"

static int events_main(struct app *app, const struct args *args);

static const struct command_option options[] = { { "follow", 'f', NULL,
                                                   "wait for more, from now on or from --after on" },
                                                 { "after", 'a', "CURSOR", "only events after this one" },
                                                 { "limit", 'l', "N", "at most N (100); 0: all" },
                                                 { 0 } };

const struct command cmd_events = {
    .name = "events",
    .args = "",
    .help = "list what jobs announced, oldest first",
    .more =
        "Every event has a cursor; --after CURSOR continues after it, so that none is missed or seen twice.\n"
        "--json prints one object a line.",
    .options = options,
    .main = events_main,
};

#define PAGE 1000
#define FIRST_CURSOR "0-0-0"
#define PAUSE_MS 1000 /* between two reads when nothing was new */

struct events {
    struct app *app;
    bool follow;
    const char *after;          /* a cursor */
    int64_t limit;              /* 0: all */
    int64_t shown;
    char cursor[64];            /* of the last event shown */
};

/* A cursor's numbers: generation, transaction, event. A cursor of two numbers, from before there
 * were generations, belongs to the first. */
enum { CURSOR_NUMBERS = 3, CURSOR_DIGITS = 20 };
struct cursor { char numbers[CURSOR_NUMBERS][CURSOR_DIGITS + 1]; };

static bool cursor_split(const char *text, struct cursor *out)
{
    static const size_t most[CURSOR_NUMBERS] = { 18, 20, 18 };
    int dashes = 0;
    for (const char *at = text; *at; at++)
        dashes += *at == '-';
    if (dashes < 1 || dashes >= CURSOR_NUMBERS)
        return false;
    strcpy(out->numbers[0], "0");
    for (int n = CURSOR_NUMBERS - 1 - dashes; n < CURSOR_NUMBERS; n++) {
        size_t length = strspn(text, "0123456789");
        if (length == 0 || length > most[n] || text[length] != (n + 1 < CURSOR_NUMBERS ? '-' : '\0'))
            return false;
        snprintf(out->numbers[n], sizeof out->numbers[n], "%.*s", (int)length, text);
        text += length + 1;
    }
    return true;
}

static int cursor_check(const char *cursor, struct err *err)
{
    struct cursor c = { 0 };
    if (!cursor_split(cursor, &c))
        return err_set(err, ERR_INPUT,
                       "--after: found '%.80s', expected the cursor of an event, such as 0-7301-15", cursor);
    return 0;
}

static int read_page(struct events *e, struct arena *a, int64_t want, struct store_rows *out, struct err *err)
{
    struct store *st = app_store(e->app, err);
    if (!st)
        return err->code;
    struct cursor after = { 0 };
    cursor_split(e->cursor, &after);
    const char *params[] = { after.numbers[0], after.numbers[1], after.numbers[2],
                             arena_printf(a, "%" PRId64, want) };
    struct store_report report = STORE_REPORT_INIT;
    report.name = "events";
    report.params = params;
    report.nparams = sizeof params / sizeof *params;
    report.arena = a;
    int rc = store_do(st, &report.call);
    *err = report.call.err;
    *out = report.rows;
    return rc;
}

/* One event a line for people; a stream has no column widths. */
static void print_line(struct events *e, struct arena *a, const struct store_rows *rows, int r)
{
    static const char *const columns[] = {
        "cursor", "event", "entity_name", "entity_key", "job_exec", "data"
    };
    FILE *out = e->app->out;
    const char *at = rows_text(a, CELL_MOMENT_US, rows_value(rows, r, "emitted_at_us"));
    text_put(out, at ? at : "-", 0);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *cell = rows_value(rows, r, columns[i]);
        if (!cell)
            continue;
        fputs("  ", out);
        text_put(out, cell, 0);
    }
    fputc('\n', out);
}

static void print_page(struct events *e, struct arena *a, const struct store_rows *rows)
{
    if (e->app->json)
        report_print_lines(e->app, rows);
    else
        for (int r = 0; r < rows->rows; r++)
            print_line(e, a, rows, r);
    e->app->was_short |= arena_was_short(a);
    fflush(e->app->out);
    if (rows->rows) {
        const char *cursor = rows_value(rows, rows->rows - 1, "cursor");
        snprintf(e->cursor, sizeof e->cursor, "%s", cursor ? cursor : FIRST_CURSOR);
    }
    e->shown += rows->rows;
}

/* Prints pages until there is nothing new. Returns 0, ERR_STOPPED at the limit or when the output
 * is closed, or another ERR_. */
static int drain(struct events *e, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(64 * 1024);
    struct store_rows rows = { 0 };
    do {
        int64_t wanted = e->limit ? e->limit - e->shown : PAGE;
        if (wanted <= 0 || ferror(e->app->out))
            return ERR_STOPPED;
        if (!a)
            return err_set(err, ERR_NOMEM, "out of memory");
        arena_reset(a);
        int rc = read_page(e, a, wanted < PAGE ? wanted : PAGE, &rows, err);
        if (rc < 0)
            return rc;
        print_page(e, a, &rows);
    } while (rows.rows > 0);
    return 0;
}

/* Reads again and again. When the store is away it waits, and continues after it. Events that are
 * withheld for long are told. */
static int follow(struct events *e, struct err *err)
{
    struct interrupt in;
    struct withheld_watch withheld = { 0 };
    bool away = false;
    int rc = interrupt_init(&in, err);
    if (rc < 0)
        return rc;
    do {
        rc = drain(e, err);
        bool gone = rc == ERR_LOST || rc == ERR_BUSY;
        if (gone && !away)
            log_warn(&e->app->log, "%s; waiting for the store", err->text);
        away = gone;
        if (rc == 0)
            withheld_watch_look(&withheld, e->app, clock_mono_us(&clock_system));
    } while ((rc == 0 || away) && !interrupt_wait(&in, PAUSE_MS));
    interrupt_release(&in);
    return rc < 0 && !away ? rc : ERR_STOPPED;
}

static int find_start(struct events *e, struct err *err)
{
    struct store_rows rows;
    const char *cursor = e->after;
    if (!cursor && e->follow) {
        if (app_rows(e->app, "events_end", NULL, 0, &rows, err) < 0)
            return err->code;
        cursor = rows_value(&rows, 0, "cursor");
    }
    snprintf(e->cursor, sizeof e->cursor, "%s", cursor ? cursor : FIRST_CURSOR);
    return app_store(e->app, err) ? 0 : err->code;
}

static int show_events(struct events *e, struct err *err)
{
    int rc = find_start(e, err);
    if (rc < 0)
        return rc;
    return e->follow ? follow(e, err) : drain(e, err);
}

static void print_none(const struct events *e, int64_t withheld)
{
    const char *after = e->after ? " after that one" : "";
    fprintf(e->app->out, "no events%s%s\n", after, withheld ? " to show yet" : "");
}

static int events_main(struct app *app, const struct args *args)
{
    struct events e = {
        .app = app,
        .follow = args_has(args, 'f'),
        .after = args_text(args, 'a'),
        .limit = args_has(args, 'f') ? 0 : 100,
    };
    struct err err = { 0 };
    if (args_number(args, 'l', 0, INT64_MAX, &e.limit, &err) < 0 ||
        (e.after && cursor_check(e.after, &err) < 0))
        return app_fail(app, &err);
    int rc = show_events(&e, &err);
    if (rc < 0 && rc != ERR_STOPPED)
        return app_fail(app, &err);
    bool is_end = !e.follow && rc == 0;
    int64_t withheld = is_end ? withheld_remark(app) : 0;
    if (is_end && e.shown == 0 && !app->json)
        print_none(&e, withheld);
    else if (!e.follow && e.limit && e.shown == e.limit)
        app_remark(app, "these are the first %" PRId64 "; --after %s shows the next", e.limit, e.cursor);
    return EXIT_WELL;
}
