/* worker.c - the process that runs jobs: receives its settings over the socket, loads plug-ins,
 * works slabs. A check costs no message, no allocation, and two readings of the clock. */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../include/prescient/job.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/settings_load.h"
#include "../base/utf8.h"
#include "business.h"
#include "confine.h"
#include "host.h"
#include "plugin.h"
#include "../wire/slab.h"
#include "../wire/message.h"

enum {
    EXIT_OK = 0, EXIT_ALONE = 1, EXIT_UNUSABLE = 78,
    SETTINGS_MAX = 16 << 20,            /* bytes of settings text */
    TEXT_ROOM = SLAB_TEXT_MAX + 1,      /* for the text of one check; each of a batch has less */
    BATCH_TEXT_ROOM = 1024,
};

struct job {
    const struct job_settings *settings;
    struct plugin plugin;
    struct job *same_plugin;            /* an earlier job with the same plug-in, which they share */
    bool is_left_out;                   /* by the engine: workers have died of it */
    struct host *host;
    void *state;
    int most;                           /* checks in one call; 1: never job_exec_many */
    bool is_usable;
    char why_not[512];
    size_t why_begins;                  /* in it, behind "job NAME: " */
};

struct batch {                          /* room for one call of job_exec_many; element 0 serves job_exec */
    struct slab_check *seen;
    struct prescient_check *checks;
    struct prescient_answer *answers;
    struct host_answer *host;
    char *texts;
    int room;
};

struct worker {
    int sock;
    struct slab *slab;
    struct settings settings;
    bool has_settings;
    bool is_trial, asks_business;       /* PROBE came, and not BEGIN */
    char left_out[MESSAGE_MAX];         /* per job, from BEGIN; jobs beyond it are not left out */
    char *text;                         /* the parts of the settings so far */
    size_t text_len;
    struct host_services services;
    struct job *jobs;
    struct batch batch;
    enum log_level least;
    uint32_t generation;
    bool is_waiting;                    /* for CONTINUE */
    bool is_cut_off;                    /* a message could not be sent: the socket is gone */
};

static int64_t boot_us(void)
{
    return clock_boot_us(&clock_system);
}

/* ---- what goes to the engine ---- */

static void send_message(struct worker *w, enum message_kind kind, const void *body, size_t len)
{
    if (message_send(w->sock, kind, body, len, -1, NULL))
        w->is_cut_off = true;
}

static void send_log(void *ctx, int level, const char *text)
{
    struct worker *w = ctx;
    if (level < LOG_LEVEL_DEBUG)
        level = LOG_LEVEL_DEBUG;
    if (level > LOG_LEVEL_ERROR)
        level = LOG_LEVEL_ERROR;
    if ((enum log_level)level < w->least)
        return;
    char body[4096];
    size_t len = utf8_cut(text, strlen(text), sizeof body - 1);
    body[0] = (char)level;
    /* NOLINT(bugprone-not-null-terminated-result): a message has its length instead */
    memcpy(body + 1, text, len);
    send_message(w, MESSAGE_LOG, body, len + 1);
}

/* ---- what jobs write ---- */

/* Makes valid text of what a job wrote: ends it, drops a character that was cut in two at the end,
 * and puts '?' for bytes that are not UTF-8. */
static void tidy(char *text, size_t room)
{
    text[room - 1] = '\0';
    size_t len = strlen(text);
    if (utf8_is_valid(text, len))
        return;
    for (size_t back = 1; len == room - 1 && back <= 3 && back <= len; back++)
        if ((unsigned char)text[len - back] >= 0xc0) {
            if (!utf8_is_valid(text + len - back, back))
                text[len -= back] = '\0';
            break;
        }
    for (size_t i = 0; i < len;) {
        size_t n = 1;
        while (n <= 4 && i + n <= len && !utf8_is_valid(text + i, n))
            n++;
        if (n > 4 || i + n > len) {
            text[i] = '?';
            n = 1;
        }
        i += n;
    }
}

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
            memcpy(w->left_out, body, (size_t)len);
            return 0;
        }
        if (kind == MESSAGE_PROBE) {
            w->is_trial = true;
            w->asks_business = len > 0 && body[0];
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
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): release() frees the text of a failure */
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

