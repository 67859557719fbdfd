/* app.c - the first checks, and an application that changes them while engines run. */
#include "app.h"

#include <stdlib.h>

#include "checker.h"
#include "db.h"

enum { APP_TXS = 4 };

struct app {
    struct tx *txs[APP_TXS];
    struct tx *asking[APP_TXS];     /* for one check each, in the next second */
    struct tx *editing;             /* a schedule */
    struct tx *pausing;
};

/* ---- at first ---- */

static void fill(struct world *w)
{
    struct tx *tx = NULL;
    tx_begin(w->db, &tx);
    int64_t now = db_clock_us(w->db) / SECOND_US;
    int unusual = w->shape.urgent ? 700 : 200;
    for (int i = 0; i < w->shape.schedules; i++) {
        api_schedule(w->db, tx, i, (int)world_between(w, 1, RULES - 1));
        api_switch(w->db, tx, i, true);
    }
    for (int i = w->shape.schedules; i < w->shape.checks; i++) {
        int64_t at = now + world_between(w, 0, w->shape.slots * w->shape.slot_length_s);
        api_enqueue(w->db, tx, i, at, CONFLICT_KEEP,
                    world_chance(w, unusual) ? (int32_t)world_between(w, -1, 1) : 0);
    }
    tx_commit(w->db, tx);
}

/* ---- later ---- */

static enum conflict draw_conflict(struct world *w)
{
    return world_chance(w, 600) ? CONFLICT_EARLIER : (enum conflict)world_between(w, 0, 2);
}

static enum served change_one(struct world *w, struct tx *tx, int key)
{
    int64_t at = db_clock_us(w->db) / SECOND_US + world_between(w, -5, 3 * w->shape.slot_length_s);
    if (w->shape.asks_at_once && world_chance(w, 150))
        return api_enqueue_now(w->db, tx, key, draw_conflict(w));
    switch (world_between(w, 0, 5)) {
    case 0:
        return api_resolve(w->db, tx, key);
    case 1:
        return api_reschedule(w->db, tx, key, at);
    case 2:
        return api_enqueue(w->db, tx, key, at, CONFLICT_REPLACE, 0);
    case 3:
        return api_enqueue(w->db, tx, key, at, CONFLICT_EARLIER, 0);
    default:
        return api_enqueue(w->db, tx, key, at, CONFLICT_KEEP, 0);
    }
}

static void end_tx(struct world *w, void *arg, uint64_t commit)
{
    struct tx **tx = arg;
    if (!*tx)
        return;                     /* the database went down */
    world_log(w, "the application %s (%lld)", commit ? "commits" : "rolls back", (long long)(*tx)->xid);
    if (commit)
        tx_commit(w->db, *tx);
    else
        tx_roll_back(w->db, *tx);
}

/* How long a transaction stays open: most often a moment, now and then over a minute. */
static int64_t draw_open_us(struct world *w)
{
    if (world_chance(w, 700))
        return world_between(w, 0, 50 * MS_US);
    int64_t most_us = world_chance(w, 250) ? 70 * SECOND_US : 2 * world_slot_us(w);
    return world_between(w, 0, most_us);
}

static void begin_tx(struct world *w, int place)
{
    struct tx **tx = &w->app->txs[place];
    int key = 0;
    tx_begin(w->db, tx);
    for (int64_t n = world_chance(w, 300) ? world_between(w, 2, 5) : 1; n > 0; n--) {
        key = (int)world_between(w, 0, world_chance(w, 700) ? w->shape.checks : KEYS_MAX - 1);
        if (change_one(w, *tx, key) == BLOCKED) {
            tx_roll_back(w->db, *tx);
            return;
        }
    }
    bool commit = world_chance(w, 850);
    int64_t open_us = draw_open_us(w);
    if (w->now_us + open_us > w->quiet_us)
        open_us = w->quiet_us > w->now_us ? w->quiet_us - w->now_us : 0;
    world_log(w, "the application begins %lld: check %d (the last of %d), open for %lld ms",
               (long long)(*tx)->xid, key, (*tx)->nrows, (long long)(open_us / 1000));
    world_after(w, open_us, end_tx, tx, commit);
}

