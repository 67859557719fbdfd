/* faults.c - time and faults: engines are killed, frozen and cut off, the database fails over,
 * clocks are set. A fault may happen between any two moves. */
#include "model.h"

#include <string.h>

/* ---- time ---- */

/* An engine that is awake is never a tick late: before each tick its calls are answered and its
 * lease is renewed. */
static bool may_tick(const struct model *m, const struct state *s)
{
    bool moves = consumers_have_ticks(s) || places_have_ticks(s);
    if (!consumers_may_tick(m, s) || !places_may_tick(m, s))
        return false;
    for (int slot = 1; slot <= SLOTS; slot++)
        for (int b = 0; b < BUCKETS; b++) {
            const struct lease *l = &s->db.lease[slot][b];
            moves = moves || (l->ticks && l->ticks != FAR);
        }
    for (int i = 0; i < ENGINES; i++) {
        const struct engine *e = &s->engine[i];
        if (e->mode == AWAKE &&
            (e->call.kind || (e->leased && !e->no_lease && e->trust < (unsigned)m->rules.trust)))
            return false;
        moves = moves || e->trust || e->call_trust || (e->watch && e->watch_left);
    }
    return moves;
}

static void tick_leases(struct db *db)
{
    for (int slot = 1; slot <= SLOTS; slot++)
        for (int b = 0; b < BUCKETS; b++)
            if (db->lease[slot][b].ticks && db->lease[slot][b].ticks != FAR)
                db->lease[slot][b].ticks--;
}

static void tick(struct model *m, const struct state *s)
{
    struct state t = *s;
    tick_leases(&t.db);
    tick_leases(&t.standby);
    consumers_tick(&t);
    places_tick(m, &t);
    for (int i = 0; i < ENGINES; i++) {
        struct engine *e = &t.engine[i];
        bool stands_still = !m->rules.boottime && e->mode == FROZEN_WITH_WORKER;
        if (e->trust && !stands_still && !e->no_lease)
            e->trust--;
        if (e->call_trust && !stands_still)
            e->call_trust--;
        if (e->watch && e->watch_left)
            e->watch_left--;
    }
    move(m, &t, BY_TIME, "time passes");
}

void time_moves(struct model *m, const struct state *s)
{
    if (s->clock <= m->rules.slots) {
        struct state t = *s;
        t.clock++;
        const char *what = is_fine(m, t.clock) ? "fine slot" : "slot";
        const char *after = t.clock > m->rules.slots ? ", the first after those of the model" : "";
        move(m, &t, BY_NEW_SLOT, "%s %d begins%s", what, t.clock, after);
    }
    if (may_tick(m, s))
        tick(m, s);
}

/* ---- engines in trouble ---- */

static int free_stray(const struct state *s)
{
    for (int j = 0; j < STRAYS; j++)
        if (!s->stray[j].kind)
            return j;
    return -1;
}

static void rename_xid(struct state *s, int from, int to)
{
    if (s->db.noted_older & from)
        s->db.noted_older |= (unsigned)to & ALL_XIDS;
    for (int slot = 1; slot <= SLOTS; slot++)
        if (s->db.pass[slot].older & (unsigned)from)
            s->db.pass[slot].older |= (unsigned)to & ALL_XIDS;
    for (int i = 0; i < ENGINES; i++) {
        if (s->engine[i].older & from)
            s->engine[i].older |= (unsigned)to & ALL_XIDS;
        if (s->engine[i].pulse_older & (unsigned)from)
            s->engine[i].pulse_older |= (unsigned)to & ALL_XIDS;
    }
    xid_over(s, from);
}

/* The call under way goes on without its sender. False when there is no room for another stray. */
static bool detach_call(const struct model *m, struct state *s, int engine)
{
    struct request *r = &s->engine[engine].call;
    if (!r->kind || r->result)
        return true;
    int j = free_stray(s);
    if (j < 0)
        return false;
    s->stray[j] = *r;
    s->stray[j].owner = (unsigned)owner_of(&m->rules, engine) & 3;
    rename_xid(s, XID_ENGINE << engine, XID_STRAY << j);
    memset(r, 0, sizeof *r);
    return true;
}

static void owner_dies(struct lease lease[SLOTS + 1][BUCKETS], unsigned owner)
{
    for (int slot = 1; slot <= SLOTS; slot++)
        for (int b = 0; b < BUCKETS; b++)
            if (lease[slot][b].owner == owner)
                lease[slot][b].owner = NOBODY;
}

