/* pool.c - workers as a table of states; everything that can happen to one is a small function.
 * What a worker says is checked before it is believed (slab_take_answer), and what it does not say in time ends it. */
#include "pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <prescient/job.h>
#include "../rules/retry.h"
#include "spawn.h"
#include "wire.h"

enum {
    WATCH_US = 20 * 1000,               /* how often running workers are looked at */
    STUCK_US = 250 * 1000,              /* longer than this on one check: the rest of the slab goes to others */
    GONE_US = 100 * 1000,               /* from the end of its socket to ours of it: most often it has died and is about to be reaped */
    FROZEN_US = 10 * 1000 * 1000,       /* a worker that has checks and starts none for so long */
    STARTING_US = 30 * 1000 * 1000,     /* a worker must be ready by then */
    BROKEN_AFTER = 3,                   /* workers in a row that died before they were ready */
    BACKOFF_US = 200 * 1000,
    BACKOFF_MAX_US = 30 * 1000 * 1000,
    OUTPUT_BYTES_MAX = 64 * 1024,       /* of what a worker prints while it has one slab */
    WORKERS_LIMIT = 1024,
};

enum worker_state { WORKER_FREE, WORKER_STARTING, WORKER_IDLE, WORKER_RUNNING, WORKER_DYING };
static const char *const state_names[] = { "free", "starting", "idle", "running", "dying" };

struct worker {
    enum worker_state state;
    struct child child;
    struct slab *slab;
    struct page *page;                  /* whose checks it has; NULL when idle */
    int index[SLAB_CHECKS_MAX];         /* of the page, by place in the slab */
    int count, taken;                   /* checks in the slab; answers collected, always the first ones */
    int end;                            /* places from here on were cut off and are not this worker's any more */
    int64_t given_us;
    int claimed;                        /* as last seen */
    int64_t seen_us;                    /* when what is running now was first seen */
    bool timed_out;                     /* it is dying because of a deadline */
    const char *why;                    /* what the log and the crash say, beyond its exit status */
    int64_t kill_us;                    /* DYING: SIGKILL then; 0: was sent */
    int64_t start_us;
    int32_t served;                     /* checks so far */
    size_t printed;                     /* bytes on stdout and stderr, this slab */
    bool gone;                          /* its socket is at its end, or it broke the rules */
    int64_t gone_us;                    /* since when */
};

struct pool {
    struct pool_options o;
    struct settings sent;               /* the settings a worker gets: no store but the business database */
    char *settings_text;
    size_t settings_len;
    struct worker *workers;
    int size, usual;                    /* places; how many run when nothing is stuck */
    struct page **pages;                /* offered, oldest first */
    int npages, pages_room, turn;
    bool started, ready;
    int failures;                       /* in a row, before being ready */
    int64_t spawn_after_us;
    bool broken;
    char why[1024];
    uint64_t random;
};

static int64_t now_us(const struct pool *pool)
{
    return clock_mono_us(pool->o.clock);
}

/* ---- making and ending the pool ---- */

static int print_settings(struct pool *pool, struct err *err)
{
    pool->sent = *pool->o.settings;
    if (pool->sent.business)
        pool->sent.store = pool->sent.business;     /* a worker never learns where the store is */
    FILE *f = open_memstream(&pool->settings_text, &pool->settings_len);
    if (!f)
        return err_set(err, ERR_NOMEM, "out of memory for the workers' settings");
    int rc = settings_print(&pool->sent, f, false, true, err);
    fclose(f);
    return rc;
}