static void write_something(struct world *w, void *arg, uint64_t tag)
{
    (void)arg;
    if (world_is_quiet(w))
        return;
    for (int i = 0; i < APP_TXS; i++)
        if (!w->app->txs[i] && w->now_us >= w->db->down_until_us && !w->db->read_only) {
            begin_tx(w, i);
            break;
        }
    world_after(w, world_between(w, 50 * MS_US, 2 * SECOND_US), write_something, NULL, tag);
}

/* ---- in the next second ---- */

/* Most commit at once. In a world whose delays have a known bound no other row stays locked. */
static int64_t draw_asking_us(struct world *w, int key)
{
    bool waits_for_it = w->shape.prompt && w->db->rows[key].is.exists;
    if (waits_for_it || world_chance(w, 500))
        return 0;
    return w->shape.prompt ? world_between(w, 0, 4 * SECOND_US) : draw_open_us(w);
}

static void begin_asking(struct world *w, int place)
{
    struct tx **tx = &w->app->asking[place];
    int key = (int)world_between(w, 0, KEYS_MAX - 1);
    int64_t open_us = draw_asking_us(w, key);
    tx_begin(w->db, tx);
    if (api_enqueue_now(w->db, *tx, key, draw_conflict(w)) == BLOCKED) {
        tx_roll_back(w->db, *tx);
        return;
    }
    if (w->now_us + open_us > w->quiet_us)
        open_us = w->quiet_us > w->now_us ? w->quiet_us - w->now_us : 0;
    world_log(w, "the application begins %lld: check %d at once, open for %lld ms", (long long)(*tx)->xid,
              key, (long long)(open_us / 1000));
    if (open_us)
        world_after(w, open_us, end_tx, tx, world_chance(w, 900));
    else
        end_tx(w, tx, 1);
}

static void ask_for_something(struct world *w, void *arg, uint64_t tag)
{
    (void)arg;
    if (world_is_quiet(w))
        return;
    for (int i = 0; i < APP_TXS; i++)
        if (!w->app->asking[i] && w->now_us >= w->db->down_until_us && !w->db->read_only) {
            begin_asking(w, i);
            break;
        }
    world_after(w, world_between(w, 100 * MS_US, 5 * SECOND_US), ask_for_something, NULL, tag);
}

/* ---- schedules ---- */

static enum served change_schedule(struct world *w, struct tx *tx, int key)
{
    if (world_chance(w, 500))
        return api_schedule(w->db, tx, key, (int)world_between(w, 0, RULES - 1));
    return api_switch(w->db, tx, key, world_chance(w, 600));
}

static void begin_editing(struct world *w)
{
    struct tx **tx = &w->app->editing;
    int key = (int)world_between(w, 0, w->shape.schedules - 1);
    int64_t open_us = w->shape.prompt || world_chance(w, 500) ? 0 : draw_open_us(w);
    tx_begin(w->db, tx);
    if (change_schedule(w, *tx, key) == BLOCKED) {
        tx_roll_back(w->db, *tx);
        return;
    }
    if (w->now_us + open_us > w->quiet_us)
        open_us = 0;
    world_log(w, "the application begins %lld: schedule %d, open for %lld ms", (long long)(*tx)->xid, key,
              (long long)(open_us / 1000));
    if (open_us)
        world_after(w, open_us, end_tx, tx, world_chance(w, 900));
    else
        end_tx(w, tx, 1);
}

static void edit_something(struct world *w, void *arg, uint64_t tag)
{
    (void)arg;
    if (world_is_quiet(w))
        return;
    if (!w->app->editing && w->now_us >= w->db->down_until_us && !w->db->read_only)
        begin_editing(w);
    world_after(w, world_between(w, SECOND_US, 2 * world_slot_us(w)), edit_something, NULL, tag);
}

/* ---- how many places keys have ---- */

static void limit_something(struct world *w, void *arg, uint64_t tag)
{
    (void)arg;
    if (world_is_quiet(w))
        return;
    if (w->now_us >= w->db->down_until_us && !w->db->read_only) {
        int32_t *limit = &w->db->limits[world_between(w, 0, LIMITS - 1)];
        checker_limits_change(w);
        *limit = world_chance(w, 500) ? 0 : (int32_t)world_between(w, 1, PLACES_OF_KEY);
    }
    world_after(w, world_between(w, SECOND_US, 2 * world_slot_us(w)), limit_something, NULL, tag);
}

