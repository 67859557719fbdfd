/* host.c - makes engines, gives them turns, kills and freezes them; and the clocks of a host. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

#include "../../engine/rules/slot.h"
#include "checker.h"
#include "db.h"
#include "network.h"

/* UNKNOWN_HORIZON_S: a check of a job that no engine has ends after this long, within the time that
 * a world has. TURNS_MAX: in one second; more means a loop that does not wait. (In 400 worlds the
 * most were 1019.) */
enum { RUN_MAX_S = 600, TURNS_MAX = 3000, UNKNOWN_HORIZON_S = 400 };

struct world *host_world(const struct host *h) { return h->w; }
int host_number(const struct host *h) { return h->number; }
bool host_is_cut(const struct host *h, bool from) { return from ? h->cut_from : h->cut_to; }

/* ---- clocks ---- */

static int64_t drifted(const struct host *h, int64_t us)
{
    return us + us / 1000 * h->drift_ppm / 1000;
}

static int64_t asleep_us(const struct host *h)
{
    return h->asleep_us + (h->asleep_since_us ? h->w->now_us - h->asleep_since_us : 0);
}

static int64_t mono_us(void *ctx)
{
    const struct host *h = ctx;
    return h->mono_base_us + drifted(h, h->w->now_us - h->w->began_us - asleep_us(h));
}

int64_t host_boot_us(const struct host *h)
{
    return h->mono_base_us + drifted(h, h->w->now_us - h->w->began_us);
}

static int64_t boot_us(void *ctx)
{
    const struct host *h = ctx;
    return h->w->wrong[BOOT_CLOCK_STOPS] ? mono_us(ctx) : host_boot_us(h);
}

static int64_t wall_us(void *ctx)
{
    const struct host *h = ctx;
    return h->w->now_us + h->wall_offset_us;
}

/* ---- an engine's log goes into the story ---- */

static ssize_t log_write(void *cookie, const char *text, size_t n)
{
    struct host *h = cookie;
    const char *colon = memmem(text, n, "]: ", 3);
    const char *from = colon ? colon + 3 : text;
    size_t len = n - (size_t)(from - text);
    const char *level = memchr(text, ' ', n);
    int level_len = level ? (int)(level - text) : 0;
    if (len && from[len - 1] == '\n')
        len--;
    world_log(h->w, "host %d   %.*s: %.*s", h->number, level_len, text, (int)len, from);
    return (ssize_t)n;
}

static void log_make(struct host *h)
{
    h->log_out = fopencookie(h, "w", (cookie_io_functions_t){ .write = log_write });
    if (!h->log_out)
        abort();
    log_init(&h->log, h->log_out, LOG_LEVEL_DEBUG, "engine");
    h->log.form = LOG_FORM_BARE;
}

/* ---- engines ---- */

static void engine_over(struct host *h)
{
    workers_die(h);
    engine_free(h->engine);
    h->engine = NULL;
    h->wake_tag++;
    h->stopping = false;
}

static void turn(struct world *w, void *arg, uint64_t tag);

void host_wake(struct host *h, int64_t at_us)
{
    if (!h->engine || h->frozen)
        return;
    if (at_us < h->w->now_us)
        at_us = h->w->now_us;
    if (h->wake_us && h->wake_us <= at_us)
        return;
    h->wake_us = at_us;
    world_at(h->w, at_us, turn, h, ++h->wake_tag);
}

static void count_turn(struct host *h)
{
    if (h->w->now_us - h->turned_us > SECOND_US) {
        h->turned_us = h->w->now_us;
        h->turns = 0;
    }
    if (++h->turns > TURNS_MAX)
        world_violate(h->w, "the engine of host %d takes endless turns", h->number);
}

/* As the wait in engine_run: whole milliseconds, at most one second. */
static int64_t pause_us(const struct host *h)
{
    int64_t next = engine_next_us(h->engine), now = mono_us((void *)h);
    if (next <= now)
        return world_between(h->w, 20, 200);            /* the duration of a turn */
    int64_t ms = next - now > SECOND_US ? 1000 : (next - now + 999) / 1000;
    return ms * MS_US;
}

