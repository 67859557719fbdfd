/* filter.c - which rows a listing shows, and how many. */
#include "filter.h"

#include <inttypes.h>
#include <string.h>
#include "../base/floor.h"
#include "../base/moment.h"
#include "../view/item.h"
#include "app.h"
#include "telling.h"
#include "text.h"
#include "unknown_job.h"

int filter_read(struct app *app, const struct args *args, struct filter *out, struct err *err)
{
    *out = (struct filter){
        .entity = args_operand(args, 0),
        .key = args_operand(args, 1),
        .job = args_text(args, 'j'),
        .outcome = args_text(args, 'o'),
        .limit = FILTER_LIMIT,
        .wide = args_has(args, 'w'),
        .exact = args_has(args, 'x'),
    };
    int rc = app_moment_option_param(app, args, 'f', &out->from, err);
    if (rc < 0)
        return rc;
    rc = app_moment_option_param(app, args, 'b', &out->before, err);
    if (rc < 0)
        return rc;
    return args_number(args, 'l', 0, INT32_MAX - 1, &out->limit, err);
}

const char *filter_limit_param(struct app *app, const struct filter *f)
{
    return arena_printf(app->arena, "%" PRId64, f->limit ? f->limit + 1 : (int64_t)INT32_MAX);
}

const char *filter_look_param(struct app *app, const struct filter *f)
{
    int64_t look = f->limit < FILTER_LOOK ? FILTER_LOOK : f->limit + 1;
    return f->limit ? arena_printf(app->arena, "%" PRId64, look) : NULL;
}

const char *filter_look_ms_param(const struct filter *f)
{
    return f->limit ? FILTER_LOOK_MS : NULL;
}

/* Where a bounded search ended. When that is where it began, continuing there would find the same
 * again. */
static void print_search_end(struct app *app, const struct filter *f, const struct store_rows *rows,
                             const char *where)
{
    bool forward = rows->kinds[0] == CELL_MOMENT;
    bool began_there = f->from && forward && !strcmp(f->from, rows->cells[rows->rows * rows->columns]);
    if (!forward)
        app_remark(app, "searched back to %s; --before %s continues there, --limit 0 searches all", where,
                   where);
    else if (began_there)
        app_remark(app, "searched the first %d checks of that slot; --limit 0 searches all", FILTER_LOOK);
    else
        app_remark(app,
                   "searched the first %d checks, up to the slot %s; --from %s continues there, --limit 0 "
                   "searches all",
                   FILTER_LOOK, where, where);
}

static void print_asked(struct app *app, const char *before, const char *value)
{
    if (!value)
        return;
    fputs(before, app->out);
    text_put(app->out, value, 0);
}

/* "no checks wait for orders 99 (job: unshipped)": what was asked for, so that a misspelt name is
 * seen; and that there may be some, when the search ended before it had seen all. */
static void print_empty(struct app *app, const struct filter *f, const char *words, bool is_cut)
{
    bool is_timed = f->from || f->before;
    const char *const asked[][2] = { { "job: ", f->job },
                                     { "outcome: ", f->outcome },
                                     { "in that time", is_timed ? "" : NULL } };
    int n = 0;
    fputs(words, app->out);
    print_asked(app, " for ", f->entity);
    print_asked(app, " ", f->key);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        if (!asked[i][1])
            continue;
        fputs(n++ ? ", " : " (", app->out);
        print_asked(app, asked[i][0], asked[i][1]);
    }
    fputs(n ? ")" : "", app->out);
    fputs(is_cut ? ", as far as was searched\n" : "\n", app->out);
    if (f->job)
        unknown_job_remark(app, f->job);
}

void filter_print_rows(struct app *app, const struct filter *f, struct store_rows *rows,
                       const struct report_view *view)
{
    struct report_view shown = *view;
    if (f->wide)
        shown.columns = NULL;
    if (rows->rows || app->json)
        report_print(app, rows, &shown);
    else
        print_empty(app, f, view->when_empty, false);
}

/* The moment of a row, in whole seconds. */
static int64_t second_of(const struct store_rows *rows, int row, const char *column)
{
    int c = rows_column(rows, column);
    int64_t at = rows_number(rows, row, column);
    return c >= 0 && rows->kinds[c] == CELL_MOMENT_US ? floor_div(at, 1000000) : at;
}

/* Going on at the second of the last row repeats a row rather than leaving one out, but where one
 * second has them all. */
void filter_tell_more(struct app *app, const struct filter *f, const struct store_rows *rows,
                      const struct report_view *view)
{
    int64_t first = view->ordered_by ? second_of(rows, 0, view->ordered_by) : 0;
    int64_t last = view->ordered_by ? second_of(rows, rows->rows - 1, view->ordered_by) : 0;
    const char *which = view->newest_first ? "newest" : "first";
    const char *option = view->newest_first ? "--before" : "--from";
    bool steps_on = view->newest_first != view->is_unique;
    if ((first == last && !view->is_unique) || !moment_is_valid(last))
        app_remark(app,
                   "these are the %s %" PRId64 ", there are more; --limit N shows N of them, --limit 0 all",
                   which, f->limit);
    else
        app_remark(app,
                   "these are the %s %" PRId64 ", there are more; %s %s continues there, --limit 0 shows all",
                   which, f->limit, option, telling_typed(app, last + steps_on));
}

int filter_print(struct app *app, const struct filter *f, const char *report, const char *const *params,
                 int nparams, const struct report_view *view)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (app_rows(app, report, params, nparams, &rows, &err) < 0)
        return app_fail(app, &err);
    item_leave_out(&rows, "cursor");
    item_leave_out(&rows, "parts");
    const char *ended = telling_typed_cell(app, rows.kinds[0], rows_drop_end(&rows));
    bool more = f->limit && rows.rows > f->limit;
    if (more)
        rows.rows = (int)f->limit;
    if (ended && !rows.rows && !app->json)
        print_empty(app, f, view->when_empty, true);
    else
        filter_print_rows(app, f, &rows, view);
    if (ended)
        print_search_end(app, f, &rows, ended);
    if (more)
        filter_tell_more(app, f, &rows, view);
    return EXIT_WELL;
}

int filter_print_past(struct app *app, const struct args *args, const char *report,
                      const struct report_view *view)
{
    struct filter f;
    struct err err = { 0 };
    if (filter_read(app, args, &f, &err) < 0)
        return app_fail(app, &err);
    const char *params[] = {
        f.entity,
        f.key,
        f.job,
        f.outcome,
        f.from,
        f.before,
        filter_limit_param(app, &f),
        filter_look_ms_param(&f),
    };
    return filter_print(app, &f, report, params, sizeof params / sizeof *params, view);
}
