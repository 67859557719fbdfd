/* worker_call.c - checks of the slab become calls of their jobs, and what these answer goes into
 * the slab. A check costs no message, no allocation, and two readings of the clock. */
#include "worker_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_ROOM = SLAB_TEXT_MAX + 1,      /* for the text of one check; each of a batch has less */
    BATCH_TEXT_ROOM = 1280,             /* a KiB of what a receiver wrote, and some words */
};

int worker_make_batch(struct worker *w, struct err *err)
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

void worker_release_batch(struct worker *w)
{
    free(w->batch.seen);
    free(w->batch.checks);
    free(w->batch.answers);
    free(w->batch.host);
    free(w->batch.texts);
}

/* What a delivery brings is the document of its event. */
static void bring_event(struct host *host, struct prescient_check *check, struct host_answer *answer)
{
    const struct prescient_host *api = host_api(host);
    check->payload = api->document(api, check);
    if (check->payload)
        return;
    answer->is_refused = true;
    answer->refusal = "out of memory for the event";
}

static void prepare(struct worker *w, struct host *host, int place, int index)
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
    char *text = b->texts + (size_t)place * b->text_room;
    text[0] = '\0';
    b->answers[place] = (struct prescient_answer){
        .size = sizeof b->answers[place], .text = text, .text_size = b->text_room, .impl = &b->host[place],
    };
    if (c->terms)
        bring_event(host, &b->checks[place], &b->host[place]);
}

/* The text that replaces the job's own, if any, and the answer with it. */
static const char *overrule(const struct worker *w, int place, struct prescient_answer *a)
{
    const struct host_answer *h = &w->batch.host[place];
    if (h->is_crowded) {
        prescient_defer(a, w->batch.seen[place].now);
        return "put off: the other checks of its batch have taken all room for effects";
    }
    bool has_failed = a->kind >= PRESCIENT_FAIL && a->kind <= PRESCIENT_BROKEN;
    if (a->kind == PRESCIENT_FAIL && host_api(w->batch.of)->broken(host_api(w->batch.of)))
        a->kind = PRESCIENT_BROKEN;     /* its query failed, as it would for any other row */
    if (a->kind != PRESCIENT_NO_ANSWER && (!h->is_refused || has_failed))
        return NULL;
    a->kind = PRESCIENT_FAIL;
    return h->is_refused ? h->refusal : "no answer";
}

/* ---- the deadline of checks that have a concurrency key ---- */

/* What is left of the call may take so long from now on. */
static void allow_from(const struct worker *w, int64_t now_us)
{
    const struct job_settings *s = w->batch.settings;
    int64_t timeout_us = w->batch.left > 1 ? s->batch_timeout_us : s->timeout_us;
    deadline_set(&w->deadline, now_us + timeout_us + w->settings.kill_grace_us + SLAB_DEADLINE_SLACK_US);
}

/* Behind the claim, which has compared that moment with the trust in the places of the keys. */
static void begin_deadline(struct worker *w, const struct job *job, int from, int n, int64_t began_us)
{
    w->batch.nkeyed = 0;
    if (!slab_has_key(w->slab, from, n))
        return;
    w->batch.settings = job->settings;
    w->batch.left = n;
    for (int i = from; i < from + n; i++)
        w->batch.nkeyed += slab_has_key(w->slab, i, 1);
    allow_from(w, began_us);
}

static void end_deadline(struct worker *w)
{
    if (w->batch.nkeyed)
        deadline_set(&w->deadline, 0);
    w->batch.nkeyed = 0;
}

/* The others have their time anew, as the engine counts it, if they might be started at this
 * moment: then their places last for so long. What has no key is the engine's to end. */
static void move_deadline(struct worker *w, int index)
{
    struct batch *b = &w->batch;
    b->left--;
    b->nkeyed -= slab_has_key(w->slab, index, 1);
    if (!b->nkeyed) {
        deadline_set(&w->deadline, 0);
        return;
    }
    int64_t now_us = worker_boot_us();
    if (slab_may_start(w->slab, now_us) && !slab_is_stopped(w->slab))
        allow_from(w, now_us);
}