static void kill_engine(struct model *m, const struct state *s, int i, bool outlived)
{
    struct state t = *s;
    unsigned owner = (unsigned)owner_of(&m->rules, i);
    if (!detach_call(m, &t, i))
        return;
    t.faults--;
    if (outlived)
        loosen_runs(m, &t, i, false);
    engine_leaves_runs(&t, i, outlived);
    memset(&t.engine[i], 0, sizeof t.engine[i]);
    pulse_begins_anew(m, &t.engine[i], s->clock);
    owner_dies(t.db.lease, owner);
    owner_dies(t.standby.lease, owner);
    for (int n = 0; n < PLACES; n++) {
        t.db.place[n].owner = t.db.place[n].owner == owner ? NOBODY : t.db.place[n].owner & 3;
        t.standby.place[n].owner = t.standby.place[n].owner == owner ? NOBODY : t.standby.place[n].owner & 3;
    }
    for (int j = 0; j < STRAYS; j++)
        if (t.stray[j].kind && t.stray[j].owner == owner)
            t.stray[j].owner = NOBODY;
    move(m, &t, BY_FAULT, "E%d is KILLED and restarted%s", i, outlived ? ", its run goes on" : "");
}

static void freeze(struct model *m, const struct state *s, int i)
{
    for (int mode = FROZEN_ALONE; mode <= FROZEN_WITH_WORKER; mode++) {
        struct state t = *s;
        t.faults--;
        t.engine[i].mode = (unsigned)mode & 3;
        move(m, &t, BY_FAULT,
             mode == FROZEN_ALONE ? "E%d FREEZES, its worker goes on" : "E%d FREEZES with its worker", i);
    }
}

static void lose_connection(const struct model *m, struct engine *e, int clock)
{
    pulse_begins_anew(m, e, clock);
    e->must_renew = e->leased && m->rules.renewfirst;
    for (int k = 0; k < CHECKS; k++)
        if (e->item[k].state == ITEM_SETTLING)
            e->item[k].state = ITEM_ANSWERED;
    memset(&e->call, 0, sizeof e->call);
}

static void cut_call(struct model *m, const struct state *s, int i)
{
    static const char *const calls[] = { "", "open_slot", "renewal", "settle", "", "taking of a place",
                                         "renewal of its place", "giving back of its place" };
    struct state t = *s;
    struct engine *e = &t.engine[i];
    int kind = e->call.kind;
    if (!detach_call(m, &t, i))
        return;
    t.faults--;
    lose_connection(m, e, s->clock);
    e->call_trust = 0;
    move(m, &t, BY_FAULT, "E%d's connection is CUT under its %s", i, calls[kind]);
}

static void cut_finish(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    struct engine *e = &t.engine[i];
    int j = free_stray(s);
    if (j < 0)
        return;
    t.stray[j] = (struct request){ .kind = REQUEST_FINISH,
                                   .slot = e->slot,
                                   .bucket = e->bucket,
                                   .whole = e->whole,
                                   .token = e->token,
                                   .cursor = e->cursor,
                                   .skipped = e->skipped,
                                   .leave_rows = e->leave_rows,
                                   .partial = e->partial && m->rules.roundend,
                                   .complete = e->complete && m->rules.complete,
                                   .owner = (unsigned)owner_of(&m->rules, i) & 3 };
    t.faults--;
    lose_connection(m, e, s->clock);
    move(m, &t, BY_FAULT, "E%d's connection is CUT under its finish of slot %d, bucket %d", i, e->slot,
         e->bucket);
}

static bool ready_to_finish(const struct engine *e)
{
    return e->leased && !e->no_lease && !e->call.kind && e->exhausted && !e->leaving && !e->item[0].state &&
           !e->item[1].state && !(e->partial && e->whole);
}

static bool has_key_run(const struct model *m, const struct state *s, int i)
{
    const struct engine *e = &s->engine[i];
    bool runs = e->item[0].state == ITEM_RUNNING || e->item[1].state == ITEM_RUNNING;
    return m->rules.keys && (runs || has_loose_run(s, i));
}

static void engine_faults(struct model *m, const struct state *s, int i)
{
    const struct engine *e = &s->engine[i];
    if (!e->leased && !e->call.kind && !e->place)
        return;
    if (m->rules.freeze && e->mode == AWAKE)
        freeze(m, s, i);
    if (m->rules.kill)
        kill_engine(m, s, i, false);
    if (m->rules.kill && has_key_run(m, s, i))
        kill_engine(m, s, i, true);
    if (m->rules.cut && e->mode == AWAKE && e->call.kind)
        cut_call(m, s, i);
    if (m->rules.cut && e->mode == AWAKE && ready_to_finish(e))
        cut_finish(m, s, i);
}

static void wake(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    t.engine[i].mode = AWAKE;
    if (t.engine[i].call.result)
        receive(m, &t, i);
    move(m, &t, BY_WAKING, "E%d wakes%s", i,
         s->engine[i].call.result ? " and reads the answer of its call" : "");
}

static void drop_stray(struct model *m, const struct state *s, int j)
{
    static const char *const calls[] = { "", "open_slot", "renewal", "settle", "finish", "taking of a place",
                                         "renewal of a place", "giving back of a place" };
    struct state t = *s;
    memset(&t.stray[j], 0, sizeof t.stray[j]);
    move(m, &t, BY_SYSTEM, "a stray %s never reaches the database", calls[s->stray[j].kind]);
}