static void turn(struct world *w, void *arg, uint64_t tag)
{
    struct host *h = arg;
    if (tag != h->wake_tag || !h->engine || h->frozen)
        return;
    h->wake_us = 0;
    count_turn(h);
    engine_turn(h->engine);
    workers_listen(h);
    if (engine_has_ended(h->engine)) {
        struct err err = { 0 };
        int rc = engine_result(h->engine, &err);
        world_log(w, "host %d: the engine has ended: %s", h->number, rc ? err.text : "all done");
        engine_over(h);
        return;
    }
    host_wake(h, w->now_us + pause_us(h));
}

static void start_again(struct world *w, void *arg, uint64_t tag)
{
    (void)w;
    (void)tag;
    host_start(arg);
}

/* The plan of an engine: for a host with a cron most often `run`. */
static const struct plan *draw_plan(struct host *h)
{
    memset(&h->plan, 0, sizeof h->plan);
    if (h->kind == HOST_DAEMON)
        return &plan_daemon;
    if (world_is_quiet(h->w) || world_chance(h->w, 700)) {
        h->plan.run.no_sweep = world_chance(h->w, 200);
        return &plan_run;
    }
    h->plan.sweep.kind = world_chance(h->w, 700) ? TARGET_SWEEP : TARGET_RESLOT;
    return &plan_sweep;
}

void host_start(struct host *h)
{
    struct world *w = h->w;
    struct err err = { 0 };
    if (h->engine || w->done_us || h->asleep_since_us || w->now_us < h->away_until_us)
        return;
    struct engine_options options = {
        .settings = &h->settings,
        .log = w->out ? &h->log : NULL,
        .clock = &h->clock,
        .patient = h->kind == HOST_DAEMON,
        .spawner = &h->crew.spawner,
        .open_store = network_open_store,
        .seed = world_random(w) | 1,
    };
    if (engine_new(&options, &h->engine, &err)) {
        world_violate(w, "no engine can be made: %s", err.text);
        return;
    }
    h->starts++;
    h->started_us = w->now_us;
    h->frozen = h->workers_frozen = false;
    h->wake_us = 0;
    const struct plan *plan = draw_plan(h);
    engine_begin(h->engine, plan, &h->plan);
    world_log(w, "host %d: an engine starts (%s)", h->number, plan->name);
    host_wake(h, w->now_us);
}

void host_kill(struct host *h)
{
    if (!h->engine)
        return;
    world_log(h->w, "host %d: the engine is killed", h->number);
    checker_engine_killed(h->w, h->number);
    workers_are_left(h);
    engine_over(h);
}

/* ---- frozen and asleep ---- */

void host_freeze(struct host *h, bool workers)
{
    if (!h->engine || h->frozen)
        return;
    h->frozen = true;
    h->wake_us = 0;
    h->wake_tag++;
    h->workers_frozen = workers;
    world_log(h->w, "host %d: the engine is frozen%s", h->number, workers ? ", and its workers" : "");
    checker_event(h->w, h->number, -1, 1, "an engine was frozen");
}

/* If a freeze ends while its host is suspended, the engine goes on when the host does. */
void host_thaw(struct host *h)
{
    if (!h->frozen || h->asleep_since_us)
        return;
    h->frozen = false;
    h->thawed_us = h->w->now_us;
    if (h->workers_frozen)
        workers_thaw(h);
    h->workers_frozen = false;
    world_log(h->w, "host %d: the engine goes on", h->number);
    host_wake(h, h->w->now_us);
}

void host_suspend(struct host *h)
{
    if (h->asleep_since_us)
        return;
    host_thaw(h);
    h->asleep_since_us = h->w->now_us;
    host_freeze(h, true);
    world_log(h->w, "host %d is suspended", h->number);
}

void host_resume(struct host *h)
{
    if (!h->asleep_since_us)
        return;
    h->asleep_us += h->w->now_us - h->asleep_since_us;
    h->asleep_since_us = 0;
    world_log(h->w, "host %d is resumed", h->number);
    host_thaw(h);
    if (h->kind == HOST_DAEMON)
        host_start(h);
}

/* ---- cron ---- */

static void cron(struct world *w, void *arg, uint64_t tag)
{
    struct host *h = arg;
    int64_t db_now = db_clock_us(w->db),
            next = slot_next(db_now / SECOND_US, w->shape.slot_length_s) * SECOND_US;
    if (!h->asleep_since_us)
        host_start(h);
    world_after(w, next - db_now + world_between(w, -200, 800) * MS_US, cron, h, tag);
}

