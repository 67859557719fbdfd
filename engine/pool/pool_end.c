/* pool_end.c - deadlines, and the end of a worker: whose fault it was, and what becomes of the
 * checks it had. */
#include "pool_state.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../base/utf8.h"

enum {
    /* from the end of its socket to ours of it: most often it has died and is about to be reaped */
    GONE_US = 100 * 1000,
    FROZEN_US = 10 * 1000 * 1000,       /* a worker that has checks and starts none for so long */
};

/* ---- deadlines ---- */

/* How long what is running now may take: one check its job's timeout, several claimed at once
 * their batch timeout. */
static int64_t allowance_us(const struct pool *pool, const struct pool_worker *w, int claimed)
{
    int job = w->page->checks[w->index[w->taken]].job;
    const struct job_settings *j = job >= 0 && job < pool->o.settings->njobs ? &pool->o.settings->jobs[job]
                                                                             : &pool->o.settings->defaults;
    return claimed - w->taken > 1 ? j->batch_timeout_us : j->timeout_us;
}

/* Each new claim would wind its stopwatch back. Who claims has answered all that it had: it
 * looked, before our second look. */
static bool claims_too_early(const struct pool_worker *w, int claimed)
{
    return claimed > w->claimed && w->taken < w->claimed && w->taken < w->end;
}

static void watch_running(struct pool *pool, struct pool_worker *w, int64_t now)
{
    int taken = w->taken;
    pool_worker_collect(pool, w);
    int claimed = slab_claimed(w->slab);
    if (claimed > w->claimed)
        pool_worker_collect(pool, w);
    if (claims_too_early(w, claimed)) {
        pool_worker_terminate(pool, w, "it took new checks before it had answered the old ones");
        return;
    }
    if (claimed > w->end)
        claimed = w->end;
    if (claimed < w->claimed && w->claimed <= w->end)
        claimed = w->claimed;           /* claims only grow, whatever stands in its slab */
    if (w->taken != taken || claimed != w->claimed) {
        w->claimed = claimed;
        w->seen_us = now;
    }
    int64_t waited = now - w->seen_us;
    if (waited > WORKER_STUCK_US && w->end > claimed)
        pool_worker_cut(w);
    /* nothing of ours runs: it is about to say ENDED, waits for trust, or is frozen */
    if (claimed <= w->taken) {
        if (waited > FROZEN_US && (!w->page || w->start_until_us > clock_boot_us(pool->o.clock)))
            pool_worker_terminate(pool, w, "it does not go on");
    } else if (waited > allowance_us(pool, w, claimed)) {
        w->timed_out = true;
        pool_worker_terminate(pool, w, "timeout");
    }
}

/* It has died, and says by its exit status how; or a job closed its socket. What it has claimed it
 * may still answer. */
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

static void say_how_it_ended(char *out, size_t size, const struct pool_worker *w, int status)
{
    const char *colon = w->why ? ": " : "", *why = w->why ? w->why : "";
    if (WIFSIGNALED(status))
        snprintf(out, size, "killed by SIG%s%s%s",
                 sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?", colon, why);
    else
        snprintf(out, size, "exit status %d%s%s", WEXITSTATUS(status), colon, why);
}

/* What it had claimed and not answered: one check is told as timed out or crashed, several (a
 * batch) run again one by one. */
static void settle_claimed(struct pool *pool, struct pool_worker *w, const char *how)
{
    int claimed = slab_claimed(w->slab);
    if (claimed > w->end)
        claimed = w->end;
    if (claimed - w->taken > 1) {
        log_warn(pool->o.log, "job %s: %s with %d checks claimed: they run one by one",
                 w->page->rows.checks[w->index[w->taken]].job_exec, w->timed_out ? "timeout" : how,
                 claimed - w->taken);
        for (int i = w->taken; i < claimed; i++) {
            w->page->checks[w->index[i]].single = true;
            page_return(w->page, w->index[i]);
        }
    } else if (claimed - w->taken == 1) {
        int64_t ran = pool_now_us(pool) - w->seen_us;
        struct raw_answer raw = { .run_us = ran, .began_us = clock_boot_us(pool->o.clock) - ran };
        raw.text = w->timed_out ? arena_printf(w->page->arena, "no answer within %lld ms",
                                               (long long)allowance_us(pool, w, claimed) / 1000)
                                : arena_strndup(w->page->arena, how, utf8_valid_bytes(how, strlen(how)));
        pool_tell(pool, w, w->taken++, w->timed_out ? ANSWER_TIMEOUT : ANSWER_CRASH, &raw);
    }
    if (claimed < w->taken)
        claimed = w->taken;
    for (int i = w->end - 1; i >= claimed; i--)
        page_return(w->page, w->index[i]);
}

/* It died while it loaded or opened a job: that job's doing, or bad luck. True when the job is
 * left out from now on, so that the others run, and the next worker may be started at once. */
static bool is_job_left_out(struct pool *pool, const struct pool_worker *w, const char *how)
{
    if (!w->opening)
        return false;
    unsigned char *deaths = &pool->deaths[w->opening - 1];
    *deaths += *deaths < DEATHS_ENOUGH;
    if (*deaths < DEATHS_ENOUGH)
        return false;
    log_error(pool->o.log, "job %s: a worker died while it loaded or opened it (%s): it is left out",
              pool->o.settings->jobs[w->opening - 1].name, how);
    pool->failures = 0;
    pool->spawn_after_us = 0;
    return true;
}

static void pool_worker_ended(struct pool *pool, struct pool_worker *w, int status)
{
    char how[512];
    say_how_it_ended(how, sizeof how, w, status);
    bool was_starting = w->start_us && !w->served && !w->count && w->state != WORKER_IDLE && !w->retired;
    if (w->page) {
        pool_worker_collect(pool, w);
        if (w->taken < w->end)
            settle_claimed(pool, w, how);
    }
    if (w->child.output >= 0)
        pool_worker_drain(pool, w);
    if (was_starting && !is_job_left_out(pool, w, how))
        pool_spawn_failed(pool, w->why && w->why != pool->why ? how : w->why ? pool->why : how);
    log_debug(pool->o.log, "worker %d is gone: %s", (int)w->child.pid, how);
    pool->has_lost_one = pool->has_lost_one || w->usable;
    pool_worker_clear(w);
}

/* A leader that has ended is still a zombie here, so its number cannot be anybody else's: take its
 * group down first. */
void pool_reap(struct pool *pool)
{
    const struct spawner *sp = pool->o.spawner;
    for (int i = 0; i < pool->size; i++) {
        struct pool_worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE || !sp->has_ended(sp->ctx, w->child.pid))
            continue;
        if (!w->gone)
            pool_worker_listen(pool, w);
        pool_worker_signal(pool, w, SIGKILL);
        pool_worker_ended(pool, w, sp->bury(sp->ctx, w->child.pid));
    }
}

/* Orphans of jobs become ours (we are a subreaper); whoever is not a worker is only reaped. */
void pool_reap_orphans(struct pool *pool)
{
    const struct spawner *sp = pool->o.spawner;
    for (int i = 0; i < 256; i++) {
        pid_t pid = sp->any_ended(sp->ctx);
        if (!pid)
            return;
        for (int k = 0; k < pool->size; k++)
            if (pool->workers[k].state != WORKER_FREE && pool->workers[k].child.pid == pid)
                return;                 /* a worker that ended just now: the next reap is its */
        sp->bury(sp->ctx, pid);
    }
}
