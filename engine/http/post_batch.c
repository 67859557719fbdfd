/* post_batch.c - see post_batch.h. */
#include "post_batch.h"

#include <string.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/moment.h"
#include "../store/store_post.h"

enum {
    WAITS_MOST = 4,
    /* Where not all can be filed together, those of a block are tried so. */
    BLOCK = 32,
};

/* ---- what is answered ---- */

/* The bytes of a repeat are those of the first answer, also by a later program: never change this,
 * and put nothing in it that the row of the request does not have. */
json_t *post_filed(const struct post_result *result)
{
    char at[MOMENT_TEXT];
    return json_pack("{s:s, s:I, s:s}", "outcome", result->outcome, "id", (json_int_t)result->check_id,
                     "check_at", moment_format(result->filed_at, at));
}

static int status_of(const struct post_result *result)
{
    return strcmp(result->outcome, "new") ? 200 : 201;
}

const char post_other_detail[] = "something else was asked for under this uniqid before; a repeat has the "
                                 "same members, another request another uniqid";

static void tell_result(struct desk *desk, struct answer *answer, const struct post_result *result)
{
    if (result->state != POST_OTHER) {
        desk_answer(desk, answer, status_of(result), post_filed(result));
        return;
    }
    json_t *problem = problem_new(PROBLEM_INVALID, post_other_detail);
    if (problem)
        problem_add(problem, "/uniqid", post_other_detail);
    desk_refuse(desk, answer, PROBLEM_INVALID, problem);
}

struct post_terms post_terms_of(const struct desk *desk, bool all)
{
    int64_t keep_s = desk->settings->uniqid_keep_us / 1000000;
    return (struct post_terms){ .all = all, .keep_s = keep_s };
}

/* ---- reading ---- */

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

int post_read_check(struct desk *desk, const json_t *object, const char *key, const char *pointer,
                    struct asked_check *asked, struct err *err)
{
    const char *near;
    int rc = asked_check_read(asked, object, key, pointer, time(NULL), desk->arena);
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

/* ---- filing ---- */

static bool concerns_one(const struct err *err)
{
    return err->code == ERR_DATA || err->code == ERR_BUSY || err->code == ERR_INPUT;
}

void post_refuse_value(struct desk *desk, struct answer *answer, const struct err *err)
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

/* How it goes with those that were filed so far. */
struct filing {
    struct post_batch *batch;
    struct post_terms terms;
    int rc;                         /* of the last one */
    struct err err;
    int waits;                      /* that have met a lock */
};

static int file_together(struct desk *desk, struct filing *f, int from, int n)
{
    struct post_batch *b = f->batch;
    f->rc = store_post(desk->store, &b->items[from], n, &f->terms, &b->results[from], &f->err);
    for (int i = from; i < from + n && f->rc == 0; i++)
        tell_result(desk, b->answers[i], &b->results[i]);
    return f->rc;
}

/* When the store has gone, or some have met a lock, each of the others may have to wait as long:
 * they are to be sent again. */
static void file_each(struct desk *desk, struct filing *f, int from, int n)
{
    for (int i = from; i < from + n; i++) {
        if (f->waits < WAITS_MOST)      /* else all is as it was for the last one */
            file_together(desk, f, i, 1);
        f->waits += f->rc == ERR_BUSY;
        if (f->rc < 0 && !concerns_one(&f->err))
            f->waits = WAITS_MOST;
        if (f->rc < 0)
            post_refuse_value(desk, f->batch->answers[i], &f->err);
    }
}

static void file_blocks(struct desk *desk, struct filing *f)
{
    int n = f->batch->n;
    for (int from = 0, some; from < n; from += some) {
        some = n - from < BLOCK ? n - from : BLOCK;
        bool is_tried = some < n && f->waits < WAITS_MOST;
        if (!is_tried || file_together(desk, f, from, some) < 0)
            file_each(desk, f, from, some);
    }
}

int post_batch_file(struct desk *desk, struct post_batch *b, struct err *err)
{
    struct filing f = { .batch = b, .terms = post_terms_of(desk, false) };
    int rc = file_together(desk, &f, 0, b->n);
    *err = f.err;
    if (rc == 0 || !concerns_one(err))
        return rc;
    f.waits = b->n > 1 ? 0 : WAITS_MOST;        /* one alone was tried */
    file_blocks(desk, &f);
    return 0;
}
