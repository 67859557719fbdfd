/* prescient deliveries - what was sent to listeners, waits to be sent, or could not be; and one of
 * them once more. */
#include <inttypes.h>
#include <string.h>
#include "../base/utf8.h"
#include "../rules/idempotency.h"
#include "../view/delivery_id.h"
#include "action.h"
#include "app.h"
#include "filter.h"
#include "telling.h"

static int deliveries_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "listener", 'n', "NAME", "only of this listener" },
    { "failed", 'F', NULL, "only what has failed, for good or so far" },
    FILTER_SINCE,
    FILTER_LIMITED,
    FILTER_WIDE,
    { "again", 'a', "ID", "send one that is over once more, under the same key" },
    { 0 }
};

const struct command cmd_deliveries = {
    .name = "deliveries", .group = COMMAND_EVENTS, .args = "",
    .help = "list deliveries of events to listeners, newest first; or send one again",
    .more =
        "First those that are not over: waiting, retrying (they have failed, and are tried again)\n"
        "or paused; then those that are: done, failed or resolved. ID is the key that the receiver\n"
        "was sent (webhook-id), or LISTENER/EVENT as --wide shows it.",
    .examples = "prescient deliveries --failed --since -1d",
    .options = options, .main = deliveries_main,
    .role = "prescient_reader", .only_reads = true,
};

/* Who sends one again needs another role, and this one for the list. */
static int read_deliveries(struct app *app, const char *listener, const char *failed, const struct filter *f,
                           struct store_rows *rows, struct err *err)
{
    const char *params[] = { listener, failed, f->from, filter_limit_param(app, f), filter_look_param(app, f),
                             filter_look_ms_param(f) };
    int rc = app_rows_of(app, cmd_deliveries.role, "deliveries", params, sizeof params / sizeof *params, rows,
                         err);
    if (rc == 0)
        delivery_ids(app->arena, rows);
    return rc;
}

/* ---- the list ---- */

/* A last row without a listener: where the search ended before it had seen all. NULL: it has. */
static const char *take_end(struct app *app, struct store_rows *rows)
{
    int last = rows->rows - 1;
    if (last < 0 || rows_value(rows, last, "listener"))
        return NULL;
    rows->rows = last;
    return telling_cell(app, CELL_MOMENT_US, rows_value(rows, last, "ended_at_us"), false);
}

static void print_none(struct app *app, const char *listener, const char *failed)
{
    const char *what = failed ? "no delivery has failed" : "no deliveries";
    if (listener)
        fprintf(app->out, "%s, of listener %s\n", what, listener);
    else
        fprintf(app->out, "%s\n", what);
}

static int print_list(struct app *app, const struct args *args, struct err *err)
{
    static const struct report_view few = {
        .columns = "listener event entity_name=entity entity_key=key state tries next_check_at=next "
                   "ended_at_us=ended note id",
    };
    struct filter f;
    struct store_rows rows;
    const char *listener = args_text(args, 'n'), *failed = args_has(args, 'F') ? "1" : NULL;
    if (filter_read(app, args, &f, err) < 0 || read_deliveries(app, listener, failed, &f, &rows, err) < 0)
        return err->code;
    const char *ended = take_end(app, &rows);
    bool more = f.limit && rows.rows > f.limit;
    struct report_view view = few;
    if (more)
        rows.rows = (int)f.limit;
    if (f.wide)
        view.columns = NULL;
    if (rows.rows || app->json)
        report_print(app, &rows, &view);
    else
        print_none(app, listener, failed);
    if (ended)
        app_remark(app, "searched back to %s; --limit 0 searches all", ended);
    if (more)
        app_remark(app, "these are the first %" PRId64 ", or more; --limit N shows N of them, --limit 0 all",
                   f.limit);
    return 0;
}

/* ---- one of them again ---- */

static bool is_id(const char *text)
{
    return strlen(text) == IDEMPOTENCY_KEY_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == IDEMPOTENCY_KEY_SIZE - 1;
}

