/* outcome.c - the table of names. */
#include "outcome.h"

static const char *const names[OUTCOME_COUNT] = {
    [OUTCOME_DONE] = "done",
    [OUTCOME_PAST] = "past",
    [OUTCOME_BEYOND_HORIZON] = "beyond_horizon",
    [OUTCOME_MAX_CHECKS] = "max_checks",
    [OUTCOME_DEFERRED_OUT] = "deferred_out",
    [OUTCOME_RESOLVED] = "resolved",
    [OUTCOME_FAILED] = "failed",
    [OUTCOME_TIMEOUT] = "timeout",
    [OUTCOME_CRASHED] = "crashed",
    [OUTCOME_BAD_ANSWER] = "bad_answer",
    [OUTCOME_AGAIN] = "again",
    [OUTCOME_DEFERRED] = "deferred",
    [OUTCOME_HELD_BACK] = "held_back",
    [OUTCOME_UNKNOWN_JOB] = "unknown_job",
    [OUTCOME_RESLOTTED] = "reslotted",
};

const char *outcome_name(enum outcome o)
{
    return (unsigned)o < OUTCOME_COUNT ? names[o] : "?";
}

bool outcome_is_problem(enum outcome o)
{
    return o == OUTCOME_FAILED || o == OUTCOME_TIMEOUT || o == OUTCOME_CRASHED || o == OUTCOME_BAD_ANSWER;
}

bool outcome_leaves_run_row(enum outcome o, enum keep_runs keep)
{
    if (keep == KEEP_RUNS_PROBLEMS)
        return outcome_is_problem(o);
    return keep == KEEP_RUNS_ALL;
}
