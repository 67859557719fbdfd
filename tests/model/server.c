/* server.c - how the database executes requests: open_slot, renew, settle, finish. A statement is
 * one move, except the settle: it checks the lease, then writes rows and commits. A request goes on
 * even if its client is frozen, killed or cut off. */
#include "model.h"

#include <string.h>

bool slot_begun(const struct model *m, const struct state *s, int slot)
{
    if (slot == PAUSE_SLOT)
        return s->db.pause == PAUSE_ENDING;
    return slot <= s->clock || !m->rules.begun;
}

bool takes_part(const struct model *m, int engine, int check)
{
    return !m->rules.unknown || engine != 1 || check != 1;
}

/* ---- open_slot ---- */

static bool is_held_by_process(const struct model *m, const struct state *s, int engine, int slot, int bucket)
{
    for (int i = 0; i < ENGINES; i++) {
        const struct engine *e = &s->engine[i];
        if (owner_of(&m->rules, i) == owner_of(&m->rules, engine) && e->leased && e->slot == (unsigned)slot &&
            e->bucket == (unsigned)bucket && e->token & TOKEN_GOOD)
            return true;
    }
    return false;
}

/* A lease can be taken when it is free or expired, when it was watched unchanged for long enough,
 * or when this process took it in a call whose answer was lost. */
bool lease_can_be_taken(const struct model *m, const struct state *s, int engine, int slot, int bucket)
{
    const struct lease *l = &s->db.lease[slot][bucket];
    if (is_shared(s, &m->rules, slot, bucket))
        return false;
    if (!l->ticks)
        return true;
    if (engine < 0)
        return false;
    bool watched = s->engine[engine].watch == slot * BUCKETS + bucket && !s->engine[engine].watch_left;
    return watched || (l->owner == (unsigned)owner_of(&m->rules, engine) &&
                       !is_held_by_process(m, s, engine, slot, bucket));
}

static bool has_rows_to_take(const struct model *m, const struct state *s, const struct request *r,
                             int engine, int bucket)
{
    for (int k = 0; k < CHECKS; k++)
        if (s->db.row[k].slot == r->slot && in_bucket(k, bucket, r->whole) &&
            (r->target != TARGET_SLOT || takes_part(m, engine, k)))
            return true;
    return false;
}

/* A planted mistake: the statement that takes the lease also reads the first page, and returns the
 * rows as they were when it began. */
static bool saw_rows(const struct model *m, const struct request *r, int bucket)
{
    bool saw = false;
    for (int k = 0; k < CHECKS; k++)
        saw = saw || (r->item[k].state && in_bucket(k, bucket, r->whole));
    return saw && !m->rules.ownread;
}

bool wants_bucket(const struct model *m, const struct state *s, const struct request *r, int engine,
                  int bucket)
{
    const struct pass *p = &s->db.pass[r->slot];
    bool done = p->state == PASS_CLOSED || p->done & 1u << bucket;
    return !done || saw_rows(m, r, bucket) || has_rows_to_take(m, s, r, engine, bucket);
}

static void reopen(const struct model *m, const struct state *s, struct pass *p)
{
    p->state = PASS_OPEN;
    p->done = (1u << p->split) - 1;
    p->seen = m->rules.reopen == REOPEN_SEEN;
    p->older = p->seen ? (unsigned)running_xids(s, &m->rules) & ALL_XIDS : 0;
}

/* The lease gets a new owner: no other token matches it any more. */
static void take_lease(const struct model *m, struct state *s, struct request *r, int owner)
{
    lease_gone(s, r->slot, r->bucket);
    s->db.lease[r->slot][r->bucket] = (struct lease){ .ticks = (unsigned)m->rules.lease & 7,
                                                      .owner = (unsigned)owner & 3 };
    bool comes_again = s->replication == REPLICATION_STOPPED ||
                       (m->rules.copy && s->replication == FAILED_OVER);
    r->token = TOKEN_GOOD | (comes_again ? TOKEN_AFTER : 0);
    r->result = RESULT_GOOD;
    r->partial = has_first_round(m, s, r, r->bucket);
    struct pass *p = &s->db.pass[r->slot];
    if (p->state == PASS_CLOSED && m->rules.reopen)
        reopen(m, s, p);
    if (m->rules.xlate)
        r->older = (unsigned)running_xids(s, &m->rules) & ALL_XIDS;
}

