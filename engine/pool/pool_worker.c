/* pool_worker.c - one place in the table of workers: how many there are in a state, and what the
 * other files of the pool do to one. */
#include "pool_state.h"

#include <signal.h>
#include <stdlib.h>

static const char *const state_names[] = { "free", "starting", "idle", "running", "dying" };

int pool_count(const struct pool *pool, enum pool_worker_state state)
{
    int n = 0;
    for (int i = 0; i < pool->used; i++)
        n += pool->workers[i].state == state;
    return n;
}

int pool_live(const struct pool *pool)
{
    return pool->used - pool_count(pool, WORKER_FREE);
}

void pool_worker_clear(struct pool_worker *w)
{
    spawn_close(&w->child);
    slab_free(w->slab);
    free(w->usable);
    *w = (struct pool_worker){ .child = { .sock = -1, .output = -1 } };
}

void pool_worker_signal(const struct pool *pool, const struct pool_worker *w, int sig)
{
    pool->o.spawner->signal(pool->o.spawner->ctx, w->child.pid, sig);
}

void pool_worker_terminate(struct pool *pool, struct pool_worker *w, const char *why)
{
    log_debug(pool->o.log, "worker %d (%s) is ended: %s", (int)w->child.pid, state_names[w->state], why);
    w->state = WORKER_DYING;
    if (!w->why)
        w->why = why;
    pool_worker_signal(pool, w, SIGTERM);
    w->kill_us = pool_now_us(pool) + pool->o.settings->kill_grace_us;
}

int pool_worker_runs(const struct pool_worker *w, int claimed)
{
    int n = 0;
    for (int i = w->taken; i < claimed; i++)
        n += !w->ahead[i];
    return n;
}

bool pool_worker_is_stuck(const struct pool *pool, const struct pool_worker *w)
{
    return w->claimed > w->taken && pool_now_us(pool) - w->seen_us > WORKER_STUCK_US;
}

/* In a slab that was given as a batch several run at once. */
static int runs_of(const struct pool_worker *w, struct pool_run *out, int room)
{
    int n = 0;
    for (int i = w->taken; i < w->claimed && n < room; i++) {
        if (w->ahead[i])
            continue;
        out[n++] = (struct pool_run){
            .check = &w->page->rows.checks[w->index[i]], .pid = w->child.pid, .began_us = w->seen_us
        };
    }
    return n;
}

int pool_long_runs(const struct pool *pool, int64_t before_us, struct pool_run *out, int room)
{
    int n = 0;
    for (int i = 0; i < pool->used; i++) {
        const struct pool_worker *w = &pool->workers[i];
        bool runs = w->state == WORKER_RUNNING || w->state == WORKER_DYING;
        if (runs && w->page && w->claimed > w->taken && w->seen_us <= before_us)
            n += runs_of(w, out + n, room - n);
    }
    return n;
}
