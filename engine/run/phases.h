/* phases.h - which parts of a slot (rules/phase.h) have begun, by the clock that counts. A slot is
 * not spread that is run at a set time, or moved on, or is a fine one or that of a pause; nor are
 * its urgent checks. */
#ifndef PRESCIENT_PHASES_H
#define PRESCIENT_PHASES_H

#include "../rules/check.h"
#include "../rules/phase.h"
#include "clocks.h"
#include "targets.h"

/* How many parts of it have begun: PHASES, or those before that number. */
int phases_of_target(const struct clocks *clocks, const struct target *t, int64_t now_us);
/* When that part begins, by our monotonic clock. */
int64_t phase_begins_us(const struct clocks *clocks, const struct target *t, int phase, int64_t now_us);

/* How many seconds after its slot the check comes up. */
int32_t phase_of_check_s(const struct clocks *clocks, const struct check *c);

#endif
