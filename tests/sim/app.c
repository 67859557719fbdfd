/* app.c - the first checks, and an application that changes them while engines run. */
#include "app.h"

#include <stdlib.h>

#include "db.h"

enum { APP_TXS = 4 };

struct app {
    struct tx *txs[APP_TXS];
};

/* ---- at first ---- */

static void fill(struct world *w)
{
    struct tx *tx = NULL;
    tx_begin(w->db, &tx);
    int64_t now = db_clock_us(w->db) / SECOND_US;
    for (int i = 0; i < w->shape.checks; i++) {
        int64_t at = now + world_between(w, 0, w->shape.slots * w->shape.slot_length_s);
        api_enqueue(w->db, tx, i, at, CONFLICT_KEEP,
                    world_chance(w, 200) ? (int32_t)world_between(w, -1, 1) : 0);
    }
    tx_commit(w->db, tx);
}

/* ---- later ---- */

static enum served change_one(struct world *w, struct tx *tx, int key)
{
    int64_t at = db_clock_us(w->db) / SECOND_US + world_between(w, -5, 3 * w->shape.slot_length_s);
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

void app_make(struct world *w)
{
    w->app = calloc(1, sizeof *w->app);
    if (!w->app)
        abort();
    fill(w);
    if (w->shape.app_writes)
        world_after(w, world_between(w, 0, SECOND_US), write_something, NULL, 0);
}

void app_free(struct world *w)
{
    free(w->app);
}
