/* post.c - see post.h. */
#include "post.h"

#include <inttypes.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/moment.h"
#include "../base/utf8.h"
#include "../store/store_post.h"
#include "asked_check.h"

enum { ARRAY_MOST = 1000, WAITS_MOST = 4 };

/* ---- what is answered ---- */

/* The bytes of a repeat are those of the first answer, also by a later program: never change this,
 * and put nothing in it that the row of the request does not have. */
static json_t *filed_object(const struct post_result *result)
{
    char at[MOMENT_TEXT];
    return json_pack("{s:s, s:I, s:s}", "outcome", result->outcome, "id", (json_int_t)result->check_id,
                     "check_at", moment_format(result->filed_at, at));
}

static int status_of(const struct post_result *result)
{
    return strcmp(result->outcome, "new") ? 200 : 201;
}

static const char other_detail[] = "something else was asked for under this uniqid before; a repeat has the "
                                   "same members, another request another uniqid";

static void tell_result(struct desk *desk, struct answer *answer, const struct post_result *result)
{
    if (result->state != POST_OTHER) {
        desk_answer(desk, answer, status_of(result), filed_object(result));
        return;
    }
    json_t *problem = problem_new(PROBLEM_INVALID, other_detail);
    if (problem)
        problem_add(problem, "/uniqid", other_detail);
    desk_refuse(desk, answer, PROBLEM_INVALID, problem);
}

/* ---- reading ---- */

static json_t *parse(struct desk *desk, const struct question *q, struct answer *answer)
{
    json_error_t why;
    json_t *body = json_loadb(q->body, q->body_len, JSON_REJECT_DUPLICATES, &why);
    if (body)
        return body;
    /* the parser quotes the text, and may cut a character */
    why.text[utf8_valid_bytes(why.text, strlen(why.text))] = '\0';
    const char *detail = arena_printf(desk->arena, "the body is no JSON (RFC 8259): %s (line %d, column %d)",
                                      why.text, why.line, why.column);
    desk_refuse(desk, answer, PROBLEM_BAD_REQUEST,
                detail ? problem_new(PROBLEM_BAD_REQUEST, detail) : NULL);
    return NULL;
}

static struct post_terms terms_of(const struct desk *desk, bool all)
{
    int64_t keep_s = desk->settings->uniqid_keep_us / 1000000;
    return (struct post_terms){ .all = all, .keep_s = keep_s };
}

static int refuse_job(struct desk *desk, struct asked_check *asked, const char *pointer, const char *near,
                      struct err *err)
{
    const char *job = asked->item.row.job_exec, *hint = "";
    if (near)
        hint = arena_printf(desk->arena, "; did you mean '%s'?", near);
    const char *detail = arena_printf(desk->arena, "job: neither the settings of this server nor any engine "
                                                   "has a job '%s'%s", job, hint ? hint : "");
    const char *at = arena_printf(desk->arena, "%s/job", pointer);
    if (detail && !asked->problem) {
        asked->problem = problem_new(PROBLEM_INVALID, detail);
        asked->type = PROBLEM_INVALID;
    }
    if (!detail || !at || !asked->problem || problem_add(asked->problem, at, detail) < 0)
        return err_set(err, ERR_NOMEM, "out of memory");
    return 0;
}

/* What was filed is answered as before, also when its job is known to nobody any more. */
static int was_asked_before(struct desk *desk, const char *uniqid, struct err *err)
{
    struct store_report report = STORE_REPORT_INIT;
    report.name = "request";
    report.params = &uniqid;
    report.nparams = 1;
    report.arena = desk->arena;
    int rc = store_do(desk->store, &report.call);
    if (rc < 0) {
        *err = report.call.err;
        return rc;
    }
    return report.rows.rows ? JOB_KNOWN : JOB_UNKNOWN;
}

/* Of a problem the reference is the caller's. Returns 0 or an ERR_. */
static int read_check(struct desk *desk, const json_t *object, const char *key, const char *pointer,
                      struct asked_check *asked, struct err *err)
{
    const char *near;
    int rc = asked_check_read(asked, object, key, pointer, desk->arena);
    if (rc < 0)
        return err_set(err, rc, "out of memory");
    if (!asked->item.row.job_exec || asked->has_bad_job)
        return 0;
    rc = known_jobs_look(&desk->jobs, desk->settings, desk->store, clock_mono_us(&clock_system),
                         asked->item.row.job_exec, &near, err);
    if (rc == JOB_UNKNOWN && asked->item.uniqid)
        rc = was_asked_before(desk, asked->item.uniqid, err);
    if (rc == JOB_UNKNOWN)
        return refuse_job(desk, asked, pointer, near, err);
    return rc < 0 ? rc : 0;
}