/* After a failover that lost sequence values, the sequence may return a number that was issued
 * before. Returns false when there is no such number. */
static bool number_comes_again(const struct model *m, struct state *s, const struct request *r, int owner)
{
    bool again = false;
    struct holder h;
    for (int n = 0; s->replication == FAILED_OVER && n < HOLDERS; n++) {
        if (!holder_get(s, &m->rules, n, &h) || !(h.token & TOKEN_AFTER) || h.slot != r->slot ||
            h.bucket != r->bucket)
            continue;
        bool same_owner = h.owner == (unsigned)owner && h.owner != NOBODY;
        if (!same_owner && m->rules.owner)
            continue;
        holder_set_token(s, n, h.token | (same_owner ? TOKEN_GOOD : TOKEN_FAKE));
        again = true;
    }
    return again;
}

struct request *request_of(struct state *s, struct sender from)
{
    return from.stray < 0 ? &s->engine[from.engine].call : &s->stray[from.stray];
}

const struct request *request_in(const struct state *s, struct sender from)
{
    return from.stray < 0 ? &s->engine[from.engine].call : &s->stray[from.stray];
}

/* A frozen engine reads the answer when it wakes; the answer to a stray is dropped. */
void answer(const struct model *m, struct state *s, struct sender from)
{
    if (from.stray >= 0)
        memset(&s->stray[from.stray], 0, sizeof s->stray[0]);
    else if (s->engine[from.engine].mode == AWAKE)
        receive(m, s, from.engine);
}

int sender_owner(const struct model *m, const struct state *s, struct sender from)
{
    return from.stray < 0 ? owner_of(&m->rules, from.engine) : s->stray[from.stray].owner;
}

const char *sender_name(struct sender from)
{
    static const char *const names[] = { "E0's", "E1's" };
    return from.stray < 0 ? names[from.engine] : "a stray";
}

static void open_takes(struct model *m, const struct state *s, struct sender from, int bucket)
{
    static const char *const why[] = { "", ": it is late", ": it is late and will be moved",
                                       ": the pause is ending" };
    struct state t = *s;
    struct request *r = request_of(&t, from);
    int slot = r->slot, owner = sender_owner(m, s, from);
    const char *late = why[r->target];
    r->bucket = (unsigned)bucket & 1;
    take_lease(m, &t, r, owner);
    struct state same = t;
    bool again = number_comes_again(m, &same, request_of(&same, from), owner);
    answer(m, &t, from);
    move(m, &t, BY_SYSTEM, "%s open_slot takes the lease of slot %d, bucket %d%s", sender_name(from), slot,
         bucket, late);
    if (!again)
        return;
    answer(m, &same, from);
    move(m, &same, BY_SYSTEM,
         "%s open_slot takes the lease of slot %d, bucket %d, with a token that was issued before the "
         "failover",
         sender_name(from), slot, bucket);
}

static void open_finds_nothing(struct model *m, const struct state *s, struct sender from, const char *why)
{
    struct state t = *s;
    request_of(&t, from)->result = RESULT_LOST;
    answer(m, &t, from);
    move(m, &t, BY_SYSTEM, "%s open_slot of slot %d takes nothing: %s", sender_name(from),
         request_in(s, from)->slot, why);
}

