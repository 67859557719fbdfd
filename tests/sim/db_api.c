/* db_api.c - enqueue, reschedule and resolve, as in migrations/pg/0003_api.sql: a transaction gets
 * its number first, then reads the clock, then chooses the slot. */
#include "../../engine/rules/slot.h"
#include "db.h"

static int64_t slot_wanted(const struct db *db, int64_t at)
{
    int64_t now = db_clock_us(db) / SECOND_US;
    int32_t length = db->w->shape.slot_length_s;
    if (db->w->wrong[ENQUEUE_INTO_BEGUN])
        return at > now ? slot_ceil(at, length) : slot_floor(now, length);
    return slot_for(at, now, length);
}

static void begin_life(struct db *db, struct version *v, int64_t slot, int32_t priority)
{
    *v = (struct version){ .exists = true, .id = db->next_id++, .first_at = slot, .next_at = slot,
                           .priority = priority };
}

/* The check is pending already. If its slot has begun, an engine may be answering it: then the
 * wanted slot is written to again_at. */
static enum served enqueue_again(struct db *db, struct tx *tx, struct row *row, int64_t slot,
                                 enum conflict conflict, int32_t priority)
{
    const struct version *old = tx_sees(tx, row);
    int64_t now = db_clock_us(db) / SECOND_US;
    if (old->next_at > now &&
        (conflict == CONFLICT_KEEP || (conflict == CONFLICT_EARLIER && slot >= old->next_at)))
        return COMMITS;
    struct version *v = tx_row(tx, row);
    if (!v)
        return BLOCKED;
    if (conflict == CONFLICT_REPLACE)
        begin_life(db, v, slot, priority);
    else if (v->next_at <= now)
        v->again_at = !v->again_at || (conflict == CONFLICT_EARLIER && slot < v->again_at) ? slot
                                                                                           : v->again_at;
    else if (conflict == CONFLICT_EARLIER && slot < v->next_at)
        v->next_at = slot;
    return COMMITS;
}

enum served api_enqueue(struct db *db, struct tx *tx, int key, int64_t at, enum conflict conflict,
                        int32_t priority)
{
    struct row *row = &db->rows[key];
    int64_t slot = slot_wanted(db, at);
    if (tx_sees(tx, row)->exists)
        return enqueue_again(db, tx, row, slot, conflict, priority);
    struct version *v = tx_row(tx, row);
    if (!v)
        return BLOCKED;             /* another transaction is inserting it */
    begin_life(db, v, slot, priority);
    return COMMITS;
}

enum served api_reschedule(struct db *db, struct tx *tx, int key, int64_t at)
{
    struct row *row = &db->rows[key];
    if (!tx_sees(tx, row)->exists)
        return COMMITS;
    struct version *v = tx_row(tx, row);
    if (!v)
        return BLOCKED;
    begin_life(db, v, slot_wanted(db, at), v->priority);
    return COMMITS;
}

enum served api_resolve(struct db *db, struct tx *tx, int key)
{
    struct row *row = &db->rows[key];
    if (!tx_sees(tx, row)->exists)
        return COMMITS;
    struct version *v = tx_row(tx, row);
    if (!v)
        return BLOCKED;
    tx_record(tx, RECORD_HISTORY, row, v)->outcome = OUTCOME_RESOLVED;
    v->exists = false;
    return COMMITS;
}
