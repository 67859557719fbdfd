/* engine.c - the moves of an engine and its worker: choose a slot, read pages, run, settle, renew,
 * finish, stop. An engine has one lease and one call at a time, as a lane does. Reading is one
 * move, and so is finishing: several moves would lead to the same states. */
#include "model.h"

#include <string.h>

bool call_is_one_move(const struct model *m, const struct state *s)
{
    return (!s->faults || m->rules.quick) && m->rules.ownread && m->rules.xlate && !m->rules.early;
}

/* ---- answers come back ---- */

static void received_lease(const struct model *m, struct engine *e)
{
    struct request r = e->call;
    struct engine was = *e;
    engine_drop_run(e);
    e->leased = 1;
    e->slot = r.slot;
    e->bucket = r.bucket;
    e->whole = r.whole;
    e->target = r.target;
    e->token = r.token;
    e->older = r.older;
    e->complete = 1;
    e->partial = r.partial;
    e->unlisted = r.unlisted;
    e->trust = m->rules.fromsend ? was.call_trust : (unsigned)m->rules.trust & 3;
    if (m->rules.ownread)
        return;
    /* The planted mistake: the engine runs the rows as they were when the statement began. */
    for (int k = 0; k < CHECKS; k++)
        if (r.item[k].state && in_bucket(k, r.bucket, r.whole)) {
            e->item[k] = r.item[k];
            e->item[k].state = ITEM_WAITING;
            if (place_of(k, r.item[k].id, r.whole) > (int)e->cursor)
                e->cursor = (unsigned)place_of(k, r.item[k].id, r.whole) & 31;
        }
    e->began = e->exhausted = 1;
    e->complete = 0;
}

static void received_settle(const struct model *m, struct engine *e)
{
    for (int k = 0; k < CHECKS; k++) {
        struct item *item = &e->item[k];
        if (item->state != ITEM_SETTLING)
            continue;
        unsigned became = e->call.item[k].state;
        item->state = became == ITEM_LOCKED ? ITEM_ANSWERED : ITEM_OUT;
        if (became == ITEM_SUPERSEDED)
            e->complete = 0;
    }
    if (m->rules.keys && m->rules.pback == 1 && e->call.place)
        e->place = e->place_good = e->place_standby = e->place_trust = 0;
}

void receive(const struct model *m, struct state *s, int engine)
{
    struct engine *e = &s->engine[engine];
    struct request r = e->call;
    bool is_about_place = r.kind >= REQUEST_TAKE_PLACE;
    if (r.kind == REQUEST_OPEN && r.result == RESULT_GOOD) {
        received_lease(m, e);
        return;
    }
    if (r.kind != REQUEST_OPEN && r.result == RESULT_LOST && !is_about_place) {
        loosen_runs(m, s, engine, m->rules.pdrop);
        engine_drop_run(e);
        return;
    }
    if (is_about_place)
        receive_place(m, s, engine, &r);
    else if (r.kind == REQUEST_RENEW) {
        e->must_renew = 0;
        e->trust = m->rules.fromsend ? e->call_trust : (unsigned)m->rules.trust & 3;
    } else if (r.kind == REQUEST_SETTLE) {
        received_settle(m, e);
        file_after_settle(m, s, &r);
    }
    memset(&e->call, 0, sizeof e->call);
    e->call_trust = 0;
}

/* ---- choosing a slot ---- */

/* The plans choose the full slot that runs, fine slots that the pulse finds, slots on the re-look
 * list that hold rows or are unfinished, and slots before the one that runs that hold rows: they
 * are late. */
static bool wants_slot(const struct model *m, const struct state *s, int engine, int slot, bool sweep)
{
    const struct pass *p = &s->db.pass[slot];
    bool has_rows = slot_has_rows(&s->db, slot), undone = p->state == PASS_OPEN && !all_done(p);
    int running = full_slot_of(m, s->clock), next = full_slot_of(m, s->clock + 1);
    if (sweep)
        return m->rules.sweep && slot < running && has_rows &&
               (m->rules.full || slot >= s->db.mark || s->db.mark > s->clock);
    if (slot == running || (m->rules.early && slot == next))
        return p->state == PASS_NONE || undone || has_rows;
    if (pulse_finds(m, s, engine, slot))
        return true;
    return p->state == PASS_OPEN && (undone || has_rows);
}

