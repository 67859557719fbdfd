/* faults.c - a table of faults, each with its beginning and its end. A world draws its kinds of
 * faults, and all are over when it is quiet. */
#include "faults.h"

#include <stdlib.h>
#include <string.h>

#include "../../engine/rules/slot.h"
#include "checker.h"
#include "db.h"
#include "failover.h"
#include "host.h"
#include "network.h"

struct fault {
    const char *name;
    int weight;
    int64_t most_us;                            /* the longest duration; 0: a moment */
    bool (*begin)(struct world *w, struct host *h, int64_t us);     /* false: not now */
    void (*end)(struct world *w, struct host *h);
};

#define FAULTS_MAX 64

struct faults {
    uint64_t kinds;                             /* a bit for each row of the table that this world has */
    int under_way[HOSTS_MAX][FAULTS_MAX];
    struct weather initial;                     /* the network's weather at the start */
    struct standby *standby;                    /* lags behind, and will take over; NULL: no standby */
    struct tx *opener;                          /* opens a slot and does not commit */
    int at_moments;                             /* the chance of a fault at a busy moment, per mille */
};

/* ---- engines ---- */

static bool kill_engine(struct world *w, struct host *h, int64_t us)
{
    (void)us;
    if (!h->engine || (w->shape.only_kills && !h->number))
        return false;
    host_kill(h);
    return true;
}

/* Most often kills all engines, for some slots: no engine opens these. */
static bool kill_for_long(struct world *w, struct host *h, int64_t us)
{
    bool all = world_chance(w, 600);
    int64_t until_us = w->now_us + world_between(w, 0, 4 * world_slot_us(w));
    if (until_us > w->quiet_us)
        until_us = w->quiet_us;
    for (int i = 0; i < w->shape.hosts; i++) {
        struct host *one = &w->hosts[i];
        if (one != h && !all)
            continue;
        kill_engine(w, one, us);
        one->away_until_us = until_us;
    }
    return true;
}

static bool freeze_engine(struct world *w, struct host *h, int64_t us)
{
    (void)w;
    (void)us;
    if (!h->engine || h->frozen)
        return false;
    host_freeze(h, false);
    return true;
}

static bool freeze_all(struct world *w, struct host *h, int64_t us)
{
    (void)w;
    (void)us;
    if (!h->engine || h->frozen)
        return false;
    host_freeze(h, true);
    return true;
}

static void thaw(struct world *w, struct host *h)
{
    (void)w;
    host_thaw(h);
}

static bool suspend(struct world *w, struct host *h, int64_t us)
{
    (void)w;
    (void)us;
    if (!h->engine || h->frozen || h->asleep_since_us)
        return false;
    host_suspend(h);
    return true;
}

static void resume(struct world *w, struct host *h)
{
    (void)w;
    host_resume(h);
}

static bool stop_engine(struct world *w, struct host *h, int64_t us)
{
    (void)us;
    if (!h->engine || h->frozen)
        return false;
    world_log(w, "host %d: SIGTERM", h->number);
    engine_stop(h->engine);
    host_wake(h, w->now_us);
    return true;
}

static bool end_engine(struct world *w, struct host *h, int64_t us)
{
    (void)us;
    if (!h->engine || h->frozen)
        return false;
    checker_event(w, h->number, -1, 1, "an engine was ended by a second signal");
    engine_stop_at_once(h->engine);
    host_wake(h, w->now_us);
    return true;
}

/* ---- workers ---- */

static bool kill_worker(struct world *w, struct host *h, int64_t us)
{
    (void)w;
    (void)us;
    return workers_kill_one(h);
}

static bool stop_worker(struct world *w, struct host *h, int64_t us)
{
    (void)w;
    return workers_stop_one(h, us);
}

static bool no_processes(struct world *w, struct host *h, int64_t us)
{
    h->no_spawn_until_us = w->now_us + us;
    return true;
}

static bool dead_starts(struct world *w, struct host *h, int64_t us)
{
    h->dead_start_until_us = w->now_us + us;
    return true;
}

static bool deadly_job(struct world *w, struct host *h, int64_t us)
{
    (void)us;
    if (!h->number)
        return false;                           /* host 0 can run every job */
    h->deadly_job = (int)world_between(w, 0, JOBS - 1);
    return true;
}

static void harmless_job(struct world *w, struct host *h)
{
    (void)w;
    h->deadly_job = -1;
}

/* The open() of a job fails for a while: the workers live on without it. */
static bool shut_job(struct world *w, struct host *h, int64_t us)
{
    h->shut_job = (int)world_between(w, 0, JOBS - 1);
    h->shut_until_us = w->now_us + us;
    return true;
}

/* ---- the network ---- */

static bool cut(struct world *w, struct host *h, int64_t us)
{
    (void)us;
    if (h->cut_to || h->cut_from)
        return false;
    int64_t which = world_between(w, 0, 3);
    h->cut_to = which != 1;
    h->cut_from = which != 2;
    checker_event(w, h->number, -1, us, "a host was cut off");
    return true;
}

static void mend(struct world *w, struct host *h)
{
    (void)w;
    h->cut_to = h->cut_from = false;
}

