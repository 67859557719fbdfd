/* drawing.c - see drawing.h. */
#include "drawing.h"

#include "../base/moment.h"
#include "../view/rows.h"

static int read_loads(struct drawing *d, struct app *app, struct err *err)
{
    struct store_rows rows;
    int rc = app_rows(app, "ask_loads", NULL, 0, &rows, err);
    if (rc >= 0)
        rc = app_rows(app, "pace", NULL, 0, &rows, err);
    if (rc < 0)
        return rc;
    d->pace_s = rows_number(&rows, 0, "seconds");
    rc = app_rows(app, "slot_loads", NULL, 0, &rows, err);
    if (rc < 0)
        return rc;
    struct spread_load *of = arena_alloc(app->arena, (size_t)(rows.rows + 1) * sizeof *of);
    if (!of)
        return err_set(err, ERR_NOMEM, "out of memory");
    for (int i = 0; i < rows.rows; i++)
        of[i] = (struct spread_load){ rows_number(&rows, i, "slot_at"), rows_number(&rows, i, "checks") };
    d->loads = (struct spread_loads){ of, rows.rows };
    d->is_read = true;
    return 0;
}

int drawing_draw(struct drawing *d, struct app *app, const char *within, int64_t now, struct load_row *row,
                 struct err *err)
{
    int64_t within_us = 0;
    struct store *st = app_store(app, err);
    if (!st)
        return err->code;
    int32_t length_s = store_slot_length_s(st);
    int rc = duration_parse_us(within, &within_us, err);
    if (rc < 0)
        return err_wrap(err, ERR_INPUT, "within");
    rc = spread_check(within_us, length_s, err);
    if (rc < 0)
        return rc;
    rc = d->is_read ? 0 : read_loads(d, app, err);
    if (rc < 0)
        return rc;
    struct spread_hash hash = spread_hash_of(row->entity_name, row->entity_key, row->job_exec);
    int64_t within_s = within_us / 1000000 - d->pace_s;
    row->at = spread_draw(&(struct spread_span){ row->at, within_s, now, length_s }, &d->loads, &hash);
    return 0;
}
