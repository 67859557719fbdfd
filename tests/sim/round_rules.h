/* round_rules.h - a part of the checker: urgent checks of a split slot go first. */
#ifndef PRESCIENT_SIM_ROUND_RULES_H
#define PRESCIENT_SIM_ROUND_RULES_H

#include "checker.h"
#include "db.h"

enum { GIVEN_MAX = 4096 };

/* Of each check, by its id, the slot in which a worker was given it last. */
struct round_rules { struct { int64_t id, slot; } given[GIVEN_MAX]; };

/* A worker was given a check; it may begin it later. */
void round_rules_given(struct round_rules *r, int64_t id, int64_t slot);
/* `filed_us`: when the commit came that filed the check of each key where it is. */
void round_rules_run_begins(struct world *w, const struct round_rules *r, const struct run *run,
                            const int64_t filed_us[KEYS_MAX]);

#endif
