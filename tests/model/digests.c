/* digests.c - a digest is a check of a schedule that no worker runs: the settle which starts it
 * anew takes the events behind its cursor, files one delivery of them, and moves the cursor. */
#include "model.h"

static void take_event(struct model *m, struct state *s, int i)
{
    struct place *event = &s->journal.event[i];
    if (event->got)
        breaks(m, EVENT_REPEATED, "the event of transaction %d is in two digests", event->xid);
    event->got = 1;
}

static struct place take_readable(struct model *m, struct state *s)
{
    struct place upto = s->subscription.cursor;
    for (int i; (i = event_behind(m, s, upto, false)) >= 0;) {
        upto = s->journal.event[i];
        upto.got = 0;
        take_event(m, s, i);
    }
    return upto;
}

/* ---- keys ---- */

static bool is_same(struct place a, struct place b)
{
    return a.there == b.there && a.generation == b.generation && a.xid == b.xid;
}

/* A digest that a failover has lost may have been sent, and the one that takes its place may hold
 * more. */
static void note_digest(struct model *m, struct state *s, struct digest next)
{
    int n = 0;
    for (; n < DIGESTS && s->digest[n].upto.there; n++) {
        bool same_after = is_same(s->digest[n].after, next.after);
        bool same_upto = is_same(s->digest[n].upto, next.upto);
        if (same_after && same_upto)
            return;
        if (same_after && !m->rules.dkey)
            breaks(m, SAME_KEY, "two digests have one key: up to transaction %d, and up to %d",
                   s->digest[n].upto.xid, next.upto.xid);
    }
    if (m->rules.failover && n < DIGESTS)
        s->digest[n] = next;
}

/* ---- the settle, or in a planted mistake the run before it ---- */

static void forget_all_up_to_cursor(const struct model *m, struct state *s)
{
    for (int i = 0; i < EVENTS; i++) {
        struct place e = s->journal.event[i];
        if (e.there && e.got && !is_before(m, s->subscription.cursor, e))
            forget_event(&s->journal, s->journal.event[i--]);
    }
}

void digest_in_settle(struct model *m, struct state *s)
{
    struct digest next = { .after = s->subscription.cursor, .upto = s->subscription.cursor };
    if (m->rules.inmove)
        next.upto = take_readable(m, s);
    for (int i = 0; i < EVENTS && !m->rules.inmove; i++)
        if (s->journal.event[i].got)
            next.upto = s->journal.event[i];
    if (!next.upto.there || is_same(next.after, next.upto))
        return;
    next.upto.got = 0;
    note_digest(m, s, next);
    s->subscription.cursor = next.upto;
    forget_all_up_to_cursor(m, s);
}

void digest_at_run(struct model *m, struct state *s)
{
    if (!m->rules.inmove)
        take_readable(m, s);
}