/* ---- pauses ---- */

static enum served change_pause(struct world *w, struct tx *tx)
{
    bool of_schedule = w->shape.schedules && world_chance(w, 300);
    int job = of_schedule ? -1 : (int)world_between(w, 0, JOBS - 1);
    int key = of_schedule ? (int)world_between(w, 0, w->shape.schedules - 1) : 0;
    if (world_chance(w, 500))
        return api_pause(w->db, tx, job, key);
    return api_resume(w->db, tx, job, key, world_chance(w, 300));
}

static void begin_pausing(struct world *w)
{
    struct tx **tx = &w->app->pausing;
    int64_t open_us = w->shape.prompt || world_chance(w, 700) ? 0 : draw_open_us(w);
    tx_begin(w->db, tx);
    if (change_pause(w, *tx) == BLOCKED) {
        tx_roll_back(w->db, *tx);
        return;
    }
    if (w->now_us + open_us > w->quiet_us)
        open_us = 0;
    world_log(w, "the application begins %lld: a pause, open for %lld ms", (long long)(*tx)->xid,
              (long long)(open_us / 1000));
    if (open_us)
        world_after(w, open_us, end_tx, tx, world_chance(w, 900));
    else
        end_tx(w, tx, 1);
}

static void pause_something(struct world *w, void *arg, uint64_t tag)
{
    (void)arg;
    if (world_is_quiet(w))
        return;
    if (!w->app->pausing && w->now_us >= w->db->down_until_us && !w->db->read_only)
        begin_pausing(w);
    world_after(w, world_between(w, SECOND_US, 2 * world_slot_us(w)), pause_something, NULL, tag);
}

static void resume_all(struct world *w, void *arg, uint64_t tag)
{
    struct tx *tx = NULL;
    (void)arg;
    tx_begin(w->db, &tx);
    for (int i = 0; i < w->db->npauses; i++) {
        const struct pause_row *p = &w->db->pauses[i];
        if (p->is.state == PAUSED && api_resume(w->db, tx, p->job, p->key, false) == BLOCKED) {
            tx_roll_back(w->db, tx);
            world_after(w, 100 * MS_US, resume_all, NULL, tag);
            return;
        }
    }
    tx_commit(w->db, tx);
}

/* Else their checks would never come to an end. A row may be locked by a settle. */
static void switch_all_off(struct world *w, void *arg, uint64_t tag)
{
    struct tx *tx = NULL;
    (void)arg;
    tx_begin(w->db, &tx);
    for (int i = 0; i < w->shape.schedules; i++)
        if (api_switch(w->db, tx, i, false) == BLOCKED) {
            tx_roll_back(w->db, tx);
            world_after(w, 100 * MS_US, switch_all_off, NULL, tag);
            return;
        }
    tx_commit(w->db, tx);
}

void app_make(struct world *w)
{
    w->app = calloc(1, sizeof *w->app);
    if (!w->app)
        abort();
    fill(w);
    if (w->shape.app_writes)
        world_after(w, world_between(w, 0, SECOND_US), write_something, NULL, 0);
    if (w->shape.asks_at_once)
        world_after(w, world_between(w, 0, SECOND_US), ask_for_something, NULL, 0);
    if (w->shape.concurrency_keys && world_chance(w, 500))
        world_after(w, world_between(w, 0, SECOND_US), limit_something, NULL, 0);
    if (w->shape.pauses) {
        world_after(w, world_between(w, 0, 2 * world_slot_us(w)), pause_something, NULL, 0);
        world_at(w, w->quiet_us, resume_all, NULL, 0);
    }
    if (!w->shape.schedules)
        return;
    world_after(w, world_between(w, 0, 2 * world_slot_us(w)), edit_something, NULL, 0);
    world_at(w, w->quiet_us, switch_all_off, NULL, 0);
}

void app_free(struct world *w)
{
    free(w->app);
}
