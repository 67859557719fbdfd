/* looks.c - see looks.h. */
#include "looks.h"

#include <string.h>

#include "../view/item.h"
#include "parameters.h"
#include "route.h"

/* ---- what may be looked at ---- */

struct part {
    const char *member, *report;
    bool is_one; /* the first row, or null; else an array */
    struct parameter parameters[PARAMETERS_MAX];
    int n;
};

enum { PARTS_MAX = 8, REQUIRED_MAX = 3 };

struct look {
    const char *path;
    const char *required[REQUIRED_MAX]; /* what the query must have; ended by NULL */
    struct part parts[PARTS_MAX];
    int n;
};

#define TEXT(name)                                                                                           \
    {                                                                                                        \
        PARAMETER_TEXT, name, NULL                                                                           \
    }
#define FIXED(text)                                                                                          \
    {                                                                                                        \
        PARAMETER_FIXED, text, NULL                                                                          \
    }
#define PLAIN(what)                                                                                          \
    {                                                                                                        \
        PARAMETER_##what, NULL, NULL                                                                         \
    }
#define OF_ROW TEXT("entity"), TEXT("key"), TEXT("job")
#define MOST FIXED("100")
#define AT_SLOT                                                                                              \
    { PARAMETER_MOMENT, "at", NULL },                                                                        \
    {                                                                                                        \
        PARAMETER_BEHIND, "at", NULL                                                                         \
    }

static const struct look looks[] = {
    { "/v1/check",
      { "entity", "key" },
      { { "checks",
          "list",
          false,
          { OF_ROW,
            PLAIN(NOTHING),
            PLAIN(NOTHING),
            MOST,
            PLAIN(LOOKS),
            PLAIN(NOTHING),
            PLAIN(NOTHING),
            PLAIN(NOTHING),
            { PARAMETER_BARE, "payload", NULL } },
          11 },
        { "runs",
          "runs",
          false,
          { OF_ROW, PLAIN(NOTHING), PLAIN(NOTHING), PLAIN(NOTHING), MOST, PLAIN(LOOK_MS) },
          8 },
        { "history",
          "history",
          false,
          { OF_ROW,
            PLAIN(NOTHING),
            PLAIN(NOTHING),
            PLAIN(NOTHING),
            MOST,
            PLAIN(LOOK_MS),
            PLAIN(NOTHING),
            PLAIN(NOTHING),
            PLAIN(NOTHING),
            { PARAMETER_BARE, "payload", NULL } },
          12 },
        { "events", "row_events", false, { TEXT("entity"), TEXT("key"), MOST }, 3 } },
      4 },
    { "/v1/slot",
      { "at" },
      { { "slot", "slots", true, { AT_SLOT, FIXED("1"), PLAIN(NOTHING), FIXED("10000") }, 5 },
        { "state", "state_of_slot", true, { { PARAMETER_MOMENT, "at", NULL } }, 1 },
        { "passes", "passes", false, { AT_SLOT, MOST }, 3 } },
      3 },
    { "/v1/status",
      { NULL },
      { { "store", "status", true, { { 0 } }, 0 },
        { "engines", "engines", false, { { 0 } }, 0 },
        { "running", "running", false, { FIXED("5000000"), MOST }, 2 },
        { "pauses", "pauses_on", false, { MOST }, 1 },
        { "put_off", "put_off", false, { { 0 } }, 0 } },
      5 },
};

static const struct look *look_of(const struct question *question)
{
    const char *path = route_table[question->route].path;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (!strcmp(looks[i].path, path))
            return &looks[i];
    return NULL;
}

static void names_of(const struct look *look, const char *names[QUERY_MAX])
{
    int n = 0;
    names[0] = NULL;
    for (int i = 0; i < look->n; i++)
        n = parameters_name(look->parts[i].parameters, look->parts[i].n, names, n);
}

/* ---- the answer ---- */

static json_t *member_of(const struct part *part, const struct store_rows *rows)
{
    if (!part->is_one)
        return item_array(rows);
    return rows->rows ? rows_object(rows, 0) : json_null();
}

static int add_part(struct asking *a, const struct part *part, json_t *object)
{
    const char *params[PARAMETERS_MAX];
    struct store_rows rows;
    int rc = parameters_read(a, part->parameters, part->n, params);
    if (rc == 0)
        rc = parameters_run(a, part->report, params, part->n, &rows);
    if (rc < 0)
        return rc;
    rows_drop_end(&rows);
    item_leave_out(&rows, "cursor");
    item_rename(&rows);
    if (json_object_set_new(object, part->member, member_of(part, &rows)) < 0)
        return err_set(&a->err, ERR_NOMEM, "out of memory");
    return 0;
}

static int read_required(struct asking *a, const struct look *look)
{
    for (int i = 0; i < REQUIRED_MAX && look->required[i]; i++) {
        const char *value = query_value(&a->query, look->required[i]);
        if (!value || !*value)
            return err_set(&a->err, ERR_INPUT, "the query lacks %s", look->required[i]);
    }
    return 0;
}

static void answer_look(struct asking *a, const struct look *look, struct answer *answer)
{
    json_t *object = json_object();
    int rc = read_required(a, look);
    for (int i = 0; rc == 0 && i < look->n; i++)
        rc = add_part(a, &look->parts[i], object);
    if (rc == 0) {
        desk_answer(a->desk, answer, 200, object);
        return;
    }
    json_decref(object);
    parameters_refuse(a, rc, answer);
}

void looks_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    struct asking asking = { .desk = desk, .limit = PARAMETERS_LIMIT };
    const struct look *look = look_of(questions);
    const char *names[QUERY_MAX];
    (void)n;
    names_of(look, names);
    if (desk_query(desk, questions, names, &asking.query, answers))
        answer_look(&asking, look, answers);
}