static struct request make_open_request(const struct model *m, const struct state *s, int slot,
                                        enum target_kind target)
{
    struct request r = { .kind = REQUEST_OPEN, .slot = (unsigned)slot & 7, .target = target };
    r.whole = s->db.pass[slot].split == 1;
    if (!m->rules.xlate)
        r.older = (unsigned)running_xids(s, &m->rules) & ALL_XIDS;
    for (int k = 0; k < CHECKS && !m->rules.ownread; k++)
        if (s->db.row[k].slot == (unsigned)slot)
            r.item[k] = (struct item){ .state = ITEM_WAITING,
                                       .id = s->db.row[k].id,
                                       .count = s->db.row[k].count,
                                       .fails = s->db.row[k].fails };
    return r;
}

/* Without this a request that takes nothing would be a move that changes nothing. */
static bool can_take_any(const struct model *m, const struct state *s, const struct request *r, int engine)
{
    const struct pass *p = &s->db.pass[r->slot];
    if (p->state == PASS_NONE || (m->rules.sweep == SWEEP_OWN_BUCKET && r->target != TARGET_SLOT))
        return true;
    for (int b = 0; b < p->split; b++)
        if (wants_bucket(m, s, r, engine, b) && lease_can_be_taken(m, s, engine, r->slot, b))
            return true;
    return false;
}

static void sends_open(struct model *m, const struct state *s, int engine, int slot, enum target_kind target)
{
    static const char *const why[] = { "", ": it is late", ": it is late, its checks will be moved",
                                       ": the pause is ending" };
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    e->call = make_open_request(m, s, slot, target);
    if (!can_take_any(m, s, &e->call, engine))
        return;
    e->call_trust = (unsigned)m->rules.trust & 3;
    if (call_is_one_move(m, s))
        serve_call(m, &t, engine);
    else
        move(m, &t, BY_SYSTEM, "E%d asks for a lease of slot %d%s", engine, slot, why[target]);
}

static void sweeps_without_lease(struct model *m, const struct state *s, int engine, int slot)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    engine_drop_run(e);
    e->leased = e->no_lease = e->whole = 1;
    e->slot = (unsigned)slot & 7;
    e->target = TARGET_SWEEP;
    e->trust = (unsigned)m->rules.trust & 3;
    move(m, &t, BY_SYSTEM, "E%d sweeps slot %d without a lease", engine, slot);
}

static void watches(struct model *m, const struct state *s, int engine, int slot)
{
    const struct pass *p = &s->db.pass[slot];
    for (int b = 0; b < p->split; b++) {
        int place = slot * BUCKETS + b;
        if (s->db.lease[slot][b].ticks != FAR || s->engine[engine].watch == place)
            continue;
        struct state t = *s;
        t.engine[engine].watch = (unsigned)place & 15;
        t.engine[engine].watch_left = (unsigned)m->rules.patience & 7;
        move(m, &t, BY_SYSTEM, "E%d finds the lease of slot %d, bucket %d held and watches it", engine, slot,
             b);
    }
}

static void choose_pause(struct model *m, const struct state *s, int engine)
{
    const struct pass *p = &s->db.pass[PAUSE_SLOT];
    bool undone = p->state == PASS_OPEN && !all_done(p);
    if (s->engine[engine].pause != PAUSE_ENDING || !(undone || slot_has_rows(&s->db, PAUSE_SLOT)))
        return;
    watches(m, s, engine, PAUSE_SLOT);
    sends_open(m, s, engine, PAUSE_SLOT, TARGET_RESUME);
}

static void choose_slot(struct model *m, const struct state *s, int engine)
{
    choose_pause(m, s, engine);
    for (int slot = 1; slot <= m->rules.slots; slot++) {
        bool now = wants_slot(m, s, engine, slot, false), late = wants_slot(m, s, engine, slot, true);
        if (now || late)
            watches(m, s, engine, slot);
        if (now)
            sends_open(m, s, engine, slot, TARGET_SLOT);
        if (late && m->rules.sweep == SWEEP_NO_LEASE)
            sweeps_without_lease(m, s, engine, slot);
        else if (late) {
            sends_open(m, s, engine, slot, TARGET_SWEEP);
            if (m->rules.reslot)
                sends_open(m, s, engine, slot, TARGET_RESLOT);
        }
    }
}

