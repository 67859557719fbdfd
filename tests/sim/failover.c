/* failover.c - the copy of the database, and the failover to it. */
#include "failover.h"

#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "db.h"

struct standby {
    struct row rows[KEYS_MAX];
    struct schedule schedules[SCHEDULES_MAX];
    struct pause_row pauses[PAUSES_MAX];
    int npauses;
    int64_t pause_change;
    struct place_row places[CONCURRENCY_MAX][PLACES_OF_KEY];
    int32_t limits[LIMITS];
    struct lease_row *leases;
    struct slot_row *slots;
    int nleases, nslots;
    int64_t next_xid, next_id, next_token, mark, noted, noted_xid;
    struct checker_mark *known;
};

static void *copies(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p)
        abort();
    return p;
}

struct standby *standby_new(const struct world *w)
{
    const struct db *db = w->db;
    struct standby *s = copies(1, sizeof *s);
    s->leases = copies((size_t)db->nleases, sizeof *s->leases);
    s->slots = copies((size_t)db->nslots, sizeof *s->slots);
    for (int i = 0; i < KEYS_MAX; i++) {
        s->rows[i] = db->rows[i];
        s->rows[i].by = NULL;
    }
    for (int i = 0; i < db->npauses; i++) {
        s->pauses[i] = db->pauses[i];
        s->pauses[i].by = NULL;
        s->pauses[i].shares = 0;
    }
    s->npauses = db->npauses;
    s->pause_change = db->pause_change;
    for (int i = 0; i < SCHEDULES_MAX; i++)
        s->schedules[i] = (struct schedule){ .is = db->schedules[i].is };
    for (int i = 0; i < db->nleases; i++) {
        s->leases[s->nleases] = *db->leases[i];
        s->leases[s->nleases].by = NULL;
        s->leases[s->nleases++].shares = 0;
    }
    for (int i = 0; i < db->nslots; i++)
        if (db->slots[i]->exists) {
            s->slots[s->nslots] = *db->slots[i];
            s->slots[s->nslots++].by = NULL;
        }
    memcpy(s->places, db->places, sizeof s->places);
    for (int i = 0; i < CONCURRENCY_MAX; i++)
        for (int k = 0; k < PLACES_OF_KEY; k++)
            s->places[i][k].by = NULL;
    memcpy(s->limits, db->limits, sizeof s->limits);
    s->next_xid = db->next_xid;
    s->next_id = db->next_id;
    s->next_token = db->next_token;
    s->mark = db->mark;
    s->noted = db->noted;
    s->noted_xid = db->noted_xid;
    s->known = checker_remember(w);
    return s;
}

void standby_free(struct standby *s)
{
    if (!s)
        return;
    checker_forget(s->known);
    free(s->leases);
    free(s->slots);
    free(s);
}

static void put_back_lists(struct db *db, const struct standby *s)
{
    for (int i = 0; i < db->nleases; i++)
        free(db->leases[i]);
    for (int i = 0; i < db->nslots; i++)
        free(db->slots[i]);
    db->nleases = db->nslots = 0;
    for (int i = 0; i < s->nleases; i++)
        *db_lease(db, s->leases[i].slot, s->leases[i].bucket, true) = s->leases[i];
    for (int i = 0; i < s->nslots; i++)
        *db_slot(db, s->slots[i].slot, true) = s->slots[i];
}

/* What engines have read is not the database's: it stays. */
static void put_back_row(struct row *row, const struct row *copy)
{
    struct row before = *row;
    *row = *copy;
    row->read = before.read;
    row->read_id = before.read_id;
    row->read_slot = before.read_slot;
    row->is_reread = before.is_reread;
}

void standby_take_over(struct world *w, struct standby *s)
{
    struct db *db = w->db;
    while (db->running)
        tx_roll_back(db, db->running);
    for (int i = 0; i < KEYS_MAX; i++)
        put_back_row(&db->rows[i], &s->rows[i]);
    memcpy(db->schedules, s->schedules, sizeof db->schedules);
    memcpy(db->pauses, s->pauses, sizeof db->pauses);
    db->npauses = s->npauses;
    db->pause_change = s->pause_change;
    checker_limits_change(w);
    memcpy(db->places, s->places, sizeof db->places);
    memcpy(db->limits, s->limits, sizeof db->limits);
    put_back_lists(db, s);
    db->next_xid = s->next_xid;
    db->over_xid = s->next_xid - 1;
    db->next_id = s->next_id;
    db->next_token = s->next_token;
    db->mark = s->mark;
    db->noted = s->noted;
    db->noted_xid = s->noted_xid;
    checker_was_failed_over(w, s->known);
}
