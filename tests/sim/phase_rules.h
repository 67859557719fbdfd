/* phase_rules.h - a part of the checker: a slot that is spread is run in parts, as they begin. */
#ifndef PRESCIENT_SIM_PHASE_RULES_H
#define PRESCIENT_SIM_PHASE_RULES_H

#include "checker.h"
#include "db.h"

/* How many seconds after its slot the check of that key comes up; 0: at its slot. */
int32_t phase_rules_s(const struct world *w, int key, int64_t slot);
/* How much later a run may begin: what is committed when its part has been read is looked for at
 * the next one, what is left there at the last, and a host that cron calls waits for no part. */
int64_t phase_rules_may_wait_us(const struct world *w, int64_t slot);
void phase_rules_run_begins(struct world *w, const struct run *run);

#endif
