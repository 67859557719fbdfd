/* db_settle.c - reads of pages and settles of answers, as in store_pg.sql. */
#include <stdlib.h>
#include <string.h>

#include "../../engine/rules/slot.h"
#include "checker.h"
#include "db.h"
#include "message.h"

/* ---- read ---- */

static int by_place(const void *a, const void *b)
{
    const struct sent_check *x = a, *y = b;
    if (x->v.priority != y->v.priority)
        return x->v.priority < y->v.priority ? -1 : 1;
    return (x->v.id > y->v.id) - (x->v.id < y->v.id);
}

bool is_after(const struct row *row, const struct page_cursor *after, bool whole)
{
    if (whole && row->bucket != after->bucket)
        return row->bucket > after->bucket;
    if (row->is.priority != after->priority)
        return row->is.priority > after->priority;
    return row->is.id > after->id;
}

/* Whether it is of the parts of the slot that are read. */
static bool is_of_parts(const struct db *db, const struct store_read_page *r, const struct row *row)
{
    bool is_split = r->lease.bucket != BUCKET_WHOLE_SLOT;
    return is_split || row->bucket < r->parts || row->is.priority < 0 || db->w->wrong[READ_IGNORES_PHASE];
}

/* The rows of one bucket after the cursor, in order. */
static int read_bucket(const struct db *db, const struct message *m, int32_t bucket, struct sent_check *out)
{
    const struct store_read_page *r = &m->u.read;
    int n = 0;
    for (int i = 0; i < KEYS_MAX; i++) {
        const struct row *row = &db->rows[i];
        if (row->bucket == bucket && row_is_in(&row->is, row, r->lease.slot, bucket) &&
            is_after(row, &r->after, r->lease.bucket == BUCKET_WHOLE_SLOT) &&
            (m->any_job || m->jobs[row->job]) && (r->what != READ_URGENT || row->is.priority < 0) &&
            (r->what != READ_SMALL || row_is_of_small(row)) && is_of_parts(db, r, row))
            out[n++] = (struct sent_check){ i, row->bucket, row->is };
    }
    qsort(out, (size_t)n, sizeof *out, by_place);
    return n;
}

/* A page of a round before the last one may still hold the check: then the engine goes by that. */
static void note_read(struct row *row, const struct version *v)
{
    const struct check_terms *was = &row->read, *is = &v->terms;
    bool is_same = row->read_id == v->id && row->read_slot == v->next_at;
    bool differs = was->rule != is->rule || was->from != is->from || was->sought != is->sought;
    row->is_reread = is_same && (row->is_reread || differs);
    row->read = *is;
    row->read_id = v->id;
    row->read_slot = v->next_at;
}

enum served db_read_page(struct db *db, struct message *m)
{
    struct store_read_page *r = &m->u.read;
    bool whole = r->lease.bucket == BUCKET_WHOLE_SLOT;
    struct sent_check found[KEYS_MAX];
    int n = 0;
    for (int b = whole ? 0 : r->lease.bucket; b <= (whole ? BUCKETS - 1 : r->lease.bucket); b++)
        n += read_bucket(db, m, b, found + n);
    int want = r->want < PAGE_MAX ? r->want : PAGE_MAX;
    if (n > 1 && world_chance(db->w, 50))
        want = (int)world_between(db->w, 1, n);     /* a page is bounded in bytes, too */
    for (m->npage = 0; m->npage < n && m->npage < want; m->npage++) {
        m->page[m->npage] = found[m->npage];
        note_read(&db->rows[found[m->npage].key], &found[m->npage].v);
    }
    if (m->npage && r->what != READ_ALL)
        world_count(db->w, r->what == READ_URGENT ? TALLY_READ_URGENT : TALLY_READ_SMALL);
    r->has_more = m->npage < n;
    r->is_complete = m->npage && r->origin.xid && r->origin.xid <= oldest_running(db, db->next_xid);
    return ANSWERED;
}

/* ---- settle ---- */

static bool is_as_read(const struct db *db, const struct version *v, const struct sent_settlement *s)
{
    if (!v->exists || v->id != s->id)
        return false;
    return db->w->wrong[SETTLE_IGNORES_COUNTS] ||
           (v->next_at == s->slot && v->check_count == s->check_count &&
            v->failure_count == s->failure_count);
}

