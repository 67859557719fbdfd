/* looks.c - see looks.h. */
#include "looks.h"

#include <stdlib.h>
#include <string.h>

#include "../view/item.h"
#include "parameters.h"
#include "route.h"

/* ---- what may be looked at ---- */

enum part_is {
    ALL,                            /* an array */
    ONE,                            /* the first row, or null */
    PAST,                           /* an array, the newest first; it is told where the look has ended */
};

struct part {
    const char *member, *report;
    enum part_is is;
    struct parameter parameters[PARAMETERS_MAX + 1];
};

enum { PARTS_MAX = 8, REQUIRED_MAX = 3 };

struct look {
    const char *path;
    const char *required[REQUIRED_MAX];                 /* what the query must have; ended by NULL */
    struct part parts[PARTS_MAX];                       /* ended by one without a member */
};

#define IS                PARAMETER_IS
#define NAMED             PARAMETER_NAMED
#define OF_ROW            PARAMETERS_OF_ROW
#define NULLS             IS(NOTHING), IS(NOTHING), IS(NOTHING)
#define MOST              NAMED(FIXED, "100")
#define AT_SLOT           NAMED(MOMENT, "at"), NAMED(BEHIND, "at")
#define SINCE             NAMED(HOURS, "from")
#define JOB               NAMED(TEXT, "name")

/* clang-format off */
static const struct look looks[] = {
    { "/v1/check", { "entity", "key" },
      { { "checks", "list", ALL,
          { OF_ROW, IS(NOTHING), IS(NOTHING), MOST, IS(LOOKS), NULLS, NAMED(BARE, "payload") } },
        { "runs", "runs", PAST, { OF_ROW, NULLS, MOST, IS(LOOK_MS) } },
        { "history", "history", PAST, { OF_ROW, NULLS, MOST, IS(LOOK_MS), NULLS, NAMED(BARE, "payload") } },
        { "events", "row_events", PAST, { NAMED(TEXT, "entity"), NAMED(TEXT, "key"), MOST } } } },
    { "/v1/slot", { "at" },
      { { "slot", "slots", ONE,
          { AT_SLOT, NAMED(FIXED, "1"), IS(NOTHING), NAMED(FIXED, "10000"), NAMED(FIXED, "job") } },
        { "state", "state_of_slot", ONE, { NAMED(MOMENT, "at") } },
        { "passes", "passes", ALL, { AT_SLOT, MOST } } } },
    { "/v1/job", { "name" },
      { { "runs", "runs_by", ONE, { NAMED(FIXED, "job"), SINCE, NAMED(FIXED, "1"), JOB } },
        { "hours", "runs_by", ALL, { NAMED(FIXED, "hour"), SINCE, NAMED(FIXED, "1000"), JOB } },
        { "tenants", "runs_by", ALL, { NAMED(FIXED, "tenant"), SINCE, NAMED(FIXED, "20"), JOB } },
        { "trouble", "history", ALL,
          { IS(NOTHING), IS(NOTHING), JOB, NAMED(FIXED, "amiss"), NAMED(DAY, "from"), IS(NOTHING),
            NAMED(FIXED, "20"), IS(LOOK_MS), NULLS, NAMED(FIXED, "1") } } } },
    { "/v1/status", { NULL },
      { { "store", "status", ONE, { IS(END) } },
        { "engines", "engines", ALL, { IS(END) } },
        { "lately", "lately", ONE, { IS(END) } },
        { "running", "running", ALL, { NAMED(FIXED, "5000000"), MOST } },
        { "pauses", "pauses_on", ALL, { MOST } },
        { "put_off", "put_off", ALL, { IS(END) } } } },
};
/* clang-format on */

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
    for (const struct part *part = look->parts; part->member; part++)
        n = parameters_name(part->parameters, names, n);
}

/* ---- the answer ---- */

static json_t *member_of(const struct part *part, const struct store_rows *rows)
{
    if (part->is != ONE)
        return item_array(rows);
    return rows->rows ? rows_object(rows, 0) : json_null();
}

/* The later of two ends, in microseconds: what is newer was looked at in both. */
static const char *later_end(const char *one, const char *other)
{
    if (!one || !other)
        return one ? one : other;
    return strtoll(one, NULL, 10) > strtoll(other, NULL, 10) ? one : other;
}

/* `end`: where the looks at the past have ended so far. */
static int add_part(struct asking *a, const struct part *part, json_t *object, const char **end)
{
    struct store_rows rows;
    int rc = parameters_run(a, part->report, part->parameters, &rows);
    if (rc < 0)
        return rc;
    const char *its_end = rows_drop_end(&rows);
    if (part->is == PAST)
        *end = later_end(*end, its_end);
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

/* Those that look for rows of the past share the time of the request. */
static int looks_of(const struct look *look)
{
    int n = 0;
    for (const struct part *part = look->parts; part->member; part++)
        for (const struct parameter *p = part->parameters; p->source != PARAMETER_END; p++)
            n += p->source == PARAMETER_LOOK_MS;
    return n;
}

static void answer_look(struct asking *a, const struct look *look, struct answer *answer)
{
    json_t *object = json_object();
    const char *end = NULL;
    a->parts_looking = looks_of(look);
    int rc = read_required(a, look);
    for (const struct part *part = look->parts; rc == 0 && part->member; part++)
        rc = add_part(a, part, object, &end);
    if (rc == 0)
        rc = parameters_tell_cut(a, object);
    if (rc < 0) {
        json_decref(object);
        parameters_refuse(a, rc, answer);
        return;
    }
    const char *scanned_to = end ? rows_text(a->desk->arena, CELL_MOMENT_US, end) : NULL;
    desk_answer(a->desk, answer, 200, item_tell_end(object, scanned_to));
}

void looks_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    struct asking asking = { .desk = desk, .role = questions->role, .limit = PARAMETERS_LIMIT };
    const struct look *look = look_of(questions);
    const char *names[QUERY_MAX];
    (void)n;
    names_of(look, names);
    if (desk_query(desk, questions, names, &asking.query, answers))
        answer_look(&asking, look, answers);
}
