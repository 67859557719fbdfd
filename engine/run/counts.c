/* counts.c - adding up what passes counted. */
#include "counts.h"

/* Which count an outcome adds to, besides `run`. */
static int64_t *count_of(struct pass_counts *c, enum outcome o)
{
    switch (o) {
    case OUTCOME_DONE: return &c->done;
    case OUTCOME_AGAIN: return &c->again;
    case OUTCOME_DEFERRED: return &c->deferred;
    case OUTCOME_FAILED: case OUTCOME_BAD_ANSWER: return &c->failed;
    case OUTCOME_TIMEOUT: return &c->timeout;
    case OUTCOME_CRASHED: return &c->crashed;
    case OUTCOME_HELD_BACK: case OUTCOME_RESLOTTED: return &c->held_back;
    case OUTCOME_UNKNOWN_JOB: return &c->unknown_job;
    default: return &c->guarded;
    }
}

void counts_add_settled(struct pass_counts *counts, const struct settlement *s)
{
    if (s->ran)
        counts->run++;
    ++*count_of(counts, s->outcome);
}

int64_t counts_settled(const struct pass_counts *counts)
{
    return counts->run + counts->unknown_job + counts->held_back;
}