/* ---- the database in trouble ---- */

/* The standby gets no commits from here on: they are lost if it takes over. */
static void stop_replication(struct model *m, const struct state *s)
{
    struct state t = *s;
    struct holder h;
    t.standby = s->db;
    t.standby_journal = s->journal;
    t.standby_post = s->post;
    consumers_note_standby(&t);
    t.replication = REPLICATION_STOPPED;
    places_note_standby(&t);
    for (int n = 0; n < HOLDERS; n++)
        if (holder_get(s, &m->rules, n, &h) && h.token & TOKEN_GOOD)
            holder_set_token(&t, n, h.token | TOKEN_STANDBY);
    move(m, &t, BY_FAULT, "the standby stops RECEIVING commits");
}

static void all_calls_fail(const struct model *m, struct state *s)
{
    for (int i = 0; i < ENGINES; i++) {
        struct engine *e = &s->engine[i];
        if (e->call.kind && !e->call.result)
            lose_connection(m, e, s->clock);
        else
            pulse_begins_anew(m, e, s->clock);
        e->must_renew = e->leased && m->rules.renewfirst;
        if (e->leased)
            e->failed_over = 1;
        if (m->rules.server)
            e->complete = 0;
        e->older = 0;
    }
    memset(s->stray, 0, sizeof s->stray);
    for (int slot = 1; slot <= SLOTS; slot++)
        s->db.pass[slot].older = 0;
    s->db.noted_older = 0;
    s->app = (struct app){ .txns_left = s->app.txns_left };
    memset(s->clerk, 0, sizeof s->clerk);
    s->resuming = 0;
}

static void fail_over(struct model *m, const struct state *s)
{
    struct state t = *s;
    bool loses = s->replication != REPLICATES;
    unsigned stays = m->rules.copy ? TOKEN_AFTER | TOKEN_STANDBY : TOKEN_AFTER;
    struct holder h;
    t.faults--;
    unsigned is_named = m->rules.timeline || m->rules.started;
    t.history = (s->history + is_named) & 3;
    if (loses) {
        t.db = s->standby;
        t.journal = s->standby_journal;
        t.post = s->standby_post;
    }
    consumers_fail_over(&t, loses);
    places_fail_over(m, &t, loses);
    all_calls_fail(m, &t);
    for (int n = 0; loses && n < HOLDERS; n++)
        if (holder_get(&t, &m->rules, n, &h))
            holder_set_token(&t, n, (h.token & TOKEN_STANDBY ? TOKEN_GOOD : 0) | (h.token & stays));
    if (!m->rules.copy) {
        memset(&t.standby, 0, sizeof t.standby);
        memset(&t.standby_journal, 0, sizeof t.standby_journal);
        memset(&t.standby_post, 0, sizeof t.standby_post);
    }
    t.replication = FAILED_OVER;
    move(m, &t, BY_FAULT,
         loses ? "the database FAILS OVER, and the commits since then are lost"
               : "the database FAILS OVER, and no commit is lost");
}

static void set_clock(struct model *m, const struct state *s, int by)
{
    struct state t = *s;
    t.clock = (unsigned)(s->clock + by) & 7;
    t.faults--;
    struct db *both[] = { &t.db, &t.standby };
    for (int i = 0; i < 2; i++)
        for (int slot = 1; slot <= SLOTS; slot++)
            for (int b = 0; b < BUCKETS; b++)
                if (both[i]->lease[slot][b].ticks)
                    both[i]->lease[slot][b].ticks = by < 0 ? FAR : 0;
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < PLACES; n++)
            if (both[i]->place[n].ticks)
                both[i]->place[n].ticks = by < 0 ? FAR : 0;
    move(m, &t, BY_FAULT,
         by < 0 ? "the database's clock is SET BACK to slot %d"
                : "the database's clock is SET FORWARD to slot %d, past all leases",
         t.clock);
}

void fault_moves(struct model *m, const struct state *s)
{
    for (int i = 0; i < ENGINES; i++)
        if (s->engine[i].mode != AWAKE)
            wake(m, s, i);
    for (int j = 0; j < STRAYS; j++)
        if (s->stray[j].kind && !s->stray[j].looked)
            drop_stray(m, s, j);
    named_consumer_faults(m, s);
    if (!s->faults)
        return;
    for (int i = 0; i < ENGINES; i++)
        engine_faults(m, s, i);
    if (m->rules.failover == FAILOVER_ASYNC && s->replication == REPLICATES)
        stop_replication(m, s);
    if (m->rules.failover &&
        s->replication == (m->rules.failover == FAILOVER_ASYNC ? REPLICATION_STOPPED : REPLICATES))
        fail_over(m, s);
    if (m->rules.copy && s->replication == FAILED_OVER)
        fail_over(m, s);
    if (m->rules.back && s->clock > 0)
        set_clock(m, s, -1);
    if (m->rules.forth && s->clock <= m->rules.slots)
        set_clock(m, s, 1);
}