int pool_new(const struct pool_options *options, struct pool **out, struct err *err)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return err_set(err, ERR_NOMEM, "out of memory for the workers");
    pool->o = *options;
    if (!pool->o.program)
        pool->o.program = "/proc/self/exe";
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pool->usual = options->settings->workers ? options->settings->workers : (int)(cores > 0 ? cores : 1);
    pool->size = options->settings->workers_max > pool->usual ? options->settings->workers_max : pool->usual;
    if (pool->size > WORKERS_LIMIT)
        pool->size = WORKERS_LIMIT;
    /* A worker has one business connection, so this many workers is how their number is capped. */
    int connections = options->settings->business_connections;
    if (connections && pool->size > connections)
        pool->size = connections;
    if (pool->usual > pool->size)
        pool->usual = pool->size;
    pool->random = (uint64_t)getpid() << 32 ^ (uint64_t)now_us(pool);
    pool->workers = calloc((size_t)pool->size, sizeof *pool->workers);
    int rc = pool->workers ? print_settings(pool, err) : err_set(err, ERR_NOMEM, "out of memory for %d workers", pool->size);
    if (rc) {
        pool_free(pool);
        return rc;
    }
    *out = pool;
    return 0;
}

static void worker_clear(struct worker *w)
{
    child_close(&w->child);
    slab_free(w->slab);
    *w = (struct worker){ .child = { .sock = -1, .output = -1 } };
}

static void signal_group(const struct worker *w, int sig)
{
    kill(-w->child.pid, sig);
    kill(w->child.pid, sig);            /* a job may have left its process group */
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    for (int i = 0; pool->workers && i < pool->size; i++) {
        struct worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        signal_group(w, SIGKILL);
        while (waitpid(w->child.pid, NULL, 0) < 0 && errno == EINTR)
            ;
        worker_clear(w);
    }
    free(pool->workers);
    free(pool->pages);
    free(pool->settings_text);
    free(pool);
}

/* ---- starting workers ---- */

static int count_in(const struct pool *pool, enum worker_state state)
{
    int n = 0;
    for (int i = 0; i < pool->size; i++)
        n += pool->workers[i].state == state;
    return n;
}

static int send_settings(struct pool *pool, struct worker *w, int slab_fd, struct err *err)
{
    size_t part = WIRE_MAX - 1;
    for (size_t at = 0; at < pool->settings_len || at == 0; at += part) {
        size_t n = pool->settings_len - at < part ? pool->settings_len - at : part;
        int rc = wire_send(w->child.sock, WIRE_SETTINGS, pool->settings_text + at, n, at == 0 ? slab_fd : -1, err);
        if (rc)
            return rc;
    }
    return wire_send(w->child.sock, WIRE_BEGIN, NULL, 0, -1, err);
}

static void spawn_failed(struct pool *pool, const char *why)
{
    pool->failures++;
    pool->spawn_after_us = now_us(pool) + retry_delay(BACKOFF_US, BACKOFF_MAX_US, pool->failures - 1, random_next(&pool->random));
    snprintf(pool->why, sizeof pool->why, "%s", why);
    if (pool->failures >= BROKEN_AFTER && !pool->ready)
        pool->broken = true;
    log_warn(pool->o.log, "a worker did not get ready (%d in a row): %s", pool->failures, why);
}

static void spawn(struct pool *pool, struct worker *w)
{
    struct err err = { 0 };
    int fd = -1;
    const struct settings *s = pool->o.settings;
    int rc = slab_new(&w->slab, &fd, &err);
    if (!rc)
        rc = spawn_worker(pool->o.program, !s->business, &w->child, &err);
    if (rc) {
        slab_free(w->slab);
        *w = (struct worker){ .child = { .sock = -1, .output = -1 } };
    } else {
        w->state = WORKER_STARTING;
        w->start_us = now_us(pool);
        if (send_settings(pool, w, fd, &err))
            w->gone = true;             /* it died already; the reaper will say how */
    }
    if (fd >= 0)
        close(fd);
    if (rc)
        spawn_failed(pool, err.text);
}

/* How many workers there should be: the usual number, and one more for each that is stuck or dying. */
static int wanted(const struct pool *pool)
{
    int n = pool->usual, waiting = 0;
    for (int i = 0; i < pool->npages; i++)
        waiting += page_waiting(pool->pages[i]);
    if (!waiting)
        return n;
    for (int i = 0; i < pool->size; i++) {
        const struct worker *w = &pool->workers[i];
        n += w->state == WORKER_DYING || (w->state == WORKER_RUNNING && w->end < w->count);
    }
    return n < pool->size ? n : pool->size;
}