/* Restarts a daemon that has ended or was killed, as a service manager does. */
static void keep_alive(struct world *w, void *arg, uint64_t tag)
{
    struct host *h = arg;
    if (!h->engine && !h->asleep_since_us)
        world_after(w, world_between(w, 0, SECOND_US), start_again, h, 0);
    world_after(w, 2 * SECOND_US, keep_alive, h, tag);
}

/* ---- all of them ---- */

static void draw_settings(struct host *h)
{
    struct world *w = h->w;
    struct settings *s = &h->settings;
    *s = *w->settings;
    memcpy(h->jobs, s->jobs, sizeof h->jobs);
    s->jobs = h->jobs;
    for (int j = 0; j < JOBS; j++)
        h->jobs[j].attempts = w->shape.attempts;
    /* a host that has a job recalls what the others have put off */
    if (w->shape.unknown_job && world_chance(w, 800)) {
        s->njobs--;
        s->jobs += world_chance(w, 500);        /* some lack the first, and others the last */
    }
    if (w->shape.unknown_job) {
        s->defaults.horizon_s = UNKNOWN_HORIZON_S;
    }
    /* some hosts have leases of another length */
    bool own = !w->shape.prompt && world_chance(w, 200);
    s->lease_us = own ? world_between(w, 4, LEASE_MOST_S) * SECOND_US : w->shape.lease_us;
    s->trust_us = own ? s->lease_us * world_between(w, 30, 95) / 100 : w->shape.trust_us;
    s->split_at = w->shape.split_at;
    s->statement_timeout_us = world_between(w, 5, 30) * SECOND_US;
    s->connections = (int)world_between(w, 1, 3);
    s->workers = (int)world_between(w, 1, 2);
    s->workers_max = (int)world_between(w, s->workers, 4);
    s->page = (int)world_between(w, 1, 30);
    s->slab = (int)world_between(w, 1, 12);
    s->hold_back_after = (int)world_between(w, 2, 8);
    s->worker_checks = world_chance(w, 200) ? (int)world_between(w, 1, 20) : 1000;
}

static void host_make(struct world *w, int number)
{
    struct host *h = &w->hosts[number];
    *h = (struct host){ .w = w, .number = number,
                        .kind = number && world_chance(w, 250) ? HOST_CRON : HOST_DAEMON,
                        .clock = { mono_us, boot_us, wall_us, h } };
    h->mono_base_us = world_between(w, 1, 100000) * SECOND_US;
    h->wall_offset_us = world_between(w, -5, 5) * SECOND_US;
    h->drift_ppm = world_between(w, -100, 100);
    h->deadly_job = -1;
    for (int j = 0; j < JOBS; j++)
        h->usable[j] = !number || world_chance(w, 900);
    draw_settings(h);
    if (w->out)
        log_make(h);
    workers_make(h);
    world_after(w, world_between(w, 0, 3 * SECOND_US), start_again, h, 0);
    world_after(w, 4 * SECOND_US, h->kind == HOST_CRON ? cron : keep_alive, h, 0);
}

void hosts_make(struct world *w)
{
    w->hosts = calloc(HOSTS_MAX, sizeof *w->hosts);
    if (!w->hosts)
        abort();
    for (int i = 0; i < w->shape.hosts; i++)
        host_make(w, i);
}

void hosts_stop(struct world *w)
{
    for (int i = 0; i < w->shape.hosts; i++)
        if (w->hosts[i].engine) {
            engine_stop(w->hosts[i].engine);
            host_wake(&w->hosts[i], w->now_us);
        }
}

void hosts_end_in_time(struct world *w)
{
    for (int i = 0; i < w->shape.hosts; i++) {
        const struct host *h = &w->hosts[i];
        int64_t from_us = h->started_us > w->quiet_us ? h->started_us : w->quiet_us;
        if (h->engine && h->kind == HOST_CRON && w->now_us - from_us > RUN_MAX_S * SECOND_US)
            world_violate(
                w, "the engine that the cron of host %d started has not ended for %d s without faults", i,
                RUN_MAX_S);
    }
}

bool hosts_are_empty(const struct world *w)
{
    for (int i = 0; i < w->shape.hosts; i++)
        if (w->hosts[i].engine)
            return false;
    return true;
}

void hosts_free(struct world *w)
{
    for (int i = 0; i < w->shape.hosts; i++) {
        struct host *h = &w->hosts[i];
        if (h->engine)
            engine_over(h);
        workers_free(h);
        if (h->log_out)
            fclose(h->log_out);
    }
    free(w->hosts);
}
