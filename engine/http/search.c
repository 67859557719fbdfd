/* search.c - see search.h. Rows are read a thousand at a time into an arena of their own, as most
 * of them are thrown away. */
#include "search.h"

#include <string.h>

#include "../base/clock.h"
#include "../view/rows.h"
#include "lists.h"
#include "struck.h"

enum { TOGETHER = 1000, ARENA_BLOCK = 256 * 1024 };

struct searching {
    const struct search *s;
    struct asking *asking;
    struct arena *arena;            /* of the rows that are looked at */
    int64_t limit, together;
    int64_t begun_us, looked_at;
    struct lists_page *out;         /* its rows are those that were found */
    bool is_over;
};

static int no_memory(struct asking *a)
{
    return err_set(&a->err, ERR_NOMEM, "out of memory");
}

/* Of the time that a request may look for rows of the past. */
static int64_t left_ms(const struct searching *s)
{
    int64_t left = PARAMETERS_LOOK_MS - (clock_mono_us(&clock_system) - s->begun_us) / 1000;
    return left > 0 ? left : 0;
}

static const char *cursor_of(const struct searching *s, const struct store_rows *rows, int row)
{
    return arena_strdup(s->asking->desk->arena, rows_value(rows, row, "cursor"));
}

/* The names of columns, and room for as many rows as may be found. */
static int make_room(struct searching *s, const struct store_rows *like)
{
    struct arena *a = s->asking->desk->arena;
    struct store_rows *found = &s->out->rows;
    size_t n = (size_t)like->columns;
    found->columns = like->columns;
    found->names = arena_zalloc(a, n * sizeof *found->names);
    found->kinds = arena_alloc(a, n * sizeof *found->kinds);
    found->cells = arena_alloc(a, n * (size_t)s->limit * sizeof *found->cells);
    if (!found->names || !found->kinds || !found->cells)
        return no_memory(s->asking);
    memcpy(found->kinds, like->kinds, n * sizeof *found->kinds);
    for (size_t i = 0; i < n; i++)
        if (!(found->names[i] = arena_strdup(a, like->names[i])))
            return no_memory(s->asking);
    return 0;
}

/* SQLite tells the kind of a column by its values: one of NULLs alone is called text there, as
 * perhaps in all answers until this one. */
static int keep(struct searching *s, const struct store_rows *rows, int row)
{
    struct store_rows *found = &s->out->rows;
    const char **to = found->cells + (size_t)found->rows * (size_t)found->columns;
    const char *const *from = rows->cells + (size_t)row * (size_t)rows->columns;
    for (int i = 0; i < rows->columns; i++) {
        to[i] = arena_strdup(s->asking->desk->arena, from[i]);
        if (from[i] && !to[i])
            return no_memory(s->asking);
        if (from[i] && found->kinds[i] == CELL_TEXT)
            found->kinds[i] = rows->kinds[i];
    }
    found->rows++;
    return 0;
}

/* Keeps those that have the error, until there are enough. Returns how many rows it has looked at,
 * or an ERR_. */
static int keep_those_of(struct searching *s, const struct store_rows *rows)
{
    int row = 0;
    for (; row < rows->rows && s->out->rows.rows < s->limit; row++) {
        const char *error = struck_error(s->arena, rows_value(rows, row, "note"),
                                         rows_value(rows, row, "guard"), rows_value(rows, row, "outcome"));
        if (!error)
            return no_memory(s->asking);
        int rc = strcmp(error, s->s->error) ? 0 : keep(s, rows, row);
        if (rc < 0)
            return rc;
    }
    return row;
}

/* All of these rows were looked at. `place`: where the store's look has ended, at the time `end`;
 * NULL: it has not. */
static int go_on(struct searching *s, const struct store_rows *rows, const char *place, const char *end)
{
    struct arena *a = s->asking->desk->arena;
    int last = rows->rows - 1;
    bool may_be_more = place || rows->rows >= s->together;
    s->looked_at += s->together;
    s->is_over = !may_be_more;
    if (!may_be_more)
        return 0;
    const char *next = place ? arena_strdup(a, place) : cursor_of(s, rows, last);
    if (!end)
        end = rows_text(a, rows->kinds[0], rows->cells[last * rows->columns]);
    s->asking->after = next;
    if (s->looked_at >= PARAMETERS_LOOKS || !left_ms(s)) {
        s->is_over = true;
        s->out->place = next;
        s->out->scanned_to = arena_strdup(a, end);
    }
    return next ? 0 : no_memory(s->asking);
}

static int look(struct searching *s)
{
    struct store_rows rows;
    struct asking *a = s->asking;
    arena_reset(s->arena);
    a->look_ms = left_ms(s) ? left_ms(s) : 1;
    int rc = parameters_run(a, s->s->report, s->s->parameters, &rows);
    if (rc == 0 && !s->out->rows.names)
        rc = make_room(s, &rows);
    if (rc < 0)
        return rc;
    const char *end = rows_take_end(s->arena, &rows);
    const char *place = end ? rows.cells[rows.rows * rows.columns + rows_column(&rows, "cursor")] : NULL;
    int seen = keep_those_of(s, &rows);
    if (seen < 0)
        return seen;
    if (s->out->rows.rows < s->limit)
        return go_on(s, &rows, place, end);
    bool is_last = seen == rows.rows && rows.rows < s->together && !place;
    s->is_over = true;
    s->out->place = is_last ? NULL : cursor_of(s, &rows, seen - 1);
    return is_last || s->out->place ? 0 : no_memory(a);
}

int search_error(const struct search *search, struct lists_page *out)
{
    struct asking *a = search->asking;
    CLEANUP(arena_freep) struct arena *arena = arena_new(ARENA_BLOCK);
    bool has_payloads = query_value(&a->query, "payload") != NULL;
    struct searching s = { .s = search, .asking = a, .arena = arena, .limit = a->limit, .out = out };
    s.together = has_payloads ? PARAMETERS_PAYLOADS : TOGETHER;
    s.begun_us = clock_mono_us(&clock_system);
    a->arena = arena;
    a->limit = a->looks = s.together;
    int rc = arena ? 0 : no_memory(a);
    while (rc == 0 && !s.is_over)
        rc = look(&s);
    a->limit = s.limit;
    a->arena = NULL;
    return rc;
}
