/* prescient events - what jobs announced, in the order in which consumers read it; with --follow,
 * as it happens; with --deliver, to a command. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "../base/clock.h"
#include "../base/floor.h"
#include "../rules/event_cursor.h"
#include "action.h"
#include "app.h"
#include "consumer.h"
#include "consumers.h"
#include "deliver.h"
#include "event_filter.h"
#include "interrupt.h"
#include "report.h"
#include "telling.h"
#include "text.h"
#include "unknown_job.h"
#include "withheld.h"

static int events_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    EVENT_FILTER_SINCE,
    EVENT_FILTER_BEFORE,
    EVENT_FILTER_JOB,
    EVENT_FILTER_ENTITY,
    EVENT_FILTER_KEY,
    EVENT_FILTER_EVENT,
    { "follow", 'f', NULL, "wait for more, from now on or from --after on" },
    { "after", 'a', "CURSOR", "those after this one, oldest first; 0-0-0: from the first on" },
    { "until", 'u', "CURSOR", "those that come before this one, newest first" },
    { "limit", 'l', "N", "at most N (100); 0: all" },
    { "deliver", 'd', "NAME", "as lines of JSON to COMMAND, each once it has ended well" },
    { "batch", 'b', "N", "at most N events at once (100)" },
    { "every", 'e', "DURATION", "stay, and look again and again" },
    { "skip-after", 's', "N", "skip an event that failed N times alone" },
    { "timeout", 't', "DURATION", "the limit of one run of COMMAND (5m)" },
    { "backoff", 'w', "DURATION", "the pause after a failure (1s), doubled up to 1m" },
    { "consumers", 'c', NULL, "list the names, and how far behind each is" },
    { "reset", 'r', "NAME", "let it go on behind --to" },
    { "to", 'T', "CURSOR|TIME", "a cursor, now, or a time such as -1d" },
    { "forget", 'F', "NAME", "drop the cursor of that name" },
    { 0 }
};

const struct command cmd_events = {
    .name = "events", .group = COMMAND_EVENTS,
    .args = "[--deliver NAME -- COMMAND ...]",
    .help = "list what jobs announced, newest first; or deliver it to a command",
    .more =
        "Every event has a cursor; --after CURSOR continues after it, so that none is missed or seen twice;\n"
        "that is oldest first, as --follow is. A search for the newest ends after 100000 events, with\n"
        "--limit 0 after all of them, and --until CURSOR goes on where it has ended.\n"
        "--json prints one object a line. --deliver keeps the cursor in the store: COMMAND reads events\n"
        "from its standard input, and when it exits with 0 the cursor moves. Else they come again, fewer\n"
        "and fewer, down to the one that fails. Of several processes by one NAME one is at work.\n"
        "When an older copy of the store is put back, call prescient init --restored: then a consumer that\n"
        "had read further is shown all that comes. Without it, it is refused where events would be missed.",
    .examples = "prescient events --event 'order.*' --since -1d\n"
                "prescient events --follow\n"
                "prescient events --deliver mail -- ./send-mail",
    .options = options,
    .operands = { 0, INT_MAX },
    .main = events_main,
    .role = "prescient_reader", .only_reads = true,
};

#define PAGE 1000
#define SEARCHED 100000     /* events that a search for the newest looks at, when it has a limit */
#define PAUSE_MS 1000 /* between two reads when nothing was new */

struct events {
    struct app *app;
    bool follow;
    const char *after, *until;  /* cursors */
    struct event_filter filter;
    int64_t limit;              /* 0: all */
    int64_t shown, looked_at;
    char cursor[EVENT_CURSOR_SIZE];     /* of the last event shown, or looked at; "": of none yet */
    int64_t last_us;                    /* when that was emitted */
    struct telling telling;             /* without how far away: the line may stay on the screen */
};

/* NULL: it was not given. */
static int cursor_check(const char *option, const char *cursor, struct err *err)
{
    struct event_cursor c = { 0 };
    if (cursor && !event_cursor_split(cursor, &c))
        return err_set(err, ERR_INPUT,
                       "%s: found '%.80s', expected the cursor of an event, such as 0-7301-15", option,
                       cursor);
    return 0;
}

static bool is_forward(const struct events *e)
{
    return e->follow || e->after;
}

