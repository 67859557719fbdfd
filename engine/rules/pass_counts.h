/* pass_counts.h - what is counted in a pass: one row each. A count is a row here, and a
 * column of slot_pass: the statements `finish` and `passes` of both stores take their columns from
 * here (statements.awk). */
#ifndef PRESCIENT_PASS_COUNTS_H
#define PRESCIENT_PASS_COUNTS_H

#include <stdint.h>

/* The name of the field, of the column, of the parameter of `finish` and of the key in JSON; and
 * the words behind the number in log lines and totals. Neighbours with the same words are added up
 * there, and a count with none is left out. */
#define PASS_COUNTS(X)                                                                                       \
    X(run, "run")                                                                                            \
    X(done, "done")                                                                                          \
    X(again, "again")                                                                                        \
    X(failed, "failed")                                                                                      \
    X(timeout, "timeout")                                                                                    \
    X(crashed, "crashed")                                                                                    \
    X(guarded, "ended by a guard")                                                                           \
    X(deferred, "deferred")                                                                                  \
    X(held_back, "put off")                                                                                  \
    X(unknown_job, "put off")                                                                                \
    X(busy, "busy")                                                                                          \
    X(superseded, "superseded")                                                                              \
    X(locked, "")

struct pass_counts {                /* of one (slot, bucket) in one pass; what slot_pass keeps */
#define PASS_COUNT(name, words) int64_t name;
    PASS_COUNTS(PASS_COUNT)
#undef PASS_COUNT
    int64_t late_us;                /* from the slot to the first run's start */
    int64_t took_us;
};

/* Times are not added: the longer one stands. */
void pass_counts_add(struct pass_counts *sum, const struct pass_counts *more);

/* "10 run, 8 done, 2 again, ...", without line end. */
enum { PASS_COUNTS_TEXT = 400 };
const char *pass_counts_format(const struct pass_counts *counts, char out[PASS_COUNTS_TEXT]);

#endif
