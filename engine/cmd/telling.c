/* telling.c - see telling.h. */
#include "telling.h"

#include "../view/rows.h"

struct telling telling_of(const struct app *app)
{
    if (app->json)
        return (struct telling){ 0 };
    return (struct telling){ .zone = app->zone ? app->zone : app->terminals_zone, .is_short = app->terminal };
}

/* Only a terminal is told how far away, and only where the store can be asked for its time. */
static struct telling telling_away(struct app *app)
{
    struct err err;
    struct telling t = telling_of(app);
    bool is_wanted = app->terminal && !app->json;
    if (is_wanted && !app->told_now && app_now(app, &app->told_now, &err) < 0)
        app->told_now = 0;
    t.now = is_wanted ? app->told_now : 0;
    return t;
}

static const char *or_nothing(const char *text)
{
    return text ? text : "";
}

static const char *tell(struct app *app, const struct telling *t, int64_t at)
{
    return or_nothing(told_at(app->arena, t, at));
}

const char *telling_moment(struct app *app, int64_t at)
{
    const struct telling t = telling_of(app);
    return tell(app, &t, at);
}

const char *telling_moment_away(struct app *app, int64_t at)
{
    const struct telling t = telling_away(app);
    return tell(app, &t, at);
}

/* Not short: that has a blank, and would have to be quoted. */
static struct telling telling_of_typed(const struct app *app)
{
    struct telling t = telling_of(app);
    t.is_short = false;
    return t;
}

const char *telling_typed(struct app *app, int64_t at)
{
    const struct telling t = telling_of_typed(app);
    return tell(app, &t, at);
}

const char *telling_typed_cell(struct app *app, enum cell_kind kind, const char *cell)
{
    const struct telling t = telling_of_typed(app);
    return told_cell(app->arena, &t, kind, cell, false);
}

const char *telling_cell(struct app *app, enum cell_kind kind, const char *cell, bool is_due)
{
    if (kind != CELL_MOMENT && kind != CELL_MOMENT_US)
        return rows_text(app->arena, kind, cell);
    const struct telling t = telling_away(app);
    return told_cell(app->arena, &t, kind, cell, is_due);
}

const char *telling_text(struct app *app, const char *text)
{
    const struct telling t = telling_of(app);
    return telling_is_plain(&t) ? text : told_text(app->arena, &t, text);
}
