/* db.c - transactions over rows in two versions, their numbers, and the database's clock. */
#include "db.h"

#include <stdlib.h>
#include <string.h>

#include "../../engine/rules/idempotency.h"
#include "checker.h"

/* ---- making ---- */

void db_make(struct world *w)
{
    struct db *db = w->db = calloc(1, sizeof *db);
    if (!db)
        abort();
    db->w = w;
    db->clock_offset_us = world_between(w, -3, 3) * SECOND_US;
    db->next_xid = 700;
    db->over_xid = db->next_xid - 1;
    db->incarnation = 1;
    db->next_id = db->next_token = 1;
    for (int key = 0; key < KEYS_MAX; key++) {
        char text[16];
        snprintf(text, sizeof text, "%d", key);
        db->rows[key] = (struct row){ .key = key, .job = key % JOBS, .bucket = bucket_of("order", text) };
    }
    rules_draw(db);
    concurrency_draw(db);
    db_set_clock(db, 0);
}

static void free_txs(struct tx *tx)
{
    for (struct tx *next; tx; tx = next) {
        next = tx->following;
        free(tx);
    }
}

void db_free(struct world *w)
{
    struct db *db = w->db;
    free_txs(db->running);
    free_txs(db->spare);
    for (int i = 0; i < db->nleases; i++)
        free(db->leases[i]);
    for (int i = 0; i < db->nslots; i++)
        free(db->slots[i]);
    free(db->leases);
    free(db->slots);
    free(db);
}

void db_set_clock(struct db *db, int64_t by_us)
{
    int64_t now = db_clock_us(db);
    if (now > db->clock_most_us)
        db->clock_most_us = now;
    db->clock_offset_us += by_us;
    now = db_clock_us(db);
    if (now > db->clock_most_us)
        db->clock_most_us = now;
}

/* ---- finding ---- */

static void *grow(void *list, int n, int *room, size_t size)
{
    if (n < *room)
        return list;
    *room = *room ? *room * 2 : 32;
    list = realloc(list, (size_t)*room * size);
    if (!list)
        abort();
    return list;
}

struct lease_row *db_lease(struct db *db, int64_t slot, int32_t bucket, bool make)
{
    for (int i = db->nleases - 1; i >= 0; i--)
        if (db->leases[i]->slot == slot && db->leases[i]->bucket == bucket)
            return db->leases[i];
    if (!make)
        return NULL;
    db->leases = grow(db->leases, db->nleases, &db->leases_room, sizeof *db->leases);
    struct lease_row *lease = calloc(1, sizeof *lease);
    if (!lease)
        abort();
    lease->slot = slot;
    lease->bucket = bucket;
    return db->leases[db->nleases++] = lease;
}

struct slot_row *db_slot(struct db *db, int64_t slot, bool make)
{
    for (int i = db->nslots - 1; i >= 0; i--)
        if (db->slots[i]->slot == slot)
            return db->slots[i];
    if (!make)
        return NULL;
    db->slots = grow(db->slots, db->nslots, &db->slots_room, sizeof *db->slots);
    struct slot_row *row = calloc(1, sizeof *row);
    if (!row)
        abort();
    row->slot = slot;
    return db->slots[db->nslots++] = row;
}

bool row_is_of_small(const struct row *row)
{
    return row->key % 3 == 0;
}

bool row_is_in(const struct version *v, const struct row *row, int64_t slot, int32_t bucket)
{
    return v->exists && v->next_at == slot && (bucket == BUCKET_WHOLE_SLOT || row->bucket == bucket);
}

/* ---- transactions ---- */

int64_t oldest_running(const struct db *db, int64_t own)
{
    int64_t oldest = own;
    for (const struct tx *tx = db->running; tx; tx = tx->following)
        if (tx->xid < oldest)
            oldest = tx->xid;
    return oldest;
}

