/* db_slots.c - the statements on slots and leases, as in store_pg.sql: open, take, renew, finish,
 * look again. */
#include <stdlib.h>
#include <string.h>

#include "../../engine/rules/slot.h"
#include "db.h"
#include "message.h"

static enum served refuse(struct message *m, int rc, const char *text)
{
    m->rc = rc;
    m->error_text = text;
    return ANSWERED;
}

static int count_done(const struct slot_row *s)
{
    return __builtin_popcountll(s->done);
}

/* ---- open ---- */

static void open_new_slot(struct db *db, struct message *m, struct slot_row *s)
{
    struct store_open_slot *o = &m->u.open;
    s->by = m->tx;
    m->tx->opens = s;
    int rows = 0;
    for (int i = 0; i < KEYS_MAX; i++)
        rows += row_is_in(&db->rows[i].is, &db->rows[i], o->slot, BUCKET_WHOLE_SLOT);
    o->rows = rows <= o->split_at ? rows : o->split_at + 1;
    s->split = rows > o->split_at ? BUCKETS : 1;
    s->opened_us = db->w->now_us;
    s->done = 0;
    s->closed = false;
    s->empty_xid = s->seen_xid = rows ? 0 : m->tx->xid;
}

/* A bit for each bucket that holds rows of the requested jobs. */
static uint64_t buckets_with_rows(const struct db *db, const struct message *m, const struct slot_row *s)
{
    uint64_t out = 0;
    for (int i = 0; i < KEYS_MAX; i++) {
        const struct row *row = &db->rows[i];
        if (row_is_in(&row->is, row, s->slot, BUCKET_WHOLE_SLOT) && (m->any_job || m->jobs[row->job]))
            out |= 1ull << (s->split == 1 ? 0 : row->bucket);
    }
    return out;
}

static uint64_t buckets_with_small_tenants(const struct db *db, const struct slot_row *s)
{
    uint64_t out = 0;
    for (int i = 0; i < KEYS_MAX; i++) {
        const struct row *row = &db->rows[i];
        if (row_is_in(&row->is, row, s->slot, BUCKET_WHOLE_SLOT) && row_is_of_small(row))
            out |= 1ull << (s->split == 1 ? 0 : row->bucket);
    }
    return out;
}

static uint64_t buckets_with_urgent_rows(const struct db *db, const struct slot_row *s)
{
    uint64_t out = 0;
    for (int i = 0; i < KEYS_MAX; i++) {
        const struct row *row = &db->rows[i];
        if (row_is_in(&row->is, row, s->slot, BUCKET_WHOLE_SLOT) && row->is.priority < 0)
            out |= 1ull << row->bucket;
    }
    return out;
}

static bool is_watched(const struct message *m, const struct lease_row *lease)
{
    for (int i = 0; i < m->u.open.nwatched; i++) {
        const struct lease *l = &m->leases[i];
        if (l->slot == lease->slot && l->bucket == lease->bucket && l->token == lease->is.token &&
            l->expires_us == lease->is.expires_us && !memcmp(l->owner, lease->is.owner, STORE_OWNER_SIZE))
            return true;
    }
    return false;
}

static bool can_be_taken(const struct db *db, const struct message *m, const struct lease_row *lease)
{
    int64_t clock = db_clock_us(db);
    if (db->w->wrong[TAKE_IGNORES_HOLDERS])
        return true;
    if (db->w->wrong[LEASE_ENDS_EARLY])
        clock += m->u.open.lease_s * SECOND_US / 2;
    return !lease->by && !lease->shares && (lease->is.expires_us <= clock || is_watched(m, lease));
}

static struct lease lease_copy(const struct lease_row *lease, const struct lease_version *v)
{
    struct lease out = {
        .slot = lease->slot, .bucket = lease->bucket, .token = v->token, .expires_us = v->expires_us
    };
    memcpy(out.owner, v->owner, sizeof out.owner);
    return out;
}

