/* pruning.h - rows older than the setting `keep` are dropped, and passes of fine slots after a day.
 * Once an hour one of all engines has its turn, and drops a little of each table when there is
 * nothing else to do. A part of plans; it asks the store by errands. */
#ifndef PRESCIENT_PRUNING_H
#define PRESCIENT_PRUNING_H

#include "plan.h"

struct pruning {
    bool active;
    bool patient;                   /* a table in use is tried again some seconds later */
    bool claimed;                   /* it is our turn */
    int part;                       /* enum prune_part, or PRUNE_PARTS: passes of fine slots */
    int steps, tries;               /* in it; tries: in a row */
    int64_t due_us;                 /* monotonic: not before */
    int64_t dropped[PRUNE_PARTS + 1];
    bool by_days;
};

void pruning_begin(const struct plan_env *env, struct pruning *p, bool patient);
void pruning_tick(const struct plan_env *env, struct pruning *p);
void pruning_errand_done(const struct plan_env *env, struct pruning *p, const struct errand_result *result);

#endif
