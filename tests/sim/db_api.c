/* db_api.c - enqueue, reschedule and resolve, as in migrations/pg/0006_enqueue.sql and
 * 0007_filing.sql: a transaction gets its number first, then reads the clock, then chooses the
 * slot. */
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

/* The rule stays, if the row has one: the slot asked for is an occurrence. */
static void begin_life(struct db *db, struct version *v, int64_t slot, int32_t priority)
{
    struct check_terms terms = v->exists ? v->terms : (struct check_terms){ 0 };
    first_is_found(&terms);
    *v = (struct version){ .exists = true, .id = db->next_id++, .first_at = slot, .next_at = slot,
                           .priority = priority, .terms = terms };
}

/* Beside a check whose slot has begun. An edit may have asked for that slot only to find the first
 * occurrence there: the rule holds from there on. */
static void ask_beside(const struct db *db, struct version *v, int64_t slot, enum conflict conflict)
{
    bool is_earlier = conflict == CONFLICT_EARLIER && slot < v->again_at;
    if (!v->again_at || is_earlier)
        v->again_at = slot;
    if (slot != v->again_at || slot != slot_next(v->terms.from, db->w->shape.slot_length_s))
        return;
    v->terms.from = slot;
    v->terms.looks_at = 0;
}

/* Of a check that is to find its first occurrence: nobody here can tell which one comes first. */
static void ask_before_first(struct version *v, int64_t slot)
{
    if (slot > v->next_at) {
        v->again_at = v->again_at && v->again_at < slot ? v->again_at : slot;
        return;
    }
    first_is_found(&v->terms);
    v->first_at = v->next_at = slot;
}

/* The check is pending already. If its slot has begun, an engine may be answering it: then the
 * wanted slot is written to again_at. */
static enum served enqueue_again(struct db *db, struct tx *tx, struct row *row, int64_t slot,
                                 enum conflict conflict, int32_t priority)
{
    const struct version *old = tx_sees(tx, row);
    int64_t now = db_clock_us(db) / SECOND_US;
    bool is_late = slot >= old->next_at && !finds_first(db, old);
    if (old->next_at > now && (conflict == CONFLICT_KEEP || (conflict == CONFLICT_EARLIER && is_late)))
        return COMMITS;
    struct version *v = tx_row(tx, row);
    if (!v)
        return BLOCKED;
    if (conflict == CONFLICT_REPLACE)
        begin_life(db, v, slot, priority);
    else if (v->next_at <= now)
        ask_beside(db, v, slot, conflict);
    else if (conflict == CONFLICT_EARLIER && finds_first(db, v))
        ask_before_first(v, slot);
    else if (conflict == CONFLICT_EARLIER && slot < v->next_at)
        v->next_at = slot;
    return COMMITS;
}

static enum served file(struct db *db, struct tx *tx, struct row *row, int64_t slot, enum conflict conflict,
                        int32_t priority)
{
    tx->files = true;
    if (tx_sees(tx, row)->exists)
        return enqueue_again(db, tx, row, slot, conflict, priority);
    struct version *v = tx_row(tx, row);
    if (!v)
        return BLOCKED;             /* another transaction is inserting it */
    begin_life(db, v, slot, priority);
    return COMMITS;
}

enum served api_enqueue(struct db *db, struct tx *tx, int key, int64_t at, enum conflict conflict,
                        int32_t priority)
{
    return file(db, tx, &db->rows[key], slot_wanted(db, at), conflict, priority);
}

enum served api_enqueue_now(struct db *db, struct tx *tx, int key, enum conflict conflict)
{
    int64_t now = db_clock_us(db) / SECOND_US;
    tx->asks_at_once = true;
    return file(db, tx, &db->rows[key], slot_fine_next(now, db->w->shape.slot_length_s), conflict, 0);
}

enum served api_reschedule(struct db *db, struct tx *tx, int key, int64_t at)
{
    struct row *row = &db->rows[key];
    if (!tx_sees(tx, row)->exists)
        return COMMITS;
    struct version *v = tx_row(tx, row);
    if (!v)
        return BLOCKED;
    tx->files = true;
    begin_life(db, v, slot_wanted(db, at), v->priority);
    return COMMITS;
}

enum served api_resolve(struct db *db, struct tx *tx, int key)
{
    struct row *row = &db->rows[key];
    if (schedule_resolved(db, tx, key) == BLOCKED)
        return BLOCKED;
    if (!tx_sees(tx, row)->exists)
        return COMMITS;
    struct version *v = tx_row(tx, row);
    if (!v)
        return BLOCKED;
    tx_record(tx, RECORD_HISTORY, row, v)->outcome = OUTCOME_RESOLVED;
    v->exists = false;
    return COMMITS;
}
