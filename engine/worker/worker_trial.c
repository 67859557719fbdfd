/* worker_trial.c - a worker that is started to try one job reports what that is like. */
#include "worker_state.h"

#include <string.h>

#include "business.h"

/* SQLSTATE of class 28: a password that is wrong, or no way in for this user. 42501: no right to
 * connect. 3D000: there is no such database; where it is the store's, `init` may be about to make
 * it. None of them is a server that is away. */
static bool is_kept_out(const struct worker *w, const struct err *err)
{
    bool is_missing = !strcmp(err->sqlstate, "3D000");
    if (is_missing)
        return w->settings.business != NULL;
    return !strncmp(err->sqlstate, "28", 2) || !strcmp(err->sqlstate, "42501");
}

/* Whether the database answers at all, whatever the job asks of it. */
static bool ask_business(struct worker *w, int64_t deadline_us, struct probed *found)
{
    const struct prescient_rows *rows;
    struct err err;
    if (!w->services.business ||
        business_query(w->services.business, "SELECT 1", NULL, 0, deadline_us, &rows, &err) == 0)
        return true;
    worker_copy_text(w, found->business, sizeof found->business, err.text);
    found->business_refuses = is_kept_out(w, &err);
    return false;
}

static void probe_job(struct worker *w, struct job *job, struct probed *found)
{
    enum { WITHIN_US = 4 * 1000 * 1000 };
    char why[1024] = "";
    uint32_t first = 0;
    int64_t deadline_us = worker_boot_us() + WITHIN_US;
    found->failed = PROBE_ASK;
    worker_send(w, MESSAGE_OPENING, &first, sizeof first);
    bool answers = ask_business(w, deadline_us, found);
    if (!found->can_probe)
        return;
    host_begin(job->host, deadline_us);
    if (!answers) {
        worker_copy_text(w, found->why, sizeof found->why, found->business);
        found->is_unsure = !found->business_refuses;
    } else if (job->plugin.api.probe(job->state, why, sizeof why)) {
        why[sizeof why - 1] = '\0';
        worker_copy_text(w, found->why, sizeof found->why,
                         *why ? why : "its probe() failed without a message");
        found->is_unsure = host_had_no_answer(job->host);
    }
    found->is_usable = !*found->why;
}

void worker_report_trial(struct worker *w)
{
    struct probed found;
    struct job *job = &w->jobs[0];
    memset(&found, 0, sizeof found);            /* all of it is sent */
    const struct prescient_plugin *api = &job->plugin.api;
    worker_copy_text(w, found.path, sizeof found.path, job->plugin.path);
    worker_copy_text(w, found.name, sizeof found.name, api->name);
    worker_copy_text(w, found.summary, sizeof found.summary, api->summary);
    worker_copy_text(w, found.why, sizeof found.why, job->why_not + job->why_begins);
    found.batches = api->job_exec_many && (!job->host || host_batch_most(job->host, 2) > 1);
    found.can_probe = api->probe != NULL;
    found.heeds_dry = api->heeds_dry != 0;
    found.failed = job->host ? PROBE_OPEN : PROBE_LOAD;
    found.is_usable = job->is_usable;
    if (job->is_usable && w->asks_business)
        probe_job(w, job, &found);
    worker_send(w, MESSAGE_PROBED, &found, sizeof found);
}
