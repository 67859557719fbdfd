/* asked_events.c - see asked_events.h. */
#include "asked_events.h"

#include "../base/utf8.h"
#include "../rules/event_cursor.h"
#include "../view/item.h"
#include "parameters.h"

static const char other_history[] =
    "the cursor is of another history of this store, or of another store: what comes next would be missed "
    "without a word. Find the last event that you have, and go on behind its cursor";

static const struct parameter bare[] = { { PARAMETER_BARE, "payload", NULL }, { PARAMETER_END, NULL, NULL } };

static int read_cursor(struct asking *a, const char *text, struct event_cursor *out)
{
    if (event_cursor_split(text, out))
        return 0;
    return err_set(&a->err, ERR_INPUT,
                   "after: found '%.*s', expected the cursor of an event, such as 0-7301-15",
                   UTF8_SHOWN(text));
}

static json_t *page(const char *after, struct store_rows *rows)
{
    int last = rows->rows - 1;
    const char *next = last < 0 ? after : rows_value(rows, last, "cursor");
    item_rename(rows);
    return json_pack("{s:o, s:s}", "items", item_array(rows), "next", next);
}

static void answer_events(struct asking *a, struct answer *answer)
{
    const char *after = query_value(&a->query, "after"), *unused[PARAMETERS_MAX];
    struct event_cursor cursor;
    struct store_rows rows;
    after = after ? after : EVENT_CURSOR_FIRST;
    int rc = parameters_read_limit(a);
    if (rc == 0)
        rc = parameters_read(a, bare, unused);
    if (rc >= 0)
        rc = read_cursor(a, after, &cursor);
    if (rc < 0) {
        parameters_refuse(a, rc, answer);
        return;
    }
    const char *most = arena_printf(a->desk->arena, "%d", (int)a->limit);
    const char *params[] = { cursor.numbers[0], cursor.numbers[1], cursor.numbers[2], most };
    rc = parameters_run_with(a, "events", params, 4, &rows);
    if (rc == 0)
        desk_answer(a->desk, answer, 200, page(after, &rows));
    else if (rc == ERR_INPUT || rc == ERR_DATA)
        desk_refuse(a->desk, answer, PROBLEM_OTHER_HISTORY,
                    problem_new(PROBLEM_OTHER_HISTORY, other_history));
    else
        parameters_refuse(a, rc, answer);
}

void asked_events_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    static const char *const known[] = { "after", "limit", "payload", NULL };
    struct asking asking = { .desk = desk, .role = questions->role };
    (void)n;
    if (desk_query(desk, questions, known, &asking.query, answers))
        answer_events(&asking, answers);
}
