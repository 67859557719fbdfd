/* notifying.h - tells those who wait for events that there are new ones: once a second at most, by
 * a call of its own after the settles. Inside them it would let one commit wait for the other: the
 * server takes a lock on all notifying transactions of a database. */
#ifndef PRESCIENT_NOTIFYING_H
#define PRESCIENT_NOTIFYING_H

#include "plan.h"

/* All zero at its beginning. */
struct notifying {
    int64_t told;                   /* of totals.events, so many */
    int64_t sent;                   /* the same, of the errand under way */
    int64_t next_us;                /* not before that */
    struct alarm wake;
};

/* Gives the errand when that is due. `is_last`: nothing else is to be done, and the engine ends:
 * then there is no reason to wait. */
void notifying_tick(struct notifying *n, const struct plan_env *env, bool is_last);
/* Whether something was emitted that nobody was told of. */
bool notifying_owes(const struct notifying *n, const struct plan_env *env);
/* True when the errand was its own. */
bool notifying_errand_done(struct notifying *n, const struct plan_env *env,
                           const struct errand_result *result);
void notifying_release(struct notifying *n, struct agenda *agenda);

#endif
