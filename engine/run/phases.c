/* phases.c - see phases.h. */
#include "phases.h"

#include "../rules/bucket.h"
#include "../rules/slot.h"

static bool is_spread(const struct clocks *clocks, int64_t slot)
{
    return clocks->pace_s > 0 && !clocks->virtual_now && !slot_is_fine(slot, clocks->slot_length_s) &&
           !slot_is_of_pause(slot);
}

static bool runs_all_at_once(const struct target *t)
{
    return t->kind == TARGET_RESLOT || t->only_urgent || t->round == READ_URGENT;
}

int phases_of_target(const struct clocks *clocks, const struct target *t, int64_t now_us)
{
    if (!is_spread(clocks, t->slot) || runs_all_at_once(t))
        return PHASES;
    return phases_begun(clocks_now(clocks, now_us) - t->slot, clocks->pace_s);
}

int64_t phase_begins_us(const struct clocks *clocks, const struct target *t, int phase, int64_t now_us)
{
    int64_t at = t->slot + phase_begins_s(phase, clocks->pace_s);
    return now_us + at * 1000000 - clocks_now_us(clocks, now_us);
}

int32_t phase_of_check_s(const struct clocks *clocks, const struct check *c)
{
    if (!clocks->pace_s || c->priority < 0 || !is_spread(clocks, c->next_check_at))
        return 0;
    return phase_begins_s(bucket_of(c->entity_name, c->entity_key), clocks->pace_s);
}
