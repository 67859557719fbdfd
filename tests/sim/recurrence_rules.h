/* recurrence_rules.h - a part of the checker: the rules that hold for checks of schedules. */
#ifndef PRESCIENT_SIM_RECURRENCE_RULES_H
#define PRESCIENT_SIM_RECURRENCE_RULES_H

#include "checker.h"
#include "db.h"

/* The last run by an `every`: the check that waits since, the least time from its beginning to the
 * next, and how long after its slot its part of that began. */
struct last_run {
    int64_t id, began_us, least_us, phase_us;
};

/* Of each schedule. */
struct last_runs {
    struct last_run run[SCHEDULES_MAX];
};

/* Before a transaction takes effect. */
void recurrence_rules_commit(struct world *w, struct last_runs *last, const struct tx *tx);
void recurrence_rules_run_begins(struct world *w, const struct last_runs *last, const struct run *run);

#endif