struct tx *tx_begin(struct db *db, struct tx **holder)
{
    struct tx *tx = db->spare;
    if (tx)
        db->spare = tx->following;
    else
        tx = malloc(sizeof *tx);
    if (!tx)
        abort();
    tx->holder = holder;
    tx->host = tx->start = -1;
    tx->committing = false;
    tx->xid = db->next_xid++;
    tx->nrows = tx->nschedules = tx->nleases = tx->ncloses = tx->nrecords = 0;
    tx->shared = NULL;
    tx->nplaces = 0;
    tx->npauses = tx->nshared_pauses = 0;
    tx->opens = tx->reopens = NULL;
    tx->pass = (struct pass){ 0 };
    tx->mark = tx->noted = tx->full_look_at = 0;
    tx->clears = false;
    tx->makes_day = tx->asks_at_once = tx->files = false;
    tx->following = db->running;
    db->running = tx;
    return *holder = tx;
}

static void tx_end(struct db *db, struct tx *tx)
{
    for (struct tx **at = &db->running; *at; at = &(*at)->following)
        if (*at == tx) {
            *at = tx->following;
            break;
        }
    *tx->holder = NULL;
    if (tx->xid > db->over_xid)
        db->over_xid = tx->xid;
    tx->following = db->spare;
    db->spare = tx;
}

const struct version *tx_sees(const struct tx *tx, const struct row *row)
{
    return tx && row->by == tx ? &row->will : &row->is;
}

struct version *tx_row(struct tx *tx, struct row *row)
{
    if (row->by == tx)
        return &row->will;
    if (row->by)
        return NULL;
    row->by = tx;
    row->will = row->is;
    tx->rows[tx->nrows++] = row;
    return &row->will;
}

struct lease_version *tx_lease(struct tx *tx, struct lease_row *lease)
{
    if (lease->by == tx)
        return &lease->will;
    if (lease->by || lease->shares || tx->nleases == TX_LEASES)
        return NULL;
    lease->by = tx;
    lease->will = lease->is;
    tx->leases[tx->nleases++] = lease;
    return &lease->will;
}

struct record *tx_record(struct tx *tx, enum record_kind kind, const struct row *row,
                         const struct version *as_read)
{
    if (tx->nrecords == TX_RECORDS)
        abort();
    struct record *r = &tx->records[tx->nrecords++];
    *r = (struct record){ .kind = kind,
                          .key = row->key,
                          .id = as_read->id,
                          .slot = as_read->next_at,
                          .check_count = as_read->check_count,
                          .failure_count = as_read->failure_count,
                          .run = -1,
                          .host = -1 };
    return r;
}

static void unlock_rows(struct tx *tx)
{
    for (int i = 0; i < tx->nrows; i++)
        tx->rows[i]->by = NULL;
    for (int i = 0; i < tx->nschedules; i++)
        tx->schedules[i]->by = NULL;
    tx->nrows = tx->nschedules = 0;
}

void tx_undo_rows(struct tx *tx)
{
    for (int i = 0; i < tx->nrows; i++)
        tx->rows[i]->will = tx->rows[i]->is;
    for (int i = 0; i < tx->nschedules; i++)
        tx->schedules[i]->will = tx->schedules[i]->is;
    tx->nrecords = 0;
}

void tx_forget_rows(struct tx *tx)
{
    unlock_rows(tx);
    places_unlock(tx);
    for (int i = 0; i < tx->nleases; i++)
        tx->leases[i]->by = NULL;
    if (tx->opens)
        tx->opens->by = NULL;
    tx->opens = tx->reopens = NULL;
    tx->nleases = tx->nrecords = tx->ncloses = 0;
}

static void unlock_all(struct db *db, struct tx *tx)
{
    unlock_rows(tx);
    pauses_unlock(db, tx);
    places_unlock(tx);
    for (int i = 0; i < tx->nleases; i++)
        tx->leases[i]->by = NULL;
    if (tx->shared)
        tx->shared->shares--;
    if (tx->opens)
        tx->opens->by = NULL;
}

void tx_roll_back(struct db *db, struct tx *tx)
{
    unlock_all(db, tx);
    tx_end(db, tx);
}

