/* world.c - the queue of events, the only source of chance, and the life of a world: it is made,
 * run, checked and freed. */
#include "world.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../engine/rules/retry.h"
#include "../../engine/rules/slot.h"
#include "app.h"
#include "checker.h"
#include "db.h"
#include "faults.h"
#include "host.h"
#include "network.h"

enum {
    EVENTS_MAX = 4000000,           /* of one world: more means an endless loop */
    /* after the last fault; a full look, which would find lost checks, comes after 3600 s */
    DONE_WITHIN_S = 1500,
    /* a check that is filed while the clock is set back may lie below the sweep's mark: it waits
     * for the full look */
    DONE_AFTER_JUMP_S = 3 * 3600,
    STOP_WITHIN_S = 120,
};

/* ---- chance ---- */

uint64_t world_random(struct world *w)
{
    return random_next(&w->random);
}

int64_t world_between(struct world *w, int64_t least, int64_t most)
{
    return least + (int64_t)(world_random(w) % (uint64_t)(most - least + 1));
}

bool world_chance(struct world *w, int per_mille)
{
    return (int)(world_random(w) % 1000) < per_mille;
}

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void swap(struct event *a, struct event *b)
{
    struct event t = *a;
    *a = *b;
    *b = t;
}

void world_at(struct world *w, int64_t at_us, event_fn run, void *arg, uint64_t tag)
{
    if (w->nevents == w->room) {
        w->room = w->room ? w->room * 2 : 256;
        w->events = realloc(w->events, (size_t)w->room * sizeof *w->events);
        if (!w->events)
            abort();
    }
    int i = w->nevents++;
    w->events[i] = (struct event){ at_us < w->now_us ? w->now_us : at_us, w->made++, run, arg, tag };
    for (; i > 0 && is_before(&w->events[i], &w->events[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&w->events[i], &w->events[(i - 1) / 2]);
}

static struct event next_event(struct world *w)
{
    struct event first = w->events[0];
    w->events[0] = w->events[--w->nevents];
    for (int i = 0;;) {
        int least = i;
        for (int child = 2 * i + 1; child <= 2 * i + 2 && child < w->nevents; child++)
            if (is_before(&w->events[child], &w->events[least]))
                least = child;
        if (least == i)
            return first;
        swap(&w->events[i], &w->events[least]);
        i = least;
    }
}

/* ---- the story ---- */

void world_write_line(struct world *w, const char *fmt, ...)
{
    va_list ap;
    fprintf(w->out, "%11.6f  ", (double)(w->now_us - w->began_us) / 1e6);
    va_start(ap, fmt);
    vfprintf(w->out, fmt, ap);
    va_end(ap);
    fputc('\n', w->out);
}

void world_violate(struct world *w, const char *fmt, ...)
{
    if (w->violation[0])
        return;
    int n = snprintf(w->violation, sizeof w->violation,
                     "at %.6f s: ", (double)(w->now_us - w->began_us) / 1e6);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(w->violation + n, sizeof w->violation - (size_t)n, fmt, ap);
    va_end(ap);
    world_log(w, "BROKEN: %s", w->violation);
    w->over = true;
}

/* ---- the shape of a world ---- */

static void draw_shape(struct world *w)
{
    static const int32_t lengths[] = { 5, 10, 30, 60 };
    struct shape *s = &w->shape;
    s->slot_length_s = lengths[world_random(w) % (sizeof lengths / sizeof *lengths)];
    s->hosts = (int)world_between(w, 1, HOSTS_MAX);
    s->checks = (int)world_between(w, 4, 60);
    s->slots = (int)world_between(w, 1, 6);
    s->lease_us = world_between(w, 4, LEASE_MOST_S) * SECOND_US;
    s->trust_us = s->lease_us * world_between(w, 30, 95) / 100;
    s->split_at = world_chance(w, 250) ? (int)world_between(w, 1, 8) : 1000;
    s->calm = world_chance(w, 100);
    s->app_writes = world_chance(w, s->calm ? 400 : 700);
    s->asks_at_once = world_chance(w, 350);
    s->schedules = world_chance(w, 300) ? (int)world_between(w, 1, SCHEDULES_MAX) : 0;
    s->jobs_misbehave = !s->calm && world_chance(w, 500);
    s->jobs_are_slow = !s->calm && world_chance(w, 250);
    s->only_kills = !s->calm && s->hosts > 1 && world_chance(w, 80);
    s->only_locks = !s->calm && !s->only_kills && world_chance(w, 60);
    s->pauses = world_chance(w, 250);
    s->unknown_job = world_chance(w, 100);
    if (s->only_kills || s->only_locks)
        s->jobs_misbehave = s->jobs_are_slow = s->app_writes = false;
    bool fits = s->slot_length_s >= 23;         /* the longest delays of three, with their timeouts */
    s->prompt = s->only_kills || s->only_locks || (s->calm && !s->app_writes);
    s->attempts = fits && world_chance(w, 500) ? (int)world_between(w, 2, 3) : 1;
    s->urgent = world_chance(w, s->calm ? 500 : 100);
    if (s->urgent)
        s->split_at = (int)world_between(w, 1, 8);
    s->concurrency_keys = world_chance(w, 250) ? (int)world_between(w, 1, CONCURRENCY_MAX) : 0;
    w->began_us = (1700000000LL + world_between(w, 0, 7200)) * SECOND_US + world_between(w, 0, 999999);
    w->now_us = w->began_us;
    s->pace_s = world_chance(w, 200) ? (int32_t)world_between(w, 2, s->slot_length_s) : 0;
    if (s->pace_s && world_chance(w, 300))
        s->pace_ends_us = w->began_us + world_between(w, 1, s->slots) * world_slot_us(w);
    w->quiet_us = w->began_us + (s->slots + 2) * world_slot_us(w) + world_between(w, 0, 30) * SECOND_US;
}

static void say_shape(struct world *w)
{
    const struct shape *s = &w->shape;
    const struct { bool holds; const char *text;
    } traits[] = {
        { s->calm, "calm" },
        { s->only_kills, "only kills" },
        { s->only_locks, "only locks" },
        { s->app_writes, "the application writes" },
        { s->asks_at_once, "it asks for checks at once" },
        { s->schedules, "there are schedules" },
        { s->pauses, "what recurs and jobs are paused" },
        { s->jobs_misbehave, "jobs misbehave" },
        { s->jobs_are_slow, "jobs are slow" },
        { s->unknown_job, "jobs are unknown to some" },
        { s->attempts > 1, "failures are tried again within the slot" },
        { s->urgent, "many checks are urgent" },
        { s->concurrency_keys, "checks have concurrency keys" },
        { s->pace_s > 0, "slots are spread" },
    };
    char text[320] = "";
    size_t len = 0;
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
        if (traits[i].holds)
            len += (size_t)snprintf(text + len, sizeof text - len, ", %s", traits[i].text);
    world_log(w,
               "seed %llu: %d hosts, %d checks over %d slots of %d s, lease %lld ms, trust %lld ms, split at "
               "%d%s",
               (unsigned long long)w->seed, s->hosts, s->checks, s->slots, (int)s->slot_length_s,
               (long long)(s->lease_us / 1000), (long long)(s->trust_us / 1000), s->split_at, text);
}

/* ---- the end ---- */

static void wait_for_the_stop(struct world *w, void *arg, uint64_t tag)
{
    (void)arg;
    if (hosts_are_empty(w)) {
        checker_at_the_end(w);
        w->over = true;
    } else if (w->now_us > w->done_us + STOP_WITHIN_S * SECOND_US)
        world_violate(w, "an engine that was asked to stop has not ended within %d s", STOP_WITHIN_S);
    else
        world_after(w, 100 * MS_US, wait_for_the_stop, NULL, tag);
}

/* Checks once a second, from the last fault on, whether all is done. */
static void wait_for_the_work(struct world *w, void *arg, uint64_t tag)
{
    char remaining[200];
    int within_s = checker_has_jumped(w) ? DONE_AFTER_JUMP_S : DONE_WITHIN_S;
    (void)arg;
    hosts_end_in_time(w);
    if (db_is_done(w->db, remaining, sizeof remaining)) {
        w->done_us = w->now_us;
        world_log(w, "all is done, %lld s after the last fault",
                   (long long)((w->now_us - w->quiet_us) / SECOND_US));
        hosts_stop(w);
        world_after(w, 100 * MS_US, wait_for_the_stop, NULL, 0);
    } else if (w->now_us > w->quiet_us + within_s * SECOND_US)
        world_violate(w, "not done %d s after the last fault: %s", within_s, remaining);
    else
        world_after(w, SECOND_US, wait_for_the_work, NULL, tag);
}

/* ---- a life ---- */

static void make(struct world *w)
{
    draw_shape(w);
    say_shape(w);
    checker_make(w);
    db_make(w);
    network_make(w);
    hosts_make(w);
    app_make(w);
    faults_make(w);
    world_at(w, w->quiet_us, wait_for_the_work, NULL, 0);
}

static void take_down(struct world *w)
{
    hosts_free(w);
    faults_free(w);
    app_free(w);
    network_free(w);
    db_free(w);
    checker_free(w);
    free(w->events);
}

bool world_run(uint64_t seed, const struct world_options *options, char violation[VIOLATION_SIZE])
{
    struct world w = { .seed = seed,
                       .random = seed * 0x9e3779b97f4a7c15u + 1,
                       .settings = options->settings,
                       .wrong = options->wrong,
                       .tallies = options->tallies,
                       .out = options->out };
    make(&w);
    for (int n = 0; !w.over; n++) {
        if (n >= EVENTS_MAX || !w.nevents) {
            world_violate(&w, "%s", w.nevents ? "too many events" : "the queue of events is empty");
            break;
        }
        struct event e = next_event(&w);
        w.now_us = e.at_us;
        e.run(&w, e.arg, e.tag);
    }
    take_down(&w);
    memcpy(violation, w.violation, sizeof w.violation);
    return !w.violation[0];
}
