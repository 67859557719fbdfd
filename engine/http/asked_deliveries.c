/* asked_deliveries.c - see asked_deliveries.h. */
#include "asked_deliveries.h"

#include "../view/delivery_id.h"
#include "../view/item.h"
#include "../view/rows.h"
#include "parameters.h"

static const char *const yes[] = { "1", NULL };
static const struct parameter parameters[] = {
    PARAMETER_NAMED(TEXT, "listener"), { PARAMETER_WORD, "failed", yes }, PARAMETER_NAMED(MOMENT, "from"),
    PARAMETER_IS(MOST), PARAMETER_IS(LOOKS), PARAMETER_IS(LOOK_MS), PARAMETER_IS(END),
};

static json_t *page_of(struct asking *a, struct store_rows *rows)
{
    /* of a delivery whose event was pruned, the entity is not known */
    const char *scanned_to = rows_take_end_at(a->desk->arena, rows, "listener");
    bool has_more = rows->rows > a->limit;
    if (has_more)
        rows->rows = (int)a->limit;
    delivery_ids(a->desk->arena, rows);
    item_rename(rows);
    json_t *object = json_pack("{s:o, s:n, s:b}", "items", item_array(rows), "next", "has_more", has_more);
    return item_tell_end(object, scanned_to);
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
