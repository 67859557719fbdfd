/* asked_schedule.c - see asked_schedule.h. */
#include "asked_schedule.h"

#include <inttypes.h>

#include "../base/moment.h"
#include "../view/item.h"
#include "../view/rows.h"
#include "../view/schedule_times.h"
#include "parameters.h"

#define LAST "10"

struct schedule {
    struct asking asking;
    struct store_rows row;
    json_t *object;                 /* the answer */
};

static int short_of(struct schedule *s)
{
    return err_set(&s->asking.err, ERR_NOMEM, "out of memory");
}

/* Takes the reference to the value. */
static int add(struct schedule *s, const char *name, json_t *value)
{
    return json_object_set_new(s->object, name, value) < 0 ? short_of(s) : 0;
}

static json_t *moment_of(int64_t at)
{
    char text[MOMENT_TEXT];
    return at ? json_string(moment_format(at, text)) : json_null();
}

static int add_times(struct schedule *s)
{
    struct schedule_times times;
    int rc = schedule_times(&s->row, rows_number(&s->row, 0, "clock_at"), &times, &s->asking.err);
    if (rc < 0)
        return rc;
    json_t *all = json_array();
    for (int i = 0; i < times.n; i++)
        if (json_array_append_new(all, moment_of(times.at[i])) < 0) {
            json_decref(all);
            return short_of(s);
        }
    rc = add(s, "next_times", all);
    if (rc == 0)
        rc = add(s, "no_times", times.n ? json_null() : json_string(times.none));
    return rc == 0 ? add(s, "late_since", moment_of(times.late_since)) : rc;
}

/* What has become of its row and job: `report` is history or runs. */
static int add_past(struct schedule *s, const char *report, const char *bare)
{
    struct store_rows rows;
    const struct store_rows *of = &s->row;
    struct arena *a = s->asking.desk->arena;
    int64_t look_ms = parameters_look_ms(&s->asking);
    const char *const params[] = { rows_value(of, 0, "entity_name"), rows_value(of, 0, "entity_key"),
                                   rows_value(of, 0, "job_exec"), NULL, NULL, NULL, LAST,
                                   arena_printf(a, "%" PRId64, look_ms), NULL, NULL,
                                   arena_printf(a, "%d", PARAMETERS_LOOKS), bare };
    int n = bare ? 12 : 11;
    int rc = parameters_run_with(&s->asking, report, params, n, &rows);
    if (rc < 0)
        return rc;
    rows_drop_end(&rows);
    item_leave_out(&rows, "cursor");
    item_rename(&rows);
    return add(s, report, item_array(&rows));
}

static int add_row(struct schedule *s)
{
    static const char *const hidden[] = { "has_begun", "is_paused", "clock_at", "payload" };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        item_leave_out(&s->row, hidden[i]);
    item_rename(&s->row);
    return add(s, "schedule", rows_object(&s->row, 0));
}

static int gather(struct schedule *s, const char *name)
{
    const char *const params[] = { name };
    int rc = parameters_run_with(&s->asking, "schedule", params, 1, &s->row);
    if (rc < 0 || !s->row.rows)
        return rc;
    rc = add_times(s);
    s->asking.parts_looking = 2;
    if (rc == 0)
        rc = add_past(s, "history", "1");
    if (rc == 0)
        rc = add_past(s, "runs", NULL);
    return rc == 0 ? add_row(s) : rc;
}

static void tell(struct schedule *s, struct answer *answer)
{
    struct desk *desk = s->asking.desk;
    const char *name = query_value(&s->asking.query, "name");
    if (!name || !*name) {
        desk_refuse(desk, answer, PROBLEM_BAD_REQUEST,
                    problem_new(PROBLEM_BAD_REQUEST, "the query lacks name, which schedule it is"));
        return;
    }
    s->object = json_object();
    int rc = s->object ? gather(s, name) : short_of(s);
    if (rc == 0 && s->row.rows) {
        desk_answer(desk, answer, 200, s->object);
        return;
    }
    json_decref(s->object);
    if (rc < 0)
        parameters_refuse(&s->asking, rc, answer);
    else
        desk_refuse(desk, answer, PROBLEM_NOT_FOUND,
                    problem_new(PROBLEM_NOT_FOUND, "there is no schedule of that name"));
}

void asked_schedule_answer(struct desk *desk, const struct question *questions, int n,
                           struct answer *answers)
{
    static const char *const known[] = { "name", NULL };
    struct schedule schedule = { .asking = { .desk = desk, .role = questions->role } };
    (void)n;
    if (desk_query(desk, questions, known, &schedule.asking.query, answers))
        tell(&schedule, answers);
}
