/* pool_listen.c - what comes from a worker: answers in its slab, messages over its socket, and the
 * output of its jobs. */
#include "pool_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <prescient/job.h>
#include "../base/failpoint.h"
#include "../base/settings_secret.h"
#include "../base/utf8.h"
#include "../rules/about.h"
#include "../wire/message.h"

enum {
    OUTPUT_BYTES_MAX = 64 * 1024,       /* of what a worker prints and logs while it has one slab */
    /* texts and effects of one page; above it, a check with effects is deferred */
    PAGE_ANSWER_BYTES = 32 << 20,
    /* between the worker's clock and ours: a suspend counts for one of them only */
    CLOCK_SLACK_US = 5 * 1000 * 1000,
};

/* ---- answers ---- */

/* Lowers the end of a worker's slab to what it has claimed; the rest waits again in its page. */
void pool_worker_cut(struct pool_worker *w)
{
    int end = slab_cut(w->slab);
    if (end < w->reached)
        end = w->reached;
    for (int i = w->end - 1; i >= end; i--)
        page_return(w->page, w->index[i]);
    if (end >= w->end)
        return;
    w->end = end;
    /* it may be waiting for trust: now it finds its slab at an end, and sends ENDED */
    if (w->state == WORKER_RUNNING)
        message_send(w->child.sock, MESSAGE_CONTINUE, NULL, 0, -1, NULL);
}

static const enum answer_kind kind_of_raw[] = {
    [PRESCIENT_NO_ANSWER] = ANSWER_FAIL, [PRESCIENT_DONE] = ANSWER_DONE, [PRESCIENT_AGAIN] = ANSWER_AGAIN,
    [PRESCIENT_DEFER] = ANSWER_DEFER,    [PRESCIENT_FAIL] = ANSWER_FAIL,
    [PRESCIENT_FAIL_FINAL] = ANSWER_FAIL_FINAL, [PRESCIENT_BROKEN] = ANSWER_BROKEN,
};

void pool_report(struct pool *pool, struct pool_worker *w, int place, enum answer_kind kind,
                 const struct raw_answer *raw, int64_t taken_us)
{
    FAILPOINT("after-run");
    pool->o.events.answered(pool->o.events.ctx, w->page, w->index[place], kind, raw, taken_us);
}

/* The times that a worker reports are bounded by how long it has had the check. */
static void bound_times(struct raw_answer *raw, int64_t had_us, int64_t boot_us)
{
    if (raw->run_us > had_us + CLOCK_SLACK_US)
        raw->run_us = had_us;
    if (raw->began_us < boot_us - had_us - CLOCK_SLACK_US || raw->began_us > boot_us + CLOCK_SLACK_US)
        raw->began_us = boot_us - raw->run_us;
}

static bool take_one(struct pool_worker *w, int place, struct raw_answer *raw)
{
    struct arena *a = w->page->arena;
    bool crowded = arena_used(a) > PAGE_ANSWER_BYTES;
    return crowded ? slab_take_without_effects(w->slab, place, a, raw)
                   : slab_take_answer(w->slab, place, a, raw);
}

/* The next place from `place` on whose answer is there and not collected. Those behind the first
 * gap count only when they are claimed: a cut leaves them with this worker then. -1: none. */
static int next_answered(const struct pool_worker *w, int place)
{
    if (place == w->taken && place < w->end && slab_is_answered(w->slab, place))
        return place;
    int claimed = slab_claimed(w->slab), end = claimed < w->end ? claimed : w->end;
    for (; place < end; place++)
        if (!w->ahead[place] && slab_is_answered(w->slab, place))
            return place;
    return -1;
}

/* Before the report, which may make the owner cut this slab. */
static void note_taken(struct pool_worker *w, int place)
{
    w->ahead[place] = true;
    w->served++;
    if (w->reached <= place)
        w->reached = place + 1;
    while (w->taken < w->reached && w->ahead[w->taken])
        w->taken++;
}

/* Takes the answers that are there. Places that were cut off meanwhile are left out: other workers
 * have those checks. */
void pool_worker_collect(struct pool *pool, struct pool_worker *w)
{
    int place = next_answered(w, w->taken);
    if (place < 0)
        return;
    int64_t now_us = pool_now_us(pool), boot_us = clock_boot_us(pool->o.clock);
    int64_t had_us = now_us - w->given_us;
    pool_share_answered(pool, w, place, now_us);
    for (; place >= 0; place = next_answered(w, place + 1)) {
        struct raw_answer raw = { 0 };
        if (!take_one(w, place, &raw))
            break;
        bool known = raw.kind >= 0 && (size_t)raw.kind < sizeof kind_of_raw / sizeof *kind_of_raw;
        if (raw.kind == PRESCIENT_NO_ANSWER && !raw.text)
            raw.text = "the job gave no answer";
        bound_times(&raw, had_us, boot_us);
        note_taken(w, place);
        pool_report(pool, w, place, known ? kind_of_raw[raw.kind] : ANSWER_BAD, &raw, now_us);
    }
}

