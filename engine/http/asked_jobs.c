/* asked_jobs.c - see asked_jobs.h. */
#include "asked_jobs.h"

#include <string.h>

#include "../view/item.h"
#include "parameters.h"

struct jobs {
    struct asking asking;
    struct store_rows runs, noted;
    json_t *items; /* the answer's */
};

static bool is_in_settings(const struct settings *settings, const char *job)
{
    for (int i = 0; i < settings->njobs; i++)
        if (!strcmp(settings->jobs[i].name, job))
            return true;
    return false;
}

static bool is_among(const struct store_rows *rows, const char *column, const char *job)
{
    for (int row = 0; row < rows->rows; row++) {
        const char *cell = rows_value(rows, row, column);
        if (cell && !strcmp(cell, job))
            return true;
    }
    return false;
}

/* Takes the reference to the object. */
static int add(struct jobs *j, const char *job, json_t *object)
{
    bool is_here = is_in_settings(j->asking.desk->settings, job);
    bool is_noted = is_among(&j->noted, "job", job);
    int rc = json_object_set_new(object, "is_in_settings", json_boolean(is_here));
    if (rc == 0)
        rc = json_object_set_new(object, "is_noted", json_boolean(is_noted));
    if (rc == 0)
        return json_array_append_new(j->items, object);
    json_decref(object);
    return -1;
}

static int add_unrun(struct jobs *j, const char *job)
{
    if (is_among(&j->runs, "job", job))
        return 0;
    return add(j, job, json_pack("{s:s, s:i}", "job", job, "runs", 0));
}

static int add_all(struct jobs *j)
{
    const struct settings *settings = j->asking.desk->settings;
    int rc = 0;
    for (int row = 0; rc == 0 && row < j->runs.rows; row++)
        rc = add(j, rows_value(&j->runs, row, "job"), rows_object(&j->runs, row));
    for (int i = 0; rc == 0 && i < settings->njobs; i++)
        rc = add_unrun(j, settings->jobs[i].name);
    for (int row = 0; rc == 0 && row < j->noted.rows; row++) {
        const char *job = rows_value(&j->noted, row, "job");
        if (job && !is_in_settings(settings, job))
            rc = add_unrun(j, job);
    }
    return rc < 0 ? err_set(&j->asking.err, ERR_NOMEM, "out of memory") : 0;
}

static int gather(struct jobs *j)
{
    static const struct parameter of_runs[] = {
        PARAMETER_NAMED(FIXED, "job"), PARAMETER_NAMED(HOURS, "from"), PARAMETER_NAMED(FIXED, "1000"),
        PARAMETER_IS(END),
    };
    int rc = parameters_run(&j->asking, "runs_by", of_runs, &j->runs);
    if (rc == 0)
        rc = parameters_run_with(&j->asking, "jobs_noted", NULL, 0, &j->noted);
    if (rc < 0)
        return rc;
    j->runs.names[rows_column(&j->runs, "name")] = "job";
    return add_all(j);
}

static void tell(struct jobs *j, struct answer *answer)
{
    j->items = json_array();
    json_t *body = json_pack("{s:O, s:n}", "items", j->items, "next");
    int rc = gather(j);
    if (rc == 0)
        rc = parameters_tell_cut(&j->asking, body);
    json_decref(j->items);
    if (rc == 0) {
        desk_answer(j->asking.desk, answer, 200, body);
        return;
    }
    json_decref(body);
    parameters_refuse(&j->asking, rc, answer);
}

void asked_jobs_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    static const char *const known[] = { "from", NULL };
    struct jobs jobs = { .asking = { .desk = desk } };
    (void)n;
    if (desk_query(desk, questions, known, &jobs.asking.query, answers))
        tell(&jobs, answers);
}