static void spawn_missing(struct pool *pool)
{
    if (!pool->started || now_us(pool) < pool->spawn_after_us)
        return;
    int live = pool->size - count_in(pool, WORKER_FREE);
    for (int i = 0; i < pool->size && live < wanted(pool); i++)
        if (pool->workers[i].state == WORKER_FREE) {
            spawn(pool, &pool->workers[i]);
            if (pool->workers[i].state == WORKER_FREE)
                return;                 /* no processes or descriptors left: back off */
            live++;
        }
}

void pool_start(struct pool *pool)
{
    pool->started = true;
    spawn_missing(pool);
}

bool pool_is_ready(const struct pool *pool)
{
    return pool->ready;
}

const char *pool_broken(const struct pool *pool)
{
    return pool->broken ? pool->why : NULL;
}

/* ---- pages ---- */

void pool_offer(struct pool *pool, struct page *page)
{
    if (pool->npages == pool->pages_room) {
        int room = pool->pages_room ? pool->pages_room * 2 : 16;
        struct page **more = realloc(pool->pages, (size_t)room * sizeof *more);
        if (!more) {
            log_error(pool->o.log, "out of memory: a page of %d checks is left for later", page->rows.n);
            return;
        }
        pool->pages = more;
        pool->pages_room = room;
    }
    pool->pages[pool->npages++] = page;
}

void pool_forget(struct pool *pool, struct page *page)
{
    for (int i = 0; i < pool->npages; i++)
        if (pool->pages[i] == page) {
            memmove(&pool->pages[i], &pool->pages[i + 1], (size_t)(pool->npages - i - 1) * sizeof *pool->pages);
            pool->npages--;
            return;
        }
}

/* Lowers the end of a worker's slab to what it has claimed; what is cut off waits again in its page. */
static void cut(struct worker *w)
{
    int end = slab_cut(w->slab);
    if (end < w->taken)
        end = w->taken;
    for (int i = w->end - 1; i >= end; i--)
        page_return(w->page, w->index[i]);
    if (end < w->end)
        w->end = end;
}

void pool_cut(struct pool *pool, struct page *page)
{
    for (int i = 0; i < pool->size; i++)
        if (pool->workers[i].page == page)
            cut(&pool->workers[i]);
}

void pool_extend_trust(struct pool *pool, const struct page *page)
{
    for (int i = 0; i < pool->size; i++) {
        struct worker *w = &pool->workers[i];
        if (w->page != page || w->state != WORKER_RUNNING)
            continue;
        slab_extend_trust(w->slab, page->start_until_us);
        w->seen_us = now_us(pool);
        wire_send(w->child.sock, WIRE_CONTINUE, NULL, 0, -1, NULL);     /* only matters to one that waits for it */
    }
}

/* ---- giving ---- */

static struct page *page_with_work(struct pool *pool)
{
    for (int i = 0; i < pool->npages; i++) {
        struct page *p = pool->pages[i];
        if (page_waiting(p) > 0 && p->start_until_us > clock_boot_us(pool->o.clock))
            return p;
    }
    return NULL;
}

static void give(struct pool *pool, struct worker *w, struct page *page)
{
    slab_reset(w->slab, page->now, page->start_until_us);
    int most = pool->o.settings->slab, n = 0;
    for (int i; n < most && n < SLAB_CHECKS_MAX && (i = page_next(page)) >= 0; n++) {
        const struct page_check *c = &page->checks[i];
        if (n > 0 && (c->single || page->checks[w->index[0]].single))
            break;                      /* a suspect has a slab of its own: what happens to the slab is its own doing */
        if (!slab_put(w->slab, &page->rows.checks[i], c->job, c->single))
            break;
        page_give(page, i);
        w->index[n] = i;
    }
    w->page = page;
    w->count = w->end = n;
    w->taken = w->claimed = 0;
    w->printed = 0;
    w->given_us = w->seen_us = now_us(pool);
    w->state = WORKER_RUNNING;
    uint32_t generation = slab_generation(w->slab);
    slab_open(w->slab);
    if (wire_send(w->child.sock, WIRE_RUN, &generation, sizeof generation, -1, NULL))
        w->gone = true;
}

