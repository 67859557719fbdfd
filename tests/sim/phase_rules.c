/* phase_rules.c - no check of a slot that is spread is run before its part of the slot begins, and
 * none before the time that its job has asked for, also where the slot is not spread any more. */
#include "phase_rules.h"

#include "../../engine/rules/phase.h"
#include "../../engine/rules/slot.h"
#include "host.h"

/* An engine reckons the database's clock on from an answer of it. */
enum { TOLERANCE_US = 1500 * 1000 };

int32_t phase_rules_s(const struct world *w, int key, int64_t slot)
{
    const struct row *row = &w->db->rows[key];
    if (!w->shape.pace_s || row->is.priority < 0 || slot_is_fine(slot, w->shape.slot_length_s))
        return 0;
    return phase_begins_s(row->bucket, w->shape.pace_s);
}

int64_t phase_rules_may_wait_us(const struct world *w, int64_t slot)
{
    if (!w->shape.pace_s || slot_is_fine(slot, w->shape.slot_length_s))
        return 0;
    bool all_wait = true;
    for (int i = 0; i < w->shape.hosts; i++)
        all_wait &= w->hosts[i].kind == HOST_DAEMON;
    int64_t slots = all_wait ? 1 : 2;   /* one that is put off as it comes early waits for the next slot */
    return slots * w->shape.slot_length_s * SECOND_US;
}

void phase_rules_run_begins(struct world *w, const struct run *run)
{
    const struct version *v = &w->db->rows[run->key].is;
    int32_t phase_s = phase_rules_s(w, run->key, run->slot);
    int64_t clock_us = w->db->clock_most_us + TOLERANCE_US;
    bool is_as_read = v->exists && v->id == run->id && v->next_at == run->slot;
    if (!w->shape.pace_s || !is_as_read)
        return;
    if (!w->shape.pace_ends_us && (run->slot + phase_s) * SECOND_US > clock_us)
        world_violate(w, "check %d of slot %lld is run before its second %d of that", run->key,
                      (long long)run->slot, (int)phase_s);
    bool is_of_its_slot = !slot_is_fine(run->slot, w->shape.slot_length_s) && v->deferred_at > run->slot &&
                          v->deferred_at - run->slot < w->shape.slot_length_s;
    if (is_of_its_slot && v->deferred_at * SECOND_US > clock_us)
        world_violate(w, "check %d of slot %lld is run before the time it was to be looked at again, %lld",
                      run->key, (long long)run->slot, (long long)v->deferred_at);
    if (phase_s)
        world_count(w, TALLY_SPREAD);
}
