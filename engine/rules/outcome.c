/* outcome.c - the names of outcomes, and what follows from an outcome. */
#include "outcome.h"

#include <stddef.h>

static const char *const names[OUTCOME_COUNT] = {
#define OUTCOME(name, text, count) text,
    OUTCOMES(OUTCOME)
#undef OUTCOME
};

const char *const outcomes_of_history[] = {
    "done",       "resolved",       "failed",     "timeout",      "crashed",     "bad_answer",
    "past",       "beyond_horizon", "max_checks", "deferred_out", "unknown_job", "amiss",
    "retryable",  NULL,
};
const char *const outcomes_of_runs[] = {
    "again",   "deferred",   "failed",     "timeout", "crashed",
    "bad_answer", "job_broken", "skipped", "done",    NULL,
};

const char *outcome_name(enum outcome o)
{
    return (unsigned)o < OUTCOME_COUNT ? names[o] : "?";
}

bool outcome_is_problem(enum outcome o)
{
    return o == OUTCOME_FAILED || o == OUTCOME_TIMEOUT || o == OUTCOME_CRASHED || o == OUTCOME_BAD_ANSWER ||
           o == OUTCOME_UNKNOWN_JOB;
}

bool outcome_leaves_run_row(enum outcome o, enum keep_runs keep)
{
    if (keep == KEEP_RUNS_PROBLEMS)
        return outcome_is_problem(o) || o == OUTCOME_JOB_BROKEN;
    return keep == KEEP_RUNS_ALL;
}