static struct record *record_run(struct message *m, enum record_kind kind, const struct row *row,
                                 const struct version *v, const struct sent_settlement *s)
{
    struct record *r = tx_record(m->tx, kind, row, v);
    r->outcome = s->s.outcome;
    r->ran = s->s.ran;
    r->run = s->run;
    r->host = m->host;
    return r;
}

static void write_end(struct db *db, struct message *m, const struct row *row, struct version *v,
                      const struct sent_settlement *s)
{
    if (!db->w->wrong[SETTLE_FORGETS_HISTORY] || !world_chance(db->w, 50))
        record_run(m, RECORD_HISTORY, row, v, s);
    v->exists = false;
    if (!v->again_at)
        return;
    struct slot_move move = { .wanted = v->again_at, .now = db_clock_us(db) / SECOND_US };
    int64_t slot = slot_moved(&move, db->w->shape.slot_length_s);
    *v = (struct version){ .exists = true, .id = db->next_id++, .first_at = slot, .next_at = slot,
                           .priority = v->priority, .terms = v->terms };
}

/* Where the application asked for the check while it ran; INT64_MAX: nowhere. */
static int64_t asked_for(const struct db *db, const struct version *v, int64_t left)
{
    struct slot_move move = { .wanted = v->again_at, .left = left, .now = db_clock_us(db) / SECOND_US };
    if (!v->again_at || db->w->wrong[SETTLE_FORGETS_ASKED])
        return INT64_MAX;
    return slot_moved(&move, db->w->shape.slot_length_s);
}

/* Where the check goes that leaves its slot. What was asked for later than that stays. */
static int64_t moves_to(struct db *db, struct tx *tx, struct version *v, const struct sent_settlement *s)
{
    struct slot_move move = { .wanted = s->s.next_at,
                              .left = s->slot,
                              .now = db_clock_us(db) / SECOND_US,
                              .is_attempt = s->s.failure_count > v->failure_count };
    int64_t to = slot_moved(&move, db->w->shape.slot_length_s), asked = asked_for(db, v, s->slot);
    if (slot_is_of_pause(to) && !pause_takes(db, tx, to)) {
        to = slot_next(move.now, db->w->shape.slot_length_s);
        if (to == s->slot)
            to = slot_next(to, db->w->shape.slot_length_s);
    }
    to = asked < to ? asked : to;
    if (v->again_at <= to)
        v->again_at = 0;
    return to;
}

/* An occurrence is over: the check starts anew, with a new id, at the next one. The row's own rule
 * stays: an edit may have written it meanwhile. */
static void write_renewal(struct db *db, struct message *m, const struct row *row, struct version *v,
                          const struct sent_settlement *s)
{
    bool has_row = s->s.ran || s->s.outcome == OUTCOME_SKIPPED;
    enum record_kind kind = has_row ? RECORD_RUN : RECORD_PUT_OFF;
    record_run(m, s->s.ends ? RECORD_HISTORY : kind, row, v, s);
    if (s->s.ends && db->w->wrong[FAILURES_END_SCHEDULES]) {
        v->exists = false;
        return;
    }
    struct version next = { .exists = true, .id = db->next_id++, .priority = v->priority };
    next.first_at = v->again_at && v->again_at < s->s.first_at ? v->again_at : s->s.first_at;
    next.next_at = moves_to(db, m->tx, v, s);
    next.again_at = v->again_at;
    next.terms = db->w->wrong[RENEWAL_WRITES_TERMS] ? row->read : v->terms;
    next.terms.is_unfound = v->terms.looks_at && next.first_at == v->terms.looks_at;
    next.terms.looks_at = 0;
    if (db->w->wrong[RENEWAL_COMES_EARLY] && s->s.ran)
        next.next_at -= db->w->shape.slot_length_s;
    if (db->w->wrong[RENEWAL_KEEPS_ID])
        next.id = v->id;
    *v = next;
}

static bool stays_by_mistake(const struct db *db, const struct sent_settlement *s)
{
    return db->w->wrong[DEFERRED_STAYS] && s->s.outcome == OUTCOME_DEFERRED &&
           slot_is_fine(s->slot, db->w->shape.slot_length_s);
}