/* ---- reading ---- */

struct request make_request(const struct model *m, const struct engine *e, enum request_kind kind)
{
    struct request r = { .kind = kind,
                         .slot = e->slot,
                         .bucket = e->bucket,
                         .whole = e->whole,
                         .token = e->token,
                         .no_lease = e->no_lease,
                         .cursor = e->cursor,
                         .skipped = e->skipped,
                         .leave_rows = e->leave_rows,
                         .failed_over = e->failed_over,
                         .partial = e->partial && m->rules.roundend,
                         .complete = e->complete && m->rules.complete };
    return r;
}

/* verdict_take_in: runs the row, moves it without a run, or leaves it in the slot. A row that an
 * open transaction keeps is left: a run now would not see what that transaction writes. */
static void take_in(const struct model *m, const struct state *s, int engine, struct engine *e, int check)
{
    const struct row *row = &s->db.row[check];
    struct item *item = &e->item[check];
    *item = (struct item){ .state = ITEM_WAITING, .id = row->id, .count = row->count,
                           .fails = row->fails, .reborn = row->reborn, .terms = row->terms };
    bool unknown = !takes_part(m, engine, check);
    if (is_kept(s, check)) {
        item->state = ITEM_OUT;
        e->complete = 0;
    } else if (e->target == TARGET_RESUME || e->pause == PAUSE_ON) {
        bool resumes = e->target == TARGET_RESUME;
        item->state = ITEM_ANSWERED;
        item->put_off = 1;
        item->to = (unsigned)(resumes ? slot_after_pause(m, check, s->clock) : PAUSE_SLOT) & 7;
    } else if (e->target == TARGET_RESLOT || (unknown && e->target == TARGET_SWEEP)) {
        item->state = ITEM_ANSWERED;
        item->put_off = 1;
        item->to = (unsigned)next_full(m, s->clock) & 7;
    } else if (is_between_occurrences(m, check, row)) {
        item->state = ITEM_ANSWERED;
        item->put_off = 1;
        item->to = (unsigned)next_occurrence(m, row->terms, s->clock) & 7;
    } else if (unknown) {
        item->state = ITEM_OUT;
        e->skipped |= 1u << check & 3;
        e->complete = 0;
    }
}

/* The check whose row comes next after the cursor, or -1. */
static int next_row(const struct model *m, const struct state *s, const struct engine *e)
{
    int best = -1, best_place = 99;
    for (int k = 0; k < CHECKS; k++) {
        int place = place_of(k, s->db.row[k].id, e->whole);
        if (s->db.row[k].slot == e->slot && in_bucket(k, e->bucket, e->whole) && place > (int)e->cursor &&
            place < best_place && !e->item[k].state && !round_passes_over(m, e, k)) {
            best = k;
            best_place = place;
        }
    }
    return best;
}

static void reads(struct model *m, const struct state *s, int engine)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    int n = 0, k, seen = 0;
    /* While older transactions run, a read may miss a row. An empty page proves nothing. */
    if (!e->cursor)
        e->complete = !e->older && next_row(m, s, e) >= 0 && !(e->failed_over && m->rules.server);
    e->began = 1;
    while (n < m->rules.page && (k = next_row(m, s, e)) >= 0) {
        e->cursor = (unsigned)place_of(k, s->db.row[k].id, e->whole) & 31;
        take_in(m, s, engine, e, k);
        seen |= 1 << k;
        n++;
    }
    e->exhausted = n < m->rules.page;
    static const char *const which[] = { "nothing", "check 0", "check 1", "checks 0 and 1" };
    move(m, &t, BY_SYSTEM, "E%d reads a page of slot %d, bucket %d: %s", engine, e->slot, e->bucket,
         which[seen]);
}

/* ---- running ---- */

static bool is_running(const struct engine *e)
{
    return e->item[0].state == ITEM_RUNNING || e->item[1].state == ITEM_RUNNING;
}