static void retire(struct worker *w)
{
    if (wire_send(w->child.sock, WIRE_EXIT, NULL, 0, -1, NULL))
        signal_group(w, SIGKILL);
    w->state = WORKER_DYING;
    w->why = "replaced";
}

static void give_all(struct pool *pool)
{
    for (int i = 0; i < pool->size; i++) {
        struct worker *w = &pool->workers[i];
        if (w->state != WORKER_IDLE || w->gone)
            continue;
        if (pool->o.settings->worker_checks && w->served >= pool->o.settings->worker_checks) {
            retire(w);
            w->kill_us = now_us(pool) + pool->o.settings->kill_grace_us;
            continue;
        }
        struct page *page = page_with_work(pool);
        if (!page)
            return;
        give(pool, w, page);
    }
}

/* ---- collecting ---- */

static const enum answer_kind kind_of_raw[] = {
    [PRESCIENT_NO_ANSWER] = ANSWER_FAIL, [PRESCIENT_DONE] = ANSWER_DONE, [PRESCIENT_AGAIN] = ANSWER_AGAIN,
    [PRESCIENT_DEFER] = ANSWER_DEFER,    [PRESCIENT_FAIL] = ANSWER_FAIL,
};

static void tell(struct pool *pool, struct worker *w, int place, enum answer_kind kind, const struct raw_answer *raw)
{
    pool->o.events.answered(pool->o.events.ctx, w->page, w->index[place], kind, raw);
}

/* Takes the answers that are there, in order. Those of places that were cut off meanwhile are not this worker's to give. */
static void collect(struct pool *pool, struct worker *w)
{
    while (w->taken < w->end && slab_is_answered(w->slab, w->taken)) {
        struct raw_answer raw = { 0 };
        if (!slab_take_answer(w->slab, w->taken, w->page->arena, &raw))
            break;
        bool known = raw.kind >= 0 && (size_t)raw.kind < sizeof kind_of_raw / sizeof *kind_of_raw;
        if (raw.kind == PRESCIENT_NO_ANSWER && !raw.text)
            raw.text = "the job gave no answer";
        int place = w->taken++;         /* first, since being told may make the owner cut this slab */
        w->served++;
        tell(pool, w, place, known ? kind_of_raw[raw.kind] : ANSWER_BAD, &raw);
    }
}

static void slab_over(struct worker *w)
{
    w->page = NULL;
    w->count = w->end = w->taken = 0;
    w->state = WORKER_IDLE;
}

static void slab_ended(struct pool *pool, struct worker *w, uint32_t generation)
{
    if (w->state != WORKER_RUNNING || generation != slab_generation(w->slab))
        return;
    collect(pool, w);
    if (w->taken > 0 && w->taken < w->end)
        cut(w);                         /* its room for answers is full: the rest goes into another slab */
    if (w->taken < w->end) {            /* it says it is done and is not: it cannot be trusted with another slab */
        w->why = "it said that it was done before it was";
        w->gone = true;
        return;
    }
    slab_over(w);
}

/* ---- what workers say ---- */

static void worker_ready(struct pool *pool, struct worker *w, const char *usable, int n)
{
    if (w->state != WORKER_STARTING)
        return;
    w->state = WORKER_IDLE;
    pool->failures = 0;
    pool->broken = false;
    if (pool->ready)
        return;
    pool->ready = true;
    int njobs = pool->o.settings->njobs;
    bool *known = calloc((size_t)njobs + 1, sizeof *known);
    for (int i = 0; known && i < njobs && i < n; i++)
        known[i] = usable[i] != 0;
    if (known && pool->o.events.ready)
        pool->o.events.ready(pool->o.events.ctx, known);
    free(known);
}

