/* lists.c - see lists.h. */
#include "lists.h"

#include <string.h>

#include "../view/item.h"
#include "cursor.h"
#include "parameters.h"
#include "route.h"

/* ---- the lists ---- */

struct list {
    const char *path, *report;
    const char *place; /* the column that names the place of a row; NULL: it has one page */
    struct parameter parameters[PARAMETERS_MAX]; /* in the order of the report's */
    int n;
};

static const char *const states[] = { "waiting", "due", "held_back", "retrying", "paused", NULL };
static const char *const endings[] = {
    "done",           "resolved",   "failed",       "timeout",     "crashed", "bad_answer", "past",
    "beyond_horizon", "max_checks", "deferred_out", "unknown_job", "skipped", "amiss",      NULL,
};

#define TEXT(name)                                                                                           \
    {                                                                                                        \
        PARAMETER_TEXT, name, NULL                                                                           \
    }
#define OF_ROW TEXT("entity"), TEXT("key"), TEXT("job")
#define IN_TIME                                                                                              \
    { PARAMETER_MOMENT, "from", NULL },                                                                      \
    {                                                                                                        \
        PARAMETER_MOMENT, "before", NULL                                                                     \
    }
#define PLAIN(what)                                                                                          \
    {                                                                                                        \
        PARAMETER_##what, NULL, NULL                                                                         \
    }
#define BARE                                                                                                 \
    {                                                                                                        \
        PARAMETER_BARE, "payload", NULL                                                                      \
    }

static const struct list lists[] = {
    { "/v1/checks",
      "list",
      "cursor",
      { OF_ROW,
        IN_TIME,
        PLAIN(MOST),
        PLAIN(LOOKS),
        TEXT("tenant"),
        { PARAMETER_WORD, "state", states },
        PLAIN(AFTER),
        BARE },
      11 },
    { "/v1/history",
      "history",
      "cursor",
      { OF_ROW,
        { PARAMETER_WORD, "outcome", endings },
        IN_TIME,
        PLAIN(MOST),
        PLAIN(LOOK_MS),
        TEXT("tenant"),
        PLAIN(AFTER),
        PLAIN(LOOKS),
        BARE },
      12 },
    { "/v1/runs",
      "runs",
      "cursor",
      { OF_ROW, TEXT("outcome"), IN_TIME, PLAIN(MOST), PLAIN(LOOK_MS), TEXT("tenant"), PLAIN(AFTER),
        PLAIN(LOOKS) },
      11 },
    { "/v1/slots",
      "slots",
      "slot_at",
      { { PARAMETER_FROM, "from", NULL },
        { PARAMETER_MOMENT, "before", NULL },
        PLAIN(MOST),
        PLAIN(NOTHING),
        PLAIN(COUNTED) },
      5 },
    { "/v1/schedules", "schedules", "name", { TEXT("prefix"), OF_ROW, PLAIN(MOST), PLAIN(AFTER) }, 6 },
    { "/v1/engines", "engines", NULL, { { 0 } }, 0 },
};

static const struct list *list_of(const struct question *question)
{
    const char *path = route_table[question->route].path;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!strcmp(lists[i].path, path))
            return &lists[i];
    return NULL;
}

/* The names that may stand in the query of a list. */
static void names_of(const struct list *list, const char *names[QUERY_MAX])
{
    int n = 0;
    if (list->place) {
        names[n++] = "limit";
        names[n++] = "after";
    }
    parameters_name(list->parameters, list->n, names, n);
}

/* ---- the answer ---- */

/* A last row without an entity is where the look ended. Removes it; its moment as text in
 * *scanned_to. Returns its place. */
static const char *take_end(struct arena *a, const struct list *list, struct store_rows *rows,
                            const char **scanned_to)
{
    const char *end = rows_take_end(a, rows);
    *scanned_to = end;
    return end ? rows->cells[rows->rows * rows->columns + rows_column(rows, list->place)] : NULL;
}

static const char *place_of_last(const struct asking *a, const struct list *list, struct store_rows *rows)
{
    if (!list->place || rows->rows <= a->limit)
        return NULL;
    rows->rows = (int)a->limit;
    return rows_value(rows, rows->rows - 1, list->place);
}

static json_t *page(const struct asking *a, const struct list *list, struct store_rows *rows)
{
    struct arena *arena = a->desk->arena;
    const char *scanned_to;
    const char *place = take_end(arena, list, rows, &scanned_to);
    if (!place)
        place = place_of_last(a, list, rows);
    const char *next = place ? cursor_write(arena, list->path, place) : NULL;
    if (place && !next)
        return NULL;
    item_leave_out(rows, "cursor");
    item_rename(rows);
    json_t *object = json_pack("{s:o, s:s?}", "items", item_array(rows), "next", next);
    if (object && scanned_to && json_object_set_new(object, "scanned_to", json_string(scanned_to)) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int read_asked(struct asking *a, const struct list *list, const char **params)
{
    const char *cursor = query_value(&a->query, "after");
    int rc = parameters_read_limit(a);
    if (rc == 0 && cursor)
        rc = cursor_read(a->desk->arena, list->path, cursor, &a->after, &a->err);
    return rc < 0 ? rc : parameters_read(a, list->parameters, list->n, params);
}

static void answer_list(struct asking *a, const struct list *list, struct answer *answer)
{
    const char *params[PARAMETERS_MAX];
    struct store_rows rows;
    int rc = read_asked(a, list, params);
    if (rc == 0)
        rc = parameters_run(a, list->report, params, list->n, &rows);
    if (rc < 0)
        parameters_refuse(a, rc, answer);
    else
        desk_answer(a->desk, answer, 200, page(a, list, &rows));
}

void lists_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    struct asking asking = { .desk = desk };
    const struct list *list = list_of(questions);
    const char *names[QUERY_MAX];
    (void)n;
    names_of(list, names);
    if (desk_query(desk, questions, names, &asking.query, answers))
        answer_list(&asking, list, answers);
}