/* Counts the run in the standby, too: the run has happened even if a failover loses the row. */
static void note_start(struct row *row, const struct engine *e, const struct item *item)
{
    if (row->slot == e->slot && row->id == item->id && row->count == item->count && row->fails == item->fails)
        row->runs = row->runs < 3 ? (row->runs + 1) & 3 : 3;
    if (row->id == item->id)
        row->owed = row->written = 0;
}

/* A delivery that a failover has lost is gone, and so is its event. */
static bool is_current(const struct state *s, const struct engine *e, int check)
{
    const struct row *row = &s->db.row[check];
    const struct item *item = &e->item[check];
    return row->slot == e->slot && row->id == item->id && row->reborn == item->reborn;
}

static void starts(struct model *m, const struct state *s, int engine, int check)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    struct item *item = &e->item[check];
    item->state = ITEM_RUNNING;
    item->left = m->rules.keys ? (unsigned)m->rules.limit & 3 : 0;
    item->looked = 0;
    if (m->rules.armed)
        check_start(m, s, engine, check);
    if (e->partial && is_heavy(m, check))
        breaks(m, HEAVY_FIRST, "check %d is of a heavy tenant, and runs in the first round", check);
    note_start(&t.db.row[check], e, item);
    note_start(&t.standby.row[check], e, item);
    if (check == 1 && is_current(s, e, check)) {
        check_delivery(m, s);
        note_sent(m, &t);
    } else if (m->rules.digest)
        digest_at_run(m, &t);
    move(m, &t, BY_SYSTEM, "E%d's worker starts check %d (slot %d, count %d)", engine, check, e->slot,
         item->count);
}

static void answers_with(struct model *m, const struct state *s, int engine, int check, enum answer answer,
                         const char *name, int to)
{
    struct state t = *s;
    struct item *item = &t.engine[engine].item[check];
    item->state = ITEM_ANSWERED;
    item->left = 0;
    item->answer = answer;
    item->to = (unsigned)to & 7;
    move(m, &t, BY_SYSTEM, to ? "E%d: check %d answers %s, for slot %d" : "E%d: check %d answers %s", engine,
         check, name, to);
}

/* Not the occurrence that has just been run, even where the clock was set back before it. */
static int occurrence_after_run(const struct model *m, const struct state *s, int engine, int terms)
{
    int slot = s->engine[engine].slot;
    return next_occurrence(m, terms, m->rules.onward && slot > s->clock ? slot : s->clock);
}

static bool moves_by_seconds(const struct model *m, const struct state *s, int engine, enum answer answer)
{
    bool is_inside = full_slot_of(m, next_fine(m, s->clock)) == full_slot_of(m, s->clock);
    return is_fine(m, s->engine[engine].slot) || (m->rules.soon && answer == ANSWER_DEFER && is_inside);
}

/* A check that ran in a fine slot moves by seconds, and one that is deferred within a full slot. */
static int slot_asked_for(const struct model *m, const struct state *s, int engine, int check,
                          enum answer answer, int steps)
{
    const struct item *item = &s->engine[engine].item[check];
    struct item answered = *item;
    answered.answer = (unsigned)answer & 3;
    if (ends_check(m, &answered))
        return recurs(m, check) ? occurrence_after_run(m, s, engine, item->terms) : 0;
    if (answer == ANSWER_FAIL && m->rules.attempts)
        return slot_after_failure(m, item->fails, s->clock);
    bool fine = moves_by_seconds(m, s, engine, answer);
    int slot = s->clock;
    for (int i = 0; i < steps; i++)
        slot = next_of_kind(m, slot, fine);
    return slot;
}

static void answers(struct model *m, const struct state *s, int engine, int check)
{
    static const struct { int flag; enum answer answer; const char *name;
    } table[] = {
        { 0, ANSWER_DONE, "DONE" },
        { MAY_AGAIN, ANSWER_AGAIN, "AGAIN" },
        { MAY_FAIL, ANSWER_FAIL, "FAIL" },
        { MAY_DEFER, ANSWER_DEFER, "DEFER" },
    };
    const struct item *was = &s->engine[engine].item[check];
    for (int i = 0; i < 4; i++) {
        bool repeated = (table[i].answer == ANSWER_AGAIN && was->count) ||
                    (table[i].answer == ANSWER_FAIL && was->fails && !m->rules.attempts) ||
                    (table[i].answer == ANSWER_DEFER && s->db.row[check].deferred && !m->rules.twice);
        if ((table[i].flag && !(m->rules.answers & table[i].flag)) || repeated)
            continue;
        for (int on = 1; on <= (m->rules.far && table[i].answer == ANSWER_AGAIN ? 2 : 1); on++)
            answers_with(m, s, engine, check, table[i].answer, table[i].name,
                         slot_asked_for(m, s, engine, check, table[i].answer, on));
    }
}