static int open_business(struct worker *w, struct err *err)
{
    struct business_options o = {
        .url = w->settings.business ? w->settings.business : w->settings.store,
        .unprepared = !w->settings.prepared,
        .connect_timeout_us = w->settings.connect_timeout_us,
    };
    return o.url ? business_new(&o, &w->services.business, err) : 0;
}

/* ---- jobs ---- */

static void refuse_job(struct worker *w, struct job *job, struct err *err)
{
    size_t bare = strlen(err->text);
    err_wrap(err, err->code, "job %s", job->settings->name);
    snprintf(job->why_not, sizeof job->why_not, "%.*s", (int)sizeof job->why_not - 1, err->text);
    tidy(job->why_not, sizeof job->why_not);
    job->why_begins = strlen(err->text) - bare;
    send_log(w, LOG_LEVEL_ERROR, err->text);
}

static struct job *first_with_plugin_of(struct worker *w, int index)
{
    for (int i = 0; i < index; i++)
        if (!strcmp(w->jobs[i].settings->plugin, w->jobs[index].settings->plugin))
            return &w->jobs[i];
    return NULL;
}

/* Before we switch to worker_user, and before code of any plug-in runs, so that the files are those
 * that the engine's user can reach. */
static int open_plugins(struct worker *w, struct err *err)
{
    w->jobs = calloc((size_t)w->settings.njobs, sizeof *w->jobs);
    if (!w->jobs)
        return err_set(err, ERR_NOMEM, "worker: out of memory");
    for (int i = 0; i < w->settings.njobs; i++) {
        struct job *job = &w->jobs[i];
        *job = (struct job){ .settings = &w->settings.jobs[i], .plugin = { .fd = -1 }, .most = 1,
                             .is_left_out = i < MESSAGE_MAX && w->left_out[i] };
        job->same_plugin = first_with_plugin_of(w, i);
        if (!job->same_plugin && plugin_open(w->settings.plugin_dirs, w->settings.nplugin_dirs,
                                             job->settings->plugin, &job->plugin, err))
            refuse_job(w, job, err);
    }
    return 0;
}

/* Jobs bound to the same plug-in share it, but each has a state of its own. */
static int load_plugin(struct job *job, struct err *err)
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
    return 0;
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
        send_log(w, LOG_LEVEL_WARN, err->text);
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
    host_begin(job->host, boot_us() + job->settings->timeout_us);
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
        job->most = job->settings->batch < SLAB_CHECKS_MAX ? job->settings->batch : SLAB_CHECKS_MAX;
    job->is_usable = true;
    return 0;
}

/* Each step is announced, so that the engine knows which job is to blame when we die. All plug-ins
 * are loaded before the first job is opened: once a job has run, it may have closed our
 * descriptors. A job that fails is left out; the others are usable. */
static int open_jobs(struct worker *w, struct err *err)
{
    int usable = 0;
    for (uint32_t step = 0; step < 2; step++)
        for (uint32_t i = 0; i < (uint32_t)w->settings.njobs; i++) {
            struct job *job = &w->jobs[i];
            if (*job->why_not)
                continue;
            send_message(w, MESSAGE_OPENING, &i, sizeof i);
            if (step == 0 ? load_plugin(job, err) : open_job(w, job, err))
                refuse_job(w, job, err);
            usable += job->is_usable;
        }
    if (usable || w->is_trial)
        return 0;
    if (w->settings.njobs == 1)
        return err->code;
    return err_wrap(err, ERR_SETTINGS, "none of %d jobs can be used; the last", w->settings.njobs);
}

static int make_batch(struct worker *w, struct err *err)
{
    struct batch *b = &w->batch;
    b->room = 1;
    for (int i = 0; i < w->settings.njobs; i++)
        b->room = w->jobs[i].most > b->room ? w->jobs[i].most : b->room;
    size_t n = (size_t)b->room;
    b->seen = calloc(n, sizeof *b->seen);
    b->checks = calloc(n, sizeof *b->checks);
    b->answers = calloc(n, sizeof *b->answers);
    b->host = calloc(n, sizeof *b->host);
    b->texts = calloc(n + TEXT_ROOM / BATCH_TEXT_ROOM, BATCH_TEXT_ROOM);
    if (!b->seen || !b->checks || !b->answers || !b->host || !b->texts)
        return err_set(err, ERR_NOMEM, "worker: out of memory for batches of %d", b->room);
    return 0;
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
    rc = open_plugins(w, err);
    if (rc < 0)
        return rc;
    rc = confine_limits(&w->settings, w->sock, err);
    if (rc < 0)
        return rc;
    rc = open_business(w, err);
    if (rc < 0)
        return rc;
    w->services.slab = w->slab;
    w->services.log = send_log;
    w->services.log_ctx = w;
    rc = open_jobs(w, err);
    if (rc < 0)
        return rc;
    return make_batch(w, err);
}