static int read_page(struct events *e, struct arena *a, int64_t want, struct store_rows *out, struct err *err)
{
    struct store *st = app_store(e->app, err);
    if (!st)
        return err->code;
    struct event_cursor place = { 0 };
    bool is_placed = event_cursor_split(e->cursor, &place);
    const char *params[EVENT_CURSOR_NUMBERS + 1] = { NULL };
    for (int i = 0; is_placed && i < EVENT_CURSOR_NUMBERS; i++)
        params[i] = place.numbers[i];
    params[EVENT_CURSOR_NUMBERS] = arena_printf(a, "%" PRId64, want);
    struct store_report report = STORE_REPORT_INIT;
    report.name = is_forward(e) ? "events" : "events_back";
    report.params = params;
    report.nparams = sizeof params / sizeof *params;
    report.arena = a;
    int rc = store_do(st, &report.call);
    *err = report.call.err;
    *out = report.rows;
    app_remark_left_out(e->app, &report);
    return rc;
}

/* One event a line for people; a stream has no column widths. */
static void print_line(struct events *e, struct arena *a, const struct store_rows *rows, int r)
{
    static const char *const columns[] = {
        "cursor", "event", "entity_name", "entity_key", "job_exec", "data"
    };
    FILE *out = e->app->out;
    const char *at = told_cell(a, &e->telling, CELL_MOMENT_US, rows_value(rows, r, "emitted_at_us"), false);
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

static bool is_full(const struct events *e)
{
    return e->limit && e->shown == e->limit;
}

static void keep_place(struct events *e, const struct store_rows *rows, int row)
{
    const char *cursor = rows_value(rows, row, "cursor");
    snprintf(e->cursor, sizeof e->cursor, "%s", cursor ? cursor : EVENT_CURSOR_FIRST);
    e->last_us = rows_number(rows, row, "emitted_at_us");
    e->looked_at++;
}

static void print_page(struct events *e, struct arena *a, const struct store_rows *rows)
{
    for (int r = 0; r < rows->rows && !is_full(e) && !ferror(e->app->out); r++) {
        keep_place(e, rows, r);
        if (!event_filter_takes(&e->filter, rows, r))
            continue;
        if (e->app->json)
            report_print_object(e->app, rows_object(rows, r));
        else
            print_line(e, a, rows, r);
        e->shown++;
    }
    e->app->was_short |= arena_was_short(a);
    fflush(e->app->out);
}

/* How many are read next; 0: no more. */
static int64_t wanted(const struct events *e)
{
    if (is_full(e))
        return 0;
    if (!is_forward(e) && e->limit && e->looked_at >= SEARCHED)
        return 0;
    if (!e->limit || !event_filter_is_open(&e->filter) || e->limit - e->shown > PAGE)
        return PAGE;
    return e->limit - e->shown;
}

/* Prints pages until there is nothing new. Returns 0, ERR_STOPPED at the limit or when the output
 * is closed, or another ERR_. */
static int drain(struct events *e, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(64 * 1024);
    struct store_rows rows = { 0 };
    do {
        int64_t want = wanted(e);
        if (!want || ferror(e->app->out))
            return ERR_STOPPED;
        if (!a)
            return err_set(err, ERR_NOMEM, "out of memory");
        arena_reset(a);
        int rc = read_page(e, a, want, &rows, err);
        if (rc < 0)
            return rc;
        print_page(e, a, &rows);
    } while (rows.rows > 0);
    return 0;
}

/* Reads again and again. When the store or its schema is away it waits, and continues after it.
 * Events that are withheld for long are told. */
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
        bool gone = rc < 0 && rc != ERR_STOPPED && app_is_away(err);
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
    const char *cursor = e->after ? e->after : e->until;
    if (!cursor && e->follow) {
        if (app_rows(e->app, "events_end", NULL, 0, &rows, err) < 0)
            return err->code;
        cursor = rows_value(&rows, 0, "cursor");
    }
    if (!cursor && e->follow)
        cursor = EVENT_CURSOR_FIRST;
    snprintf(e->cursor, sizeof e->cursor, "%s", cursor ? cursor : "");
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
    const char *which = event_filter_is_open(&e->filter) ? "" : " of that kind";
    const char *where = e->after ? " after that one" : "";
    if (e->until)
        where = " before that one";
    fprintf(e->app->out, "no events%s%s%s\n", which, where, withheld ? " to show yet" : "");
    if (e->filter.job)
        unknown_job_remark(e->app, e->filter.job);
}

/* What comes behind the last that was shown, or looked at: by its cursor, as many may be of one
 * second. */
