/* lives.c - a check of a schedule: when an occurrence ends, by an answer or by failures, its settle
 * starts the check anew, with a new id, at the next occurrence. The rule travels with the check. */
#include "model.h"

#include <assert.h>

bool recurs(const struct model *m, int check)
{
    return m->rules.recurs && check == 0;
}

/* The two rules of the scenario: every second full slot, and once it is edited every full slot. */
static bool is_occurrence(const struct model *m, int terms, int slot)
{
    return !is_fine(m, slot) && (terms || (slot - 1) / (m->rules.fine + 1) % 2 == 0);
}

int next_occurrence(const struct model *m, int terms, int moment)
{
    int slot = moment + 1;
    while (slot <= m->rules.slots && !is_occurrence(m, terms, slot))
        slot++;
    return slot;
}

/* An edit files the check under the next full slot, since SQL computes no times. An engine that
 * reads it there moves it to the next occurrence, if none is there. */
bool is_between_occurrences(const struct model *m, int check, const struct row *row)
{
    bool has_begun = row->count || row->fails || row->deferred;
    return recurs(m, check) && !has_begun && !is_occurrence(m, row->terms, row->first);
}

void new_life(struct model *m, struct state *s, struct row *row, int slot, int first, int terms)
{
    struct row next = { .slot = (unsigned)slot & 7, .first = (unsigned)first & 7, .terms = terms & 1,
                        .reborn = s->replication == FAILED_OVER };
    assert(s->db.next_id < 15);         /* else the scenario needs wider ids */
    if (m->rules.freshid || !row->slot)
        next.id = s->db.next_id++ & 15;
    else {
        next.id = row->id;
        next.keys = row->keys;
    }
    if (next.keys & 1u << next.first)
        breaks(m, SAME_KEY, "two occurrences have first slot %d and id %d", next.first, next.id);
    *row = next;
}

void start_anew(struct model *m, struct state *s, const struct request *r, const struct item *item,
                struct row *row)
{
    int slot = slot_to_move_to(m, r, item, row);
    check_move(m, r, item, row, slot);
    if (item->to == row->first)
        breaks(m, SECOND_RUN, "the occurrence of slot %d was run, and is to run again", row->first);
    row->keys |= 1u << row->first & 63;
    int first = slot < (int)item->to ? slot : (int)item->to;
    new_life(m, s, row, slot, first, m->rules.carry ? row->terms : item->terms);
}