static void worker_logs(struct pool *pool, const char *body, int n)
{
    if (n < 1)
        return;
    int level = (unsigned char)body[0];
    log_line(pool->o.log, level <= LOG_LEVEL_ERROR ? (enum log_level)level : LOG_LEVEL_ERROR, "%.*s", n - 1, body + 1);
}

static void worker_says(struct pool *pool, struct worker *w, enum wire_kind kind, const char *body, int n)
{
    uint32_t generation = 0;
    switch (kind) {
    case WIRE_READY:
        worker_ready(pool, w, body, n);
        break;
    case WIRE_ENDED:
        if (n == (int)sizeof generation) {
            memcpy(&generation, body, sizeof generation);
            slab_ended(pool, w, generation);
        }
        break;
    case WIRE_LOG:
        worker_logs(pool, body, n);
        break;
    case WIRE_FAILED:
        snprintf(pool->why, sizeof pool->why, "%.*s", n, body);
        w->why = pool->why;
        break;
    default:
        w->why = "it sent a message that does not exist";
        w->gone = true;
    }
}

static void listen_to(struct pool *pool, struct worker *w)
{
    char body[WIRE_MAX + 1];
    for (int i = 0; i < 64 && !w->gone; i++) {      /* a bound: a job that chatters must not keep the loop here */
        enum wire_kind kind;
        int fd = -1;
        int n = wire_receive(w->child.sock, &kind, body, &fd, NULL);
        if (fd >= 0)
            close(fd);
        if (n == ERR_BUSY)
            return;
        if (n < 0)
            w->gone = true;
        else
            worker_says(pool, w, kind, body, n);
    }
}

/* What jobs print goes to the log, bounded for each slab; the rest is read and thrown away so that nobody blocks. */
static void drain_output(struct pool *pool, struct worker *w)
{
    char text[2048];
    for (int i = 0; i < 16; i++) {
        ssize_t n = read(w->child.output, text, sizeof text - 1);
        if (n == 0) {
            close(w->child.output);
            w->child.output = -1;
        }
        if (n <= 0)
            return;
        bool before = w->printed < OUTPUT_BYTES_MAX;
        w->printed += (size_t)n;
        while (n > 0 && text[n - 1] == '\n')
            n--;
        if (before && w->printed < OUTPUT_BYTES_MAX)
            log_info(pool->o.log, "worker %d printed: %.*s", (int)w->child.pid, (int)n, text);
        else if (before)
            log_warn(pool->o.log, "worker %d prints too much: the rest is dropped", (int)w->child.pid);
    }
}

/* ---- deadlines ---- */

static void put_down(struct pool *pool, struct worker *w, const char *why)
{
    log_debug(pool->o.log, "worker %d (%s) is ended: %s", (int)w->child.pid, state_names[w->state], why);
    w->state = WORKER_DYING;
    if (!w->why)
        w->why = why;
    signal_group(w, SIGTERM);
    w->kill_us = now_us(pool) + pool->o.settings->kill_grace_us;
}

/* How long what is running now may take: one check its job's timeout, several claimed at once their batch timeout. */
static int64_t allowance_us(const struct pool *pool, const struct worker *w, int claimed)
{
    int job = w->page->checks[w->index[w->taken]].job;
    const struct job_settings *j = job >= 0 && job < pool->o.settings->njobs ? &pool->o.settings->jobs[job] : &pool->o.settings->defaults;
    return claimed - w->taken > 1 ? j->batch_timeout_us : j->timeout_us;
}