static bool reset(struct world *w, struct host *h, int64_t us)
{
    (void)us;
    checker_event(w, h->number, -1, 1, "connections were reset");
    network_reset(w, h);
    return true;
}

static bool slow(struct world *w, struct host *h, int64_t us)
{
    (void)h;
    (void)us;
    if (w->network->weather.latency_us > SECOND_US)
        return false;
    checker_event(w, -1, -1, us, "the network was slow");
    w->network->weather.latency_us = world_between(w, 10, 3000) * MS_US;
    w->network->weather.latency_most_us = 2 * w->network->weather.latency_us;
    return true;
}

static void fast(struct world *w, struct host *h)
{
    (void)h;
    w->network->weather.latency_us = w->faults->initial.latency_us;
    w->network->weather.latency_most_us = w->faults->initial.latency_most_us;
}

/* ---- the database ---- */

static bool restart_db(struct world *w, struct host *h, int64_t us)
{
    (void)h;
    checker_event(w, -1, -1, us, "the database went down");
    network_restart_db(w, w->now_us + us);
    return true;
}

static bool end_sessions(struct world *w, struct host *h, int64_t us)
{
    (void)us;
    checker_event(w, h->number, -1, 1, "sessions were ended");
    network_end_sessions(w, h);
    return true;
}

static bool lag(struct world *w, struct host *h, int64_t us)
{
    (void)h;
    (void)us;
    if (w->faults->standby)
        return false;
    w->faults->standby = standby_new(w);
    return true;
}

static void fail_over(struct world *w, struct host *h)
{
    (void)h;
    network_restart_db(w, w->now_us + world_between(w, 0, 5 * SECOND_US));
    standby_take_over(w, w->faults->standby);
    standby_free(w->faults->standby);
    w->faults->standby = NULL;
}

static bool read_only(struct world *w, struct host *h, int64_t us)
{
    (void)h;
    (void)us;
    if (w->db->read_only)
        return false;
    checker_event(w, -1, -1, us, "the database was read-only");
    w->db->read_only = true;
    return true;
}

static void read_write(struct world *w, struct host *h)
{
    (void)h;
    w->db->read_only = false;
}

static bool commits_hang(struct world *w, struct host *h, int64_t us)
{
    (void)h;
    checker_event(w, -1, -1, us, "commits hung");
    w->db->commits_hang_until_us = w->now_us + us;
    return true;
}

static bool clock_jumps(struct world *w, struct host *h, int64_t us)
{
    (void)h;
    (void)us;
    int64_t by = world_chance(w, 500) ? world_between(w, -20, 20) : world_between(w, -200, 600);
    world_log(w, "the database's clock jumps by %lld s", (long long)by);
    db_set_clock(w->db, by * SECOND_US);
    checker_clock_jumped(w, by * SECOND_US);
    return true;
}

static bool day_missing(struct world *w, struct host *h, int64_t us)
{
    (void)h;
    (void)us;
    w->db->day_missing = true;
    return true;
}

static bool wall_jumps(struct world *w, struct host *h, int64_t us)
{
    (void)us;
    h->wall_offset_us += world_between(w, -86400, 86400) * SECOND_US;
    return true;
}

/* Inserts the opening row of a slot and does not commit: other openings wait. */
static bool lock_slot(struct world *w, struct host *h, int64_t us)
{
    (void)h;
    struct slot_row *s = db_slot(w->db, slot_next(db_clock_us(w->db) / SECOND_US, w->shape.slot_length_s),
                                 true);
    if (w->faults->opener || s->by || s->exists)
        return false;
    s->by = tx_begin(w->db, &w->faults->opener);
    w->faults->opener->opens = s;
    checker_locked(w, w->now_us + us);
    return true;
}

static void unlock_slot(struct world *w, struct host *h)
{
    (void)h;
    if (w->faults->opener)
        tx_roll_back(w->db, w->faults->opener);
}

/* ---- the table ---- */

static const struct fault faults[] = {
    { "an engine is killed", 10, 0, kill_engine, NULL },
    { "engines are killed and stay down", 8, 0, kill_for_long, NULL },
    { "an engine is frozen", 10, 40 * SECOND_US, freeze_engine, thaw },
    { "an engine and its workers are frozen", 6, 40 * SECOND_US, freeze_all, thaw },
    { "a host is suspended", 6, 40 * SECOND_US, suspend, resume },
    { "an engine is stopped", 6, 0, stop_engine, NULL },
    { "an engine is ended at once", 4, 0, end_engine, NULL },
    { "a worker is killed", 10, 0, kill_worker, NULL },
    { "a worker is stopped", 6, 20 * SECOND_US, stop_worker, NULL },
    { "no process can be started", 4, 20 * SECOND_US, no_processes, NULL },
    { "workers die before they are ready", 4, 20 * SECOND_US, dead_starts, NULL },
    { "a job cannot be opened", 4, 30 * SECOND_US, shut_job, NULL },
    { "opening a job ends workers", 4, 40 * SECOND_US, deadly_job, harmless_job },
    { "a host is cut off", 10, 40 * SECOND_US, cut, mend },
    { "connections are reset", 6, 0, reset, NULL },
    { "the network is slow", 6, 20 * SECOND_US, slow, fast },
    { "the database goes down", 6, 20 * SECOND_US, restart_db, NULL },
    { "sessions are ended", 6, 0, end_sessions, NULL },
    { "a lagging standby takes over", 4, 10 * SECOND_US, lag, fail_over },
    { "the database is read-only", 6, 20 * SECOND_US, read_only, read_write },
    { "commits hang", 6, 40 * SECOND_US, commits_hang, NULL },
    { "the database's clock jumps", 2, 0, clock_jumps, NULL },
    { "today's partition is missing", 3, 0, day_missing, NULL },
    { "the opening of a slot is locked", 4, 20 * SECOND_US, lock_slot, unlock_slot },
    { "a wall clock jumps", 3, 0, wall_jumps, NULL },
};
enum { FAULTS = sizeof faults / sizeof *faults };
_Static_assert(FAULTS <= FAULTS_MAX, "a bit for each");

