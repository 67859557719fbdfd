/* post.c - see post.h. */
#include "post.h"

#include "faults.h"
#include "post_batch.h"

enum { ARRAY_MOST = 1000 };

/* ---- arrays ---- */

/* What is wrong with one more element, beside the others. */
static void add_problem(json_t **all, json_t *problem)
{
    if (*all && problem)
        json_array_extend(json_object_get(*all, "errors"), json_object_get(problem, "errors"));
    else if (problem)
        *all = json_incref(problem);
    json_decref(problem);
}

/* Every element that is at fault is told; then none is filed. */
static bool read_array(struct desk *desk, const json_t *array, struct post_item *items, struct answer *answer)
{
    struct err err = { 0 };
    json_t *all = NULL, *element;
    size_t i;
    int rc = 0;
    json_array_foreach((json_t *)array, i, element) {
        if (json_array_size(json_object_get(all, "errors")) >= FAULTS_MOST)
            break;
        struct asked_check asked = { 0 };
        const char *pointer = arena_printf(desk->arena, "/%zu", i);
        rc = pointer ? post_read_check(desk, element, NULL, pointer, &asked, &err)
                     : err_set(&err, ERR_NOMEM, "out of memory");
        add_problem(&all, asked.problem);
        if (rc < 0)
            break;
        items[i] = asked.item;
    }
    if (rc < 0) {
        json_decref(all);
        desk_failed(desk, answer, &err);
    } else if (all)
        desk_refuse(desk, answer, PROBLEM_INVALID, all);
    return rc == 0 && !all;
}

/* False: there is none. */
static bool refuse_others(struct desk *desk, const struct post_result *results, int n, struct answer *answer)
{
    json_t *problem = problem_new(PROBLEM_INVALID, post_other_detail);
    int told = 0;
    for (int i = 0; i < n && problem; i++) {
        if (results[i].state != POST_OTHER)
            continue;
        const char *pointer = arena_printf(desk->arena, "/%d/uniqid", i);
        told += pointer && problem_add(problem, pointer, post_other_detail) == 0;
    }
    if (told)
        desk_refuse(desk, answer, PROBLEM_INVALID, problem);
    else
        json_decref(problem);
    return told;
}

static json_t *filed_array(const struct post_result *results, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        if (array && json_array_append_new(array, post_filed(&results[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static void file_array(struct desk *desk, const struct post_item *items, int n, struct answer *answer)
{
    struct err err;
    struct post_terms terms = post_terms_of(desk, true);
    struct post_result *results = arena_zalloc(desk->arena, (size_t)n * sizeof *results);
    if (!results) {
        desk_refuse(desk, answer, PROBLEM_AWAY, NULL);
        return;
    }
    int rc = store_post(desk->store, items, n, &terms, results, &err);
    if (rc == ERR_INPUT && refuse_others(desk, results, n, answer))
        return;
    if (rc < 0)
        post_refuse_value(desk, answer, &err);
    else
        desk_answer(desk, answer, 200, filed_array(results, n));
}

static void refuse_array(struct desk *desk, struct answer *answer, const char *detail)
{
    desk_refuse(desk, answer, PROBLEM_INVALID, problem_new(PROBLEM_INVALID, detail));
}

static void answer_array(struct desk *desk, const json_t *array, const char *key, struct answer *answer)
{
    size_t n = json_array_size(array);
    struct post_item *items = arena_alloc(desk->arena, (n ? n : 1) * sizeof *items);
    if (key)
        refuse_array(desk, answer, "the header Idempotency-Key is for one check; give each element a uniqid");
    else if (n == 0 || n > ARRAY_MOST)
        refuse_array(desk, answer, "expected an array of 1 to 1000 checks");
    else if (!items)
        desk_refuse(desk, answer, PROBLEM_AWAY, NULL);
    else if (read_array(desk, array, items, answer))
        file_array(desk, items, (int)n, answer);
}

/* ---- all of a message ---- */

static void take_single(struct desk *desk, struct post_batch *b, const json_t *body, const char *key,
                        struct answer *answer)
{
    struct err err;
    struct asked_check asked = { 0 };
    int rc = post_read_check(desk, body, key, "", &asked, &err);
    if (rc < 0) {
        json_decref(asked.problem);
        desk_failed(desk, answer, &err);
    } else if (asked.problem) {
        desk_refuse(desk, answer, asked.type, asked.problem);
    } else {
        b->items[b->n] = asked.item;
        b->answers[b->n++] = answer;
    }
}

static void file_batch(struct desk *desk, struct post_batch *b)
{
    struct err err;
    if (post_batch_file(desk, b, &err) == 0)
        return;
    for (int i = 0; i < b->n; i++)
        desk_failed(desk, b->answers[i], &err);
}

void post_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    struct post_batch *b = arena_alloc(desk->arena, sizeof *b);
    json_t **bodies = arena_zalloc(desk->arena, (size_t)n * sizeof *bodies);
    if (b)
        b->n = 0;
    for (int i = 0; i < n; i++) {
        bool fits = b && bodies;
        if (!fits)
            desk_refuse(desk, &answers[i], PROBLEM_AWAY, NULL);
        else
            bodies[i] = desk_body(desk, &questions[i], &answers[i]);
        if (fits && json_is_array(bodies[i]))
            answer_array(desk, bodies[i], questions[i].key, &answers[i]);
        else if (fits && bodies[i])
            take_single(desk, b, bodies[i], questions[i].key, &answers[i]);
    }
    if (b && bodies && b->n)
        file_batch(desk, b);
    for (int i = 0; bodies && i < n; i++)
        json_decref(bodies[i]);
}