static void send_ready(struct worker *w)
{
    char usable[MESSAGE_MAX];
    int n = w->settings.njobs < MESSAGE_MAX - 1 ? w->settings.njobs : MESSAGE_MAX - 1;
    for (int i = 0; i < n; i++)
        usable[i] = w->jobs[i].is_usable;
    send_message(w, MESSAGE_READY, usable, (size_t)n);
}

/* ---- a trial ---- */

static void copy_text(char *out, size_t size, const char *text)
{
    size_t len = text ? utf8_cut(text, strlen(text), size - 1) : 0;
    if (len)
        memcpy(out, text, len);
    out[len] = '\0';
    tidy(out, size);
}

/* SQLSTATE of class 28: a password that is wrong, or no way in for this user. 42501: no right to
 * connect. */
static bool is_kept_out(const struct err *err)
{
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
    copy_text(found->business, sizeof found->business, err.text);
    found->business_refuses = is_kept_out(&err);
    return false;
}

static void probe_job(struct worker *w, struct job *job, struct probed *found)
{
    enum { WITHIN_US = 4 * 1000 * 1000 };
    char why[1024] = "";
    uint32_t first = 0;
    int64_t deadline_us = boot_us() + WITHIN_US;
    found->failed = PROBE_ASK;
    send_message(w, MESSAGE_OPENING, &first, sizeof first);
    bool answers = ask_business(w, deadline_us, found);
    if (!found->can_probe)
        return;
    host_begin(job->host, deadline_us);
    if (!answers) {
        copy_text(found->why, sizeof found->why, found->business);
        found->is_unsure = !found->business_refuses;
    } else if (job->plugin.api.probe(job->state, why, sizeof why)) {
        why[sizeof why - 1] = '\0';
        copy_text(found->why, sizeof found->why, *why ? why : "its probe() failed without a message");
        found->is_unsure = host_had_no_answer(job->host);
    }
    found->is_usable = !*found->why;
}

static void report_trial(struct worker *w)
{
    struct probed found;
    struct job *job = &w->jobs[0];
    memset(&found, 0, sizeof found);            /* all of it is sent */
    const struct prescient_plugin *api = &job->plugin.api;
    copy_text(found.path, sizeof found.path, job->plugin.path);
    copy_text(found.name, sizeof found.name, api->name);
    copy_text(found.summary, sizeof found.summary, api->summary);
    copy_text(found.why, sizeof found.why, job->why_not + job->why_begins);
    found.batches = api->job_exec_many != NULL;
    found.can_probe = api->probe != NULL;
    found.failed = job->host ? PROBE_OPEN : PROBE_LOAD;
    found.is_usable = job->is_usable;
    if (job->is_usable && w->asks_business)
        probe_job(w, job, &found);
    send_message(w, MESSAGE_PROBED, &found, sizeof found);
}

/* ---- running checks ---- */

static void prepare(struct worker *w, int place, int index, size_t text_room)
{
    struct batch *b = &w->batch;
    struct slab_check *c = &b->seen[place];
    slab_get(w->slab, index, c);
    b->checks[place] = (struct prescient_check){
        .size = sizeof b->checks[place],
        .entity_name = c->entity_name,
        .entity_key = c->entity_key,
        .job = c->job_name,
        .payload = c->payload,
        .now = c->now,
        .slot = c->slot,
        .first_check_at = c->first_check_at,
        .check_count = c->check_count,
        .failure_count = c->failure_count,
        .impl = c,
    };
    b->host[place] = (struct host_answer){ .index = index };
    char *text = b->texts + (size_t)place * text_room;
    text[0] = '\0';
    b->answers[place] = (struct prescient_answer){
        .size = sizeof b->answers[place], .text = text, .text_size = text_room, .impl = &b->host[place],
    };
}

