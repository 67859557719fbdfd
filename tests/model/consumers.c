/* consumers.c - transactions that write events, and consumers by one name, whose cursor is in the
 * store (prescient events --deliver). One of them has the lease. It gives the event behind the
 * cursor to its command, and moves the cursor when that has ended. */
#include "model.h"

#include <string.h>

enum { LEASE_AS_READ = 1, CURSOR_AS_READ = 2 };

/* ---- writers ---- */

static void writes_begin(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    t.writers.left = (s->writers.left - 1u) & 3;
    t.writers.xid[i] = s->journal.next_xid;
    t.journal.next_xid++;
    move(m, &t, BY_NEW_TXN, "transaction %d begins, to write an event", t.writers.xid[i]);
}

static void writes_commit(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    write_event(m, &t, s->writers.xid[i]);
    t.writers.xid[i] = 0;
    move(m, &t, BY_APP, "transaction %d COMMITS its event", s->writers.xid[i]);
}

void writer_moves(struct model *m, const struct state *s)
{
    if (!m->rules.writers)
        return;
    bool begun = false;
    for (int i = 0; i < WRITERS; i++)
        if (s->writers.xid[i])
            writes_commit(m, s, i);
        else if (!begun && s->writers.left && s->journal.next_xid < LAST_XID) {
            writes_begin(m, s, i);
            begun = true;
        }
}

/* ---- the lease ---- */

static void all_lose_lease(struct state *s)
{
    for (int i = 0; i < CONSUMERS; i++)
        s->consumer[i].good = 0;
    s->late_move.good = 0;
}

static void takes(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    bool has_work = event_behind(m, s, s->subscription.cursor, false) >= 0;
    if (s->subscription.ticks || !has_work)
        return;
    all_lose_lease(&t);
    t.subscription.ticks = (unsigned)m->rules.lease & 7;
    t.subscription.owner = (unsigned)(i + 1) & 3;
    t.consumer[i] = (struct consumer){ .cursor = s->subscription.cursor, .leased = 1, .good = 1,
                                       .trust = (unsigned)m->rules.trust & 3 };
    move(m, &t, BY_SYSTEM, "consumer %d takes the lease", i);
}

/* The cursor is read again only where no page depends on the one that was read before. */
static void renews(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    struct consumer *c = &t.consumer[i];
    bool good = c->good;
    if (good) {
        t.subscription.ticks = (unsigned)m->rules.lease & 7;
        c->trust = (unsigned)m->rules.trust & 3;
        c->must_renew = 0;
        if (c->phase == CONSUMER_IDLE)
            c->cursor = s->subscription.cursor;
    } else
        *c = (struct consumer){ 0 };
    move(m, &t, BY_SYSTEM, good ? "consumer %d renews its lease" : "consumer %d finds its lease lost", i);
}

static void gives_back(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    t.consumer[i] = (struct consumer){ 0 };
    if (s->consumer[i].good || !m->rules.own) {
        t.subscription.ticks = t.subscription.owner = 0;
        all_lose_lease(&t);
    }
    move(m, &t, BY_SYSTEM, "consumer %d has read all, and gives its lease back", i);
}

/* ---- reading, and the command ---- */

/* The events and the end up to which they may be read are of one statement, one snapshot. */
static void looks(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    struct consumer *c = &t.consumer[i];
    int next = event_behind(m, s, c->cursor, !m->rules.together);
    if (next < 0)
        return;
    c->event = s->journal.event[next];
    c->event.got = 0;
    c->phase = m->rules.together ? CONSUMER_HAS_EVENT : CONSUMER_LOOKED;
    move(m, &t, BY_SYSTEM, "consumer %d reads the event of transaction %d, generation %d", i, c->event.xid,
         c->event.generation);
}

static void asks_for_end(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    struct consumer *c = &t.consumer[i];
    bool good = is_readable(m, s, c->event);
    c->phase = good ? CONSUMER_HAS_EVENT : CONSUMER_IDLE;
    if (!good)
        c->event = (struct place){ 0 };
    move(m, &t, BY_SYSTEM, "consumer %d asks where the readable events end: %s", i,
         good ? "behind that one" : "before that one");
}

static void starts_command(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    if (!s->consumer[i].trust && m->rules.wtrust)
        return;
    if (!s->consumer[i].good && !m->rules.failover)
        breaks(m, LOST_LEASE_RUN, "consumer %d starts its command under the lease of another consumer", i);
    t.consumer[i].phase = CONSUMER_RUNS;
    move(m, &t, BY_SYSTEM, "consumer %d starts its command with the event of transaction %d", i,
         s->consumer[i].event.xid);
}