static void tell_more(const struct events *e)
{
    struct app *app = e->app;
    if (is_forward(e))
        app_remark(app, "these are the first %" PRId64 "; --after %s shows the next", e->limit, e->cursor);
    else if (is_full(e))
        app_remark(app, "these are the newest %" PRId64 "; --until %s continues there, --limit 0 shows all",
                   e->limit, e->cursor);
    else
        app_remark(app, "searched back to %s; --until %s continues there, --limit 0 searches all",
                   telling_moment(app, floor_div(e->last_us, 1000000)), e->cursor);
}

static int list(struct app *app, const struct args *args)
{
    struct events e = {
        .app = app,
        .follow = args_has(args, 'f'),
        .after = args_text(args, 'a'),
        .until = args_text(args, 'u'),
        .limit = args_has(args, 'f') ? 0 : 100,
        .telling = telling_of(app),
    };
    struct err err = { 0 };
    if (args_number(args, 'l', 0, INT64_MAX, &e.limit, &err) < 0 ||
        event_filter_read(app, args, &e.filter, &err) < 0 ||
        cursor_check("--after", e.after, &err) < 0 || cursor_check("--until", e.until, &err) < 0)
        return app_fail(app, &err);
    if (e.until && is_forward(&e))
        return app_usage(app, "--until goes back from its cursor, and --after and --follow go on");
    int rc = show_events(&e, &err);
    if (rc < 0 && rc != ERR_STOPPED)
        return app_fail(app, &err);
    bool is_end = !e.follow && rc == 0;
    int64_t withheld = is_end ? withheld_remark(app) : 0;
    if (is_end && e.shown == 0 && !app->json)
        print_none(&e, withheld);
    else if (!e.follow && e.limit && rc == ERR_STOPPED && !ferror(app->out))
        tell_more(&e);
    return EXIT_WELL;
}

/* ---- consumers ---- */

#define DAY_US INT64_C(86400000000)

static int read_deliver_options(const struct args *args, struct deliver_options *o, struct err *err)
{
    int64_t batch = 100, skip_after = 0;
    if (consumer_check_name(o->name, err) < 0 || args_number(args, 'b', 1, 1000, &batch, err) < 0 ||
        args_number(args, 's', 1, 1000, &skip_after, err) < 0 ||
        args_duration(args, 'e', 1000000, DAY_US, &o->every_us, err) < 0 ||
        args_duration(args, 't', 10000, DAY_US, &o->timeout_us, err) < 0 ||
        args_duration(args, 'w', 1000, 60 * INT64_C(1000000), &o->backoff_us, err) < 0)
        return err->code;
    o->batch = (int)batch;
    o->skip_after = (int)skip_after;
    return 0;
}

static int deliver_events(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct deliver_options o = { .name = args_text(args, 'd'), .argv = args->operands,
                                 .timeout_us = 300 * INT64_C(1000000), .backoff_us = 1000000 };
    if (!args->noperands)
        return app_usage(app, "--deliver: no command given: --deliver NAME -- COMMAND ...");
    if (read_deliver_options(args, &o, &err) < 0)
        return app_fail(app, &err);
    return deliver(app, &o);
}

static int list_consumers(struct app *app, const struct args *args)
{
    (void)args;
    return consumers_list(app);
}

static int reset_consumer(struct app *app, const struct args *args)
{
    if (!args_has(args, 'T'))
        return app_usage(app, "--reset: no place given: --to CURSOR, --to now, or --to -1d");
    return consumers_reset(app, args_text(args, 'r'), args_text(args, 'T'));
}

static int forget_consumer(struct app *app, const struct args *args)
{
    return consumers_forget(app, args_text(args, 'F'));
}

static const struct action actions[] = {
    { "--deliver", "dbestw", deliver_events, NULL, false },
    { "--consumers", "c", list_consumers, NULL, false },
    { "--reset", "rT", reset_consumer, NULL, false },
    { "--forget", "F", forget_consumer, NULL, false },
    { "events", "falu" EVENT_FILTER_LETTERS, list, NULL, false },
    { 0 }
};

static int events_main(struct app *app, const struct args *args)
{
    char chosen = args_last(args, "dcrF");
    const struct action *action = action_find(actions, "events");
    for (const struct action *a = actions; chosen && a->word; a++)
        if (*a->options == chosen)
            action = a;
    if (chosen && app->now)
        return app_usage(app, "--now: consumers have no virtual time: their leases, like events, are of the "
                             "store's clock");
    if (args->noperands && chosen != 'd')
        return app_usage(app, "takes no arguments without --deliver");
    return action_run(app, actions, action, args);
}
