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
    ++*(int64_t *)((char *)counts + count_of[s->outcome]);
}

int64_t counts_settled(const struct pass_counts *counts)
{
    return counts->run + counts->unknown_job + counts->held_back;
}