/* A lease for the first round of a bucket comes before those for the last round of others. */
static bool is_first_round_open(struct model *m, const struct state *s, const struct request *r, int engine)
{
    for (int b = 0; b < s->db.pass[r->slot].split; b++)
        if (has_first_round(m, s, r, b) && wants_bucket(m, s, r, engine, b) &&
            lease_can_be_taken(m, s, engine, r->slot, b))
            return true;
    return false;
}

static void open_takes_any(struct model *m, const struct state *s, struct sender from)
{
    struct state t = *s;
    struct request *r = request_of(&t, from);
    const struct pass *p = &t.db.pass[r->slot];
    int engine = from.stray < 0 ? from.engine : -1, taken = 0;
    bool waits = is_first_round_open(m, s, r, engine);
    bool own = m->rules.sweep == SWEEP_OWN_BUCKET && r->target != TARGET_SLOT;
    r->whole = p->split == 1 && !own;
    for (int b = 0; b < (own ? BUCKETS : p->split); b++)
        if (own ? bucket_has_rows(&t.db, r->slot, b, false) : wants_bucket(m, &t, r, engine, b))
            if (lease_can_be_taken(m, &t, engine, r->slot, b)) {
                bool is_last = waits && !has_first_round(m, &t, r, b);
                if (is_last && m->rules.roundfirst)
                    continue;
                if (is_last)
                    breaks(m, HEAVY_FIRST, "slot %d, bucket %d has its last round before another its first",
                           r->slot, b);
                open_takes(m, &t, from, b);
                taken++;
            }
    if (!taken)
        open_finds_nothing(m, s, from, "other engines hold the rest");
}

/* Inserts the opening row. For an empty slot this is also the last look; a row that it missed comes
 * from a transaction with a smaller id. */
static void open_first(struct model *m, const struct state *s, struct sender from)
{
    const struct request *r = request_in(s, from);
    int slot = r->slot;
    if (!slot_has_rows(&s->db, slot)) {
        struct state t = *s;
        t.db.pass[slot] = (struct pass){ .state = m->rules.relook ? PASS_OPEN : PASS_CLOSED,
                                         .split = 1,
                                         .done = 1,
                                         .seen = 1,
                                         .older = (unsigned)running_xids(s, &m->rules) & ALL_XIDS };
        if (!m->rules.relook)
            t.db.pass[slot] = (struct pass){ .state = PASS_CLOSED, .split = 1 };
        request_of(&t, from)->result = RESULT_LOST;
        answer(m, &t, from);
        move(m, &t, BY_SYSTEM, "%s open_slot opens slot %d and finds it empty", sender_name(from), slot);
        return;
    }
    for (int split = 1; split <= m->rules.split; split++) {
        struct state t = *s;
        t.db.pass[slot] = (struct pass){ .state = PASS_OPEN, .split = (unsigned)split & 3 };
        open_takes_any(m, &t, from);
    }
}

/* The opening row of another engine: it names the heavy tenant. */
static void open_again(struct model *m, const struct state *s, struct sender from)
{
    struct state t = *s;
    request_of(&t, from)->unlisted = !m->rules.roundlist;
    open_takes_any(m, &t, from);
}

static void serve_open(struct model *m, const struct state *s, struct sender from)
{
    const struct request *r = request_in(s, from);
    if (!slot_begun(m, s, r->slot))
        open_finds_nothing(m, s, from, "by the database's clock it has not begun");
    else if (s->db.pass[r->slot].state == PASS_NONE)
        open_first(m, s, from);
    else
        open_again(m, s, from);
}

/* ---- renew ---- */

static void serve_renew(struct model *m, const struct state *s, struct sender from)
{
    struct state t = *s;
    struct request *r = request_of(&t, from);
    int slot = r->slot;
    if (is_shared(s, &m->rules, slot, r->bucket))
        return;
    bool good = r->token & (TOKEN_GOOD | TOKEN_FAKE);
    if (good) {
        lease_changed(&t, slot, r->bucket);
        t.db.lease[slot][r->bucket].ticks = (unsigned)m->rules.lease & 7;
        t.db.lease[slot][r->bucket].owner = (unsigned)sender_owner(m, s, from) & 3;
    }
    r->result = good ? RESULT_GOOD : RESULT_LOST;
    answer(m, &t, from);
    move(m, &t, BY_SYSTEM, "%s renewal of slot %d's lease: %s", sender_name(from), slot,
         good ? "renewed" : "another engine has it");
}