static void take(struct db *db, struct message *m, struct lease_row *lease)
{
    struct store_open_slot *o = &m->u.open;
    struct lease_version *v = tx_lease(m->tx, lease);
    if (!v)
        return;                     /* another engine is inserting it */
    *v = (struct lease_version){ .exists = true, .token = db->next_token++,
                                 .expires_us = db_clock_us(db) + o->lease_s * SECOND_US,
                                 .host = m->host, .start = m->start, .sent_boot_us = m->sent_boot_us };
    memcpy(v->owner, m->owner, sizeof v->owner);
    o->taken[o->ntaken++] = lease_copy(lease, v);
    o->origin = (struct lease_origin){ .xid = m->tx->xid, .incarnation = db->incarnation };
}

/* Each owner has its own order of buckets. */
static void take_what_is_free(struct db *db, struct message *m, const struct slot_row *s, uint64_t wanted)
{
    struct store_open_slot *o = &m->u.open;
    int odd = m->owner[0] | 1, start = m->owner[1], at[BUCKETS];
    for (int b = 0; b < BUCKETS; b++)
        at[(b * odd + start) & (BUCKETS - 1)] = b;
    for (int i = 0; i < BUCKETS; i++) {
        if (!(wanted >> at[i] & 1))
            continue;
        struct lease_row *lease = db_lease(db, s->slot, s->split == 1 ? BUCKET_WHOLE_SLOT : at[i], true);
        bool is_free = !lease->is.exists || can_be_taken(db, m, lease);
        if (is_free && o->ntaken < o->want && !db->day_missing)
            take(db, m, lease);
        else if (lease->is.exists)
            o->held[o->nheld++] = lease_copy(lease, &lease->is);
    }
}

static enum slot_state state_of(const struct slot_row *s, uint64_t done)
{
    if (s->closed)
        return SLOT_CLOSED;
    return __builtin_popcountll(done) >= s->split ? SLOT_RELOOK : SLOT_OPEN;
}

enum served db_open_slot(struct db *db, struct message *m)
{
    struct store_open_slot *o = &m->u.open;
    o->ntaken = o->nheld = 0;
    o->rows = -1;
    o->clock_us = db_clock_us(db);
    bool is_ahead = o->slot * SECOND_US > db_clock_us(db);
    o->not_begun = is_ahead && !pause_may_be_opened(db, message_tx(db, m), o->slot);
    if (o->not_begun)
        return refuse(m, ERR_BUSY, "the slot has not begun by the database's clock");
    struct slot_row *s = db_slot(db, o->slot, true);
    if (s->by && s->by != m->tx)
        return BLOCKED;             /* another engine is opening it */
    tx_forget_rows(message_tx(db, m));
    if (!s->exists)
        open_new_slot(db, m, s);
    uint64_t all = s->split == 1 ? 1 : UINT64_MAX;
    uint64_t done = s->empty_xid ? 1 : s->done;
    o->origin = (struct lease_origin){ 0 };
    uint64_t wanted = (all & ~done) | (o->again ? buckets_with_rows(db, m, s) : 0);
    uint64_t urgent = s->split == 1 ? 0 : buckets_with_urgent_rows(db, s);
    o->has_urgent = o->asks_urgent && urgent && !db->w->wrong[OPEN_HIDES_URGENT];
    o->small_buckets = o->asks_small ? buckets_with_small_tenants(db, s) : 0;
    if (s->split > 1)
        wanted &= ~o->left_out;
    take_what_is_free(db, m, s, o->urgent && s->split > 1 ? wanted & urgent : wanted);
    if (o->ntaken && s->closed)
        m->tx->reopens = s;
    o->split = s->split;
    o->state = state_of(s, done);
    if (db->day_missing)
        refuse(m, ERR_LOST, "no history partition for today");
    return COMMITS;
}

/* ---- leases ---- */

static bool is_ours(const struct lease_row *row, const struct lease *lease)
{
    return row && row->is.exists && row->is.token == lease->token &&
           !memcmp(row->is.owner, lease->owner, STORE_OWNER_SIZE);
}

