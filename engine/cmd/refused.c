/* refused.c - see refused.h. History does not say why a check ended as failed: the limits of its
 * job do. One whose limits another engine's settings have may be judged wrongly. */
#include "refused.h"

#include <string.h>

#include "../rules/idempotency.h"
#include "../rules/job_limits.h"
#include "report.h"

#define ROWS_LOOKED_AT "100000"
#define WITHIN_MS "2000"

static bool is_delivery(const struct store_rows *rows, int row)
{
    return rows_number(rows, row, "is_delivery") != 0;
}

/* A usual failure would have been tried again. */
static bool was_final(const struct job_settings *job, int32_t slot_length_s, const struct store_rows *rows,
                      int row)
{
    struct guard_policy policy = is_delivery(rows, row) ? job_limits_of_deliveries(job, slot_length_s)
                                                        : job_limits_policy(job, slot_length_s);
    struct guard_input in = { .answer = ANSWER_FAIL,
                              .failure_count = (int32_t)rows_number(rows, row, "failure_count") - 1 };
    return !guard_judge(&policy, &in).ends;
}

static void count(struct app *app, int32_t slot_length_s, const struct store_rows *rows, int row,
                  struct refused_job *jobs)
{
    int job;
    const char *name = rows_value(rows, row, "job_exec"), *note = rows_value(rows, row, "note");
    if (!name || !settings_job(&app->settings, name, &job) ||
        !was_final(&app->settings.jobs[job], slot_length_s, rows, row))
        return;
    struct refused_job *of = &jobs[job];
    if (!of->note)
        of->note = arena_strdup(app->arena, note ? note : "");
    *(is_delivery(rows, row) ? &of->deliveries : &of->checks) += rows_number(rows, row, "checks");
}

int refused_ask(struct app *app, int64_t now, int32_t slot_length_s, struct refused *out, struct err *err)
{
    enum { DAY_S = 86400 };
    int njobs = app->settings.njobs, n = 0;
    struct store_rows rows;
    const char *since = arena_printf(app->arena, "%lld", (long long)(now - DAY_S));
    struct refused_job *jobs = arena_zalloc(app->arena, ((size_t)njobs + 1) * sizeof *jobs);
    if (!since || !jobs)
        return err_set(err, ERR_NOMEM, "out of memory");
    const char *params[] = { since, ROWS_LOOKED_AT, WITHIN_MS };
    int rc = app_rows(app, "refused", params, sizeof params / sizeof *params, &rows, err);
    if (rc < 0)
        return rc;
    for (int r = 0; r < rows.rows; r++)
        count(app, slot_length_s, &rows, r, jobs);
    for (int i = 0; i < njobs; i++)
        if (jobs[i].checks + jobs[i].deliveries > 0) {
            jobs[n] = jobs[i];
            jobs[n++].job = i;
        }
    *out = (struct refused){
        .jobs = jobs,
        .n = n,
        .has_more = rows.rows > 0 && !rows_value(&rows, rows.rows - 1, "job_exec"),
    };
    return 0;
}