/* ---- settle ---- */

static bool is_as_read(const struct model *m, const struct row *row, const struct item *item, int slot)
{
    int compared = m->rules.asread;
    return row->slot && row->id == item->id && (!(compared & 1) || row->slot == (unsigned)slot) &&
           (!(compared & 2) || row->count == item->count) && (!(compared & 4) || row->fails == item->fails);
}

static void note_if_same(struct item *item, const struct item *was)
{
    if (item->state && item->id == was->id && item->count == was->count && item->fails == was->fails)
        item->settled = 1;
}

/* Marks the same run of this check in other engines: it is settled already. */
static void note_settled(struct state *s, const struct request *r, int check)
{
    for (int i = 0; i < ENGINES; i++) {
        struct engine *e = &s->engine[i];
        if (&e->call != r && e->leased && e->slot == r->slot)
            note_if_same(&e->item[check], &r->item[check]);
        if (e->call.kind == REQUEST_OPEN && e->call.slot == r->slot)
            note_if_same(&e->call.item[check], &r->item[check]);
    }
}

static void end_check(const struct model *m, struct state *s, struct row *row, int clock)
{
    int to = row->again ? file_at(m, row->again, clock) : 0;
    if (!to) {
        *row = (struct row){ 0 };
        return;
    }
    *row = (struct row){ .slot = (unsigned)to & 7, .id = s->db.next_id, .owed = 1,
                         .reborn = s->replication == FAILED_OVER };
    s->db.next_id++;
}

/* No row stays in the slot that a settle moves it from, as if that slot had begun. */
static int leaving(const struct model *m, const struct request *r, int slot)
{
    if (!m->rules.elsewhere || slot != (int)r->slot)
        return slot;
    return file_at(m, next_of_kind(m, slot, is_fine(m, slot)), r->at);
}

int slot_promised(const struct model *m, const struct request *r, const struct row *row)
{
    return row->again ? leaving(m, r, file_at(m, row->again, r->at)) : 0;
}

/* The slot that the row moves to: that of the answer, or the one that the application asked for
 * while it ran, if that comes first. */
int slot_to_move_to(const struct model *m, const struct request *r, const struct item *item,
                    const struct row *row)
{
    bool failed = !item->put_off && item->answer == ANSWER_FAIL && !ends_check(m, item);
    bool is_paused = item->put_off && item->to == PAUSE_SLOT;
    if (is_paused)
        return r->found_pause_on ? PAUSE_SLOT : file_at(m, next_full(m, r->at), r->at);
    int own = failed || item->busy ? file_attempt_at(m, item->to, r->at) : file_at(m, item->to, r->at);
    int asked = slot_promised(m, r, row);
    own = leaving(m, r, own);
    return m->rules.pull && asked && asked < own ? asked : own;
}

static void count_answer(struct row *row, enum answer answer)
{
    if (answer == ANSWER_AGAIN) {
        row->count = 1;
        row->fails = row->deferred = 0;
    } else if (answer == ANSWER_FAIL)
        row->fails = (row->fails + 1u) & 3;
    else
        row->deferred = 1;
}