static void write_move(struct db *db, struct message *m, const struct row *row, struct version *v,
                       const struct sent_settlement *s)
{
    record_run(m, s->s.ran ? RECORD_RUN : RECORD_PUT_OFF, row, v, s);
    v->next_at = moves_to(db, m->tx, v, s);
    if (db->w->wrong[SETTLE_IGNORES_BEGUN])
        v->next_at = s->s.next_at;
    if (stays_by_mistake(db, s))
        v->next_at = s->slot;
    v->check_count = s->s.check_count;
    v->failure_count = s->s.failure_count;
    v->deferred_at = s->s.deferred_at;
    v->put_off_at = db->w->wrong[SETTLE_FORGETS_PUT_OFF] ? 0 : s->s.put_off_at;
}

static enum served write_effects(struct db *db, struct message *m, const struct sent_settlement *s)
{
    for (int i = 0; i < s->neffects; i++) {
        const struct sent_effect *e = &s->effects[i];
        enum served how = COMMITS;
        if (e->kind == EFFECT_EMIT) {
            struct version as_read = { .id = s->id,
                                       .next_at = s->slot,
                                       .check_count = s->check_count,
                                       .failure_count = s->failure_count };
            record_run(m, RECORD_EVENT, &db->rows[s->key], &as_read, s);
        } else if (e->kind == EFFECT_ENQUEUE)
            how = api_enqueue(db, m->tx, e->key, e->at, e->conflict, 0);
        else
            how = api_resolve(db, m->tx, e->key);
        if (how == BLOCKED) {
            checker_event(db->w, -1, s->key, 0, "one of its effects waited for another transaction");
            return BLOCKED;
        }
    }
    return COMMITS;
}

/* Writes one answer if its row is still as it was read. False: the settle waits, because another
 * transaction has locked the row. */
static bool write_answer(struct db *db, struct message *m, struct sent_settlement *s)
{
    struct row *row = s->key >= 0 ? &db->rows[s->key] : NULL;
    bool skip = m->u.settle.skip_locked;
    s->s.state = skip ? SETTLE_SUPERSEDED : SETTLE_UNTOUCHED;
    if (!row || !is_as_read(db, &row->is, s))
        return true;
    struct version *v = tx_row(m->tx, row);
    if (!v) {
        checker_event(db->w, -1, row->key, 0, "another transaction had locked its row");
        s->s.state = SETTLE_LOCKED;
        return skip;
    }
    if (s->s.renews)
        write_renewal(db, m, row, v, s);
    else if (s->s.ends)
        write_end(db, m, row, v, s);
    else
        write_move(db, m, row, v, s);
    s->s.state = SETTLE_TOUCHED;
    m->u.settle.touched++;
    return true;
}

/* Locks the lease against a takeover until this transaction ends. ANSWERED: the lease is lost. */
static enum served share_lease(struct db *db, struct message *m)
{
    const struct lease *lease = &m->u.settle.lease;
    struct lease_row *row = db_lease(db, lease->slot, lease->bucket, false);
    if (m->tx->shared)
        return COMMITS;
    if (row && row->by)
        return BLOCKED;
    bool ours = row && row->is.exists && row->is.token == lease->token &&
                !memcmp(row->is.owner, lease->owner, STORE_OWNER_SIZE);
    if (!ours && !(db->w->wrong[SETTLE_IGNORES_TOKEN] && row && row->is.exists)) {
        m->rc = ERR_FENCED;
        m->error_text = "the lease is lost: nothing was written";
        return ANSWERED;
    }
    row->shares++;
    m->tx->shared = row;
    return COMMITS;
}

enum served db_settle(struct db *db, struct message *m)
{
    struct store_settle *s = &m->u.settle;
    tx_undo_rows(message_tx(db, m));
    s->touched = 0;
    enum served how = share_lease(db, m);
    for (int i = 0; i < s->n && how == COMMITS; i++)
        if (!write_answer(db, m, &m->settlements[i]))
            how = BLOCKED;
    for (int i = 0; i < s->n && how == COMMITS; i++)
        if (m->settlements[i].s.state == SETTLE_TOUCHED || db->w->wrong[SETTLE_REPEATS_EFFECTS])
            how = write_effects(db, m, &m->settlements[i]);
    return how;
}
