/* slots.c - full slots, the multiples of the slot length, and fine slots, the seconds between them.
 * Both follow the same rules; they differ in what is filed under them, and in who looks there. */
#include "model.h"

/* A full slot and the fine slots after it. */
static int length(const struct model *m)
{
    return m->rules.fine + 1;
}

bool is_fine(const struct model *m, int slot)
{
    return (slot - 1) % length(m) != 0;
}

int full_slot_of(const struct model *m, int moment)
{
    return moment < 1 ? 0 : moment - (moment - 1) % length(m);
}

/* All that lies after the slots of the scenario is one slot: numbers are small. */
static int within(const struct model *m, int slot)
{
    return m->rules.fine && slot > m->rules.slots ? m->rules.slots + 1 : slot;
}

int next_full(const struct model *m, int moment)
{
    return within(m, moment < 1 ? 1 : full_slot_of(m, moment) + length(m));
}

/* The second on which a full slot begins is skipped: what is filed at once would wait there behind
 * all checks of that slot. Where slots are a second long, the next slot takes the place. */
int next_fine(const struct model *m, int moment)
{
    if (!m->rules.fine)
        return next_full(m, moment);
    int slot = moment + 1;
    return within(m, is_fine(m, slot) ? slot : slot + 1);
}

/* No check is put into a slot that has begun: the next slot of its kind takes its place. A check
 * after the scenario's last slot is kept only for those that may still change it. */
int file_at(const struct model *m, int wanted, int clock)
{
    int slot = wanted > clock || !m->rules.clamp ? wanted : next_of_kind(m, clock, is_fine(m, wanted));
    if (slot <= m->rules.slots)
        return slot;
    return m->rules.app || m->rules.recurs ? m->rules.slots + 1 : 0;
}

int next_of_kind(const struct model *m, int moment, bool fine)
{
    return fine ? next_fine(m, moment) : next_full(m, moment);
}
