/* checks.c - the promises that no move may break, and the state in which all work has ended. */
#include "model.h"

const char *const property_names[PROPERTIES] = {
    [HOLDS] = "HOLDS",
    [LOST_LEASE_RUN] = "JOB STARTED UNDER A LOST LEASE",
    [LOST_LEASE_SETTLE] = "SETTLED UNDER A LOST LEASE",
    [SECOND_RUN] = "SECOND RUN WITHOUT A NAMED EVENT",
    [SETTLED_TWICE] = "SETTLED TWICE",
    [CHECK_LOST] = "CHECK LOST",
    [LATER_THAN_PROMISED] = "LATER THAN PROMISED",
    [PAST_ITS_SLOT] = "ATTEMPT PAST ITS SLOT",
    [SAME_KEY] = "TWO RUNS, ONE KEY",
    [SCHEDULE_IGNORED] = "SCHEDULE IGNORED",
    [CLOSED_OVER_A_ROW] = "CLOSED OVER A ROW",
    [EVENT_SKIPPED] = "EVENT SKIPPED",
    [CURSOR_BACK] = "CURSOR GOES BACK",
    [EVENT_REPEATED] = "EVENT IN TWO DIGESTS",
    [NO_EVENT] = "DELIVERY WITHOUT ITS EVENT",
    [OTHER_KEY] = "ONE EVENT, TWO KEYS",
    [TWO_AT_ONCE] = "TWO RUNS OF A KEY AT ONCE",
    [HEAVY_FIRST] = "A HEAVY TENANT BEFORE THE OTHERS",
    [NO_END] = "NO END",
    [STUCK] = "STUCK",
    [PASSED_OVER] = "PASSED OVER",
    [HELD_FOR_NOTHING] = "PLACE HELD FOR NOTHING",
};

/* The named events so far are the faults. When a check fails, is deferred or has its answer
 * dropped, the count of its runs restarts there. A token that is issued twice gives two connections
 * of one engine the same lease: that explains one more run. */
int events_so_far(const struct model *m, const struct state *s)
{
    return m->rules.faults - s->faults +
           (m->rules.lanes && m->rules.failover == FAILOVER_ASYNC && s->replication == FAILED_OVER);
}

/* A clock set forward and a failover take leases away. They are named events, and explain a second
 * run. */
static bool leases_may_be_lost(const struct model *m)
{
    return m->rules.forth || m->rules.failover;
}

void check_start(struct model *m, const struct state *s, int engine, int check)
{
    const struct engine *e = &s->engine[engine];
    const struct item *item = &e->item[check];
    const struct row *row = &s->db.row[check];
    bool current = row->slot == e->slot && row->id == item->id && row->count == item->count &&
                   row->fails == item->fails;
    int events = events_so_far(m, s);
    if (!e->no_lease && !(e->token & TOKEN_GOOD) && !leases_may_be_lost(m))
        breaks(m, LOST_LEASE_RUN, "check %d of slot %d is started under the lease of another engine", check,
               e->slot);
    else if (item->settled && !leases_may_be_lost(m))
        breaks(m, SECOND_RUN, "check %d of slot %d, count %d, is started after its answer was written",
               check, e->slot, item->count);
    else if (current && (int)row->runs > events)
        breaks(m, SECOND_RUN, "check %d of slot %d, count %d, is started again", check, e->slot, item->count);
}

void check_settle(struct model *m, const struct row *row, const struct request *r, int check, int found)
{
    const struct item *item = &r->item[check];
    if (!r->no_lease && !(r->token & TOKEN_GOOD))
        breaks(m, LOST_LEASE_SETTLE, "check %d of slot %d is settled under the lease of another engine",
               check, r->slot);
    else if (found != check || row->reborn != item->reborn)
        breaks(m, CHECK_LOST, "check %d takes the answer to %s, which had the same id", found,
               found == check ? "an earlier life" : "the other check");
    else if (row->slot != r->slot || row->count != item->count || row->fails != item->fails)
        breaks(
            m, SETTLED_TWICE,
            "check %d (slot %d, count %d, failures %d) takes the answer to (slot %d, count %d, failures %d)",
            check, row->slot, row->count, row->fails, r->slot, item->count, item->fails);
    else if (row->owed && ends_check(m, item) && !row->again)
        breaks(m, CHECK_LOST,
               "check %d was replaced while it ran, and the answer to its earlier life ends it", check);
    else if (!item->put_off && row->written)
        breaks(m, SETTLED_TWICE,
               "check %d takes an answer, and no job was started since it took the last one", check);
}

