/* lists.c - see lists.h. */
#include "lists.h"

#include <string.h>

#include "../rules/outcome.h"
#include "../view/item.h"
#include "cursor.h"
#include "route.h"
#include "search.h"

/* ---- the lists ---- */

struct list {
    const char *path, *report;
    const char *place;              /* the column that names the place of a row; NULL: it has one page */
    struct parameter parameters[PARAMETERS_MAX + 1];    /* in the order of the report's */
};

static const char *const states[] = { "waiting", "due", "held_back", "retrying", "paused", NULL };
static const char *const parts[] = { "job", "tenant", NULL };
static const char *const changes[] = {
    "resolve",      "cancel",      "reschedule",   "run-now",         "retry", "pause", "resume",
    "schedule-put", "schedule-on", "schedule-off", "schedule-remove", "deliver-again",
    NULL,
};

#define IS                PARAMETER_IS
#define NAMED             PARAMETER_NAMED
#define OF_ROW            PARAMETERS_OF_ROW
#define IN_TIME           NAMED(MOMENT, "from"), NAMED(MOMENT, "before")
#define ONE_OF(words, name) { PARAMETER_WORD, name, words }

/* clang-format off */
static const struct list lists[] = {
    { "/v1/checks", "list", "cursor",
      { OF_ROW, IN_TIME, IS(MOST), IS(LOOKS), NAMED(TEXT, "tenant"), ONE_OF(states, "state"), IS(AFTER),
        NAMED(BARE, "payload") } },
    { "/v1/history", "history", "cursor",
      { OF_ROW, ONE_OF(outcomes_of_history, "outcome"), IN_TIME, IS(MOST), IS(LOOK_MS),
        NAMED(TEXT, "tenant"), IS(AFTER), IS(LOOKS), NAMED(BARE, "payload") } },
    { "/v1/runs", "runs", "cursor",
      { OF_ROW, ONE_OF(outcomes_of_runs, "outcome"), IN_TIME, IS(MOST), IS(LOOK_MS),
        NAMED(TEXT, "tenant"), IS(AFTER), IS(LOOKS) } },
    { "/v1/slots", "slots", "slot_at",
      { NAMED(FROM, "from"), NAMED(MOMENT, "before"), IS(MOST), IS(NOTHING), IS(COUNTED),
        ONE_OF(parts, "by"), IS(LOOKS) } },
    { "/v1/schedules", "schedules", "name", { NAMED(TEXT, "prefix"), OF_ROW, IS(MOST), IS(AFTER) } },
    { "/v1/audit", "audit", "cursor",
      { OF_ROW, NAMED(TEXT, "who"), ONE_OF(changes, "change"), IN_TIME, IS(MOST), IS(LOOKS), IS(AFTER) } },
    { "/v1/slowest", "slowest", NULL,
      { NAMED(TEXT, "job"), NAMED(DAY, "from"), IS(MOST), IS(LOOK_MS), IS(LOOKS) } },
    { "/v1/engines", "engines", NULL, { IS(END) } },
};
/* clang-format on */

/* Only the routes of lists come here, and each has its own. */
static const struct list *list_at(const char *path)
{
    size_t i = 0, last = sizeof lists / sizeof *lists - 1;
    while (i < last && strcmp(lists[i].path, path) != 0)
        i++;
    return &lists[i];
}

static bool has_limit(const struct list *list)
{
    const struct parameter *p = list->parameters;
    while (p->source != PARAMETER_END && p->source != PARAMETER_MOST)
        p++;
    return p->source == PARAMETER_MOST;
}

/* Its query may have `error`: no index leads to it, and its rows are looked through. */
static bool has_errors(const struct list *list)
{
    return !strcmp(list->report, "history") || !strcmp(list->report, "runs");
}

/* The names that may stand in the query of a list. */
static void names_of(const struct list *list, const char *names[QUERY_MAX])
{
    int n = 0;
    if (has_limit(list))
        names[n++] = "limit";
    if (list->place)
        names[n++] = "after";
    if (has_errors(list))
        names[n++] = "error";
    parameters_name(list->parameters, names, n);
}

/* ---- the answer ---- */

/* A last row that is none (rows_take_end) is where the look ended. Removes it; its moment as
 * text in *scanned_to. Returns its place. */
static const char *take_end(struct arena *a, const struct list *list, struct store_rows *rows,
                            const char **scanned_to)
{
    const char *end = rows_take_end(a, rows);
    *scanned_to = end;
    if (!list->place)
        return NULL;
    return end ? rows->cells[rows->rows * rows->columns + rows_column(rows, list->place)] : NULL;
}

static const char *place_of_last(const struct asking *a, const struct list *list, struct store_rows *rows)
{
    if (!has_limit(list) || rows->rows <= a->limit)
        return NULL;
    rows->rows = (int)a->limit;
    return list->place ? rows_value(rows, rows->rows - 1, list->place) : NULL;
}

static json_t *page_object(struct arena *arena, const struct list *list, struct lists_page *page)
{
    struct store_rows *rows = &page->rows;
    const char *next = page->place ? cursor_write(arena, list->path, page->place) : NULL;
    if (page->place && !next)
        return NULL;
    item_leave_out(rows, "cursor");
    item_is_json(rows, "before");
    item_is_json(rows, "after");
    item_rename(rows);
    return item_tell_end(json_pack("{s:o, s:s?}", "items", item_array(rows), "next", next), page->scanned_to);
}

static int read_list(struct asking *a, const struct list *list, struct lists_page *out)
{
    const char *error = has_errors(list) ? query_value(&a->query, "error") : NULL;
    if (error)
        return search_error(&(struct search){ a, list->report, list->parameters, error }, out);
    int rc = parameters_run(a, list->report, list->parameters, &out->rows);
    if (rc < 0)
        return rc;
    out->place = take_end(a->desk->arena, list, &out->rows, &out->scanned_to);
    if (!out->place)
        out->place = place_of_last(a, list, &out->rows);
    return 0;
}

int lists_read(struct asking *a, const char *path, struct lists_page *out)
{
    return read_list(a, list_at(path), out);
}

static int read_page(struct asking *a, const struct list *list)
{
    const char *cursor = query_value(&a->query, "after");
    int rc = parameters_read_limit(a);
    if (rc == 0 && cursor)
        rc = cursor_read(a->desk->arena, list->path, cursor, &a->after, &a->err);
    return rc;
}

static void answer_list(struct asking *a, const struct list *list, struct answer *answer)
{
    struct lists_page page = { 0 };
    int rc = read_page(a, list);
    if (rc == 0)
        rc = read_list(a, list, &page);
    if (rc == ERR_DATA && a->after)
        rc = err_set(&a->err, ERR_INPUT, "after: this is no cursor of %s", list->path);
    if (rc < 0)
        parameters_refuse(a, rc, answer);
    else
        desk_answer(a->desk, answer, 200, page_object(a->desk->arena, list, &page));
}

void lists_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    struct asking asking = { .desk = desk, .role = questions->role };
    const struct list *list = list_at(route_table[questions->route].path);
    const char *names[QUERY_MAX];
    (void)n;
    names_of(list, names);
    if (desk_query(desk, questions, names, &asking.query, answers))
        answer_list(&asking, list, answers);
}
