/* asked_events.c - see asked_events.h. */
#include "asked_events.h"

#include <string.h>

#include "../base/bytes.h"
#include "../base/cleanup.h"
#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/event_cursor.h"
#include "../view/item.h"
#include "../view/json_text.h"
#include "follow.h"
#include "parameters.h"

static const char other_history[] =
    "the cursor is of another history of this store, or of another store: what comes next would be missed "
    "without a word. Find the last event that you have, and go on behind its cursor";

static const struct parameter bare[] = { PARAMETER_NAMED(BARE, "payload"), PARAMETER_IS(END) };

/* ---- what was asked ---- */

struct reading {
    struct asking asking;
    bool is_feed;
    uint32_t wait_ms;
    const char *after;              /* a cursor */
    struct store_rows rows;
};

static int read_wait(struct reading *r)
{
    const char *text = query_value(&r->asking.query, "wait");
    int64_t us = 0;
    int rc = text ? duration_parse_us(text, &us, &r->asking.err) : 0;
    if (rc == 0 && us <= FOLLOW_WAIT_MAX_S * INT64_C(1000000)) {
        r->wait_ms = (uint32_t)(us / 1000);
        return 0;
    }
    return err_set(&r->asking.err, ERR_INPUT, "wait: found '%.*s', expected a time such as 30s, at most %ds",
                   UTF8_SHOWN(text), FOLLOW_WAIT_MAX_S);
}

/* A feed begins where it ended (Last-Event-ID), or behind what there is now. */
static int read_begin(struct reading *r, const char *last_event_id)
{
    struct store_rows end;
    r->after = query_value(&r->asking.query, "after");
    if (r->is_feed && last_event_id)
        r->after = last_event_id;
    if (r->after)
        return 0;
    r->after = EVENT_CURSOR_FIRST;
    int rc = r->is_feed ? parameters_run_with(&r->asking, "events_end", NULL, 0, &end) : 0;
    if (rc == 0 && r->is_feed)
        r->after = rows_value(&end, 0, "cursor");
    return rc;
}

static int read_events(struct reading *r)
{
    struct asking *a = &r->asking;
    struct event_cursor cursor;
    if (!event_cursor_split(r->after, &cursor))
        return err_set(&a->err, ERR_INPUT,
                       "after: found '%.*s', expected the cursor of an event, such as 0-7301-15",
                       UTF8_SHOWN(r->after));
    const char *most = arena_printf(a->desk->arena, "%d", (int)a->limit);
    const char *params[] = { cursor.numbers[0], cursor.numbers[1], cursor.numbers[2], most };
    int rc = parameters_run_with(a, "events", params, 4, &r->rows);
    return rc == ERR_INPUT ? ERR_DATA : rc;     /* the cursor can be read, and is not of this history */
}

static int read_all(struct reading *r, const struct question *question)
{
    const char *unused[PARAMETERS_MAX];
    int rc = parameters_read_limit(&r->asking);
    if (rc == 0)
        rc = parameters_read(&r->asking, bare, unused);
    if (rc >= 0)
        rc = read_wait(r);
    if (rc == 0)
        rc = read_begin(r, question->key);
    return rc < 0 ? rc : read_events(r);
}

/* ---- answers ---- */

static const char *next_of(const struct reading *r)
{
    int last = r->rows.rows - 1;
    return last < 0 ? r->after : rows_value(&r->rows, last, "cursor");
}

/* "id: CURSOR", "data: JSON", and an empty line. False: there is no memory. */
static bool add_event(struct bytes *text, const struct reading *r, int row)
{
    json_t *object = rows_object(&r->rows, row);
    CLEANUP(cleanup_free) char *json = object ? json_text(object, JSON_COMPACT) : NULL;
    const char *cursor = rows_value(&r->rows, row, "cursor");
    json_decref(object);
    return json && bytes_printf(text, "id: %s\ndata: %s\n\n", cursor, json);
}

/* NULL: there is no memory. */
static const char *feed_text(const struct reading *r)
{
    struct bytes text = { 0 };
    bool fits = true;
    for (int row = 0; fits && row < r->rows.rows; row++)
        fits = add_event(&text, r, row);
    if (fits)
        fits = bytes_add(&text, "", 1);         /* its end */
    const char *kept = fits ? arena_strdup(r->asking.desk->arena, text.data) : NULL;
    bytes_free(&text);
    return kept;
}

static void tell_feed(struct reading *r, struct answer *answer)
{
    const char *next = next_of(r);
    bool is_full = r->rows.rows == r->asking.limit;
    item_rename(&r->rows);
    const char *text = feed_text(r);
    if (!text) {
        desk_refuse(r->asking.desk, answer, PROBLEM_AWAY, NULL);
        return;
    }
    *answer = (struct answer){ .status = 200, .content = CONTENT_FEED, .body = text, .at = next };
    answer->body_len = (uint32_t)strlen(text);
    answer->wait_ms = is_full ? 0 : FOLLOW_AGAIN_US / 1000;
}

static void tell_page(struct reading *r, struct answer *answer)
{
    const char *next = next_of(r);
    bool is_empty = !r->rows.rows;
    item_rename(&r->rows);
    desk_answer(r->asking.desk, answer, 200,
                json_pack("{s:o, s:s}", "items", item_array(&r->rows), "next", next));
    if (is_empty)
        answer->wait_ms = r->wait_ms;
}

static void answer_events(struct reading *r, const struct question *question, struct answer *answer)
{
    int rc = read_all(r, question);
    if (rc == ERR_DATA)
        desk_refuse(r->asking.desk, answer, PROBLEM_OTHER_HISTORY,
                    problem_new(PROBLEM_OTHER_HISTORY, other_history));
    else if (rc < 0)
        parameters_refuse(&r->asking, rc, answer);
    else if (r->is_feed)
        tell_feed(r, answer);
    else
        tell_page(r, answer);
}

void asked_events_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    static const char *const known[] = { "after", "limit", "payload", "wait", NULL };
    struct reading reading = { .asking = { .desk = desk, .role = questions->role },
                               .is_feed = follow_wants_feed(questions->accept) };
    (void)n;
    if (desk_query(desk, questions, known, &reading.asking.query, answers))
        answer_events(&reading, questions, answers);
}
