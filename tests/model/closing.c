/* closing.c - how slots are closed and trimmed: the re-look, the pruning of old passes, the sweep's
 * mark. Any engine or command may send these statements at any time. */
#include "model.h"

#include <string.h>

static void relook(struct model *m, const struct state *s, int slot)
{
    const struct pass *p = &s->db.pass[slot];
    if (!all_done(p) || (p->seen && (p->older || slot_has_rows(&s->db, slot))))
        return;
    struct state t = *s;
    t.db.pass[slot] = (struct pass){ .state = PASS_CLOSED, .split = p->split, .trimming = p->trimming };
    const char *why = p->seen ? ": old transactions are over and it is empty"
                              : " without a look: its buckets are complete";
    move(m, &t, BY_SYSTEM, "the re-look closes slot %d%s", slot, why);
}

static bool may_trim(const struct model *m, const struct state *s, int slot)
{
    if (!m->rules.trimlook)
        return true;
    struct holder h;
    for (int n = 0; n < HOLDERS; n++)
        if (holder_get(s, &m->rules, n, &h) && h.slot == (unsigned)slot && h.token & TOKEN_GOOD)
            return false;
    return !slot_has_rows(&s->db, slot) && !s->db.lease[slot][0].ticks && !s->db.lease[slot][1].ticks;
}

static void prune(struct model *m, const struct state *s, int slot)
{
    bool closed = s->db.pass[slot].state == PASS_CLOSED;
    if (!m->rules.prune || !s->db.pass[slot].state)
        return;
    struct state t = *s;
    if (closed && !s->db.pass[slot].trimming && may_trim(m, s, slot)) {
        t.db.pass[slot].trimming = 1;
        move(m, &t, BY_SYSTEM, "prune finds slot %d closed and empty", slot);
    } else if (s->db.pass[slot].trimming) {
        t.db.pass[slot] = (struct pass){ 0 };
        forget_rounds(&t, slot);
        move(m, &t, BY_SYSTEM, "prune deletes the pass rows of slot %d", slot);
    }
}

/* No engine takes over a lease on a closed slot: the re-look removes it when it has expired. */
static void remove_lease(struct model *m, const struct state *s, int slot, int bucket)
{
    struct state t = *s;
    if (s->db.pass[slot].state != PASS_CLOSED || s->db.lease[slot][bucket].ticks ||
        is_shared(s, &m->rules, slot, bucket))
        return;
    lease_gone(&t, slot, bucket);
    if (memcmp(&t, s, sizeof t))
        move(m, &t, BY_SYSTEM, "the re-look removes an expired lease on slot %d, bucket %d", slot, bucket);
}

/* The first slot in [from, before) that holds a row, or `before`: the sweep has not emptied it. */
static int first_late(const struct state *s, int from, int before)
{
    int first = before;
    for (int k = 0; k < CHECKS; k++)
        if (s->db.row[k].slot && s->db.row[k].slot < first && s->db.row[k].slot >= from)
            first = s->db.row[k].slot;
    return first;
}

/* mark_swept: the mark moves to the noted slot when the transactions that ran at that time are over
 * and no row lies before it. Then the next slot is noted. */
static void move_mark(struct model *m, const struct state *s)
{
    struct state t = *s;
    struct db *db = &t.db;
    int from = db->mark <= s->clock ? db->mark : 0;
    int to = first_late(s, from, full_slot_of(m, s->clock));
    bool noted = db->noted && db->noted <= s->clock;
    bool good = m->rules.noted ? noted && !db->noted_older && first_late(s, from, db->noted) == db->noted
                               : to > from;
    if (m->rules.full)
        return;
    if (good)
        db->mark = m->rules.noted ? db->noted : (unsigned)to & 7;
    if (m->rules.noted && (good || !noted)) {
        db->noted = (unsigned)to & 7;
        db->noted_older = (unsigned)running_xids(s, &m->rules) & ALL_XIDS;
    }
    if (!memcmp(&t, s, sizeof t))
        return;
    if (good)
        move(m, &t, BY_SYSTEM, "a sweep is over: its mark moves to slot %d", db->mark);
    else
        move(m, &t, BY_SYSTEM, "a sweep is over: slot %d is noted as the next mark", db->noted);
}

void closing_moves(struct model *m, const struct state *s)
{
    for (int slot = 1; slot <= SLOTS; slot++) {
        relook(m, s, slot);
        for (int b = 0; b < BUCKETS; b++)
            remove_lease(m, s, slot, b);
        prune(m, s, slot);
    }
    move_mark(m, s);
}