/* The planted mistake: time may pass between the look at the windows and the start. */
static void looks_at_windows(struct model *m, const struct state *s, int engine, int check)
{
    struct state t = *s;
    t.engine[engine].item[check].looked = 1;
    move(m, &t, BY_SYSTEM, "E%d's worker has looked at the windows, and is to start check %d", engine, check);
}

/* A second worker is there only for what the pool would let run beside the first. */
static void may_start(struct model *m, const struct state *s, int engine, int check)
{
    const struct engine *e = &s->engine[engine];
    bool trusted = e->trust || e->no_lease || !m->rules.slabtrust;
    if (is_running(e) && m->rules.single)
        return;
    if (e->item[check].looked)
        starts(m, s, engine, check);
    else if (trusted && (!m->rules.keys || place_allows_start(m, s, engine))) {
        if (m->rules.armed)
            starts(m, s, engine, check);
        else
            looks_at_windows(m, s, engine, check);
    }
}

void run_times_out(const struct model *m, struct state *s, int engine, int check)
{
    struct item *item = &s->engine[engine].item[check];
    enum answer answer = item->fails && !m->rules.attempts ? ANSWER_DONE : ANSWER_FAIL;
    item->state = ITEM_ANSWERED;
    item->answer = (unsigned)answer & 3;
    item->to = (unsigned)slot_asked_for(m, s, engine, check, answer, 1) & 7;
    item->left = 0;
}

static void worker_moves(struct model *m, const struct state *s, int engine)
{
    const struct engine *e = &s->engine[engine];
    for (int k = 0; k < CHECKS; k++) {
        if (e->item[k].state == ITEM_WAITING)
            may_start(m, s, engine, k);
        if (e->item[k].state == ITEM_RUNNING)
            answers(m, s, engine, k);
    }
}

/* ---- settling, renewing, finishing, stopping ---- */

static bool has_item(const struct engine *e, enum item_state state)
{
    return e->item[0].state == state || e->item[1].state == state;
}

static bool is_page_over(const struct engine *e)
{
    return !e->item[0].state && !e->item[1].state;
}

static void settles(struct model *m, const struct state *s, int engine)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    e->call = make_request(m, e, REQUEST_SETTLE);
    for (int k = 0; k < CHECKS; k++)
        if (e->item[k].state == ITEM_ANSWERED) {
            e->item[k].state = ITEM_SETTLING;
            e->call.item[k] = e->item[k];
        }
    if (m->rules.keys) {
        e->call.place = e->place;
        e->call.place_good = e->place_good;
        e->call.place_standby = e->place_standby;
    }
    e->call.hears = m->rules.deliver && takes_part(m, engine, 1);
    file_before_settle(m, &t, &e->call);
    const char *check_0 = e->call.item[0].state ? " check 0" : "";
    const char *check_1 = e->call.item[1].state ? " check 1" : "";
    if (call_is_one_move(m, s))
        serve_call(m, &t, engine);
    else
        move(m, &t, BY_SYSTEM, "E%d sends a settle of slot %d:%s%s", engine, e->slot, check_0, check_1);
}

/* An application's transaction has held the row for too long: the answer is dropped, and the check
 * runs again later. This is a named event. */
static void gives_up(struct model *m, const struct state *s, int engine, int check)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    e->item[check].state = ITEM_OUT;
    e->leave_rows = 1;
    e->complete = 0;
    t.db.row[check].runs = t.standby.row[check].runs = 0;
    move(m, &t, BY_GIVING_UP, "E%d drops the answer to check %d: another transaction holds its row", engine,
         check);
}

