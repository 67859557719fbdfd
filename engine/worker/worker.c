/* worker.c - the process that runs jobs: it receives its settings over the socket, has its jobs
 * opened, and works slabs. */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/settings_load.h"
#include "../base/settings_secret.h"
#include "business.h"
#include "confine.h"
#include "worker_state.h"

enum {
    EXIT_OK = 0, EXIT_ALONE = 1, EXIT_UNUSABLE = 78,
    SETTINGS_MAX = 16 << 20,            /* bytes of settings text */
    SECRETS_MAX = 4096,                 /* of all jobs */
};

/* ---- setting up ---- */

static int add_settings(struct worker *w, const char *body, size_t len, struct err *err)
{
    if (w->text_len + len > SETTINGS_MAX)
        return err_set(err, ERR_SETTINGS, "worker: more than %d bytes of settings", SETTINGS_MAX);
    char *bigger = realloc(w->text, w->text_len + len + 1);
    if (!bigger)
        return err_set(err, ERR_NOMEM, "worker: out of memory");
    memcpy(bigger + w->text_len, body, len);
    w->text = bigger;
    w->text_len += len;
    w->text[w->text_len] = '\0';
    return 0;
}

static int attach(struct worker *w, int fd, struct err *err)
{
    CLEANUP(cleanup_close) int slab = fd;
    if (w->slab)
        return err_set(err, ERR_GENERAL, "worker: a second slab");
    return slab_attach(slab, &w->slab, err);
}

/* Collects parts of the settings until BEGIN. */
static int receive_settings(struct worker *w, struct err *err)
{
    char body[MESSAGE_MAX + 1];
    for (;;) {
        enum message_kind kind;
        int fd = -1, len = message_receive(w->sock, &kind, body, &fd, err);
        if (len < 0)
            return len;
        int rc = fd >= 0 ? attach(w, fd, err) : 0;
        if (rc < 0)
            return rc;
        if (kind == MESSAGE_BEGIN) {
            memcpy(w->begin, body, (size_t)len);
            w->services.is_dry = w->begin[0] == BEGIN_DRY;
            return 0;
        }
        if (kind == MESSAGE_PROBE) {
            w->is_trial = true;
            w->asks_business = len > 0 && body[0] & PROBE_ASKS;
            w->services.is_dry = len > 0 && body[0] & PROBE_DRY;
            return 0;
        }
        if (kind != MESSAGE_SETTINGS)
            return err_set(err, ERR_GENERAL, "worker: found message '%c' (%d), expected settings",
                           kind >= ' ' && kind < 127 ? (char)kind : '?', (int)kind);
        rc = add_settings(w, body, (size_t)len, err);
        if (rc < 0)
            return rc;
    }
}

static int read_settings(struct worker *w, struct err *err)
{
    if (!w->text || !w->slab)
        return err_set(err, ERR_GENERAL, "worker: BEGIN came before settings and slab");
    int rc = settings_parse(&w->settings, w->text, "settings from the engine", err);
    if (rc)
        return rc;
    w->has_settings = true;
    explicit_bzero(w->text, w->text_len);
    free(w->text);
    w->text = NULL;
    int least = w->settings.log_level ? log_level_named(w->settings.log_level) : LOG_LEVEL_INFO;
    w->least = least < 0 ? LOG_LEVEL_INFO : (enum log_level)least;
    if (w->settings.njobs == 0)
        return err_set(err, ERR_SETTINGS,
                       "no jobs in the settings; expected jobs = { NAME = { plugin = \"FILE\"; }; };");
    return 0;
}

static int collect_secrets(struct worker *w, struct err *err)
{
    w->secrets = calloc(SECRETS_MAX, sizeof *w->secrets);
    if (!w->secrets)
        return err_set(err, ERR_NOMEM, "worker: out of memory");
    int n = settings_secrets_of_jobs(&w->settings, w->secrets, SECRETS_MAX);
    if (n > SECRETS_MAX)
        return err_set(err, ERR_SETTINGS, "more than %d settings of jobs are secrets (@file:, @env:)",
                       SECRETS_MAX);
    w->nsecrets = n;
    return 0;
}

