/* asked_deliveries.c - see asked_deliveries.h. */
#include "asked_deliveries.h"

#include <string.h>

#include "../view/delivery_id.h"
#include "../view/item.h"
#include "../view/rows.h"
#include "parameters.h"

static const char *const yes[] = { "1", NULL };
static const struct parameter parameters[] = {
    PARAMETER_NAMED(TEXT, "listener"), { PARAMETER_WORD, "failed", yes }, PARAMETER_NAMED(MOMENT, "from"),
    PARAMETER_IS(MOST), PARAMETER_IS(LOOKS), PARAMETER_IS(LOOK_MS), PARAMETER_IS(END),
};

/* A last row without a listener: where the search ended before it had seen all. NULL: it has. */
static const char *take_end(struct arena *a, struct store_rows *rows)
{
    int last = rows->rows - 1;
    if (last < 0 || rows_value(rows, last, "listener"))
        return NULL;
    rows->rows = last;
    return rows_text(a, CELL_MOMENT_US, rows_value(rows, last, "ended_at_us"));
}

static json_t *page_of(struct asking *a, struct store_rows *rows)
{
    const char *scanned_to = take_end(a->desk->arena, rows);
    bool has_more = rows->rows > a->limit;
    if (has_more)
        rows->rows = (int)a->limit;
    delivery_ids(a->desk->arena, rows);
    item_rename(rows);
    json_t *object = json_pack("{s:o, s:n, s:b}", "items", item_array(rows), "next", "has_more", has_more);
    if (object && scanned_to && json_object_set_new(object, "scanned_to", json_string(scanned_to)) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

void asked_deliveries_answer(struct desk *desk, const struct question *questions, int n,
                             struct answer *answers)
{
    struct asking asking = { .desk = desk, .role = questions->role };
    struct store_rows rows;
    const char *names[QUERY_MAX] = { "limit" };
    (void)n;
    parameters_name(parameters, names, 1);
    if (!desk_query(desk, questions, names, &asking.query, answers))
        return;
    int rc = parameters_read_limit(&asking);
    if (rc == 0)
        rc = parameters_run(&asking, "deliveries", parameters, &rows);
    if (rc < 0)
        parameters_refuse(&asking, rc, answers);
    else
        desk_answer(desk, answers, 200, page_of(&asking, &rows));
}
