/* recurrence_rules.h - a part of the checker: the rules that hold for checks of schedules. */
#ifndef PRESCIENT_SIM_RECURRENCE_RULES_H
#define PRESCIENT_SIM_RECURRENCE_RULES_H

#include "checker.h"
#include "db.h"

/* Of each schedule, the last run by an `every`, and the check that waits since. */
struct last_runs {
    struct { int64_t id, began_us, least_us; } run[SCHEDULES_MAX];
};

/* Before a transaction takes effect. */
void recurrence_rules_commit(struct world *w, struct last_runs *last, const struct tx *tx);
void recurrence_rules_run_begins(struct world *w, const struct last_runs *last, const struct run *run);

#endif
