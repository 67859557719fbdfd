/* pool_end.c - deadlines, and the end of a worker: which check is to blame, and what becomes of the
 * others that it had. */
#include "pool_state.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../base/utf8.h"
#include "../rules/about.h"

enum {
    /* from the end of its socket to SIGTERM: most often it has died and is about to be reaped */
    GONE_US = 100 * 1000,
    FROZEN_US = 10 * 1000 * 1000,       /* a worker that has checks and starts none is ended after this */
};

/* ---- deadlines ---- */

/* How long the checks that run now may take: one has its job's timeout, several that were claimed
 * at once have the batch timeout. Each answer that is handed over restarts it. */
static int64_t allowance_us(const struct pool *pool, const struct pool_worker *w, int claimed)
{
    int job = w->page->checks[w->index[w->taken]].job;
    const struct job_settings *j = &pool->o.settings->defaults;
    if (job >= 0 && job < pool->o.settings->njobs)
        j = &pool->o.settings->jobs[job];
    return pool_worker_runs(w, claimed) > 1 ? j->batch_timeout_us : j->timeout_us;
}

/* Each claim restarts the deadline, so a worker that claims without answering would never time out.
 * An honest one has answered all that it had before it claims, and our second look sees that. */
static bool claims_too_early(const struct pool_worker *w, int claimed)
{
    return claimed > w->claimed && w->taken < w->claimed && w->taken < w->end;
}

static void watch_running(struct pool *pool, struct pool_worker *w, int64_t now)
{
    int32_t served = w->served;
    pool_worker_collect(pool, w);
    int claimed = slab_claimed(w->slab);
    if (claimed > w->claimed)
        pool_worker_collect(pool, w);
    if (claims_too_early(w, claimed)) {
        pool_worker_terminate(pool, w, "it claimed new checks before it had answered the old ones");
        return;
    }
    if (claimed > w->end)
        claimed = w->end;
    if (claimed < w->claimed && w->claimed <= w->end)
        claimed = w->claimed;           /* claims only grow, whatever its slab holds */
    if (w->served != served || claimed != w->claimed) {
        w->claimed = claimed;
        w->seen_us = now;
    }
    int64_t waited = now - w->seen_us;
    if (waited > WORKER_STUCK_US && w->end > claimed)
        pool_worker_cut(w);
    /* no check of it runs: it is about to send ENDED, waits for trust, or is frozen */
    if (claimed <= w->taken) {
        if (waited > FROZEN_US && (!w->page || w->start_until_us > clock_boot_us(pool->o.clock)))
            pool_worker_terminate(pool, w, "it makes no progress");
    } else if (waited > allowance_us(pool, w, claimed)) {
        w->timed_out = true;
        pool_worker_terminate(pool, w, "timeout");
    }
}

/* The worker has died, and its exit status will show how; or a job closed its socket, and it may
 * still answer what it has claimed. */
static void watch_gone(struct pool *pool, struct pool_worker *w, int64_t now)
{
    if (!w->gone_us) {
        w->gone_us = now;
        if (w->page)
            pool_worker_cut(w);
    } else if (now - w->gone_us > GONE_US)
        pool_worker_terminate(pool, w, "it closed its connection");
}

void pool_worker_watch(struct pool *pool, struct pool_worker *w, int64_t now)
{
    if (w->gone && w->state != WORKER_DYING)
        watch_gone(pool, w, now);
    if (w->state == WORKER_STARTING && now - w->start_us > WORKER_STARTING_US)
        pool_worker_terminate(pool, w, "it was not ready in time");
    else if (w->state == WORKER_RUNNING)
        watch_running(pool, w, now);
    else if (w->state == WORKER_DYING && w->kill_us && now >= w->kill_us) {
        pool_worker_signal(pool, w, SIGKILL);
        w->kill_us = 0;
    }
}

/* ---- the end of a worker ---- */

static void describe_end(char *out, size_t size, const struct pool_worker *w, int status)
{
    const char *colon = w->why ? ": " : "";
    const char *why = w->why ? w->why : "";
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        snprintf(out, size, "killed by SIG%s%s%s", name ? name : "?", colon, why);
    } else {
        snprintf(out, size, "exit status %d%s%s", WEXITSTATUS(status), colon, why);
    }
}

/* Its checks are suspects: each has a slab of its own now. */
static void return_claimed(struct pool_worker *w, int claimed)
{
    for (int i = w->taken; i < claimed; i++)
        if (!w->ahead[i]) {
            w->page->checks[w->index[i]].single = true;
            page_return(w->page, w->index[i]);
        }
}

