/* counts.c - adding up what passes counted. */
#include "counts.h"

#include <stddef.h>

/* Where in the counts each outcome adds one, besides `run`. */
static const size_t count_of[OUTCOME_COUNT] = {
#define OUTCOME(name, text, count) offsetof(struct pass_counts, count),
    OUTCOMES(OUTCOME)
#undef OUTCOME
};

void counts_add_settled(struct pass_counts *counts, const struct settlement *s)
{
    if (s->ran)
        counts->run++;
    if (s->outcome == OUTCOME_UNKNOWN_JOB && s->ends)
        counts->guarded++;
    else
        ++*(int64_t *)((char *)counts + count_of[s->outcome]);
}

void totals_add(struct totals *to, const struct totals *from)
{
    pass_counts_add(&to->counts, &from->counts);
    to->slots += from->slots;
    to->held_by_others += from->held_by_others;
    to->ended_badly += from->ended_badly;
    to->events += from->events;
    to->skipped_some = to->skipped_some || from->skipped_some;
}