/* ---- single checks ---- */

/* What is asked for together, and whose answers they are. */
struct batch {
    struct post_item items[EXCHANGE_MOST];
    struct answer *answers[EXCHANGE_MOST];
    struct post_result results[EXCHANGE_MOST];
    int n;
};

static bool concerns_one(const struct err *err)
{
    return err->code == ERR_DATA || err->code == ERR_BUSY || err->code == ERR_INPUT;
}

static void refuse_value(struct desk *desk, struct answer *answer, const struct err *err)
{
    if (err->code != ERR_DATA && err->code != ERR_INPUT) {
        desk_failed(desk, answer, err);
        return;
    }
    static const char detail[] = "the store does not take a value of this check; the log of the server "
                                 "says why";
    json_t *problem = problem_new(PROBLEM_INVALID, detail);
    if (problem)
        problem_add(problem, "", detail);
    desk_tell(desk, err);
    desk_refuse(desk, answer, PROBLEM_INVALID, problem);
}

/* When the store has gone, or some have met a lock, each of the others may have to wait as long:
 * they are to be sent again. */
static void file_each(struct desk *desk, struct batch *b)
{
    struct err err = { 0 };
    struct post_terms terms = terms_of(desk, false);
    int rc = 0, waits = 0;
    for (int i = 0; i < b->n; i++) {
        if (waits < WAITS_MOST)         /* else all is as it was for the last one */
            rc = store_post(desk->store, &b->items[i], 1, &terms, &b->results[i], &err);
        waits += rc == ERR_BUSY;
        if (rc < 0 && !concerns_one(&err))
            waits = WAITS_MOST;
        if (rc == 0)
            tell_result(desk, b->answers[i], &b->results[i]);
        else
            refuse_value(desk, b->answers[i], &err);
    }
}

static void file_batch(struct desk *desk, struct batch *b)
{
    struct err err;
    struct post_terms terms = terms_of(desk, false);
    if (store_post(desk->store, b->items, b->n, &terms, b->results, &err) == 0) {
        for (int i = 0; i < b->n; i++)
            tell_result(desk, b->answers[i], &b->results[i]);
        return;
    }
    if (b->n > 1 && concerns_one(&err)) {
        file_each(desk, b);
        return;
    }
    for (int i = 0; i < b->n; i++)
        refuse_value(desk, b->answers[i], &err);
}

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
        if (json_array_size(json_object_get(all, "errors")) >= ASKED_FAULTS_MOST)
            break;
        struct asked_check asked = { 0 };
        const char *pointer = arena_printf(desk->arena, "/%zu", i);
        rc = pointer ? read_check(desk, element, NULL, pointer, &asked, &err)
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
    json_t *problem = problem_new(PROBLEM_INVALID, other_detail);
    int told = 0;
    for (int i = 0; i < n && problem; i++) {
        if (results[i].state != POST_OTHER)
            continue;
        const char *pointer = arena_printf(desk->arena, "/%d/uniqid", i);
        told += pointer && problem_add(problem, pointer, other_detail) == 0;
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
        if (array && json_array_append_new(array, filed_object(&results[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static void file_array(struct desk *desk, const struct post_item *items, int n, struct answer *answer)
{
    struct err err;
    struct post_terms terms = terms_of(desk, true);
    struct post_result *results = arena_zalloc(desk->arena, (size_t)n * sizeof *results);
    if (!results) {
        desk_refuse(desk, answer, PROBLEM_AWAY, NULL);
        return;
    }
    int rc = store_post(desk->store, items, n, &terms, results, &err);
    if (rc == ERR_INPUT && refuse_others(desk, results, n, answer))
        return;
    if (rc < 0)
        refuse_value(desk, answer, &err);
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

static void take_single(struct desk *desk, struct batch *b, const json_t *body, const char *key,
                        struct answer *answer)
{
    struct err err;
    struct asked_check asked = { 0 };
    int rc = read_check(desk, body, key, "", &asked, &err);
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

void post_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    struct batch *b = arena_alloc(desk->arena, sizeof *b);
    json_t **bodies = arena_zalloc(desk->arena, (size_t)n * sizeof *bodies);
    if (b)
        b->n = 0;
    for (int i = 0; i < n; i++) {
        bool fits = b && bodies;
        if (!fits)
            desk_refuse(desk, &answers[i], PROBLEM_AWAY, NULL);
        else
            bodies[i] = parse(desk, &questions[i], &answers[i]);
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
