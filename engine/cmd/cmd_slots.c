/* prescient slots - how many checks wait in which slot, and how past slots ended. */
#include <inttypes.h>
#include "../view/item.h"
#include "app.h"
#include "filter.h"
#include "telling.h"

static int slots_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    FILTER_FROM, FILTER_BEFORE, FILTER_LIMITED, FILTER_EXACT, { 0 }
};

const struct command cmd_slots = {
    .name = "slots", .group = COMMAND_LOOKING,
    .args = "",
    .help = "count checks by slot",
    .more = "A slot is pending until an engine opens it, open while its checks run, in relook until nothing "
            "more can arrive in it,\n"
            "then closed. Without --from and --before: slots that hold checks or are not closed, however "
            "old, and all of the last twelve;\n"
            "when they are too many, those next to now, in both directions. With --before alone: all, newest "
            "first.\n"
            "In a large slot a part is counted, and the rest estimated from it (~); --exact counts all.",
    .examples = "prescient slots --from now\n"
                "prescient slots --before now --limit 20",
    .options = options,
    .main = slots_main,
    .role = "prescient_reader", .only_reads = true,
};

#define SLOTS_AGO 12   /* slots that are over are listed back to here, without --from */
#define COUNTED 250000 /* checks counted in all slots of the list; each gets a share */
#define COUNTED_LEAST 1000

struct slots {
    struct app *app;
    struct filter f;
    int64_t slot;           /* without a range: the one that is now */
    /* Without a range: from then on slots are listed even if they are over and empty. With a range
     * all in it are. */
    const char *recent;
    const char *from;       /* the first that is listed */
    bool has_earlier;       /* there are some before it */
};

static const char *number_param(struct app *app, int64_t n)
{
    return arena_printf(app->arena, "%" PRId64, n);
}

static int find_now(struct slots *s, struct err *err)
{
    struct app *app = s->app;
    int64_t now;
    int rc = app_now(app, &now, err);
    if (rc < 0)
        return rc;
    struct store *st = app_store(app, err);
    if (!st)
        return err->code;
    int64_t length_s = store_slot_length_s(st);
    s->slot = now - now % length_s;
    s->recent = number_param(app, s->slot - SLOTS_AGO * length_s);
    return 0;
}

/* Begins the list with the slot that is `most` slots before that time. */
static int begin_back(struct slots *s, const char *before, int64_t most, struct err *err)
{
    struct store_rows rows;
    const char *params[] = { NULL, before, number_param(s->app, most + 1), s->recent };
    int rc = app_rows(s->app, "slots_before", params, 4, &rows, err);
    if (rc < 0)
        return rc;
    s->has_earlier = rows.rows > most;
    if (s->has_earlier && most > 0)
        s->from = rows_value(&rows, (int)most - 1, "slot_at");
    else if (s->has_earlier)
        s->from = before;
    return 0;
}

/* Half of what may be listed is before now, at most. */
static int begin(struct slots *s, struct err *err)
{
    const struct filter *f = &s->f;
    s->from = f->from;
    if (f->from || (f->before && !f->limit))
        return 0;
    if (f->before)
        return begin_back(s, f->before, f->limit, err);
    int rc = find_now(s, err);
    if (rc < 0 || !f->limit)
        return rc;
    return begin_back(s, number_param(s->app, s->slot), f->limit / 2, err);
}

static const char *counted_param(struct app *app, const struct filter *f)
{
    int64_t share = COUNTED / (f->limit ? f->limit : FILTER_LIMIT);
    if (f->exact)
        return NULL;
    if (share < COUNTED_LEAST)
        share = COUNTED_LEAST;
    return number_param(app, share);
}

static int read_rows(struct slots *s, struct store_rows *rows, struct err *err)
{
    const char *params[] = { s->from, s->f.before, filter_limit_param(s->app, &s->f), s->recent,
                             counted_param(s->app, &s->f) };
    int rc = app_rows(s->app, "slots", params, 5, rows, err);
    if (rc >= 0)
        item_leave_out(rows, "parts");
    return rc;
}

/* What is left out at both ends of the list, unless its order has one end only. */
static void tell_left_out(struct slots *s, const struct store_rows *rows, bool has_later,
                          const struct report_view *view)
{
    if (rows->rows && s->has_earlier && !view->newest_first)
        app_remark(s->app, "there are earlier ones; --before %s shows them, newest first",
                   telling_typed(s->app, rows_number(rows, 0, "slot_at")));
    if (has_later || (s->has_earlier && view->newest_first))
        filter_tell_more(s->app, &s->f, rows, view);
}

static int list_slots(struct slots *s, const struct report_view *view, struct err *err)
{
    struct store_rows rows;
    int rc = begin(s, err);
    if (rc < 0)
        return rc;
    rc = read_rows(s, &rows, err);
    if (rc < 0)
        return rc;
    bool has_later = s->f.limit && rows.rows > s->f.limit;
    if (has_later)
        rows.rows = (int)s->f.limit;
    if (view->newest_first)
        rows_reverse(&rows);
    filter_print_rows(s->app, &s->f, &rows, view);
    tell_left_out(s, &rows, has_later, view);
    return 0;
}

static int slots_main(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "slot_at checks state late_us run done again failed",
        .when_empty = "no slots: nothing waits and nothing was run",
        .bar = "checks",
        .estimated = "checks",
        .ordered_by = "slot_at",
        .is_unique = true,
    };
    struct slots s = { .app = app };
    struct err err = { 0 };
    if (filter_read(app, args, &s.f, &err) < 0)
        return app_fail(app, &err);
    struct report_view shown = view;
    shown.newest_first = s.f.before && !s.f.from;
    return list_slots(&s, &shown, &err) < 0 ? app_fail(app, &err) : EXIT_WELL;
}