static void watch_running(struct pool *pool, struct worker *w, int64_t now)
{
    int taken = w->taken;
    collect(pool, w);
    int claimed = slab_claimed(w->slab);
    if (claimed > w->end)
        claimed = w->end;
    if (w->taken != taken || claimed != w->claimed) {
        w->claimed = claimed;
        w->seen_us = now;
    }
    int64_t waited = now - w->seen_us;
    if (waited > STUCK_US && w->end > claimed)
        cut(w);
    if (claimed <= w->taken) {          /* nothing of ours runs: it is about to say ENDED, waits for trust, or is frozen */
        if (waited > FROZEN_US && w->page->start_until_us > clock_boot_us(pool->o.clock))
            put_down(pool, w, "it does not go on");
    } else if (waited > allowance_us(pool, w, claimed)) {
        w->timed_out = true;
        put_down(pool, w, "timeout");
    }
}

/* It has died, and says by its exit status how; or a job closed its socket. What it has claimed it may still answer. */
static void watch_gone(struct pool *pool, struct worker *w, int64_t now)
{
    if (!w->gone_us) {
        w->gone_us = now;
        if (w->page)
            cut(w);
    } else if (now - w->gone_us > GONE_US)
        put_down(pool, w, "it closed its connection");
}

static void watch(struct pool *pool, struct worker *w, int64_t now)
{
    if (w->gone && w->state != WORKER_DYING)
        watch_gone(pool, w, now);
    if (w->state == WORKER_STARTING && now - w->start_us > STARTING_US)
        put_down(pool, w, "it was not ready in time");
    else if (w->state == WORKER_RUNNING)
        watch_running(pool, w, now);
    else if (w->state == WORKER_DYING && w->kill_us && now >= w->kill_us) {
        signal_group(w, SIGKILL);
        w->kill_us = 0;
    }
}

/* ---- the end of a worker ---- */