/* No index has the ids, which follow from LISTENER/EVENT: it is looked for among the newest. */
static int find_delivery(struct app *app, const char *id, const char **delivery, struct err *err)
{
    struct store_rows rows;
    const struct filter newest = { .limit = FILTER_LOOK - 1 };
    *delivery = strchr(id, '/') ? id : NULL;
    if (*delivery)
        return 0;
    if (!is_id(id))
        return err_set(err, ERR_INPUT,
                       "--again: found '%.*s', expected the 32 digits of an id, or LISTENER/EVENT",
                       UTF8_SHOWN(id));
    int rc = read_deliveries(app, NULL, NULL, &newest, &rows, err);
    if (rc < 0)
        return rc;
    const char *ended = take_end(app, &rows);
    for (int r = 0; !*delivery && r < rows.rows; r++) {
        const char *is = rows_value(&rows, r, "id");
        if (is && !strcmp(is, id))
            *delivery = rows_value(&rows, r, "delivery");
    }
    if (*delivery)
        return 0;
    const char *back = ended ? arena_printf(app->arena, ", back to %s", ended) : "";
    return err_set(err, ERR_NOTFOUND,
                   "no delivery has the id %s among the newest %d%s; an older one is found by "
                   "LISTENER/EVENT: `prescient deliveries --wide --limit 0` lists both",
                   id, FILTER_LOOK, back ? back : "");
}

static int refusal(const char *outcome, const char *delivery, const char *at, struct err *err)
{
    if (!strcmp(outcome, "waits"))
        return err_set(err, ERR_INPUT,
                       "delivery %s is not over: it waits, or is being sent (due %s); `prescient resolve "
                       "prescient.event %s` ends it",
                       delivery, at ? at : "?", delivery);
    if (!strcmp(outcome, "not_kept"))
        return err_set(err, ERR_INPUT,
                       "delivery %s is a digest, and cannot be sent again: what it had is kept only of one "
                       "that has failed; `prescient events` lists the events",
                       delivery);
    if (!strcmp(outcome, "pruned"))
        return err_set(err, ERR_NOTFOUND,
                       "delivery %s cannot be sent again: its event was pruned, and what was sent with it",
                       delivery);
    return err_set(err, ERR_NOTFOUND, "no delivery %s in the history; `prescient deliveries` lists them",
                   delivery);
}

static int again(struct app *app, const char *id, struct err *err)
{
    struct store_rows rows;
    const char *delivery;
    int rc = find_delivery(app, id, &delivery, err);
    if (rc < 0)
        return rc;
    const char *params[] = { delivery, app_now_param(app) };
    rc = app_rows(app, "deliver_again", params, 2, &rows, err);
    if (rc < 0)
        return rc;
    const char *outcome = rows_value(&rows, 0, "outcome");
    const char *at = telling_cell(app, CELL_MOMENT, rows_value(&rows, 0, "next_check_at"), false);
    if (!outcome || strcmp(outcome, "again") != 0)
        return refusal(outcome ? outcome : "", delivery, at, err);
    if (app->json)
        report_print(app, &rows, &(struct report_view){ 0 });
    else if (!app->quiet)
        fprintf(app->out, "%s is sent again, at %s or by the next run after it\n", delivery, at ? at : "?");
    return 0;
}

/* ---- the command ---- */

static int list(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    return print_list(app, args, &err) < 0 ? app_fail(app, &err) : EXIT_WELL;
}

static int send_again(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    return again(app, args_text(args, 'a'), &err) < 0 ? app_fail(app, &err) : EXIT_WELL;
}

static const struct action actions[] = {
    { "--again", "a", send_again, "prescient_operator", false },
    { "deliveries", "nFflw", list, NULL, false },
    { 0 }
};

static int deliveries_main(struct app *app, const struct args *args)
{
    return action_run(app, actions, &actions[args_has(args, 'a') ? 0 : 1], args);
}
