/* worker_jobs.c - the jobs of a worker's settings: their plug-ins are found, loaded and opened, one
 * that cannot be is refused, and the others are usable. */
#include "worker_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/settings_secret.h"

static void refuse_job(struct worker *w, struct job *job, struct err *err)
{
    settings_secret_hide(err->text, w->secrets, w->nsecrets, true);
    size_t bare = strlen(err->text);
    err_wrap(err, err->code, "job %s", job->settings->name);
    snprintf(job->why_not, sizeof job->why_not, "%.*s", (int)sizeof job->why_not - 1, err->text);
    worker_tidy(job->why_not, sizeof job->why_not);
    job->why_begins = strlen(err->text) - bare;
    worker_log(w, LOG_LEVEL_ERROR, err->text);
}

static struct job *first_with_plugin_of(struct worker *w, int index)
{
    for (int i = 0; i < index; i++)
        if (!strcmp(w->jobs[i].settings->plugin, w->jobs[index].settings->plugin))
            return &w->jobs[i];
    return NULL;
}

int worker_open_plugins(struct worker *w, struct err *err)
{
    w->jobs = calloc((size_t)w->settings.njobs, sizeof *w->jobs);
    if (!w->jobs)
        return err_set(err, ERR_NOMEM, "worker: out of memory");
    for (int i = 0; i < w->settings.njobs; i++) {
        struct job *job = &w->jobs[i];
        *job = (struct job){ .settings = &w->settings.jobs[i], .plugin = { .fd = -1 }, .most = 1,
                             .is_left_out = i < MESSAGE_MAX && w->begin[i] == BEGIN_LEAVE_OUT };
        job->same_plugin = first_with_plugin_of(w, i);
        if (!job->same_plugin && plugin_open(w->settings.plugin_dirs, w->settings.nplugin_dirs,
                                             job->settings->plugin, &job->plugin, err))
            refuse_job(w, job, err);
    }
    return 0;
}

/* A plug-in that was compiled before there was `dry` would send. */
static int check_dry(const struct worker *w, const struct job *job, struct err *err)
{
    if (!w->services.is_dry || job->plugin.api.heeds_dry)
        return 0;
    return err_set(err, ERR_SETTINGS, "it may send or change things, and cannot say what: add --send");
}

/* Jobs bound to the same plug-in share it, but each has a state of its own. */
static int load_plugin(const struct worker *w, struct job *job, struct err *err)
{
    struct job *first = job->same_plugin ? job->same_plugin : job;
    if (job->is_left_out)
        return err_set(err, ERR_SETTINGS, "left out, as workers have died of loading or opening it");
    if (!first->plugin.handle && first->plugin.fd >= 0) {
        int rc = plugin_load(&first->plugin, err);
        if (rc)
            return rc;
    }
    if (!first->plugin.api.job_exec)
        return err_set(err, ERR_SETTINGS, "it shares the plug-in of job %s, which cannot be used",
                       first->settings->name);
    job->plugin = first->plugin;
    return check_dry(w, job, err);
}

/* A plug-in that was compiled before `probe` was there may ask for settings later on. */
static bool asks_in_open(const struct job *job)
{
    return job->plugin.api.size > offsetof(struct prescient_plugin, probe);
}

/* A setting of the group that the plug-in does not have: it is misspelt, most likely. */
static int check_settings(struct worker *w, struct job *job, struct err *err)
{
    int rc = host_end_open(job->host, false, err);
    if (rc < 0 && asks_in_open(job))
        return rc;
    if (rc < 0) {
        err_wrap(err, rc, "job %s", job->settings->name);
        worker_log(w, LOG_LEVEL_WARN, err->text);
    }
    return 0;
}

/* What was not set may be set under a misspelt name. */
static int open_failed(struct job *job, const char *why, struct err *err)
{
    struct err unknown;
    if (!*why)
        why = "its open() failed without a message";
    if (host_end_open(job->host, true, &unknown) == 0)
        return err_set(err, ERR_SETTINGS, "%s", why);
    return err_set(err, ERR_SETTINGS, "%s (%s)", unknown.text, why);
}

static void close_job(struct job *job)
{
    if (job->plugin.api.close)
        job->plugin.api.close(job->state);
}

static int open_job(struct worker *w, struct job *job, struct err *err)
{
    char why[512] = "";
    int rc = host_new(job->settings, &w->services, &job->host, err);
    if (rc)
        return rc;
    host_begin(job->host, worker_boot_us() + job->settings->timeout_us);
    if (job->plugin.api.open && job->plugin.api.open(host_api(job->host), &job->state, why, sizeof why)) {
        why[sizeof why - 1] = '\0';
        return open_failed(job, why, err);
    }
    rc = check_settings(w, job, err);
    if (rc < 0) {
        close_job(job);
        return rc;
    }
    if (job->plugin.api.job_exec_many && job->settings->batch > 1)
        job->most = host_batch_most(job->host, job->settings->batch < SLAB_CHECKS_MAX
                                                   ? job->settings->batch : SLAB_CHECKS_MAX);
    job->is_usable = true;
    return 0;
}

/* Each step is announced, so that the engine knows which job is to blame when we die. All plug-ins
 * are loaded before the first job is opened: once a job has run, it may have closed our
 * descriptors. A job that fails is left out; the others are usable. */
int worker_open_jobs(struct worker *w, struct err *err)
{
    int usable = 0;
    for (uint32_t step = 0; step < 2; step++)
        for (uint32_t i = 0; i < (uint32_t)w->settings.njobs; i++) {
            struct job *job = &w->jobs[i];
            if (*job->why_not)
                continue;
            worker_send(w, MESSAGE_OPENING, &i, sizeof i);
            if (step == 0 ? load_plugin(w, job, err) : open_job(w, job, err))
                refuse_job(w, job, err);
            usable += job->is_usable;
        }
    if (usable || w->is_trial)
        return 0;
    if (w->settings.njobs == 1)
        return err->code;
    return err_wrap(err, ERR_SETTINGS, "none of %d jobs can be used; the last", w->settings.njobs);
}

void worker_close_jobs(struct worker *w)
{
    for (int i = 0; w->jobs && i < w->settings.njobs; i++) {
        struct job *job = &w->jobs[i];
        if (job->is_usable)
            close_job(job);
        host_free(job->host);
    }
    free(w->jobs);
}
