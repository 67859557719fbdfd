/* probe.c - one worker for one job, which reports how far it came. A worker that dies or hangs is a
 * result, too. */
#include "probe.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/utf8.h"
#include "../pool/sent.h"
#include "../pool/spawn.h"
#include "../wire/slab.h"

enum {
    LOAD_MS = 5000, ASK_MS = 8000,
    OPEN_MS = 12000,            /* a command that is to live on has 10 s for its first line */
    CLOSE_MS = 1000,            /* for the job to close, once all is known */
    HANG_MS = 15000,            /* for all jobs together that do not come to an end */
    LOOK_MS = 100,              /* how often it is looked whether the worker is there */
};

static const struct { const char *doing; int most_ms; } steps[PROBE_STEPS] = {
    [PROBE_LOAD] = { "loaded", LOAD_MS },
    [PROBE_OPEN] = { "opened", OPEN_MS },
    [PROBE_ASK] = { "tried", ASK_MS },
};

struct trial {
    struct child child;
    int announced;              /* steps that it has begun; 0: it is not that far */
    int64_t until_us;           /* for the step that it is in */
    bool is_done;               /* `found` has come */
    bool is_late;
    struct probed found;
};

static enum probe_step step_of(const struct trial *t)
{
    return t->announced ? (enum probe_step)(t->announced - 1) : PROBE_LOAD;
}

static void begin_step(struct trial *t)
{
    t->until_us = clock_mono_us(&clock_system) + steps[step_of(t)].most_ms * INT64_C(1000);
}

static void __attribute__((format(printf, 2, 3))) failed(struct trial *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t->found.why, sizeof t->found.why, fmt, ap);
    va_end(ap);
    t->found.is_usable = false;
    t->found.failed = step_of(t);
}

/* ---- what it sends ---- */

/* A text of a worker: it need not end, and need not be text. */
static void tidy(char *text, size_t size)
{
    text[size - 1] = '\0';
    text[utf8_valid_bytes(text, strlen(text))] = '\0';
}

static void take_report(struct trial *t, const char *body, int n)
{
    if (n != (int)sizeof t->found) {
        failed(t, "its worker sent a report that cannot be read");
        return;
    }
    /* bytes of a worker: no value of a bool or an enum is taken for granted */
    const unsigned char *bytes = (const unsigned char *)body;
    int step;
    memcpy(&step, bytes + offsetof(struct probed, failed), sizeof step);
    memcpy(t->found.path, bytes + offsetof(struct probed, path), sizeof t->found.path);
    memcpy(t->found.name, bytes + offsetof(struct probed, name), sizeof t->found.name);
    memcpy(t->found.summary, bytes + offsetof(struct probed, summary), sizeof t->found.summary);
    memcpy(t->found.why, bytes + offsetof(struct probed, why), sizeof t->found.why);
    memcpy(t->found.business, bytes + offsetof(struct probed, business), sizeof t->found.business);
    t->found.is_usable = bytes[offsetof(struct probed, is_usable)] != 0;
    t->found.is_unsure = bytes[offsetof(struct probed, is_unsure)] != 0;
    t->found.batches = bytes[offsetof(struct probed, batches)] != 0;
    t->found.can_probe = bytes[offsetof(struct probed, can_probe)] != 0;
    t->found.heeds_dry = bytes[offsetof(struct probed, heeds_dry)] != 0;
    t->found.business_refuses = bytes[offsetof(struct probed, business_refuses)] != 0;
    t->found.failed = step >= 0 && step < PROBE_STEPS ? (enum probe_step)step : step_of(t);
    tidy(t->found.path, sizeof t->found.path);
    tidy(t->found.name, sizeof t->found.name);
    tidy(t->found.summary, sizeof t->found.summary);
    tidy(t->found.why, sizeof t->found.why);
    tidy(t->found.business, sizeof t->found.business);
}

static void take_message(struct trial *t, enum message_kind kind, const char *body, int n)
{
    switch (kind) {
    case MESSAGE_OPENING:
        if (t->announced == PROBE_STEPS)
            return;             /* a job that sends more must not get more time */
        t->announced++;
        begin_step(t);
        return;
    case MESSAGE_PROBED:
        t->is_done = true;
        take_report(t, body, n);
        return;
    case MESSAGE_FAILED:
        t->is_done = true;
        failed(t, "%.*s", (int)utf8_valid_bytes(body, (size_t)n), body);
        return;
    default:
        return;                 /* what the job logs */
    }
}

/* What it prints is read and dropped, so that no job blocks on a full pipe. False: it has closed
 * it. */
static bool drain(const struct child *child)
{
    char bytes[4096];
    ssize_t n = 1;
    for (int i = 0; i < 16 && n > 0; i++)
        n = read(child->output, bytes, sizeof bytes);
    return n != 0;
}

/* Waits so long for something to come. 1: something did; 0: nothing; -1: the line is closed. */
static int listen_once(struct trial *t, int within_ms)
{
    char body[MESSAGE_MAX + 1];
    enum message_kind kind;
    struct pollfd fds[] = { { .fd = t->child.sock, .events = POLLIN },
                            { .fd = t->child.output, .events = POLLIN } };
    int n = poll(fds, 2, within_ms);
    if (n <= 0)
        return n < 0 && errno != EINTR ? -1 : 0;
    if (fds[1].revents && !drain(&t->child)) {
        close(t->child.output);
        t->child.output = -1;
    }
    if (!fds[0].revents)
        return 1;
    n = message_receive(t->child.sock, &kind, body, NULL, NULL);
    if (n >= 0)
        take_message(t, kind, body, n);
    return n >= 0 || n == ERR_BUSY ? 1 : -1;
}