static int open_business(struct worker *w, struct err *err)
{
    struct business_options o = {
        .url = w->settings.business ? w->settings.business : w->settings.store,
        .unprepared = !w->settings.prepared,
        .connect_timeout_us = w->settings.connect_timeout_us,
    };
    return o.url ? business_new(&o, &w->services.business, err) : 0;
}

static int set_up(struct worker *w, struct err *err)
{
    int rc = confine_start(w->sock, err);
    if (rc < 0)
        return rc;
    rc = receive_settings(w, err);
    if (rc < 0)
        return rc;
    rc = read_settings(w, err);
    if (rc < 0)
        return rc;
    rc = worker_open_plugins(w, err);
    if (rc < 0)
        return rc;
    rc = collect_secrets(w, err);
    if (rc < 0)
        return rc;
    rc = confine_limits(&w->settings, w->sock, err);
    if (rc < 0)
        return rc;
    rc = deadline_open(&w->deadline, err);
    if (rc < 0)
        return rc;
    rc = open_business(w, err);
    if (rc < 0)
        return rc;
    w->services.slab = w->slab;
    w->services.log = worker_log;
    w->services.log_ctx = w;
    rc = worker_open_jobs(w, err);
    if (rc < 0)
        return rc;
    return worker_make_batch(w, err);
}

static enum message_runs runs_of(const struct job *job)
{
    if (!job->is_usable)
        return RUNS_NOT;
    return job->most > 1 ? RUNS_BATCHES : RUNS_SINGLY;
}

static void send_ready(struct worker *w)
{
    char usable[MESSAGE_MAX];
    int n = w->settings.njobs < MESSAGE_MAX - 1 ? w->settings.njobs : MESSAGE_MAX - 1;
    for (int i = 0; i < n; i++)
        usable[i] = (char)runs_of(&w->jobs[i]);
    worker_send(w, MESSAGE_READY, usable, (size_t)n);
}

/* ---- the loop ---- */

static int serve(struct worker *w)
{
    char body[MESSAGE_MAX + 1];
    while (!w->is_cut_off) {
        enum message_kind kind;
        int len = message_receive(w->sock, &kind, body, NULL, NULL);
        if (len < 0)
            return EXIT_ALONE;
        if (kind == MESSAGE_EXIT)
            return EXIT_OK;
        if (kind == MESSAGE_RUN && len == (int)sizeof w->generation) {
            memcpy(&w->generation, body, sizeof w->generation);
            worker_work(w);
        } else if (kind == MESSAGE_CONTINUE && w->is_waiting) {
            worker_work(w);
        }
    }
    return EXIT_ALONE;
}

static void release(struct worker *w)
{
    worker_close_jobs(w);
    business_free(w->services.business);
    free(w->secrets);
    worker_release_batch(w);
    if (w->has_settings)
        settings_release(&w->settings);
    slab_free(w->slab);
    free(w->text);
}

int worker_main(int sock)
{
    struct worker w = { .sock = sock, .least = LOG_LEVEL_INFO };
    struct err err = { 0 };
    int code = EXIT_UNUSABLE;
    w.services.answered = worker_publish_early;
    w.services.answered_ctx = &w;
    w.services.requested = worker_send_request;
    w.services.requested_ctx = &w;
    w.services.hide = worker_hide;
    w.services.hide_ctx = &w;
    setvbuf(stdout, NULL, _IOLBF, 0);           /* what a job prints arrives even when it crashes */
    if (set_up(&w, &err)) {
        worker_send(&w, MESSAGE_FAILED, err.text, strlen(err.text));
    } else if (w.is_trial) {
        worker_report_trial(&w);
        code = EXIT_OK;
    } else {
        send_ready(&w);
        code = serve(&w);
    }
    release(&w);
    return code;
}
