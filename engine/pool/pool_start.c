/* pool_start.c - how many workers there should be, starting them, backing off when they do not get
 * ready, and which jobs they can run. */
#include "pool_state.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "../rules/retry.h"
#include "../wire/message.h"
#include "sent.h"

enum {
    BROKEN_AFTER = 3,                   /* workers in a row that died before they were ready */
    BACKOFF_US = 200 * 1000,
    BACKOFF_MAX_US = 30 * 1000 * 1000,
};

/* All settings have been sent: the worker may begin, without the jobs that workers have died of. */
static int send_begin(struct pool *pool, struct pool_worker *w, struct err *err)
{
    char how[MESSAGE_MAX - 1];
    char usual = pool->o.is_dry ? BEGIN_DRY : BEGIN_RUN;
    int n = pool->o.settings->njobs < MESSAGE_MAX - 1 ? pool->o.settings->njobs : MESSAGE_MAX - 1;
    for (int i = 0; i < n; i++)
        how[i] = pool->deaths[i] >= DEATHS_ENOUGH ? BEGIN_LEAVE_OUT : usual;
    return message_send(w->child.sock, MESSAGE_BEGIN, how, (size_t)n, -1, err);
}

static int send_settings(struct pool *pool, struct pool_worker *w, int slab_fd, struct err *err)
{
    int rc = sent_send(w->child.sock, pool->settings_text, pool->settings_len, slab_fd, err);
    if (rc < 0)
        return rc;
    return send_begin(pool, w, err);
}

void pool_spawn_failed(struct pool *pool, const char *why)
{
    pool->failures++;
    pool->spawn_after_us = pool_now_us(pool) + retry_delay(BACKOFF_US, BACKOFF_MAX_US, pool->failures - 1,
                                                           random_next(&pool->random));
    if (why != pool->why)               /* else a worker's own message is there already */
        snprintf(pool->why, sizeof pool->why, "%s", why);
    bool none_left = pool_count(pool, WORKER_IDLE) + pool_count(pool, WORKER_RUNNING) == 0;
    if (pool->failures >= BROKEN_AFTER && none_left)
        pool->broken = true;
    else if (pool->failures >= BROKEN_AFTER)
        pool_look_at_jobs(pool);        /* a worker that could run some job may not come back soon */
    log_warn(pool->o.log, "a worker did not get ready (%d in a row): %s", pool->failures, why);
}

static void spawn(struct pool *pool, struct pool_worker *w)
{
    struct err err = { 0 };
    int fd = -1;
    const struct settings *s = pool->o.settings;
    int rc = slab_new(&w->slab, &fd, &err);
    if (!rc)
        rc = pool->o.spawner->start(pool->o.spawner->ctx, pool->o.program, !s->business, &w->child, &err);
    if (rc) {
        slab_free(w->slab);
        *w = (struct pool_worker){ .child = { .sock = -1, .output = -1 } };
    } else {
        w->state = WORKER_STARTING;
        w->start_us = pool_now_us(pool);
        if (send_settings(pool, w, fd, &err))
            w->gone = true;             /* it died already: pool_reap will see how */
    }
    if (fd >= 0)
        close(fd);
    if (rc)
        pool_spawn_failed(pool, err.text);
}

/* How many workers there should be: the usual number, and one more for each that is stuck or
 * dying. */
static int wanted(const struct pool *pool)
{
    int n = pool->usual, waiting = 0;
    for (int i = 0; i < pool->npages; i++)
        waiting += page_waiting(pool->pages[i]);
    if (!waiting)
        return n;
    for (int i = 0; i < pool->used; i++) {
        const struct pool_worker *w = &pool->workers[i];
        n += w->state == WORKER_DYING ||
             (w->state == WORKER_RUNNING && (w->end < w->count || pool_worker_is_stuck(pool, w)));
    }
    return n < pool->size ? n : pool->size;
}

void pool_spawn_missing(struct pool *pool)
{
    if (!pool->started || pool_now_us(pool) < pool->spawn_after_us)
        return;
    int live = pool_live(pool);
    for (int i = 0; i < pool->size && live < wanted(pool); i++)
        if (pool->workers[i].state == WORKER_FREE) {
            spawn(pool, &pool->workers[i]);
            if (pool->workers[i].state == WORKER_FREE)
                return;                 /* no processes or descriptors left: back off */
            live++;
            if (pool->used <= i)
                pool->used = i + 1;
        }
}

/* Only root can start workers as another user. Without, the setting has no effect, and the operator
 * should know. */
static void warn_of_worker_user(const struct pool *pool)
{
    const char *name = pool->o.settings->worker_user;
    if (!name || geteuid() == 0)
        return;
    const struct passwd *user = getpwnam(name);
    if (!user || user->pw_uid != geteuid())
        log_warn(pool->o.log,
                 "worker_user is '%s', but only an engine started by root can switch users: workers run as "
                 "user %u",
                 name, (unsigned)geteuid());
}

void pool_start(struct pool *pool)
{
    if (!pool->started)
        warn_of_worker_user(pool);
    pool->started = true;
    pool_spawn_missing(pool);
}

/* Some worker that is idle or running has opened the job. */
static bool can_be_run(const struct pool *pool, int job)
{
    for (int i = 0; i < pool->used; i++) {
        const struct pool_worker *w = &pool->workers[i];
        if ((w->state == WORKER_IDLE || w->state == WORKER_RUNNING) && w->usable && w->usable[job])
            return true;
    }
    return false;
}

void pool_look_at_jobs(struct pool *pool)
{
    if (!pool->started)
        return;                         /* it ends, and its workers one after the other: no news */
    bool has_changed = !pool->ready;
    pool->ready = true;
    for (int job = 0; job < pool->o.settings->njobs; job++) {
        bool can = can_be_run(pool, job);
        has_changed = has_changed || can != pool->usable[job];
        pool->usable[job] = can;
    }
    if (has_changed && pool->o.events.ready)
        pool->o.events.ready(pool->o.events.ctx, pool->usable);
}

bool pool_is_ready(const struct pool *pool)
{
    return pool->ready;
}

const char *pool_broken(const struct pool *pool)
{
    return pool->broken ? pool->why : NULL;
}