enum served db_renew(struct db *db, struct message *m)
{
    struct store_renew *r = &m->u.renew;
    tx_forget_rows(message_tx(db, m));
    for (int i = 0; i < r->n; i++) {
        struct lease_row *row = db_lease(db, m->leases[i].slot, m->leases[i].bucket, false);
        r->lost[i] = !is_ours(row, &m->leases[i]);
        if (r->lost[i] && !(db->w->wrong[RENEWAL_ALWAYS_GOOD] && row))
            continue;
        struct lease_version *v = r->lost[i] ? NULL : tx_lease(m->tx, row);
        if (!r->lost[i] && !v)
            return BLOCKED;
        m->leases[i].expires_us = db_clock_us(db) + r->lease_s * SECOND_US;
        r->lost[i] = false;
        if (v) {
            v->expires_us = m->leases[i].expires_us;
            if (m->sent_boot_us > v->sent_boot_us)          /* a delayed renewal may come last */
                v->sent_boot_us = m->sent_boot_us;
        }
    }
    return COMMITS;
}

enum served db_release(struct db *db, struct message *m)
{
    struct store_release *r = &m->u.release;
    tx_forget_rows(message_tx(db, m));
    for (int i = 0; i < r->n; i++) {
        struct lease_row *row = db_lease(db, m->leases[i].slot, m->leases[i].bucket, false);
        if (!is_ours(row, &m->leases[i]) && !(db->w->wrong[RELEASE_IGNORES_TOKEN] && row && row->is.exists))
            continue;
        struct lease_version *v = tx_lease(m->tx, row);
        if (!v)
            return BLOCKED;
        v->exists = false;
    }
    return COMMITS;
}

/* ---- the end of a bucket ---- */

/* A bit for each of the jobs that came with it. */
static unsigned char jobs_of(const struct message *m)
{
    unsigned char out = 0;
    for (int i = 0; i < JOBS; i++)
        out |= (unsigned char)(m->jobs[i] << i);
    return out;
}

/* Of the jobs that were left: where all were read, the engine has named those that have rows. */
static unsigned char left_by(const struct db *db, const struct message *m)
{
    const struct store_finish *f = &m->u.finish;
    unsigned char out = 0;
    for (int i = 0; !m->any_job && i < KEYS_MAX; i++) {
        const struct row *row = &db->rows[i];
        if (row_is_in(&row->is, row, f->lease.slot, f->lease.bucket) && m->jobs[row->job])
            out |= (unsigned char)(1 << row->job);
    }
    return m->any_job ? jobs_of(m) : out;
}

/* Rows after the last one that was read. */
static bool has_unread_rows(const struct db *db, const struct message *m)
{
    const struct store_finish *f = &m->u.finish;
    for (int i = 0; i < KEYS_MAX; i++) {
        const struct row *row = &db->rows[i];
        if (row_is_in(&row->is, row, f->lease.slot, f->lease.bucket) &&
            is_after(row, &f->after, f->lease.bucket == BUCKET_WHOLE_SLOT) && !m->jobs[row->job])
            return true;
    }
    return false;
}

enum served db_finish(struct db *db, struct message *m)
{
    struct store_finish *f = &m->u.finish;
    struct lease_row *lease = db_lease(db, f->lease.slot, f->lease.bucket, false);
    f->finished = false;
    tx_forget_rows(message_tx(db, m));
    if (lease && lease->is.exists && (lease->by || lease->shares))
        return BLOCKED;
    if (!is_ours(lease, &f->lease))
        return refuse(m, ERR_FENCED, "the lease is lost");
    if (!f->leave && has_unread_rows(db, m))
        return ANSWERED;
    if (!db->w->wrong[FINISH_KEEPS_LEASE])
        tx_lease(m->tx, lease)->exists = false;
    m->tx->pass = (struct pass){ db_slot(db, f->lease.slot, false), f->lease.bucket,
                                 f->complete && f->origin.incarnation == db->incarnation, left_by(db, m) };
    f->finished = true;
    return COMMITS;
}

/* ---- slots that are not closed ---- */

static bool slot_has_rows(const struct db *db, int64_t slot)
{
    for (int i = 0; i < KEYS_MAX; i++)
        if (row_is_in(&db->rows[i].is, &db->rows[i], slot, BUCKET_WHOLE_SLOT))
            return true;
    return false;
}

static int by_slot(const void *a, const void *b)
{
    int64_t x = ((const struct relook_slot *)a)->slot, y = ((const struct relook_slot *)b)->slot;
    return (x > y) - (x < y);
}