static void note_got(struct journal *j, struct place event)
{
    for (int i = 0; i < EVENTS; i++)
        if (is_at(j->event[i], event))
            j->event[i].got = 1;
}

static void command_ends(struct model *m, const struct state *s, int i, bool well)
{
    struct state t = *s;
    struct consumer *c = &t.consumer[i];
    c->phase = well ? CONSUMER_DONE : CONSUMER_IDLE;
    if (well) {
        note_got(&t.journal, c->event);
        note_got(&t.standby_journal, c->event);
    } else
        c->event = (struct place){ 0 };
    move(m, &t, BY_SYSTEM, "consumer %d's command %s", i, well ? "has taken the event" : "fails");
}

/* ---- the cursor ---- */

static void forget_what_is_over(const struct model *m, struct state *s)
{
    struct place cursor = s->subscription.cursor;
    for (int i = 0; i < EVENTS; i++) {
        struct place e = s->journal.event[i];
        if (e.there && e.got && cursor.there && !is_before(m, cursor, e))
            forget_event(&s->journal, s->journal.event[i--]);
    }
}

/* False: it is not as it was read. */
static bool move_cursor(struct model *m, struct state *s, struct place from, struct place to, bool good)
{
    struct subscription *at = &s->subscription;
    bool is_as_read = !memcmp(&at->cursor, &from, sizeof from);
    if ((m->rules.compare & LEASE_AS_READ && !good) || (m->rules.compare & CURSOR_AS_READ && !is_as_read))
        return false;
    if (at->cursor.there && is_before(m, to, at->cursor))
        breaks(m, CURSOR_BACK, "the cursor goes from transaction %d back to %d", at->cursor.xid, to.xid);
    at->cursor = to;
    forget_what_is_over(m, s);
    return true;
}

static void moves_cursor(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    struct consumer *c = &t.consumer[i];
    bool moved = move_cursor(m, &t, c->cursor, c->event, c->good);
    if (!moved)
        *c = (struct consumer){ 0 };
    else {
        c->cursor = c->event;
        c->event = (struct place){ 0 };
        c->phase = CONSUMER_IDLE;
    }
    move(m, &t, BY_SYSTEM, moved ? "consumer %d moves the cursor to transaction %d"
                                 : "consumer %d does not move the cursor: it is no longer as read (%d)",
         i, s->consumer[i].event.xid);
}

static void late_move_arrives(struct model *m, const struct state *s)
{
    struct state t = *s;
    struct late_move late = s->late_move;
    t.late_move = (struct late_move){ 0 };
    bool moved = move_cursor(m, &t, late.cursor, late.event, late.good);
    move(m, &t, BY_SYSTEM, "a stray move of the cursor to transaction %d: %s", late.event.xid,
         moved ? "it moves" : "nothing is changed");
}

static void late_move_is_lost(struct model *m, const struct state *s)
{
    struct state t = *s;
    t.late_move = (struct late_move){ 0 };
    move(m, &t, BY_SYSTEM, "a stray move of the cursor never reaches the database");
}

/* ---- a consumer's moves ---- */

static void under_lease(struct model *m, const struct state *s, int i)
{
    const struct consumer *c = &s->consumer[i];
    if (c->must_renew || c->trust < (unsigned)m->rules.trust)
        renews(m, s, i);
    if (c->must_renew)
        return;
    switch ((enum consumer_phase)c->phase) {
    case CONSUMER_IDLE:
        looks(m, s, i);
        if (event_behind(m, s, c->cursor, false) < 0)
            gives_back(m, s, i);
        break;
    case CONSUMER_LOOKED:
        asks_for_end(m, s, i);
        break;
    case CONSUMER_HAS_EVENT:
        if (m->rules.after)
            starts_command(m, s, i);
        else
            moves_cursor(m, s, i);
        break;
    case CONSUMER_RUNS:
        command_ends(m, s, i, false);
        break;
    case CONSUMER_DONE:
        moves_cursor(m, s, i);
        break;
    }
}

/* A command goes on while its consumer is frozen. */
void named_consumer_moves(struct model *m, const struct state *s)
{
    for (int i = 0; i < m->rules.consumers; i++) {
        const struct consumer *c = &s->consumer[i];
        if (c->leased && c->phase == CONSUMER_RUNS)
            command_ends(m, s, i, true);
        if (!c->frozen && c->leased)
            under_lease(m, s, i);
        else if (!c->frozen)
            takes(m, s, i);
    }
    if (s->late_move.there) {
        late_move_arrives(m, s);
        late_move_is_lost(m, s);
    }
}