/* Until its report has come, its time is over or it has ended. What a job has started may have its
 * end of the line and outlive it; so the process itself is looked at, too, and what it sent before
 * it ended is read after that. */
static void listen_to(struct trial *t)
{
    bool has_ended = false;
    int came = 1;
    while (!t->is_done && (came > 0 || (came == 0 && !has_ended))) {
        int64_t remaining_us = t->until_us - clock_mono_us(&clock_system);
        if (remaining_us <= 0)
            return;
        has_ended = spawner_system.has_ended(spawner_system.ctx, t->child.pid);
        int within_ms = remaining_us < LOOK_MS * 1000 ? (int)(remaining_us + 999) / 1000 : LOOK_MS;
        came = listen_once(t, has_ended ? 0 : within_ms);
    }
}

/* ---- its life ---- */

static int begin(struct trial *t, const struct settings *s, int job, int how, struct err *err)
{
    CLEANUP(cleanup_free) char *text = NULL;
    CLEANUP(cleanup_close) int fd = -1;
    size_t len = 0;
    struct slab *slab = NULL;
    struct settings one = *s;
    char body = (char)how;
    one.jobs = &s->jobs[job];
    one.njobs = 1;
    int rc = sent_print(&one, &text, &len, err);
    if (rc < 0)
        return rc;
    rc = slab_new(&slab, &fd, err);
    if (rc < 0)
        return rc;
    slab_free(slab);                    /* the worker has its own mapping of it */
    rc = spawner_system.start(spawner_system.ctx, "/proc/self/exe", !s->business, &t->child, err);
    if (rc < 0)
        return rc;
    begin_step(t);
    /* one that has died already shows how by its status */
    if (sent_send(t->child.sock, text, len, fd, NULL) == 0)
        message_send(t->child.sock, MESSAGE_PROBE, &body, 1, -1, NULL);
    return 0;
}

static void describe_end(struct trial *t, int status, bool is_late, bool has_ended)
{
    const char *doing = steps[step_of(t)].doing;
    if (is_late && !has_ended)
        failed(t, "was not %s within %d s", doing, steps[step_of(t)].most_ms / 1000);
    else if (!has_ended)
        failed(t, "closed the connection of its worker while it was %s", doing);
    else if (WIFSIGNALED(status))
        failed(t, "crashed while it was %s (%s)", doing, strsignal(WTERMSIG(status)));
    else
        failed(t, "ended the process while it was %s (exit code %d)", doing, WEXITSTATUS(status));
}

/* Its process group goes with it: what jobs have started, and its keeper, which is our child. */
static int bury(struct trial *t)
{
    int status = 0;
    spawner_system.signal(spawner_system.ctx, t->child.pid, SIGKILL);
    status = spawner_system.bury(spawner_system.ctx, t->child.pid);
    while (waitpid(-t->child.pid, NULL, 0) > 0)
        ;
    spawn_close(&t->child);
    return status;
}

/* Gives a process that has ended, or is about to, the time to say how. */
static bool ends_by_itself(const struct trial *t, int within_ms)
{
    int64_t until_us = clock_mono_us(&clock_system) + within_ms * INT64_C(1000);
    while (!spawner_system.has_ended(spawner_system.ctx, t->child.pid)) {
        if (clock_mono_us(&clock_system) > until_us)
            return false;
        poll(NULL, 0, 5);
    }
    return true;
}

static void try_job(const struct settings *s, int job, int how, struct trial *t)
{
    struct err err;
    int rc = begin(t, s, job, how, &err);
    if (rc < 0) {
        failed(t, "%s", err.text);
        return;
    }
    listen_to(t);
    t->is_late = !t->is_done && clock_mono_us(&clock_system) >= t->until_us;
    bool has_ended = ends_by_itself(t, t->is_late ? 0 : CLOSE_MS);
    int status = bury(t);
    if (!t->is_done)
        describe_end(t, status, t->is_late, has_ended);
}

static void leave_untried(const struct prober *p, struct probed *out)
{
    *out = (struct probed){ .is_unsure = true, .failed = PROBE_OPEN };
    snprintf(out->why, sizeof out->why,
             "was not tried: the jobs before it hung for %d s, and all together have %d s; correct those "
             "first",
             (int)(p->hung_us / 1000000), HANG_MS / 1000);
}

bool probe_job(struct prober *p, int job, struct probed *out)
{
    bool asks = !*p->business && !p->opens_only;
    int how = (asks ? PROBE_ASKS : 0) + p->is_dry * PROBE_DRY;
    struct trial t = { .child = { .sock = -1, .output = -1 } };
    if (p->hung_us >= HANG_MS * INT64_C(1000)) {
        leave_untried(p, out);
        return false;
    }
    int64_t begun_us = clock_mono_us(&clock_system);
    try_job(p->settings, job, how, &t);
    if (t.is_late)
        p->hung_us += clock_mono_us(&clock_system) - begun_us;
    *out = t.found;
    if (*p->business && out->is_usable && out->can_probe) {
        out->is_usable = false;
        out->is_unsure = !p->business_refuses;
        out->failed = PROBE_ASK;
        memcpy(out->why, p->business, sizeof p->business);
    }
    p->has_asked = p->has_asked || t.announced == PROBE_STEPS;
    if (!*p->business) {
        memcpy(p->business, out->business, sizeof p->business);
        p->business_refuses = out->business_refuses;
    }
    return true;
}

void probe_describe(const struct job_settings *job, const struct probed *found, char *out, size_t size)
{
    if (found->failed == PROBE_LOAD)
        snprintf(out, size, "%s: plug-in %s: %s", job->name, job->plugin, found->why);
    else
        snprintf(out, size, "%s: %s", job->name, found->why);
}