static void close_slot(struct message *m, struct slot_row *s)
{
    if (m->tx->ncloses < TX_CLOSES) {
        m->tx->closes[m->tx->ncloses++] = s;
        m->u.relook.closed++;
    }
}

/* Looks at one slot: closes it, or adds it to those with work. */
static void look_again(struct db *db, struct message *m, struct slot_row *s, int64_t oldest)
{
    struct store_relook *r = &m->u.relook;
    bool undone = !s->empty_xid && count_done(s) < s->split;
    bool complete = !undone && !s->seen_xid;        /* the reads missed no row: no look is needed */
    bool left_out = r->settled_only && s->seen_xid > oldest;
    struct relook_slot found = { .slot = s->slot,
                                 .has_rows = !complete && !left_out && slot_has_rows(db, s->slot),
                                 .undone = undone };
    bool settled = s->seen_xid <= oldest || db->w->wrong[RELOOK_IGNORES_RUNNING];
    if (db->w->wrong[RELOOK_ALWAYS_CLOSED] || (!found.has_rows && !found.undone && settled))
        close_slot(m, s);
    else if ((found.has_rows || found.undone) && r->n < BUCKETS)
        m->slots[r->n++] = found;
}

enum served db_relook(struct db *db, struct message *m)
{
    struct store_relook *r = &m->u.relook;
    tx_forget_rows(message_tx(db, m));
    int64_t oldest = oldest_running(db, m->tx->xid);
    r->n = r->closed = 0;
    for (int i = 0; i < db->nslots; i++)
        if (db->slots[i]->exists && !db->slots[i]->closed)
            look_again(db, m, db->slots[i], oldest);
    qsort(m->slots, (size_t)r->n, sizeof *m->slots, by_slot);
    r->n = r->n < r->want ? r->n : r->want;
    m->tx->clears = true;
    return COMMITS;
}

static enum served pulse(struct db *db, struct message *m)
{
    struct store_pulse *p = &m->u.pulse;
    p->newest = p->oldest = 0;
    p->running = 0;
    for (int i = 0; i < db->nslots; i++)
        if (db->slots[i]->exists && !db->slots[i]->closed && db->slots[i]->seen_xid > p->newest)
            p->newest = db->slots[i]->seen_xid;
    for (const struct tx *tx = db->running; tx; tx = tx->following)
        if (tx->xid < p->newest) {
            p->running++;
            p->oldest = p->oldest && p->oldest < tx->xid ? p->oldest : tx->xid;
        }
    return ANSWERED;
}

/* The first slot in [from, before) that holds rows. */
static int64_t first_slot(const struct db *db, int64_t from, int64_t before, bool urgent)
{
    int64_t first = 0;
    for (int i = 0; i < KEYS_MAX; i++) {
        const struct version *v = &db->rows[i].is;
        bool is_one = v->exists && v->next_at >= from && v->next_at < before;
        if (is_one && (!urgent || v->priority < 0) && (!first || v->next_at < first))
            first = v->next_at;
    }
    return first;
}

static bool is_opened(const struct slot_row *s) { return s && s->exists; }

/* The same, in slots without an opening row. */
static int64_t first_slot_beside(struct db *db, int64_t from, int64_t before)
{
    int64_t slot = first_slot(db, from, before, false);
    while (slot && is_opened(db_slot(db, slot, false)))
        slot = first_slot(db, slot + 1, before, false);
    return slot;
}

static bool has_rows_of(const struct db *db, const struct message *m, int64_t slot, int32_t bucket)
{
    for (int i = 0; i < KEYS_MAX; i++) {
        const struct row *row = &db->rows[i];
        if (row_is_in(&row->is, row, slot, bucket) && (m->any_job || m->jobs[row->job]))
            return true;
    }
    return false;
}

