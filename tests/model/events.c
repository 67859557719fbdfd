/* events.c - the events that settles write, and a consumer that reads them in order, from its
 * cursor on. A transaction id is unique within one history of the database: after a copy is
 * restored, ids are issued again (migrations/pg/0003_generations.sql). */
#include "model.h"

/* ---- the order ---- */

bool is_before(const struct model *m, struct place a, struct place b)
{
    if (m->rules.generation && a.generation != b.generation)
        return a.generation < b.generation;
    return a.xid < b.xid;
}

bool is_at(struct place a, struct place b)
{
    return a.there && b.there && a.generation == b.generation && a.xid == b.xid;
}

bool is_skipped(const struct model *m, const struct state *s, struct place event)
{
    return event.there && s->cursor.there && !is_before(m, s->cursor, event);
}

/* The generation that a writer begins. Numbers that follow the clock never repeat those of an
 * abandoned history. */
static unsigned new_generation(const struct model *m, const struct state *s)
{
    return (m->rules.genclock ? s->history : s->journal.generation + 1u) & 3;
}

static bool is_noted(const struct state *s)
{
    return s->journal.noted_for == s->history;
}

/* ---- the writer: current_generation ---- */

/* A settle waits until there is room for its event. This leaves out some orders of moves; an
 * endless wait is found as NO END. */
bool has_room_for_event(const struct model *m, const struct state *s)
{
    return !m->rules.events || (s->journal.next_xid < LAST_XID && !s->journal.event[EVENTS - 1].there);
}

void take_xid(const struct model *m, struct state *s, struct request *r)
{
    if (m->rules.events)
        r->xid = s->journal.next_xid++ & 15;
}

/* The events are kept in one order, so that equal states have equal bytes. */
static bool sorts_after(struct place a, struct place b)
{
    return !a.there || a.generation > b.generation || (a.generation == b.generation && a.xid > b.xid);
}

static void keep_in_order(struct journal *j, struct place event)
{
    int at = EVENTS - 1;
    for (; at > 0 && sorts_after(j->event[at - 1], event); at--)
        j->event[at] = j->event[at - 1];
    j->event[at] = event;
}

void write_event(const struct model *m, struct state *s, unsigned xid)
{
    struct journal *j = &s->journal;
    if (!m->rules.events && !m->rules.writers)
        return;
    if (m->rules.generation && !is_noted(s)) {
        j->generation = new_generation(m, s) & 3;
        j->noted_for = s->history;
    }
    unsigned generation = m->rules.generation ? j->generation : 0;
    keep_in_order(j, (struct place){ .there = 1, .generation = generation & 3, .xid = xid & 15 });
}

/* ---- the reader: generation_now ---- */

static unsigned oldest_xid(const struct model *m, const struct state *s)
{
    unsigned oldest = s->journal.next_xid;
    for (int i = 0; m->rules.oldest && i < ENGINES; i++)
        if (s->engine[i].call.xid && s->engine[i].call.xid < oldest)
            oldest = s->engine[i].call.xid;
    for (int i = 0; m->rules.oldest && i < STRAYS; i++)
        if (s->stray[i].xid && s->stray[i].xid < oldest)
            oldest = s->stray[i].xid;
    for (int i = 0; m->rules.oldest && i < WRITERS; i++)
        if (s->writers.xid[i] && s->writers.xid[i] < oldest)
            oldest = s->writers.xid[i];
    return oldest;
}

/* As long as this history has no writer, every event is from an earlier one and can be read. */
static struct place end_of_readable(const struct model *m, const struct state *s)
{
    if (m->rules.generation && !is_noted(s))
        return (struct place){ .there = 1, .generation = new_generation(m, s) & 3 };
    return (struct place){ .there = 1, .generation = s->journal.generation, .xid = oldest_xid(m, s) & 15 };
}

void forget_event(struct journal *j, struct place event)
{
    for (int i = 0; i < EVENTS; i++)
        if (is_at(j->event[i], event)) {
            for (; i + 1 < EVENTS; i++)
                j->event[i] = j->event[i + 1];
            j->event[EVENTS - 1] = (struct place){ 0 };
        }
}

bool is_readable(const struct model *m, const struct state *s, struct place event)
{
    return is_before(m, event, end_of_readable(m, s));
}

int event_behind(const struct model *m, const struct state *s, struct place cursor, bool of_all)
{
    int next = -1;
    for (int i = 0; i < EVENTS; i++) {
        struct place e = s->journal.event[i];
        bool is_behind = e.there && (!cursor.there || is_before(m, cursor, e));
        bool is_first = next < 0 || is_before(m, e, s->journal.event[next]);
        if (is_behind && is_first && (of_all || is_readable(m, s, e)))
            next = i;
    }
    return next;
}

/* The consumer reads one event a move: a page of several events is several moves. An event that was
 * read is removed from the copy, too: the consumer need not read it again. */
void consumer_moves(struct model *m, const struct state *s)
{
    int next = m->rules.events ? event_behind(m, s, s->cursor, false) : -1;
    if (next < 0)
        return;
    struct state t = *s;
    t.cursor = s->journal.event[next];
    forget_event(&t.journal, t.cursor);
    forget_event(&t.standby_journal, t.cursor);
    move(m, &t, BY_SYSTEM,
         "the consumer reads the event of transaction %d, generation %d, and moves its cursor there",
         t.cursor.xid, t.cursor.generation);
}