/* ---- answers ---- */

static void publish(struct worker *w, int place, int64_t run_us)
{
    struct batch *b = &w->batch;
    struct prescient_answer *a = &b->answers[place];
    int index = b->host[place].index;
    char *text = b->texts + (size_t)place * b->text_room;
    const char *overruled = overrule(w, place, a);
    if (overruled)
        slab_drop_effects(w->slab, index);      /* it will be run again, and declare them again */
    else if (*text)
        worker_clean(w, text, b->text_room);
    b->host[place].is_published = true;
    if (b->nkeyed)
        move_deadline(w, index);
    if (overruled && w->nsecrets) {
        snprintf(text, b->text_room, "%s", overruled);
        worker_clean(w, text, b->text_room);
        overruled = text;
    }
    slab_answer(w->slab, index, a->kind, a->at, b->began_us, run_us, overruled ? overruled : text);
}

bool worker_publish_early(void *ctx, struct prescient_answer *answer)
{
    struct worker *w = ctx;
    struct batch *b = &w->batch;
    if (!b->n || answer < b->answers || answer >= b->answers + b->n)
        return false;
    publish(w, (int)(answer - b->answers), worker_boot_us() - b->began_us);
    return true;
}

static void begin_call(struct worker *w, struct host *host, int from, int n, size_t text_room,
                       int64_t began_us)
{
    w->batch.n = n;
    w->batch.of = host;
    w->batch.text_room = text_room;
    w->batch.began_us = began_us;
    for (int i = 0; i < n; i++)
        prepare(w, host, i, from + i);
}

/* What it has not handed over itself shares the time that is over. */
static void end_call(struct worker *w)
{
    struct batch *b = &w->batch;
    int64_t each_us = (worker_boot_us() - b->began_us) / b->n;
    end_deadline(w);
    for (int i = 0; i < b->n; i++)
        if (!b->host[i].is_published)
            publish(w, i, each_us);
    b->n = 0;
}

static void run_one(struct worker *w, struct job *job, int index, int64_t began_us)
{
    host_begin(job->host, began_us + job->settings->timeout_us);
    begin_call(w, job->host, index, 1, TEXT_ROOM, began_us);
    job->plugin.api.job_exec(job->state, &w->batch.checks[0], &w->batch.answers[0]);
    end_call(w);
}

static void run_many(struct worker *w, struct job *job, int from, int n, int64_t began_us)
{
    host_begin(job->host, began_us + job->settings->batch_timeout_us);
    begin_call(w, job->host, from, n, BATCH_TEXT_ROOM, began_us);
    job->plugin.api.job_exec_many(job->state, w->batch.checks, n, w->batch.answers);
    end_call(w);
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

static void run(struct worker *w, struct job *job, int from, int n, int64_t began_us)
{
    begin_deadline(w, job, from, n, began_us);
    if (n == 1)
        run_one(w, job, from, began_us);
    else
        run_many(w, job, from, n, began_us);
}

void worker_work(struct worker *w)
{
    for (;;) {
        int index = -1, from, n;
        bool single = true;
        slab_peek(w->slab, &index, &single);
        struct job *job = job_at(w, index);
        int64_t began_us = worker_boot_us();
        enum slab_claim claim = slab_claim(w->slab, job && !single ? job->most : 1, began_us, &from, &n);
        w->is_waiting = claim == SLAB_UNTRUSTED;
        if (claim == SLAB_EMPTY)
            worker_send(w, MESSAGE_ENDED, &w->generation, sizeof w->generation);
        if (claim != SLAB_CLAIMED)
            return;
        if (!job || !job->is_usable)
            run_none(w, job, from, began_us);
        else
            run(w, job, from, n, began_us);
    }
}