static void slab_over(struct pool *pool, struct pool_worker *w)
{
    pool_share_over(pool, w);
    w->page = NULL;
    w->count = w->end = w->taken = w->reached = 0;
    w->state = WORKER_IDLE;
}

static void slab_ended(struct pool *pool, struct pool_worker *w, uint32_t generation)
{
    if (w->state != WORKER_RUNNING || generation != slab_generation(w->slab))
        return;
    pool_worker_collect(pool, w);
    if (w->taken > 0 && w->taken < w->end)
        pool_worker_cut(w);     /* its room for answers is full: the rest goes into another slab */
    /* it sent ENDED too early: it cannot be trusted with another slab */
    if (w->taken < w->end) {
        w->why = "it reported the end of its checks before all were answered";
        w->gone = true;
        return;
    }
    slab_over(pool, w);
}

/* ---- messages ---- */

static void pool_worker_ready(struct pool *pool, struct pool_worker *w, const char *usable, int n)
{
    if (w->state != WORKER_STARTING)
        return;
    w->state = WORKER_IDLE;
    w->opening = 0;
    pool->failures = 0;
    pool->broken = false;
    int njobs = pool->o.settings->njobs;
    w->usable = calloc((size_t)njobs + 1, sizeof *w->usable);
    if (!w->usable) {
        w->why = "out of memory for the list of its jobs";
        w->gone = true;
        return;
    }
    for (int i = 0; i < njobs; i++) {
        w->usable[i] = i < n && usable[i] != RUNS_NOT;
        w->lacks_some = w->lacks_some || !w->usable[i];
        pool_share_note_batches(pool, i, i < n && usable[i] == RUNS_BATCHES);
    }
    pool_look_at_jobs(pool);
}

static void pool_worker_opens(const struct pool *pool, struct pool_worker *w, const char *body, int n)
{
    uint32_t job;
    if (n != (int)sizeof job || w->state != WORKER_STARTING)
        return;
    memcpy(&job, body, sizeof job);
    w->opening = job < (uint32_t)pool->o.settings->njobs ? (int)job + 1 : 0;
}

/* Allowed only while it starts. */
static void pool_worker_failed(struct pool *pool, struct pool_worker *w, const char *message, int n)
{
    if (w->state != WORKER_STARTING)
        return;
    /* this may become a note, and databases take valid UTF-8 only */
    size_t len = utf8_cut(message, utf8_valid_bytes(message, (size_t)n), sizeof pool->why - 1);
    snprintf(pool->why, sizeof pool->why, "%.*s", (int)len, message);
    w->why = pool->why;
    w->opening = 0;
}

/* Takes room for `n` bytes in the log. Once there is none, output is dropped until a quarter is
 * free again, so that the log has one line about it and not one each time. */
static bool take_room(struct pool *pool, size_t n)
{
    struct output_budget *b = &pool->output;
    int64_t now = pool_now_us(pool), more = (now - b->since_us) / 1000 * OUTPUT_PER_S / 1000;
    if (more > 0) {
        b->room = b->room + more < OUTPUT_BURST ? b->room + more : OUTPUT_BURST;
        b->since_us = now;
    }
    if (b->room < (int64_t)n || (b->dropped && b->room < OUTPUT_BURST / 4)) {
        if (!b->dropped)
            log_warn(pool->o.log,
                     "jobs print too much for the log: output beyond %d KiB a second is dropped",
                     OUTPUT_PER_S >> 10);
        b->dropped += (int64_t)n;
        return false;
    }
    if (b->dropped)
        log_warn(pool->o.log, "%lld bytes that jobs printed were dropped", (long long)b->dropped);
    b->dropped = 0;
    b->room -= (int64_t)n;
    return true;
}

/* Whether `n` bytes that a worker prints or logs go into the log: there is a limit for each slab,
 * and a rate for all workers together. */
static bool may_log(struct pool *pool, struct pool_worker *w, size_t n)
{
    bool before = w->printed < OUTPUT_BYTES_MAX;
    w->printed += n;
    if (!before)
        return false;
    if (w->printed < OUTPUT_BYTES_MAX)
        return take_room(pool, n);
    if (take_room(pool, 100))
        log_warn(pool->o.log, "worker %d prints too much: its output is dropped until its next checks",
                 (int)w->child.pid);
    return false;
}

