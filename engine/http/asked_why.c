/* asked_why.c - see asked_why.h. */
#include "asked_why.h"

#include "../view/why_json.h"
#include "parameters.h"

static int rows_of(void *ctx, const char *report, const char *const *params, int nparams,
                   struct store_rows *out, struct err *err)
{
    return desk_rows(ctx, report, params, nparams, out, err);
}

static void tell(struct desk *desk, const char *entity, const char *key, const char *job,
                 struct answer *answer)
{
    struct store_hello hello;
    struct why_source source = { .rows = rows_of, .ctx = desk, .settings = desk->settings,
                                 .arena = desk->arena };
    struct why_answer found;
    struct err err;
    if (desk_hello(desk, &hello, &err) < 0) {
        desk_failed(desk, answer, &err);
        return;
    }
    source.now = hello.now_us / 1000000;
    source.slot_length_s = hello.slot_length_s;
    source.search_ms = PARAMETERS_PARTS_MS / 2;
    int rc = why_ask(&source, entity, key, job, &found, &err);
    if (rc == ERR_INPUT)
        desk_refuse(desk, answer, PROBLEM_BAD_REQUEST, problem_new(PROBLEM_BAD_REQUEST, err.text));
    else if (rc < 0)
        desk_failed(desk, answer, &err);
    else
        desk_answer(desk, answer, 200, why_json(entity, key, &found));
}

void asked_why_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    static const char *const known[] = { "entity", "key", "job", NULL };
    struct query query;
    (void)n;
    if (!desk_query(desk, questions, known, &query, answers))
        return;
    const char *entity = query_value(&query, "entity"), *key = query_value(&query, "key");
    if (entity && key)
        tell(desk, entity, key, query_value(&query, "job"), answers);
    else
        desk_refuse(desk, answers, PROBLEM_BAD_REQUEST,
                    problem_new(PROBLEM_BAD_REQUEST, "the query lacks entity or key: "
                                                     "GET /v1/why?entity=...&key=..."));
}