/* An engine that lacks the jobs of a bucket was the last to run it, and has given it back. */
static bool was_left_to(struct db *db, const struct message *m, const struct slot_row *s)
{
    for (int b = 0; b < s->split; b++) {
        int32_t bucket = s->split == 1 ? BUCKET_WHOLE_SLOT : b;
        const struct lease_row *lease = db_lease(db, s->slot, bucket, false);
        if (s->left[b] & jobs_of(m) && !(lease && lease->is.exists) && has_rows_of(db, m, s->slot, bucket))
            return true;
    }
    return false;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int add_left_slots(struct db *db, const struct message *m, int64_t now, int64_t *slots, int most)
{
    int n = 0, length_s = db->w->shape.slot_length_s;
    for (int i = 0; i < db->nslots && n < most; i++) {
        const struct slot_row *s = db->slots[i];
        if (s->exists && !s->closed && s->slot > now - length_s && s->slot <= now &&
            slot_is_fine(s->slot, length_s) && was_left_to(db, m, s))
            slots[n++] = s->slot;
    }
    return n;
}

static enum served fine_slots(struct db *db, struct message *m)
{
    struct store_fine_slots *f = &m->u.fine;
    int64_t slots[2 * FINE_SLOTS_MAX], now = db_clock_us(db) / SECOND_US, until = now + 1;
    int n = 0;
    f->clock_us = db_clock_us(db);
    bool ignores = db->w->wrong[PULSE_IGNORES_RUNNING];
    f->xmin = ignores ? db->next_xid : oldest_running(db, db->over_xid + 1);
    f->next_xid = db->w->wrong[PULSE_NOTES_XMAX] ? db->over_xid + 1 : db->next_xid;
    f->incarnation = db->incarnation;
    f->pause_change = db->pause_change;
    for (int64_t slot = f->low; (slot = first_slot_beside(db, slot + 1, until)) && n < FINE_SLOTS_MAX;)
        if (slot_is_fine(slot, db->w->shape.slot_length_s) &&
            (slot < now || has_rows_of(db, m, slot, BUCKET_WHOLE_SLOT)))
            slots[n++] = slot;
    if (!m->any_job)
        n += add_left_slots(db, m, now, slots + n, FINE_SLOTS_MAX);
    qsort(slots, (size_t)n, sizeof *slots, by_time);
    f->n = n < FINE_SLOTS_MAX ? n : FINE_SLOTS_MAX;
    memcpy(f->slots, slots, (size_t)f->n * sizeof *slots);
    return ANSWERED;
}

/* A mark ahead of the clock is ignored. */
static int64_t mark_of(const struct db *db)
{
    return db->mark <= db_clock_us(db) / SECOND_US ? db->mark : 0;
}

static enum served late_slot(struct db *db, struct message *m)
{
    struct store_late_slot *l = &m->u.late;
    l->urgent = first_slot(db, l->urgent_from, l->before, true);
    if (l->beside_opened) {
        int64_t mark = mark_of(db);
        l->slot = first_slot_beside(db, l->from > mark ? l->from : mark, l->before);
        return ANSWERED;
    }
    l->slot = first_slot(db, l->from || l->full ? l->from : mark_of(db), l->before, false);
    return ANSWERED;
}

/* Notes the slot first. It becomes the mark when the transactions that ran at that time are over
 * and no row lies before it. */
static enum served mark_swept(struct db *db, struct message *m)
{
    struct tx *tx = message_tx(db, m);
    const bool *wrong = db->w->wrong;
    int64_t now = db_clock_us(db) / SECOND_US, slot = m->u.swept.slot;
    bool noted = db->noted && db->noted <= now;
    bool good = noted && db->noted_xid <= oldest_running(db, tx->xid) &&
                !first_slot(db, mark_of(db), db->noted, false);
    if (good && (db->noted > db->mark || db->mark > now))
        tx->mark = db->noted + (wrong[MARK_MOVES_TOO_FAR] ? 3 * db->w->shape.slot_length_s : 0);
    if (m->u.swept.full)
        tx->full_look_at = now;
    if (slot <= now && (good || !noted))
        tx->noted = slot;
    return COMMITS;
}

/* Rows that another transaction has locked stay where they are. */
static enum served recall(struct db *db, struct message *m)
{
    struct tx *tx = message_tx(db, m);
    struct store_recall *r = &m->u.recall;
    int64_t slot = slot_next(db_clock_us(db) / SECOND_US, db->w->shape.slot_length_s);
    r->recalled = 0;
    r->until = (struct recall_place){ 0 };
    for (int i = 0; i < KEYS_MAX; i++) {
        struct row *row = &db->rows[i];
        bool waits = row->is.exists && row->is.put_off_at && row->is.next_at > slot &&
                     !slot_is_of_pause(row->is.next_at);
        if (!waits || row->by || !(m->any_job || m->jobs[row->job]) || (r->only_one && r->recalled))
            continue;
        tx_row(tx, row)->next_at = slot;
        r->recalled++;
    }
    return COMMITS;
}

static enum served keep_days(struct db *db, struct message *m)
{
    message_tx(db, m)->makes_day = m->u.days.days > 0;
    m->u.days.made = m->u.days.indexed = 0;
    return COMMITS;
}

/* These worlds do not keep what runs were like, nor which go on. */
static enum served note_runs(struct db *db, struct message *m)
{
    message_tx(db, m);
    return COMMITS;
}

/* These worlds keep no history. The answers vary with time: a day to drop, then none, or a table in
 * use. */
static enum served prune(struct db *db, struct message *m)
{
    struct store_prune *p = &m->u.prune;
    p->by_days = p->part < PRUNE_PASSES;
    p->n = p->wish == PRUNE_CLAIM || db->w->now_us / SECOND_US % 3 == 0;
    if (p->wish == PRUNE_DROP && db->w->now_us / SECOND_US % 7 == 0)
        return refuse(m, ERR_BUSY, "canceling statement due to lock timeout");
    return ANSWERED;
}

static int32_t pace_s(const struct world *w)
{
    const struct shape *s = &w->shape;
    return s->pace_ends_us && w->now_us >= s->pace_ends_us ? 0 : s->pace_s;
}

static enum served hello(struct db *db, struct message *m)
{
    m->u.hello.now_us = db_clock_us(db);
    m->u.hello.slot_length_s = db->w->shape.slot_length_s;
    m->u.hello.schema_version = 4;
    m->u.hello.pace_s = pace_s(db->w);
    m->u.hello.full_look_at = db->full_look_at;
    m->u.hello.read_only = db->read_only;
    snprintf(m->u.hello.server, sizeof m->u.hello.server, "simulated");
    return ANSWERED;
}

/* ---- all of them ---- */

static const struct {
    enum served (*run)(struct db *db, struct message *m);
    bool writes;
} statements[STORE_OPS] = {
    [STORE_HELLO] = { hello, false },          [STORE_OPEN_SLOT] = { db_open_slot, true },
    [STORE_RENEW] = { db_renew, true },        [STORE_READ_PAGE] = { db_read_page, false },
    [STORE_SETTLE] = { db_settle, true },      [STORE_FINISH] = { db_finish, true },
    [STORE_RELEASE] = { db_release, true },    [STORE_RELOOK] = { db_relook, true },
    [STORE_LATE_SLOT] = { late_slot, false },  [STORE_PULSE] = { pulse, false },
    [STORE_FINE_SLOTS] = { fine_slots, false },
    [STORE_RECALL] = { recall, true },
    [STORE_MARK_SWEPT] = { mark_swept, true }, [STORE_KEEP_DAYS] = { keep_days, true },
    [STORE_PRUNE] = { prune, true },           [STORE_PAUSES] = { db_pauses, false },
    [STORE_END_PAUSES] = { db_end_pauses, true }, [STORE_NOTE_RUNS] = { note_runs, true },
    [STORE_NOTE_RUNNING] = { note_runs, true },
    [STORE_TAKE_PLACES] = { db_take_places, true },
    [STORE_RENEW_PLACES] = { db_renew_places, true },
    [STORE_RETURN_PLACES] = { db_return_places, true },
};

enum served db_serve(struct db *db, struct message *m)
{
    m->rc = 0;
    m->error_text = NULL;
    if (!statements[m->op].run)
        return refuse(m, ERR_GENERAL, "the simulated store has no such statement");
    if (db->read_only && statements[m->op].writes)
        return refuse(m, ERR_LOST, "cannot execute this in a read-only transaction");
    return statements[m->op].run(db, m);
}