static void renews(struct model *m, const struct state *s, int engine)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    e->call = make_request(m, e, REQUEST_RENEW);
    e->call_trust = (unsigned)m->rules.trust & 3;
    if (call_is_one_move(m, s))
        serve_call(m, &t, engine);
    else
        move(m, &t, BY_SYSTEM, "E%d sends a renewal of slot %d's lease", engine, e->slot);
}

static void finishes(struct model *m, const struct state *s, int engine)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    struct request r = make_request(m, e, REQUEST_FINISH);
    enum finish end = e->no_lease ? FINISH_OVER : finish_bucket(m, &t, &r);
    if (end == FINISH_BLOCKED)
        return;
    if (end == FINISH_MORE) {
        e->exhausted = 0;
        e->reads_rest = !m->rules.roundall;
        if (!m->rules.beyond)
            e->cursor = 0;
    } else
        engine_drop_run(e);
    static const char *const results[] = { "", "another engine has the lease", "rows remain, it reads on",
                                         "recorded, and the lease given back" };
    move(m, &t, BY_SYSTEM, "E%d finishes slot %d, bucket %d: %s%s", engine, r.slot, r.bucket, results[end],
         end == FINISH_OVER && r.complete ? " (complete)" : "");
}

/* Drops the checks that wait. After a stop they stay in the slot; after a failure of the workers
 * they are read again. */
static void drops_waiting(struct model *m, const struct state *s, int engine, bool stopping)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    for (int k = 0; k < CHECKS; k++)
        if (e->item[k].state == ITEM_WAITING)
            e->item[k].state = ITEM_OUT;
    if (stopping) {
        e->leaving = 1;
        move(m, &t, BY_SYSTEM, "E%d is asked to stop", engine);
        return;
    }
    t.faults--;
    e->complete = e->complete && !m->rules.winddown;
    move(m, &t, BY_FAULT, "E%d has no worker for a moment: it drops the checks that wait", engine);
}

static void releases(struct model *m, const struct state *s, int engine)
{
    struct state t = *s;
    const struct engine was = s->engine[engine];
    if (is_shared(s, &m->rules, was.slot, was.bucket))
        return;
    if (was.token & (TOKEN_GOOD | TOKEN_FAKE))
        lease_gone(&t, was.slot, was.bucket);
    engine_drop_run(&t.engine[engine]);
    pulse_begins_anew(m, &t.engine[engine], s->clock);
    move(m, &t, BY_SYSTEM, "E%d gives its lease of slot %d, bucket %d back and is restarted", engine,
         was.slot, was.bucket);
}

static void under_lease(struct model *m, const struct state *s, int engine)
{
    const struct engine *e = &s->engine[engine];
    if ((e->must_renew || e->trust < (unsigned)m->rules.trust) && !e->no_lease)
        renews(m, s, engine);
    if (e->must_renew)
        return;
    if (has_item(e, ITEM_ANSWERED))
        settles(m, s, engine);
    for (int k = 0; k < CHECKS; k++)
        if (e->item[k].state == ITEM_ANSWERED && is_locked(s, k))
            gives_up(m, s, engine, k);
    if (e->leaving) {
        if (!has_item(e, ITEM_ANSWERED) && !is_running(e))
            releases(m, s, engine);
        return;
    }
    if (e->partial)
        round_moves(m, s, engine);
    if (!e->exhausted)
        reads(m, s, engine);
    else if (is_page_over(e) && (!e->partial || !m->rules.roundend))
        finishes(m, s, engine);
    if (m->rules.stop && !e->no_lease)
        drops_waiting(m, s, engine, true);
    if (m->rules.broken && s->faults && has_item(e, ITEM_WAITING))
        drops_waiting(m, s, engine, false);
}

void engine_moves(struct model *m, const struct state *s, int engine)
{
    const struct engine *e = &s->engine[engine];
    pulse_moves(m, s, engine);
    hears_of_pause(m, s, engine);
    if (e->leased && e->mode != FROZEN_WITH_WORKER)
        worker_moves(m, s, engine);
    if (e->mode == AWAKE && !e->call.kind) {
        if (m->rules.keys)
            place_moves(m, s, engine);
        if (e->leased)
            under_lease(m, s, engine);
        else
            choose_slot(m, s, engine);
    }
}