static void write_pass(const struct tx *tx)
{
    struct slot_row *s = tx->pass.slot;
    if (!s)
        return;
    int bucket = tx->pass.bucket == BUCKET_WHOLE_SLOT ? 0 : tx->pass.bucket;
    s->done |= 1ull << bucket;
    s->left[bucket] = tx->pass.left;
    if (tx->xid > s->seen_xid && !tx->pass.complete)
        s->seen_xid = tx->xid;
}

static void clear_leases(struct db *db)
{
    for (int i = 0; i < db->nleases; i++) {
        struct lease_row *l = db->leases[i];
        const struct slot_row *s = db_slot(db, l->slot, false);
        if (l->is.exists && !l->by && !l->shares && s && s->closed && l->is.expires_us <= db_clock_us(db))
            l->is.exists = false;
    }
}

void tx_commit(struct db *db, struct tx *tx)
{
    checker_commit(db->w, tx);
    for (int i = 0; i < tx->nrows; i++)
        tx->rows[i]->is = tx->rows[i]->will;
    for (int i = 0; i < tx->nschedules; i++)
        tx->schedules[i]->is = tx->schedules[i]->will;
    pauses_committed(db, tx);
    places_committed(tx);
    for (int i = 0; i < tx->nleases; i++)
        tx->leases[i]->is = tx->leases[i]->will;
    if (tx->opens) {
        tx->opens->exists = true;
        tx->opens->xid = tx->xid;
    }
    for (int i = 0; i < tx->ncloses; i++)
        tx->closes[i]->closed = true;
    if (tx->reopens) {
        tx->reopens->closed = false;
        if (tx->xid > tx->reopens->seen_xid)
            tx->reopens->seen_xid = tx->xid;
    }
    write_pass(tx);
    if (tx->mark)
        db->mark = tx->mark;
    if (tx->full_look_at)
        db->full_look_at = tx->full_look_at;
    if (tx->noted) {
        db->noted = tx->noted;
        db->noted_xid = tx->xid;
    }
    if (tx->clears)
        clear_leases(db);
    if (tx->makes_day)
        db->day_missing = false;
    unlock_all(db, tx);
    tx_end(db, tx);
}

void db_go_down(struct db *db)
{
    while (db->running)
        if (db->running->committing && world_chance(db->w, 500))
            tx_commit(db, db->running);
        else
            tx_roll_back(db, db->running);
}

/* ---- the end ---- */

static int count_places(const struct db *db)
{
    int n = 0;
    for (int i = 0; i < CONCURRENCY_MAX; i++)
        for (int k = 0; k < PLACES_OF_KEY; k++)
            n += place_is_held(db, &db->places[i][k]);
    return n;
}

bool db_is_done(const struct db *db, char *remaining, size_t size)
{
    int rows = 0, leases = 0, slots = 0, txs = 0, pauses = 0, key = -1, places = count_places(db);
    for (int i = 0; i < KEYS_MAX; i++)
        if (db->rows[i].is.exists) {
            rows++;
            key = key < 0 ? i : key;
        }
    for (int i = 0; i < db->nleases; i++)
        leases += db->leases[i]->is.exists;
    for (int i = 0; i < db->nslots; i++)
        slots += db->slots[i]->exists && !db->slots[i]->closed;
    for (const struct tx *tx = db->running; tx; tx = tx->following)
        txs++;
    for (int i = 0; i < db->npauses; i++)
        pauses += db->pauses[i].is.state == PAUSED || db->pauses[i].is.state == RESUMING;
    int n = snprintf(remaining, size,
                     "%d checks wait, %d leases and %d places remain, %d slots are not closed, %d "
                     "transactions run, %d pauses are not over", rows, leases, places, slots, txs, pauses);
    if (key >= 0 && n > 0 && (size_t)n < size)
        snprintf(remaining + n, size - (size_t)n, "; check %d waits at slot +%lld s", key,
                 (long long)(db->rows[key].is.next_at - db->w->began_us / SECOND_US));
    return rows + leases + places + slots + txs + pauses == 0;
}
