/* gone_objects.c - see gone_objects.h. */
#include "gone_objects.h"

#include <inttypes.h>
#include <string.h>

#include "report.h"

enum { NAMED_MAX = 10 };

/* These are made again by the text of the schema alone. */
static bool has_no_rows(const char *kind)
{
    static const char *const kinds[] = { "function", "view", "trigger", "index" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i], kind))
            return true;
    return false;
}

static const char *joined(struct app *app, const char *list, const char *comma, const char *more)
{
    return list && *list ? arena_printf(app->arena, "%s%s%s", list, comma, more) : more;
}

/* "view runs", "function enqueue (5 of 6 forms are there)". */
static const char *words_of(struct app *app, const struct store_rows *rows, int row)
{
    const char *kind = rows_value(rows, row, "kind"), *name = rows_value(rows, row, "name");
    int64_t there = rows_number(rows, row, "there"), made = rows_number(rows, row, "made");
    if (!there)
        return arena_printf(app->arena, "%s %s", kind, name);
    return arena_printf(app->arena, "%s %s (%" PRId64 " of %" PRId64 " forms are there)", kind, name, there,
                        made);
}

int gone_objects_ask(struct app *app, struct gone_objects *out, struct err *err)
{
    struct store_rows rows;
    *out = (struct gone_objects){ .only_indexes = true, .found = "", .names = "" };
    int rc = app_rows(app, "objects_gone", NULL, 0, &rows, err);
    for (int r = 0; rc >= 0 && r < rows.rows; r++) {
        const char *kind = rows_value(&rows, r, "kind");
        out->lost_rows = out->lost_rows || !has_no_rows(kind);
        out->only_indexes = out->only_indexes && !strcmp(kind, "index");
        out->names = joined(app, out->names, ",", rows_value(&rows, r, "name"));
        if (out->n++ < NAMED_MAX)
            out->found = joined(app, out->found, ", ", words_of(app, &rows, r));
    }
    if (out->n > NAMED_MAX)
        out->found = arena_printf(app->arena, "%s, and %d more", out->found, out->n - NAMED_MAX);
    return rc < 0 || (out->found && out->names) ? rc : err_set(err, ERR_NOMEM, "out of memory");
}