/* It opens one job at a time, and is given checks of one. */
static struct log_about about_work(const struct pool *pool, const struct pool_worker *w)
{
    if (w->opening)
        return (struct log_about){ .job = pool->o.settings->jobs[w->opening - 1].name };
    if (!w->page || w->taken >= w->end)
        return (struct log_about){ 0 };
    const struct check *c = &w->page->rows.checks[w->index[w->taken]];
    return about_job(c->next_check_at, c->job_exec);
}

static void pool_worker_logs(struct pool *pool, struct pool_worker *w, const char *body, int n)
{
    if (n < 1 || !may_log(pool, w, (size_t)n))
        return;
    int level = (unsigned char)body[0];
    enum log_level as = level <= LOG_LEVEL_ERROR ? (enum log_level)level : LOG_LEVEL_ERROR;
    log_line_about(pool->o.log, as, about_work(pool, w), "%.*s", n - 1, body + 1);
}

static void pool_worker_requests(const struct pool *pool, struct pool_worker *w, const char *body, int n)
{
    if (!pool->o.is_dry) {
        w->why = "it sent a request that nobody wants to see";
        w->gone = true;
    } else if (pool->o.events.requested) {
        pool->o.events.requested(pool->o.events.ctx, body, (size_t)n);
    }
}

static void pool_worker_sent(struct pool *pool, struct pool_worker *w, enum message_kind kind,
                             const char *body, int n)
{
    uint32_t generation = 0;
    switch (kind) {
    case MESSAGE_READY:
        pool_worker_ready(pool, w, body, n);
        break;
    case MESSAGE_OPENING:
        pool_worker_opens(pool, w, body, n);
        break;
    case MESSAGE_ENDED:
        if (n == (int)sizeof generation) {
            memcpy(&generation, body, sizeof generation);
            slab_ended(pool, w, generation);
        }
        break;
    case MESSAGE_LOG:
        pool_worker_logs(pool, w, body, n);
        break;
    case MESSAGE_FAILED:
        pool_worker_failed(pool, w, body, n);
        break;
    case MESSAGE_REQUEST:
        pool_worker_requests(pool, w, body, n);
        break;
    default:
        w->why = "it sent an unknown message";
        w->gone = true;
    }
}

void pool_worker_listen(struct pool *pool, struct pool_worker *w)
{
    char body[MESSAGE_MAX + 1];
    /* a bound: a job that sends many messages must not keep the loop here */
    for (int i = 0; i < 64 && !w->gone; i++) {
        enum message_kind kind;
        int fd = -1;
        int n = message_receive(w->child.sock, &kind, body, &fd, NULL);
        if (fd >= 0)
            close(fd);
        if (n == ERR_BUSY)
            return;
        if (n < 0)
            w->gone = true;
        else
            pool_worker_sent(pool, w, kind, body, n);
    }
}

/* Puts what a worker printed into the log. */
static void log_printed(const struct pool *pool, const struct pool_worker *w, char *text, size_t n)
{
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    settings_secret_hide(text, pool->secrets, pool->nsecrets, true);
    if (*text)
        log_line_about(pool->o.log, LOG_LEVEL_INFO, about_work(pool, w), "worker %d printed: %s",
                       (int)w->child.pid, text);
}

/* Keeps the end of a text of `n` bytes that may be part of a secret; returns how long the rest
 * is. */
static size_t hold(const struct pool *pool, struct pool_worker *w, char *text, size_t n)
{
    for (char *end = text; (end = memchr(end, '\0', (size_t)(text + n - end))) != NULL;)
        *end = '?';
    text[n] = '\0';
    size_t open = settings_secret_open_end(text, pool->secrets, pool->nsecrets);
    w->nheld = open < sizeof w->held ? open : sizeof w->held;
    memcpy(w->held, text + n - w->nheld, w->nheld);
    return n - open;
}

/* What jobs print goes to the log, within its limits; the rest is read and dropped, so that no job
 * blocks on a full pipe. A read ends anywhere, also in a secret. */
void pool_worker_drain(struct pool *pool, struct pool_worker *w)
{
    char text[POOL_HELD_MAX + 2048];
    for (int i = 0; i < 16; i++) {
        size_t held = w->nheld;
        ssize_t n = read(w->child.output, text + held, sizeof text - 1 - held);
        if (n == 0) {
            close(w->child.output);
            w->child.output = -1;
        }
        if (n <= 0)
            return;
        memcpy(text, w->held, held);
        bool is_shown = may_log(pool, w, (size_t)n);
        size_t rest = hold(pool, w, text, held + (size_t)n);
        if (is_shown)
            log_printed(pool, w, text, rest);
    }
}

void pool_worker_tell_held(struct pool *pool, struct pool_worker *w)
{
    char text[POOL_HELD_MAX + 1];
    memcpy(text, w->held, w->nheld);
    log_printed(pool, w, text, w->nheld);
    w->nheld = 0;
}
