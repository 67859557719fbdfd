/* why_ask.c - see why_ask.h. What is true of all checks of the row is asked once; the rest only
 * where the answer may depend on it. */
#include "why_ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/nearest.h"
#include "../rules/idempotency.h"
#include "../rules/job_limits.h"
#include "../rules/slot.h"

/* How many rows each report may have. A row has seldom more than a few checks. */
#define CHECKS_MOST "100"
#define EVENTS_MOST "20"
enum { EVENTS_ASKED = 20 };
#define PAUSES_MOST "1000"
#define RUNNING_MOST "10000"

struct asking {
    const struct why_source *source;
    const char *entity, *key, *job;
    struct err *err;
    struct store_rows waiting, runs, over, events, pauses, running, engines, noted;
    struct store_rows keys;         /* asked when one is needed */
    bool has_keys;
    int64_t searched_to;
    int64_t events_to_us;           /* some older ones of its day may be missing; 0: none */
};

static int ask(struct asking *q, const char *report, const char *const *params, int n, struct store_rows *out)
{
    return q->source->rows(q->source->ctx, report, params, n, out, q->err);
}

static bool is_same(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* ---- what is asked once ---- */

static int ask_checks(struct asking *q)
{
    const char *waiting[] = { q->entity, q->key, q->job, NULL, NULL, CHECKS_MOST, NULL };
    const char *search_ms = arena_printf(q->source->arena, "%d", q->source->search_ms);
    const char *past[] = { q->entity, q->key, q->job, NULL, NULL, NULL, CHECKS_MOST, search_ms };
    if (!search_ms)
        return err_set(q->err, ERR_NOMEM, "out of memory");
    int rc = ask(q, "list", waiting, 7, &q->waiting);
    if (rc == 0)
        rc = ask(q, "runs", past, 8, &q->runs);
    if (rc == 0)
        rc = ask(q, "history", past, 8, &q->over);
    if (rc < 0)
        return rc;
    rows_drop_end(&q->runs);
    const char *end_us = rows_drop_end(&q->over);
    q->searched_to = end_us ? strtoll(end_us, NULL, 10) / 1000000 : 0;
    return 0;
}

static int ask_events(struct asking *q)
{
    const char *params[] = { q->entity, q->key, EVENTS_MOST };
    int rc = ask(q, "row_events", params, 3, &q->events);
    if (rc < 0)
        return rc;
    const char *end_us = rows_drop_end(&q->events);
    q->events_to_us = end_us ? strtoll(end_us, NULL, 10) : 0;
    return 0;
}

static int ask_around(struct asking *q)
{
    const char *pauses[] = { PAUSES_MOST }, *running[] = { "0", RUNNING_MOST };
    int rc = ask(q, "pauses_on", pauses, 1, &q->pauses);
    if (rc == 0)
        rc = ask(q, "running", running, 2, &q->running);
    if (rc == 0)
        rc = ask(q, "engines", NULL, 0, &q->engines);
    if (rc == 0)
        rc = ask(q, "jobs_noted", NULL, 0, &q->noted);
    return rc;
}

/* ---- facts of one check ---- */

/* The row of the job, or -1. The newest comes first. */
static int row_of_job(const struct store_rows *rows, const char *job)
{
    for (int r = 0; r < rows->rows; r++)
        if (is_same(rows_value(rows, r, "job_exec"), job))
            return r;
    return -1;
}

static enum why_job job_is(const struct asking *q, const char *job, const char **meant)
{
    bool knows_all = q->noted.rows > 0, is_known = false;
    for (int r = 0; r < q->noted.rows && !is_known; r++) {
        const char *noted = rows_value(&q->noted, r, "job");
        knows_all = knows_all && noted;
        is_known = is_same(noted, job);
    }
    if (is_known)
        return WHY_JOB_KNOWN;
    if (!knows_all)
        return WHY_JOB_UNSURE;
    struct nearest near = { .wanted = job };
    for (int r = 0; r < q->noted.rows; r++)
        nearest_look(&near, rows_value(&q->noted, r, "job"));
    *meant = nearest_word(&near);
    return WHY_JOB_UNKNOWN;
}

/* A check that has been put aside lies in the slot of its pause. One that has not will be, if the
 * pause names it; whether a schedule's is its is not known here. */
static bool is_paused_by(const struct asking *q, int pause, int check, int64_t next_at)
{
    const char *what = rows_value(&q->pauses, pause, "what"), *name = rows_value(&q->pauses, pause, "name");
    if (slot_is_of_pause(next_at))
        return rows_number(&q->pauses, pause, "slot") == next_at;
    if (is_same(what, "job"))
        return is_same(name, rows_value(&q->waiting, check, "job_exec"));
    if (is_same(what, "tenant"))
        return is_same(name, rows_value(&q->waiting, check, "tenant"));
    return is_same(what, "entity") && is_same(name, q->entity);
}

static bool fill_pause(const struct asking *q, int check, int64_t next_at, struct why_pause *out)
{
    for (int r = 0; r < q->pauses.rows; r++) {
        if (!is_paused_by(q, r, check, next_at))
            continue;
        *out = (struct why_pause){
            .what = rows_value(&q->pauses, r, "what"), .name = rows_value(&q->pauses, r, "name"),
            .by = rows_value(&q->pauses, r, "paused_by"), .reason = rows_value(&q->pauses, r, "reason"),
            .at = rows_number(&q->pauses, r, "paused_at"),
        };
        return true;
    }
    return false;
}

static bool fill_running(const struct asking *q, const char *job, struct why_running *out)
{
    for (int r = 0; r < q->running.rows; r++) {
        if (!is_same(rows_value(&q->running, r, "entity_name"), q->entity) ||
            !is_same(rows_value(&q->running, r, "entity_key"), q->key) ||
            !is_same(rows_value(&q->running, r, "job_exec"), job))
            continue;
        *out = (struct why_running){ rows_value(&q->running, r, "engine"),
                                     rows_number(&q->running, r, "worker"),
                                     rows_number(&q->running, r, "began_at") };
        return true;
    }
    return false;
}

/* Whether the job is one of "a, b". */
static bool is_among(const char *names, const char *job)
{
    size_t len = strlen(job);
    for (const char *at = names; at && (at = strstr(at, job)); at += len) {
        bool begins = at == names || at[-1] == ' ';
        if (begins && (!at[len] || at[len] == ','))
            return true;
    }
    return false;
}

static int ask_slot(struct asking *q, int64_t slot, const char *job, struct why_slot *out)
{
    struct store_rows rows;
    const char *params[] = { arena_printf(q->source->arena, "%" PRId64, slot) };
    if (!*params)
        return err_set(q->err, ERR_NOMEM, "out of memory");
    int rc = ask(q, "state_of_slot", params, 1, &rows);
    if (rc == 0)
        *out = (struct why_slot){ rows_value(&rows, 0, "state"), rows_value(&rows, 0, "engine"),
                                  rows_number(&rows, 0, "opened_at"),
                                  is_among(rows_value(&rows, 0, "left_jobs"), job) };
    return rc;
}

/* Whether somebody holds a place of the key. */
static int ask_place(struct asking *q, const char *key, struct why_place *out, bool *is_held)
{
    const char *most[] = { NULL };
    *is_held = false;
    int rc = q->has_keys ? 0 : ask(q, "keys", most, 1, &q->keys);
    if (rc < 0)
        return rc;
    q->has_keys = true;
    for (int r = 0; r < q->keys.rows && !*is_held; r++) {
        bool is_of_key = is_same(rows_value(&q->keys, r, "concurrency_key"), key);
        *is_held = is_of_key && rows_value(&q->keys, r, "place");
        *out = (struct why_place){ rows_value(&q->keys, r, "engine"), rows_number(&q->keys, r, "taken_at") };
    }
    return 0;
}

static int64_t failures_most(const struct asking *q, const char *job)
{
    const struct job_settings *settings = job ? settings_job(q->source->settings, job, NULL) : NULL;
    if (!settings)
        return 0;
    bool is_delivery = is_same(q->entity, DELIVERY_ENTITY);
    struct guard_policy policy = is_delivery ? job_limits_of_deliveries(settings, q->source->slot_length_s)
                                             : job_limits_policy(settings, q->source->slot_length_s);
    return guard_failures_most(&policy);
}

static struct why_facts facts_of(const struct asking *q, const char *job)
{
    return (struct why_facts){
        .entity = q->entity, .key = q->key, .job = job, .now = q->source->now,
        .telling = q->source->telling,
        .failures_most = failures_most(q, job), .searched_to = q->searched_to,
    };
}

/* Its newest run, if it is that which has moved the check to where it is: not one of an earlier
 * life, nor one after which somebody else has moved it. */
static bool fill_run(const struct asking *q, const char *job, int64_t next_at, struct why_run *out)
{
    int run = row_of_job(&q->runs, job), over = row_of_job(&q->over, job);
    if (run < 0 || rows_number(&q->runs, run, "next_check_at") != next_at)
        return false;
    int64_t run_at_us = rows_number(&q->runs, run, "run_at_us");
    if (over >= 0 && rows_number(&q->over, over, "ended_at_us") >= run_at_us)
        return false;
    *out = (struct why_run){ rows_value(&q->runs, run, "outcome"), rows_value(&q->runs, run, "note"),
                             rows_value(&q->runs, run, "engine"), run_at_us / 1000000 };
    return true;
}

/* A slot that is no number is one of PostgreSQL's infinities. */
static int64_t slot_of(const struct store_rows *rows, int row)
{
    const char *cell = rows_value(rows, row, "next_check_at");
    bool is_number = cell && (*cell == '-' || (*cell >= '0' && *cell <= '9'));
    return is_number ? rows_number(rows, row, "next_check_at") : INT64_MAX;
}

static int decide_waiting(struct asking *q, int row, struct why_item *out)
{
    const struct store_rows *w = &q->waiting;
    struct why_check check = {
        .next_at = slot_of(w, row), .put_off_at = rows_number(w, row, "put_off_at"),
        .failure_count = (int32_t)rows_number(w, row, "failure_count"),
        .concurrency_key = rows_value(w, row, "concurrency_key"),
    };
    const char *job = rows_value(w, row, "job_exec");
    struct why_facts f = facts_of(q, job);
    bool is_due = check.next_at <= f.now, is_soon = is_due || check.next_at - f.now <= WHY_SOON_S;
    bool is_held = false;
    struct why_slot slot = { 0 };
    struct why_place place;
    struct why_pause pause;
    struct why_running running;
    struct why_run run;
    struct why_engines engines = { q->engines.rows, rows_number(&q->engines, 0, "seen_at"),
                                   rows_value(&q->engines, 0, "engine") };
    int rc = is_due ? ask_slot(q, check.next_at, job, &slot) : 0;
    if (rc == 0 && is_soon && check.concurrency_key)
        rc = ask_place(q, check.concurrency_key, &place, &is_held);
    if (rc < 0)
        return rc;
    f.check = &check;
    f.slot = is_due ? &slot : NULL;
    f.place = is_held ? &place : NULL;
    f.engines = &engines;
    f.pause = fill_pause(q, row, check.next_at, &pause) ? &pause : NULL;
    f.running = fill_running(q, job, &running) ? &running : NULL;
    f.run = fill_run(q, job, check.next_at, &run) ? &run : NULL;
    f.job_is = job_is(q, job, &f.meant);
    *out = (struct why_item){ job, check.next_at, why_of(q->source->arena, &f) };
    return 0;
}

/* Events that the job has emitted since then; a line a delivery stands for the same event. -1: not
 * all that there are may be here. */
static int64_t events_since(const struct asking *q, const char *job, int64_t since_us)
{
    if (q->events.rows >= EVENTS_ASKED || q->events_to_us >= since_us)
        return -1;
    int64_t n = 0, last_us = -1;
    const char *last = NULL;
    for (int r = 0; r < q->events.rows; r++) {
        int64_t at_us = rows_number(&q->events, r, "emitted_at_us");
        const char *event = rows_value(&q->events, r, "event");
        bool is_the_same = at_us == last_us && is_same(event, last);
        n += is_same(rows_value(&q->events, r, "job_exec"), job) && at_us >= since_us && !is_the_same;
        last_us = at_us;
        last = event;
    }
    return n;
}

static void decide_over(struct asking *q, int row, struct why_item *out)
{
    const struct store_rows *h = &q->over;
    const char *job = rows_value(h, row, "job_exec");
    int64_t run_at_us = rows_number(h, row, "last_run_at_us");
    struct why_over over = {
        .outcome = rows_value(h, row, "outcome"), .guard = rows_value(h, row, "guard"),
        .note = rows_value(h, row, "note"), .engine = rows_value(h, row, "engine"),
        .ended_at = rows_number(h, row, "ended_at_us") / 1000000, .run_at = run_at_us / 1000000,
        .failure_count = rows_number(h, row, "failure_count"),
        .events = events_since(q, job, run_at_us / 1000000 * 1000000),
    };
    struct why_facts f = facts_of(q, job);
    f.over = &over;
    *out = (struct why_item){ job, over.ended_at, why_of(q->source->arena, &f) };
}

static void decide_event(struct asking *q, int row, struct why_event_item *out)
{
    const struct store_rows *e = &q->events;
    struct why_event event = {
        .event = rows_value(e, row, "event"), .listener = rows_value(e, row, "listener"),
        .emitted_at = rows_number(e, row, "emitted_at_us") / 1000000,
        .state = rows_value(e, row, "state"), .note = rows_value(e, row, "note"),
        .next_at = rows_number(e, row, "next_check_at"), .tries = rows_number(e, row, "tries"),
        .ended_at = rows_number(e, row, "ended_at_us") / 1000000,
        .is_heard = rows_is_true(e, row, "is_heard"), .is_readable = rows_is_true(e, row, "is_readable"),
    };
    struct why why = why_of_event(q->source->arena, q->source->now, q->source->telling, &event);
    *out = (struct why_event_item){ event.event, rows_value(e, row, "job_exec"), event.listener,
                                    rows_number(e, row, "emitted_at_us"), why };
}

/* ---- all of them ---- */

static int decide_all(struct asking *q, struct why_answer *out)
{
    for (int r = 0; r < q->waiting.rows; r++) {
        int rc = decide_waiting(q, r, &out->items[out->nitems]);
        if (rc < 0)
            return rc;
        out->nitems++;
    }
    for (int r = 0; r < q->over.rows; r++) {
        const char *job = rows_value(&q->over, r, "job_exec");
        if (row_of_job(&q->waiting, job) < 0 && row_of_job(&q->over, job) == r)
            decide_over(q, r, &out->items[out->nitems++]);
    }
    if (!out->nitems) {
        struct why_facts f = facts_of(q, q->job);
        out->items[out->nitems++] = (struct why_item){ q->job, 0, why_of(q->source->arena, &f) };
    }
    for (int r = 0; r < q->events.rows; r++)
        decide_event(q, r, &out->events[out->nevents++]);
    return 0;
}

static bool has_memory_for(const struct why_answer *answer)
{
    bool has = true;
    for (int i = 0; i < answer->nitems; i++)
        has = has && answer->items[i].why.sentence;
    for (int i = 0; i < answer->nevents; i++)
        has = has && answer->events[i].why.sentence;
    return has;
}

int why_ask(const struct why_source *source, const char *entity, const char *key, const char *job,
            struct why_answer *out, struct err *err)
{
    struct asking q = { .source = source, .entity = entity, .key = key, .job = job, .err = err };
    if (!*entity || !*key || (job && !*job))
        return err_set(err, ERR_INPUT, "an empty text names no check: entity, key and job have at least one "
                                       "character");
    int rc = ask_checks(&q);
    if (rc == 0)
        rc = ask_events(&q);
    if (rc == 0)
        rc = ask_around(&q);
    if (rc < 0)
        return rc;
    size_t most = (size_t)(q.waiting.rows + q.over.rows) + 1;
    *out = (struct why_answer){
        .items = arena_alloc(source->arena, most * sizeof *out->items),
        .events = arena_alloc(source->arena, ((size_t)q.events.rows + 1) * sizeof *out->events),
    };
    if (!out->items || !out->events)
        return err_set(err, ERR_NOMEM, "out of memory");
    rc = decide_all(&q, out);
    if (rc == 0 && !has_memory_for(out))
        rc = err_set(err, ERR_NOMEM, "out of memory");
    return rc;
}