/* The text that replaces the job's own, if any, and the answer with it. */
static const char *overrule(const struct worker *w, int place, struct prescient_answer *a)
{
    const struct host_answer *h = &w->batch.host[place];
    if (h->is_crowded) {
        prescient_defer(a, w->batch.seen[place].now);
        return "put off: the other checks of its batch have taken all room for effects";
    }
    if (a->kind != PRESCIENT_NO_ANSWER && (!h->is_refused || a->kind == PRESCIENT_FAIL))
        return NULL;
    a->kind = PRESCIENT_FAIL;
    return h->is_refused ? h->refusal : "no answer";
}

static void publish(struct worker *w, int place, size_t text_room, int64_t began_us, int64_t run_us)
{
    struct prescient_answer *a = &w->batch.answers[place];
    int index = w->batch.host[place].index;
    char *text = w->batch.texts + (size_t)place * text_room;
    const char *overruled = overrule(w, place, a);
    if (overruled)
        slab_drop_effects(w->slab, index);      /* it will be run again, and declare them again */
    else if (*text)
        tidy(text, text_room);
    slab_answer(w->slab, index, a->kind, a->at, began_us, run_us, overruled ? overruled : text);
}

static void run_one(struct worker *w, struct job *job, int index, int64_t began_us)
{
    prepare(w, 0, index, TEXT_ROOM);
    host_begin(job->host, began_us + job->settings->timeout_us);
    job->plugin.api.job_exec(job->state, &w->batch.checks[0], &w->batch.answers[0]);
    publish(w, 0, TEXT_ROOM, began_us, boot_us() - began_us);
}

static void run_many(struct worker *w, struct job *job, int from, int n, int64_t began_us)
{
    for (int i = 0; i < n; i++)
        prepare(w, i, from + i, BATCH_TEXT_ROOM);
    host_begin(job->host, began_us + job->settings->batch_timeout_us);
    job->plugin.api.job_exec_many(job->state, w->batch.checks, n, w->batch.answers);
    int64_t each_us = (boot_us() - began_us) / n;
    for (int i = 0; i < n; i++)
        publish(w, i, BATCH_TEXT_ROOM, began_us, each_us);
}

static void run_none(struct worker *w, const struct job *job, int index, int64_t began_us)
{
    slab_answer(w->slab, index, PRESCIENT_FAIL, 0, began_us, 0,
                job ? job->why_not : "its job is not in the settings");
}

static struct job *job_at(struct worker *w, int index)
{
    return index >= 0 && index < w->settings.njobs ? &w->jobs[index] : NULL;
}

/* Works the slab until no check is left to claim, or none may be started. */
static void work(struct worker *w)
{
    for (;;) {
        int index = -1, from, n;
        bool single = true;
        slab_peek(w->slab, &index, &single);
        struct job *job = job_at(w, index);
        int64_t began_us = boot_us();
        enum slab_claim claim = slab_claim(w->slab, job && !single ? job->most : 1, began_us, &from, &n);
        w->is_waiting = claim == SLAB_UNTRUSTED;
        if (claim == SLAB_EMPTY)
            send_message(w, MESSAGE_ENDED, &w->generation, sizeof w->generation);
        if (claim != SLAB_CLAIMED)
            return;
        if (!job || !job->is_usable)
            run_none(w, job, from, began_us);
        else if (n == 1)
            run_one(w, job, from, began_us);
        else
            run_many(w, job, from, n, began_us);
    }
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
            work(w);
        } else if (kind == MESSAGE_CONTINUE && w->is_waiting) {
            work(w);
        }
    }
    return EXIT_ALONE;
}

static void release(struct worker *w)
{
    for (int i = 0; w->jobs && i < w->settings.njobs; i++) {
        struct job *job = &w->jobs[i];
        if (job->is_usable)
            close_job(job);
        host_free(job->host);
    }
    free(w->jobs);
    business_free(w->services.business);
    free(w->batch.seen);
    free(w->batch.checks);
    free(w->batch.answers);
    free(w->batch.host);
    free(w->batch.texts);
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
    setvbuf(stdout, NULL, _IOLBF, 0);           /* what a job prints arrives even when it crashes */
    if (set_up(&w, &err)) {
        send_message(&w, MESSAGE_FAILED, err.text, strlen(err.text));
    } else if (w.is_trial) {
        report_trial(&w);
        code = EXIT_OK;
    } else {
        send_ready(&w);
        code = serve(&w);
    }
    release(&w);
    return code;
}
