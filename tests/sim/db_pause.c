/* db_pause.c - pauses, as in migrations/pg/0010_pauses.sql: each has a slot of its own that never
 * begins. Settles and openings share its row until they commit. Who resumes waits for them. */
#include "../../engine/rules/slot.h"
#include "db.h"
#include "message.h"

enum { DAY_S = 86400 };

/* The row with the number of the last change: one transaction at a time pauses, resumes or ends. */
static bool lock_changes(struct db *db, struct tx *tx)
{
    if (db->pausing && db->pausing != tx)
        return false;
    int64_t now = db_clock_us(db);
    db->pausing = tx;
    tx->pause_change = db->pause_change + 1 > now ? db->pause_change + 1 : now;
    return true;
}

static struct pause_version *lock_pause(struct tx *tx, struct pause_row *p)
{
    if (p->by == tx)
        return &p->will;
    if (p->by || p->shares)
        return NULL;
    p->by = tx;
    p->will = p->is;
    tx->pauses[tx->npauses++] = p;
    return &p->will;
}

static void share(struct tx *tx, struct pause_row *p)
{
    for (int i = 0; i < tx->nshared_pauses; i++)
        if (tx->shared_pauses[i] == p)
            return;
    p->shares++;
    tx->shared_pauses[tx->nshared_pauses++] = p;
}

static struct pause_row *pause_on(struct db *db, int job, int key)
{
    for (int i = 0; i < db->npauses; i++)
        if (db->pauses[i].is.state == PAUSED && db->pauses[i].job == job && db->pauses[i].key == key)
            return &db->pauses[i];
    return NULL;
}

enum served api_pause(struct db *db, struct tx *tx, int job, int key)
{
    if (!lock_changes(db, tx))
        return BLOCKED;
    if (pause_on(db, job, key) || db->npauses == PAUSES_MAX)
        return COMMITS;
    struct pause_row *p = &db->pauses[db->npauses];
    *p = (struct pause_row){ .slot = SLOT_PAUSES_FROM + db->npauses++ * DAY_S, .job = job, .key = key };
    lock_pause(tx, p)->state = PAUSED;
    return COMMITS;
}

enum served api_resume(struct db *db, struct tx *tx, int job, int key, bool reslot)
{
    if (!lock_changes(db, tx))
        return BLOCKED;
    struct pause_row *p = pause_on(db, job, key);
    if (!p)
        return COMMITS;
    struct pause_version *v = lock_pause(tx, p);
    if (!v)
        return BLOCKED;
    *v = (struct pause_version){ RESUMING, reslot };
    return COMMITS;
}

struct pause_row *pause_of_slot(struct db *db, int64_t slot)
{
    for (int i = 0; i < db->npauses; i++)
        if (db->pauses[i].slot == slot)
            return &db->pauses[i];
    return NULL;
}

/* One that is locked by a transaction that resumes counts as over. */
bool pause_takes(struct db *db, struct tx *tx, int64_t slot)
{
    struct pause_row *p = pause_of_slot(db, slot);
    if (db->w->wrong[PAUSE_IS_NOT_ASKED])
        return true;
    if (!p || p->by || p->is.state != PAUSED)
        return false;
    share(tx, p);
    return true;
}

bool pause_may_be_opened(struct db *db, struct tx *tx, int64_t slot)
{
    struct pause_row *p = pause_of_slot(db, slot);
    if (!p || p->by || p->is.state != RESUMING)
        return false;
    share(tx, p);
    return true;
}

static bool is_empty(struct db *db, const struct pause_row *p)
{
    const struct slot_row *slot = db_slot(db, p->slot, false);
    for (int i = 0; i < KEYS_MAX; i++)
        if (row_is_in(&db->rows[i].is, &db->rows[i], p->slot, BUCKET_WHOLE_SLOT))
            return false;
    for (int i = 0; i < db->nleases; i++)
        if (db->leases[i]->slot == p->slot && db->leases[i]->is.exists)
            return false;
    return !slot || !slot->exists || slot->closed;
}

enum served db_end_pauses(struct db *db, struct message *m)
{
    struct tx *tx = message_tx(db, m);
    m->u.end_pauses.ended = 0;
    for (int i = 0; i < db->npauses; i++) {
        struct pause_row *p = &db->pauses[i];
        if (p->is.state != RESUMING || p->by || p->shares || !is_empty(db, p))
            continue;
        if (!lock_changes(db, tx))
            return BLOCKED;
        lock_pause(tx, p)->state = RESUMED;
        m->u.end_pauses.ended++;
    }
    return COMMITS;
}

enum served db_pauses(struct db *db, struct message *m)
{
    m->u.pauses.change = db->pause_change;
    m->npauses = 0;
    for (int i = 0; i < db->npauses && db->pause_change != m->u.pauses.known; i++)
        if (db->pauses[i].is.state == PAUSED || db->pauses[i].is.state == RESUMING)
            m->pauses[m->npauses++] = db->pauses[i];
    return ANSWERED;
}

static void forget_slot(struct db *db, int64_t slot)
{
    struct slot_row *s = db_slot(db, slot, false);
    if (s && !s->by)
        *s = (struct slot_row){ .slot = slot };
}

void pauses_committed(struct db *db, struct tx *tx)
{
    for (int i = 0; i < tx->npauses; i++) {
        struct pause_row *p = tx->pauses[i];
        p->is = p->will;
        p->since_us = db->w->now_us;
        if (p->is.state == RESUMED)
            forget_slot(db, p->slot);
    }
    if (db->pausing == tx)
        db->pause_change = tx->pause_change;
}

void pauses_unlock(struct db *db, struct tx *tx)
{
    for (int i = 0; i < tx->npauses; i++)
        tx->pauses[i]->by = NULL;
    for (int i = 0; i < tx->nshared_pauses; i++)
        tx->shared_pauses[i]->shares--;
    if (db->pausing == tx)
        db->pausing = NULL;
    tx->npauses = tx->nshared_pauses = 0;
}