/* ---- time ---- */

bool consumers_have_ticks(const struct state *s)
{
    return s->subscription.ticks || s->consumer[0].trust || s->consumer[1].trust;
}

/* One that is awake is never a tick late. */
bool consumers_may_tick(const struct model *m, const struct state *s)
{
    for (int i = 0; i < CONSUMERS; i++) {
        const struct consumer *c = &s->consumer[i];
        if (c->leased && !c->frozen && (c->must_renew || c->trust < (unsigned)m->rules.trust))
            return false;
    }
    return true;
}

void consumers_tick(struct state *s)
{
    struct subscription *both[] = { &s->subscription, &s->standby_subscription };
    for (int i = 0; i < 2; i++)
        if (both[i]->ticks)
            both[i]->ticks--;
    for (int i = 0; i < CONSUMERS; i++)
        if (s->consumer[i].trust)
            s->consumer[i].trust--;
}

/* ---- faults ---- */

static void late_move_of(struct state *s, const struct consumer *c)
{
    s->late_move = (struct late_move){ .there = 1, .good = c->good, .cursor = c->cursor, .event = c->event };
}

static void kills(struct model *m, const struct state *s, int i, bool sent)
{
    struct state t = *s;
    t.faults--;
    if (sent)
        late_move_of(&t, &s->consumer[i]);
    t.consumer[i] = (struct consumer){ 0 };
    if (s->subscription.owner == (unsigned)(i + 1))
        t.subscription.owner = NOBODY;
    move(m, &t, BY_FAULT, "consumer %d is KILLED%s", i, sent ? " while it moves the cursor" : "");
}

static void cuts(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    struct consumer *c = &t.consumer[i];
    t.faults--;
    late_move_of(&t, c);
    c->event = (struct place){ 0 };
    c->phase = CONSUMER_IDLE;
    c->must_renew = 1;
    move(m, &t, BY_FAULT, "consumer %d's connection is CUT while it moves the cursor", i);
}

static void freezes(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    t.faults--;
    t.consumer[i].frozen = 1;
    move(m, &t, BY_FAULT, "consumer %d FREEZES", i);
}

static void wakes(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    t.consumer[i].frozen = 0;
    move(m, &t, BY_WAKING, "consumer %d wakes", i);
}

void named_consumer_faults(struct model *m, const struct state *s)
{
    for (int i = 0; i < CONSUMERS; i++) {
        const struct consumer *c = &s->consumer[i];
        bool is_sending = c->phase == CONSUMER_DONE && !s->late_move.there && !c->must_renew;
        if (c->frozen)
            wakes(m, s, i);
        else if (c->leased && s->faults && m->rules.freeze)
            freezes(m, s, i);
        if (!c->leased || c->frozen || !s->faults)
            continue;
        if (m->rules.kill)
            kills(m, s, i, false);
        if (m->rules.kill && is_sending)
            kills(m, s, i, true);
        if (m->rules.cut && is_sending)
            cuts(m, s, i);
    }
}

void consumers_note_standby(struct state *s)
{
    s->standby_subscription = s->subscription;
    for (int i = 0; i < CONSUMERS; i++)
        s->consumer[i].on_standby = s->consumer[i].good;
}

/* All connections are lost, and all open transactions. Lease and cursor are what the copy has. */
void consumers_fail_over(struct state *s, bool loses)
{
    if (loses)
        s->subscription = s->standby_subscription;
    s->standby_subscription = (struct subscription){ 0 };
    s->late_move = (struct late_move){ 0 };
    s->writers = (struct writers){ .left = s->writers.left };
    for (int i = 0; i < CONSUMERS; i++) {
        struct consumer *c = &s->consumer[i];
        if (loses)
            c->good = c->on_standby;
        c->on_standby = 0;
        c->must_renew = c->leased;
    }
}

/* ---- the end ---- */

bool consumers_are_over(const struct model *m, const struct state *s)
{
    if (s->writers.xid[0] || s->writers.xid[1] || s->late_move.there)
        return false;
    if (m->rules.consumers && (s->journal.event[0].there || s->subscription.ticks))
        return false;
    return !s->consumer[0].leased && !s->consumer[1].leased;
}

bool consumers_have_all(const struct model *m, const struct state *s)
{
    bool is_awake = false;
    for (int i = 0; i < m->rules.consumers; i++)
        is_awake = is_awake || !s->consumer[i].frozen;
    return !is_awake || event_behind(m, s, s->subscription.cursor, false) < 0;
}