static void say_how_it_ended(char *out, size_t size, const struct worker *w, int status)
{
    const char *colon = w->why ? ": " : "", *why = w->why ? w->why : "";
    if (WIFSIGNALED(status))
        snprintf(out, size, "killed by SIG%s%s%s", sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?", colon, why);
    else
        snprintf(out, size, "exit status %d%s%s", WEXITSTATUS(status), colon, why);
}

/* What it had claimed and not answered: one check is told as timed out or crashed, several (a batch) run again one by one. */
static void settle_claimed(struct pool *pool, struct worker *w, const char *how)
{
    int claimed = slab_claimed(w->slab);
    if (claimed > w->end)
        claimed = w->end;
    if (claimed - w->taken > 1) {
        log_warn(pool->o.log, "job %s: %s with %d checks claimed: they run one by one",
                 w->page->rows.checks[w->index[w->taken]].job_exec, w->timed_out ? "timeout" : how, claimed - w->taken);
        for (int i = w->taken; i < claimed; i++) {
            w->page->checks[w->index[i]].single = true;
            page_return(w->page, w->index[i]);
        }
    } else if (claimed - w->taken == 1) {
        int64_t ran = now_us(pool) - w->seen_us;
        struct raw_answer raw = { .run_us = ran, .run_at_us = clock_wall_us(pool->o.clock) - ran };
        raw.text = w->timed_out ? arena_printf(w->page->arena, "no answer within %lld ms", (long long)allowance_us(pool, w, claimed) / 1000)
                                : arena_strdup(w->page->arena, how);
        tell(pool, w, w->taken++, w->timed_out ? ANSWER_TIMEOUT : ANSWER_CRASH, &raw);
    }
    if (claimed < w->taken)
        claimed = w->taken;
    for (int i = w->end - 1; i >= claimed; i--)
        page_return(w->page, w->index[i]);
}

static void worker_ended(struct pool *pool, struct worker *w, int status)
{
    char how[512];
    say_how_it_ended(how, sizeof how, w, status);
    bool was_starting = w->start_us && !w->served && !w->page && w->state != WORKER_IDLE && !(w->why && !strcmp(w->why, "replaced"));
    if (w->page) {
        collect(pool, w);
        if (w->taken < w->end)
            settle_claimed(pool, w, how);
    }
    if (w->child.output >= 0)
        drain_output(pool, w);
    if (was_starting)
        spawn_failed(pool, w->why && w->why != pool->why ? how : w->why ? pool->why : how);
    log_debug(pool->o.log, "worker %d is gone: %s", (int)w->child.pid, how);
    worker_clear(w);
}

/* A leader that has ended is still a zombie here, so its number cannot be anybody else's: take its group down first. */
static void reap(struct pool *pool)
{
    for (int i = 0; i < pool->size; i++) {
        struct worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        siginfo_t info = { 0 };
        if (waitid(P_PID, (id_t)w->child.pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
            continue;
        if (!w->gone)
            listen_to(pool, w);
        kill(-w->child.pid, SIGKILL);
        int status = 0;
        waitpid(w->child.pid, &status, 0);
        worker_ended(pool, w, status);
    }
}

/* Orphans of jobs become ours (we are a subreaper); whoever is not a worker is only reaped. */
static void reap_orphans(struct pool *pool)
{
    for (int i = 0; i < 256; i++) {
        siginfo_t info = { 0 };
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
            return;
        for (int k = 0; k < pool->size; k++)
            if (pool->workers[k].state != WORKER_FREE && pool->workers[k].child.pid == info.si_pid)
                return;                 /* a worker that ended just now: the next reap is its */
        waitpid(info.si_pid, NULL, WNOHANG);
    }
}

/* ---- the loop's side ---- */

void pool_tick(struct pool *pool)
{
    int64_t now = now_us(pool);
    reap(pool);
    reap_orphans(pool);
    for (int i = 0; i < pool->size; i++) {
        struct worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        if (!w->gone)
            listen_to(pool, w);
        if (w->child.output >= 0)
            drain_output(pool, w);
        watch(pool, w, now);
    }
    spawn_missing(pool);
    give_all(pool);
}

int64_t pool_next_us(const struct pool *pool)
{
    int64_t next = INT64_MAX, now = now_us(pool);
    bool waiting = false;
    for (int i = 0; i < pool->npages; i++)
        waiting = waiting || page_waiting(pool->pages[i]) > 0;
    for (int i = 0; i < pool->size; i++) {
        const struct worker *w = &pool->workers[i];
        int64_t at = w->state == WORKER_RUNNING || w->state == WORKER_DYING || w->gone ? now + WATCH_US
                     : w->state == WORKER_STARTING                                    ? w->start_us + STARTING_US
                                                                                      : INT64_MAX;
        next = at < next ? at : next;
    }
    if (waiting && now < pool->spawn_after_us && pool->spawn_after_us < next)
        next = pool->spawn_after_us;
    return next;
}

int pool_poll_fds(const struct pool *pool, struct pollfd *out, int room)
{
    int n = 0;
    for (int i = 0; i < pool->size && n + 2 <= room; i++) {
        const struct worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        if (!w->gone)
            out[n++] = (struct pollfd){ .fd = w->child.sock, .events = POLLIN };
        if (w->child.output >= 0)
            out[n++] = (struct pollfd){ .fd = w->child.output, .events = POLLIN };
    }
    return n;
}

bool pool_is_hungry(const struct pool *pool)
{
    for (int i = 0; i < pool->npages; i++)
        if (page_waiting(pool->pages[i]) > 0)
            return false;
    return count_in(pool, WORKER_IDLE) > 0 || !pool->ready;
}

int pool_running(const struct pool *pool)
{
    int n = 0;
    for (int i = 0; i < pool->size; i++)
        n += pool->workers[i].page != NULL;
    return n;
}

void pool_kill(struct pool *pool)
{
    for (int i = 0; i < pool->size; i++) {
        struct worker *w = &pool->workers[i];
        if (w->state == WORKER_FREE)
            continue;
        signal_group(w, SIGKILL);
        w->state = WORKER_DYING;
        w->kill_us = 0;
        if (!w->why)
            w->why = "stopped";
    }
}

int pool_pids(const struct pool *pool, pid_t *out, int room)
{
    int n = 0;
    for (int i = 0; i < pool->size && n < room; i++)
        if (pool->workers[i].state != WORKER_FREE)
            out[n++] = pool->workers[i].child.pid;
    return n;
}
