/* outcome.h - how a run of a check ended, as history, run log, reports and docs name it. */
#ifndef PRESCIENT_OUTCOME_H
#define PRESCIENT_OUTCOME_H

#include <stdbool.h>

/* Each outcome: its name, the name that the databases store, and the count of a pass
 * (pass_counts.h) that it adds to. */
#define OUTCOMES(X)                                                                                          \
    /* the check is over: a row of history */                                                                \
    X(DONE, "done", done)                                                                                    \
    X(PAST, "past", guarded)                            /* AGAIN not later than now */                       \
    X(BEYOND_HORIZON, "beyond_horizon", guarded)        /* AGAIN too far ahead */                            \
    X(MAX_CHECKS, "max_checks", guarded)                /* AGAIN too often */                                \
    X(DEFERRED_OUT, "deferred_out", guarded)            /* deferred for longer than the horizon */           \
    X(RESOLVED, "resolved", guarded)                    /* by the application or an effect only */           \
    /* the check is over or moved, by the guard's verdict */                                                 \
    X(FAILED, "failed", failed)                                                                              \
    X(TIMEOUT, "timeout", timeout)                                                                           \
    X(CRASHED, "crashed", crashed)                                                                           \
    /* the answer was invalid, or the database rejected a value in it */                                     \
    X(BAD_ANSWER, "bad_answer", failed)                                                                      \
    /* no engine has its job: put off without a run, or ended after the horizon */                           \
    X(UNKNOWN_JOB, "unknown_job", unknown_job)                                                               \
    /* the check waits on: a row of the run log */                                                           \
    X(AGAIN, "again", again)                                                                                 \
    X(DEFERRED, "deferred", deferred)                                                                        \
    /* its job cannot ask about any row: put off; a row of the run log where it has run */               \
    X(JOB_BROKEN, "job_broken", held_back)                                                                   \
    /* a missed occurrence of a schedule, which was not run: a row of the run log */                         \
    X(SKIPPED, "skipped", held_back)                                                                         \
    /* moved without having run: no row */                                                                   \
    X(HELD_BACK, "held_back", held_back)                /* its job was held back for the pass */             \
    X(BUSY, "busy", busy)                               /* others run checks of its concurrency key */       \
    X(RESLOTTED, "reslotted", held_back)                /* `prescient reslot` */                             \
    X(PAUSED, "paused", held_back)                      /* into the slot of its pause */                     \
    X(RESUMED, "resumed", held_back)                    /* and out of it */

enum outcome {
#define OUTCOME(name, text, count) OUTCOME_##name,
    OUTCOMES(OUTCOME)
#undef OUTCOME
    OUTCOME_COUNT
};

/* "done", "past", ...: what the databases store. */
const char *outcome_name(enum outcome o);

/* The job did not answer as it should, or nobody has it: what `retry` enqueues again, with the
 * payload it had. */
bool outcome_is_problem(enum outcome o);

/* Which runs of a check that waits on leave a row in the run log (the setting keep_runs). */
enum keep_runs { KEEP_RUNS_ALL, KEEP_RUNS_PROBLEMS, KEEP_RUNS_NONE };

bool outcome_leaves_run_row(enum outcome o, enum keep_runs keep);

/* Which of them a list can have, and be asked for; each ends with NULL. `amiss` is each end that is
 * not good, `retryable` what a retry files again. In the run log `done` is of a schedule, whose
 * check waits on. */
extern const char *const outcomes_of_history[];
extern const char *const outcomes_of_runs[];

#endif