static void end_fault(struct world *w, void *arg, uint64_t which)
{
    struct host *h = arg;
    if (--w->faults->under_way[h->number][which] > 0)
        return;
    world_log(w, "over on host %d: %s", h->number, faults[which].name);
    faults[which].end(w, h);
}

static int draw_fault(struct world *w)
{
    int sum = 0, which = 0;
    for (int i = 0; i < FAULTS; i++)
        sum += w->faults->kinds >> i & 1 ? faults[i].weight : 0;
    int64_t at = world_between(w, 0, sum - 1);
    while ((at -= w->faults->kinds >> which & 1 ? faults[which].weight : 0) >= 0)
        which++;
    return which;
}

/* The duration of a fault. Half of the faults are short. */
static int64_t draw_length_us(struct world *w, const struct fault *f)
{
    if (!f->most_us)
        return 0;
    int64_t most_us = world_chance(w, 500) ? f->most_us / 10 : f->most_us;
    return world_between(w, 0, most_us);
}

static void begin_fault(struct world *w, struct host *h)
{
    int which = draw_fault(w);
    const struct fault *f = &faults[which];
    int64_t us = draw_length_us(w, f);
    if (w->now_us + us >= w->quiet_us)
        us = w->quiet_us - w->now_us - 1;
    if (!f->begin(w, h, us))
        return;
    world_log(w, "FAULT on host %d: %s, for %lld ms", h->number, f->name, (long long)(us / 1000));
    if (!f->end)
        return;
    w->faults->under_way[h->number][which]++;
    world_after(w, us, end_fault, h, (uint64_t)which);
}

static void next_fault(struct world *w, void *arg, uint64_t tag)
{
    (void)arg;
    if (world_is_quiet(w))
        return;
    begin_fault(w, &w->hosts[world_between(w, 0, w->shape.hosts - 1)]);
    world_after(w, world_between(w, 100 * MS_US, 12 * SECOND_US), next_fault, NULL, tag);
}

static void fault_now(struct world *w, void *arg, uint64_t tag)
{
    (void)tag;
    if (!world_is_quiet(w))
        begin_fault(w, arg);
}

/* The fault comes a moment later, because the caller may be in the middle of an engine's turn. */
void faults_moment(struct world *w, struct host *h)
{
    if (w->faults && w->faults->at_moments && !world_is_quiet(w) && world_chance(w, w->faults->at_moments))
        world_after(w, world_between(w, 0, world_chance(w, 500) ? 100 : 300 * MS_US), fault_now, h, 0);
}

/* Ends the network's faults. */
static void end_bad_weather(struct world *w, void *arg, uint64_t tag)
{
    struct weather *now = &w->network->weather;
    (void)arg;
    (void)tag;
    now->lose_request = now->lose_answer = now->reset = now->delay = now->delay_release = 0;
    now->refuse_busy = now->refuse_data = now->refuse_lost = 0;
    world_log(w, "no more faults from here on");
}

/* Does this world have this kind of fault? */
static bool is_drawn(struct world *w, const struct fault *f)
{
    if (w->shape.only_kills)
        return f->begin == kill_engine || f->begin == kill_worker;
    if (w->shape.only_locks)
        return f->begin == lock_slot;
    return world_chance(w, 300);
}

void faults_make(struct world *w)
{
    w->faults = calloc(1, sizeof *w->faults);
    if (!w->faults)
        abort();
    w->faults->initial = w->network->weather;
    world_at(w, w->quiet_us, end_bad_weather, NULL, 0);
    for (int i = 0; i < FAULTS; i++)
        if (is_drawn(w, &faults[i]))
            w->faults->kinds |= 1ull << i;
    if (w->shape.calm || !w->faults->kinds)
        return;
    if (world_chance(w, 600))
        w->faults->at_moments = (int)world_between(w, 1, 25);
    if (!w->faults->at_moments || world_chance(w, 300))
        world_after(w, world_between(w, 0, 5 * SECOND_US), next_fault, NULL, 0);
}

void faults_free(struct world *w)
{
    standby_free(w->faults->standby);
    free(w->faults);
}