static void write_answer(struct model *m, struct state *s, const struct request *r, const struct item *item,
                         struct row *row)
{
    int check = (int)(row - s->db.row);
    bool is_between = item->put_off && is_between_occurrences(m, check, row);
    bool ends = ends_check(m, item);
    if (ends && recurs(m, check) && m->rules.anew >= (item->answer == ANSWER_DONE ? 1 : 2)) {
        start_anew(m, s, r, item, row);
        return;
    }
    if (ends) {
        end_check(m, s, row, r->at);
        return;
    }
    check_move(m, r, item, row, slot_to_move_to(m, r, item, row));
    int asked = slot_promised(m, r, row);
    if (item->put_off || item->answer != ANSWER_DEFER || m->rules.leaves)
        row->slot = (unsigned)slot_to_move_to(m, r, item, row) & 7;
    if (asked && (int)row->slot >= asked)
        row->again = 0;                 /* that run is the one that was asked for */
    row->runs = 0;
    if (is_between)
        row->first = item->to;
    if (item->put_off)
        return;
    count_answer(row, item->answer);
    row->written = row->slot == r->slot && row->count == item->count && row->fails == item->fails;
}

static void settle_looks(struct model *m, const struct state *s, struct sender from)
{
    struct state t = *s;
    struct request *r = request_of(&t, from);
    bool ours = !m->rules.token || r->no_lease || r->token & (TOKEN_GOOD | TOKEN_FAKE);
    ours = ours && !(r->failed_over && m->rules.server == 2);
    int slot = r->slot;
    const char *found = "it has the lease, gets a transaction id and reads the clock";
    if (!m->rules.token)
        found = "it gets a transaction id, reads the clock, and does not check the lease";
    if (ours && !ask_for_pause(m, s, r))
        return;
    if (ours) {
        r->looked = 1;
        r->at = s->clock;
        take_xid(m, &t, r);
    } else {
        found = "another engine has the lease, nothing is changed";
        r->result = RESULT_LOST;
        answer(m, &t, from);
    }
    move(m, &t, BY_SYSTEM, "%s settle of slot %d: %s", sender_name(from), slot, found);
}

/* The row of an answer is found by slot, bucket and id, not by key. */
static enum item_state settle_one(struct model *m, struct state *s, const struct request *r, int check)
{
    const struct item *item = &r->item[check];
    for (int k = 0; k < CHECKS; k++) {
        struct row *row = &s->db.row[k];
        if (!in_bucket(k, r->bucket, r->whole) || !is_as_read(m, row, item, r->slot))
            continue;
        if (is_locked(s, k))
            return ITEM_LOCKED;
        check_settle(m, row, r, check, k);
        note_settled(s, r, check);
        write_answer(m, s, r, item, row);
        if (check == 0)
            emit(m, s, r, item);
        return ITEM_TOUCHED;
    }
    return ITEM_SUPERSEDED;
}

static void settle_commits(struct model *m, const struct state *s, struct sender from)
{
    static const char *const results[] = { [ITEM_OUT] = "",
                                         [ITEM_TOUCHED] = " written",
                                         [ITEM_LOCKED] = " locked",
                                         [ITEM_SUPERSEDED] = " superseded" };
    struct state t = *s;
    struct request *r = request_of(&t, from);
    enum item_state became[CHECKS] = { ITEM_OUT, ITEM_OUT };
    int slot = r->slot;
    for (int k = 0; k < CHECKS; k++)
        if (r->item[k].state == ITEM_SETTLING)
            r->item[k].state = became[k] = settle_one(m, &t, r, k);
    if (m->rules.events && (became[0] == ITEM_TOUCHED || became[1] == ITEM_TOUCHED))
        write_event(m, &t, r->xid);
    if (m->rules.digest && became[0] == ITEM_TOUCHED && !r->item[0].put_off && ends_check(m, &r->item[0]))
        digest_in_settle(m, &t);
    place_in_settle(m, &t, r);
    r->result = RESULT_GOOD;
    r->xid = r->found_pause_on = r->locks_pause = 0;
    xid_over(&t, from.stray < 0 ? XID_ENGINE << from.engine : XID_STRAY << from.stray);
    answer(m, &t, from);
    const char *check_0 = became[0] ? " check 0" : "";
    const char *check_1 = became[1] ? " check 1" : "";
    move(m, &t, BY_SYSTEM, "%s settle of slot %d commits:%s%s%s%s", sender_name(from), slot, check_0,
         results[became[0]], check_1, results[became[1]]);
}