/* The one check that ran: the first that is not answered. */
static void report_claimed(struct pool *pool, struct pool_worker *w, int claimed, const char *how)
{
    int64_t now = pool_now_us(pool), ran = now - w->seen_us;
    struct raw_answer raw = { .run_us = ran, .began_us = clock_boot_us(pool->o.clock) - ran };
    if (w->timed_out)
        raw.text = arena_printf(w->page->arena, "no answer within %lld ms",
                                (long long)allowance_us(pool, w, claimed) / 1000);
    else
        raw.text = arena_strndup(w->page->arena, how, utf8_valid_bytes(how, strlen(how)));
    pool_share_answered(pool, w, w->taken, now);
    pool_report(pool, w, w->taken++, w->timed_out ? ANSWER_TIMEOUT : ANSWER_CRASH, &raw, now);
}

static void log_claimed(const struct pool *pool, const struct pool_worker *w, int runs, const char *how)
{
    const struct check *first = &w->page->rows.checks[w->index[w->taken]];
    log_line_about(pool->o.log, LOG_LEVEL_WARN, about_job(first->next_check_at, first->job_exec),
                   "job %s: %s with %d checks claimed: they run one by one", first->job_exec,
                   w->timed_out ? "timeout" : how, runs);
}

/* What it had claimed and not answered: one check is reported as timed out or crashed, several (a
 * batch) run again one by one. */
static void settle_claimed(struct pool *pool, struct pool_worker *w, const char *how)
{
    int claimed = slab_claimed(w->slab);
    if (claimed > w->end)
        claimed = w->end;
    if (claimed < w->reached)
        claimed = w->reached;
    int runs = pool_worker_runs(w, claimed);
    if (runs > 1)
        log_claimed(pool, w, runs, how);
    if (runs > 1)
        return_claimed(w, claimed);
    else if (runs == 1)
        report_claimed(pool, w, claimed, how);
    for (int i = w->end - 1; i >= claimed; i--)
        page_return(w->page, w->index[i]);
}

/* The worker died while it loaded or opened a job. Once is bad luck; when it happens again the job
 * is left out, so that the others run and the next worker may be started at once: true. */
static bool is_job_left_out(struct pool *pool, const struct pool_worker *w, const char *how)
{
    if (!w->opening)
        return false;
    unsigned char *deaths = &pool->deaths[w->opening - 1];
    *deaths += *deaths < DEATHS_ENOUGH;
    if (*deaths < DEATHS_ENOUGH)
        return false;
    const char *name = pool->o.settings->jobs[w->opening - 1].name;
    log_line_about(pool->o.log, LOG_LEVEL_ERROR, (struct log_about){ .job = name },
                   "job %s: a worker died while it loaded or opened it (%s): it is left out", name, how);
    pool->failures = 0;
    pool->spawn_after_us = 0;
    return true;
}

static void pool_worker_ended(struct pool *pool, struct pool_worker *w, int status)
{
    char how[512];
    describe_end(how, sizeof how, w, status);
    bool was_starting = w->start_us && !w->served && !w->count && w->state != WORKER_IDLE && !w->retired;
    if (w->page) {
        pool_worker_collect(pool, w);
        if (w->taken < w->end)
            settle_claimed(pool, w, how);
    }
    pool_share_over(pool, w);
    if (w->child.output >= 0)
        pool_worker_drain(pool, w);
    pool_worker_tell_held(pool, w);
    /* what it reported itself, in pool->why, tells more than its exit status */
    if (was_starting && !is_job_left_out(pool, w, how))
        pool_spawn_failed(pool, w->why == pool->why ? pool->why : how);
    log_debug(pool->o.log, "worker %d is gone: %s", (int)w->child.pid, how);
    if (w->usable)
        pool->has_lost_worker = true;
    pool_worker_clear(w);
    while (pool->used > 0 && pool->workers[pool->used - 1].state == WORKER_FREE)
        pool->used--;
}

/* A group leader that has ended is a zombie until it is reaped, so no other process can have its
 * number: its group is killed first. */
void pool_reap(struct pool *pool)
{
    const struct spawner *sp = pool->o.spawner;
    for (int i = 0; i < pool->used; i++) {
        struct pool_worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE || !sp->has_ended(sp->ctx, w->child.pid))
            continue;
        if (!w->gone)
            pool_worker_listen(pool, w);
        pool_worker_signal(pool, w, SIGKILL);
        pool_worker_ended(pool, w, sp->bury(sp->ctx, w->child.pid));
    }
}

bool pool_has_child(const struct pool *pool, pid_t pid)
{
    for (int i = 0; i < pool->used; i++)
        if (pool->workers[i].state != WORKER_FREE && pool->workers[i].child.pid == pid)
            return true;
    return false;
}

/* Orphans of jobs become our children (we are a subreaper); a child that is no worker is just
 * reaped. */
void pool_reap_orphans(struct pool *pool)
{
    const struct spawner *sp = pool->o.spawner;
    for (int i = 0; i < 256; i++) {
        pid_t pid = sp->any_ended(sp->ctx);
        if (!pid)
            return;
        if (pool_has_child(pool, pid) || (pool->o.kin.has && pool->o.kin.has(pool->o.kin.ctx, pid)))
            return; /* a worker that ended just now: pool_reap takes it next time */
        sp->bury(sp->ctx, pid);
    }
}
