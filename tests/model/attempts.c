/* attempts.c - a check that fails runs again within its full slot: it moves to a fine slot of it,
 * as often as there are attempts. Then it moves to a later full slot, and ends after some of them.
 */
#include "model.h"

enum { FULL_SLOTS = 2 };                /* with attempts, before a check has failed too often */

/* An attempt is not made after the full slot that runs. */
int next_attempt(const struct model *m, int clock)
{
    int slot = next_fine(m, clock);
    bool is_inside = full_slot_of(m, slot) == full_slot_of(m, clock);
    return is_inside || !m->rules.inside ? slot : next_full(m, clock);
}

int slot_after_failure(const struct model *m, int failures, int clock)
{
    int attempt = failures + 1;
    return attempt % m->rules.attempts ? next_attempt(m, clock) : next_full(m, clock);
}

/* The settle may be later than the answer: then the full slot may have ended, and the next one
 * takes its place, also where the first seconds of the one that runs by then are still to come. */
int file_attempt_at(const struct model *m, int wanted, int clock)
{
    bool is_inside = full_slot_of(m, wanted) == full_slot_of(m, clock);
    if (!m->rules.inside || !is_fine(m, wanted) || (wanted > clock && is_inside))
        return file_at(m, wanted, clock);
    return file_at(m, is_inside ? next_attempt(m, clock) : next_full(m, clock), clock);
}

bool ends_check(const struct model *m, const struct item *item)
{
    if (item->put_off)
        return false;
    bool is_last = m->rules.attempts && (int)item->fails + 1 == m->rules.attempts * FULL_SLOTS;
    return item->answer == ANSWER_DONE || (item->answer == ANSWER_FAIL && is_last);
}
