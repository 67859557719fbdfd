/* outcome.h - how a run of a check ended, as history, run log, reports and docs name it. */
#ifndef PRESCIENT_OUTCOME_H
#define PRESCIENT_OUTCOME_H

#include <stdbool.h>

enum outcome {
    /* the check is over: a row of history */
    OUTCOME_DONE,
    OUTCOME_PAST,               /* AGAIN not later than now */
    OUTCOME_BEYOND_HORIZON,     /* AGAIN too far ahead */
    OUTCOME_MAX_CHECKS,         /* AGAIN too often */
    OUTCOME_DEFERRED_OUT,       /* deferred for longer than the horizon */
    OUTCOME_RESOLVED,           /* by the application or by an effect; never from an answer */
    /* the check is over or moved, by the guard's verdict */
    OUTCOME_FAILED,
    OUTCOME_TIMEOUT,
    OUTCOME_CRASHED,
    OUTCOME_BAD_ANSWER,         /* the answer was invalid, or the database rejected a value in it */
    /* the check waits on: a row of the run log */
    OUTCOME_AGAIN,
    OUTCOME_DEFERRED,
    /* moved without having run: no row */
    OUTCOME_HELD_BACK,          /* its job was held back for the pass */
    OUTCOME_UNKNOWN_JOB,        /* no engine here has the job */
    OUTCOME_RESLOTTED,          /* `prescient reslot` */
    OUTCOME_COUNT
};

/* "done", "past", ...: what the databases store. */
const char *outcome_name(enum outcome o);

/* The job did not answer as it should: what `retry` enqueues again, with the payload it had. */
bool outcome_is_problem(enum outcome o);

/* Which runs of a check that waits on leave a row in the run log (the setting keep_runs). */
enum keep_runs { KEEP_RUNS_ALL, KEEP_RUNS_PROBLEMS, KEEP_RUNS_NONE };

bool outcome_leaves_run_row(enum outcome o, enum keep_runs keep);

#endif
