/* trial.c - a pool of one worker, and a page of one check. */
#include "trial.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "../base/cleanup.h"
#include "../pool/pool.h"
#include "../pool/spawn.h"
#include "../rules/job_limits.h"
#include "../rules/slot.h"

struct run {
    struct settings settings;           /* those of the trial, with its job alone */
    struct agenda agenda;
    struct pool *pool;
    struct page *page;
    struct arena *arena;
    struct trial_result *out;
    char *request;                      /* what has come of it */
    size_t request_len;
    bool is_over;
};

/* The texts of an answer live in the page's arena, which goes with the page. */
static const char *kept(struct arena *a, const char *text)
{
    return arena_strdup(a, text);
}

static void keep(struct run *r, const struct raw_answer *raw)
{
    struct raw_answer *to = &r->out->raw;
    *to = *raw;
    to->text = kept(r->arena, raw->text);
    to->effects = arena_zalloc(r->arena, sizeof *to->effects * (size_t)(raw->neffects + 1));
    for (int i = 0; to->effects && i < raw->neffects; i++) {
        struct effect *e = &to->effects[i];
        *e = raw->effects[i];
        e->event = kept(r->arena, e->event);
        e->entity_name = kept(r->arena, e->entity_name);
        e->entity_key = kept(r->arena, e->entity_key);
        e->job = kept(r->arena, e->job);
        e->json = kept(r->arena, e->json);
        e->conflict = kept(r->arena, e->conflict);
        e->concurrency_key = kept(r->arena, e->concurrency_key);
        e->tenant = kept(r->arena, e->tenant);
    }
}

static void answered(void *ctx, struct page *page, int index, enum answer_kind kind,
                     const struct raw_answer *raw, int64_t taken_us)
{
    struct run *r = ctx;
    r->out->kind = kind;
    keep(r, raw);
    r->is_over = true;
    page_answer(page, index, taken_us);
    page_over(page, index);
}

/* It comes from a worker, so in any length. */
static void requested(void *ctx, const char *part, size_t n)
{
    enum { REQUEST_MAX = 1 << 20 };
    struct run *r = ctx;
    if (n > REQUEST_MAX - r->request_len)
        n = REQUEST_MAX - r->request_len;
    char *more = realloc(r->request, r->request_len + n + 1);
    if (!more)
        return;
    memcpy(more + r->request_len, part, n);
    r->request = more;
    r->request_len += n;
    more[r->request_len] = '\0';
}

static int first_job(void *ctx, const char *name)
{
    (void)ctx, (void)name;
    return 0;
}

static uint32_t length_of(const char *text)
{
    return text ? (uint32_t)strlen(text) : 0;
}

static int make_page(struct run *r, const struct trial *t, struct err *err)
{
    enum { LONG_US = 1000000000 };      /* nobody takes the lease away that we do not have */
    struct check *check = calloc(1, sizeof *check);
    int64_t slot = slot_floor(t->now, t->slot_length_s);
    if (!check)
        return err_set(err, ERR_NOMEM, "out of memory");
    *check = (struct check){
        .first_check_at = slot,
        .next_check_at = slot,
        .entity_name = t->entity_name,
        .entity_name_len = length_of(t->entity_name),
        .entity_key = t->entity_key,
        .entity_key_len = length_of(t->entity_key),
        .job_exec = r->settings.jobs->name,
        .job_exec_len = length_of(r->settings.jobs->name),
        .payload = t->payload,
        .payload_len = length_of(t->payload),
        .terms = t->terms,
    };
    struct check_rows rows = { .checks = check, .n = 1 };
    r->page = page_new(&rows, first_job, NULL, t->now);
    if (!r->page)
        return err_set(err, ERR_NOMEM, "out of memory");
    r->page->start_until_us = clock_boot_us(&clock_system) + LONG_US * INT64_C(1000);
    return 0;
}

static int make_pool(struct run *r, const struct trial *t, struct err *err)
{
    struct pool_options options = {
        .settings = &r->settings,
        .clock = &clock_system,
        .spawner = &spawner_system,
        .log = t->log,
        .agenda = &r->agenda,
        .events = { .answered = answered, .requested = requested, .ctx = r },
        .is_dry = t->is_dry,
    };
    int rc = pool_new(&options, &r->pool, err);
    if (rc < 0)
        return rc;
    if (!pool_offer(r->pool, r->page))
        return err_set(err, ERR_NOMEM, "out of memory");
    return 0;
}

static void turn(struct run *r)
{
    enum { FDS = 8, MOST_MS = 20 };
    struct pollfd fds[FDS];
    int n = pool_poll_fds(r->pool, fds, FDS);
    poll(fds, (nfds_t)n, MOST_MS);
    agenda_ring(&r->agenda, clock_mono_us(&clock_system));
    pool_tick(r->pool);
}

/* The job is closed as it was opened. */
static void end(struct run *r)
{
    if (r->pool && r->is_over) {
        pool_retire(r->pool);
        while (!pool_is_retired(r->pool))
            turn(r);
    }
    pool_free(r->pool);
    page_free(r->page);
}

static void judge(const struct trial *t, struct trial_result *out)
{
    const struct job_settings *j = &t->settings->jobs[t->job];
    struct guard_policy policy = t->terms ? job_limits_of_deliveries(j, t->slot_length_s)
                                          : job_limits_policy(j, t->slot_length_s);
    struct guard_input in = {
        .answer = out->kind,
        .at = out->raw.at,
        .now = t->now,
        .ended_at = t->now + (out->raw.run_us + 999999) / 1000000,
        .slot = slot_floor(t->now, t->slot_length_s),
    };
    out->verdict = guard_judge(&policy, &in);
}

int trial_run(const struct trial *trial, struct arena *arena, struct trial_result *out, struct err *err)
{
    struct run r = { .settings = *trial->settings, .arena = arena, .out = out };
    r.settings.jobs = &trial->settings->jobs[trial->job];
    r.settings.njobs = r.settings.workers = r.settings.workers_max = 1;
    int rc = make_page(&r, trial, err);
    if (rc == 0)
        rc = make_pool(&r, trial, err);
    if (rc == 0)
        pool_start(r.pool);
    while (rc == 0 && !r.is_over) {
        turn(&r);
        if (pool_broken(r.pool))
            rc = err_set(err, ERR_SETTINGS, "%s", pool_broken(r.pool));
    }
    end(&r);
    out->request = kept(arena, r.request);
    free(r.request);
    if (rc < 0)
        return rc;
    judge(trial, out);
    return 0;
}
