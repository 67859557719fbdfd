/* worker_state.h - what the files of a worker share: its settings, its jobs, the call that is under
 * way. worker.c sets it up and has the loop, worker_jobs.c loads and opens plug-ins, worker_call.c
 * runs checks, worker_trial.c reports what one job is like; all may call worker_say.c. */
#ifndef PRESCIENT_WORKER_STATE_H
#define PRESCIENT_WORKER_STATE_H

#include "../../include/prescient/job.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/settings.h"
#include "../wire/message.h"
#include "../wire/slab.h"
#include "deadline.h"
#include "host.h"
#include "plugin.h"

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
    int n;                              /* checks of the call that is under way; 0: none is */
    const struct host *of;              /* the host of its job */
    size_t text_room;                   /* of each */
    int64_t began_us;
    const struct job_settings *settings;
    int left, nkeyed;               /* not handed over yet, and those of them that have a key */
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
    char begin[MESSAGE_MAX];            /* per job, enum message_begin; 0 beyond what has come */
    char *text;                         /* the parts of the settings so far */
    size_t text_len;
    const char **secrets;               /* of all jobs: plug-ins may quote them, and their receivers */
    int nsecrets;
    struct host_services services;
    struct job *jobs;
    struct batch batch;
    struct deadline deadline;
    enum log_level least;
    uint32_t generation;
    bool is_waiting;                    /* for CONTINUE */
    bool is_cut_off;                    /* a message could not be sent: the socket is gone */
};

static inline int64_t worker_boot_us(void)
{
    return clock_boot_us(&clock_system);
}

/* ---- worker_say.c ---- */

void worker_send(struct worker *w, enum message_kind kind, const void *body, size_t len);
void worker_log(void *ctx, int level, const char *text);        /* ctx: the worker */
/* Makes valid text of what a job wrote: ends it, drops a character that was cut in two at the end,
 * and puts '?' for bytes that are not UTF-8. */
void worker_tidy(char *text, size_t room);
/* The same; and what a job wrote, or what it has it from, may quote a secret of the settings. */
void worker_clean(const struct worker *w, char *text, size_t room);
/* Hides secrets of the settings in a text that has not been cut. ctx: the worker. */
void worker_hide(void *ctx, char *text);
/* Tells what a job would send, in parts: it may be longer than a message. ctx: the worker. */
void worker_send_request(void *ctx, const char *request);
/* As much of it as there is room for, cleaned. */
void worker_copy_text(const struct worker *w, char *out, size_t size, const char *text);

/* ---- worker_jobs.c ---- */

/* Before we switch to worker_user, and before code of any plug-in runs, so that the files are those
 * that the engine's user can reach. */
int worker_open_plugins(struct worker *w, struct err *err);
/* A job that fails is refused; an error when there is no other. */
int worker_open_jobs(struct worker *w, struct err *err);
void worker_close_jobs(struct worker *w);

/* ---- worker_call.c ---- */

int worker_make_batch(struct worker *w, struct err *err);       /* once the jobs are open */
void worker_release_batch(struct worker *w);
/* A plug-in hands over one answer of the call that it is in. False: there is no such answer. */
bool worker_publish_early(void *ctx, struct prescient_answer *answer);
/* Works the slab until no check is left to claim, or none may be started. */
void worker_work(struct worker *w);

/* ---- worker_trial.c ---- */

void worker_report_trial(struct worker *w);

#endif