static void serve_settle(struct model *m, const struct state *s, struct sender from)
{
    const struct request *r = request_in(s, from);
    if (!has_room_for_event(m, s))
        return;
    if (!r->looked)
        settle_looks(m, s, from);
    else if (m->rules.message || from.stray >= 0 || s->engine[from.engine].mode == AWAKE)
        settle_commits(m, s, from);
}

/* ---- finish ---- */

static bool is_left(const struct request *r, int check)
{
    return r->skipped & 1u << check;
}

/* One statement: looks for unread rows, records the pass and gives the lease back. */
enum finish finish_bucket(const struct model *m, struct state *s, const struct request *r)
{
    if (is_shared(s, &m->rules, r->slot, r->bucket))
        return FINISH_BLOCKED;
    if (!(r->token & (TOKEN_GOOD | TOKEN_FAKE)))
        return FINISH_FENCED;
    if (r->partial) {
        note_round(s, r->slot, r->bucket);
        lease_gone(s, r->slot, r->bucket);
        return FINISH_OVER;
    }
    for (int k = 0; k < CHECKS; k++) {
        const struct row *row = &s->db.row[k];
        bool unread = row->slot == r->slot && in_bucket(k, r->bucket, r->whole) && !is_left(r, k)
                      && (!m->rules.beyond || place_of(k, row->id, r->whole) > (int)r->cursor);
        if (unread && !r->leave_rows)
            return FINISH_MORE;
    }
    struct pass *p = &s->db.pass[r->slot];
    if (p->state == PASS_OPEN) {
        p->done |= 1u << r->bucket & 3;
        if (!r->complete) {
            p->seen = 1;
            p->older |= (unsigned)running_xids(s, &m->rules) & ALL_XIDS;
        }
        if (!m->rules.relook && all_done(p))
            *p = (struct pass){ .state = PASS_CLOSED, .split = p->split };
    }
    lease_gone(s, r->slot, r->bucket);
    return FINISH_OVER;
}

static void serve_finish(struct model *m, const struct state *s, struct sender from)
{
    struct state t = *s;
    struct request r = *request_of(&t, from);
    enum finish end = finish_bucket(m, &t, &r);
    if (end == FINISH_BLOCKED)
        return;
    answer(m, &t, from);
    static const char *const results[] = { "", "another engine has the lease", "rows remain",
                                         "recorded, and the lease given back" };
    move(m, &t, BY_SYSTEM, "a stray finish of slot %d, bucket %d: %s", r.slot, r.bucket, results[end]);
}

/* ---- serving ---- */

static void serve(struct model *m, const struct state *s, struct sender from)
{
    static void (*const by_kind[])(struct model *, const struct state *, struct sender) = {
        [REQUEST_OPEN] = serve_open,
        [REQUEST_RENEW] = serve_renew,
        [REQUEST_SETTLE] = serve_settle,
        [REQUEST_FINISH] = serve_finish,
        [REQUEST_TAKE_PLACE] = serve_take_place,
        [REQUEST_RENEW_PLACE] = serve_renew_place,
        [REQUEST_RETURN_PLACE] = serve_return_place,
    };
    by_kind[request_in(s, from)->kind](m, s, from);
}

void serve_call(struct model *m, const struct state *s, int engine)
{
    serve(m, s, (struct sender){ engine, -1 });
}

void server_moves(struct model *m, const struct state *s)
{
    for (int i = 0; i < ENGINES; i++)
        if (s->engine[i].call.kind && !s->engine[i].call.result)
            serve(m, s, (struct sender){ i, -1 });
    for (int j = 0; j < STRAYS; j++)
        if (s->stray[j].kind)
            serve(m, s, (struct sender){ -1, j });
}