void check_move(struct model *m, const struct request *r, const struct item *item, const struct row *row,
                int slot)
{
    int asked = slot_promised(m, r, row);
    bool fails = !item->put_off && item->answer == ANSWER_FAIL && !ends_check(m, item);
    bool moves = (fails || item->busy) && slot != asked;
    bool is_inside = full_slot_of(m, slot) == full_slot_of(m, r->at);
    if (asked && slot > asked)
        breaks(m, LATER_THAN_PROMISED,
               "slot %d was promised to the application, and the check moves to slot %d", asked, slot);
    else if (moves && is_fine(m, slot) && !is_inside)
        breaks(m, PAST_ITS_SLOT, "the next attempt is in slot %d, after the end of slot %d", slot,
               full_slot_of(m, r->at));
}

static void check_events(struct model *m, const struct state *s)
{
    for (int i = 0; i < EVENTS; i++) {
        struct place e = s->journal.event[i];
        if (is_skipped(m, s, e))
            breaks(m, EVENT_SKIPPED,
                   "the event of transaction %d, generation %d, was not read, and the consumer's "
                   "cursor is at %d, generation %d",
                   e.xid, e.generation, s->cursor.xid, s->cursor.generation);
    }
}

/* An event that no command and no digest has got. */
static void check_cursor(struct model *m, const struct state *s)
{
    struct place cursor = s->subscription.cursor;
    for (int i = 0; i < EVENTS; i++) {
        struct place e = s->journal.event[i];
        if (e.there && !e.got && cursor.there && !is_before(m, cursor, e))
            breaks(m, EVENT_SKIPPED,
                   "nobody got the event of transaction %d, generation %d, and the cursor is at %d, "
                   "generation %d",
                   e.xid, e.generation, cursor.xid, cursor.generation);
    }
}

static void check_schedule(struct model *m, const struct state *s)
{
    if (!in_sight(&s->db.row[0], &m->rules))
        return;
    if (!s->db.schedule_on)
        breaks(m, SCHEDULE_IGNORED, "the schedule is off, and its check is in slot %d", s->db.row[0].slot);
    else if (s->db.row[0].terms != s->db.schedule_terms)
        breaks(m, SCHEDULE_IGNORED, "the schedule was edited, and its check has the terms from before");
}

void check_state(struct model *m, const struct state *s)
{
    if (m->rules.recurs)
        check_schedule(m, s);
    if (m->rules.keys)
        check_places(m, s);
    if (m->rules.events)
        check_events(m, s);
    if (m->rules.writers)
        check_cursor(m, s);
    for (int slot = 1; m->rules.strict && slot <= m->rules.slots; slot++)
        if (s->db.pass[slot].state == PASS_CLOSED && slot_has_rows(&s->db, slot)) {
            breaks(m, CLOSED_OVER_A_ROW, "slot %d is closed and holds check %d", slot,
                   s->db.row[0].slot == (unsigned)slot ? 0 : 1);
            return;
        }
}

/* ---- the end ---- */

bool is_over(const struct model *m, const struct state *s)
{
    if (s->app.phase || is_waiting(s, 0, &m->rules) || is_waiting(s, 1, &m->rules))
        return false;
    if (s->resuming || s->db.pause == PAUSE_ENDING)
        return false;
    bool has_events = s->journal.event[0].there && !m->rules.digest;
    if (!places_are_over(s) || is_event_without_delivery(s) || !consumers_are_over(m, s))
        return false;
    if (has_events || s->clerk[0].op || s->clerk[1].op)
        return false;
    if (m->rules.recurs && s->db.schedule_on && !s->db.row[0].slot)
        return false;
    for (int i = 0; i < ENGINES; i++)
        if (s->engine[i].mode || s->engine[i].leased || s->engine[i].call.kind)
            return false;
    for (int j = 0; j < STRAYS; j++)
        if (s->stray[j].kind)
            return false;
    for (int slot = 1; slot <= SLOTS; slot++) {
        if (s->db.pass[slot].state == PASS_OPEN)
            return false;
        for (int b = 0; b < BUCKETS; b++)
            if (s->db.lease[slot][b].ticks && s->db.lease[slot][b].ticks != FAR)
                return false;
    }
    return true;
}

bool is_answered(const struct model *m, const struct state *s)
{
    for (int k = 0; k < CHECKS; k++)
        if (is_waiting(s, k, &m->rules) && !is_locked(s, k))
            return false;
    return consumers_have_all(m, s);
}
