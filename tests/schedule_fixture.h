/* schedule_fixture.h - the schedule "nightly" of the store's contract, and the check of it. */
#ifndef SCHEDULE_FIXTURE_H
#define SCHEDULE_FIXTURE_H

#include "store_contract.h"

/* Its terms when it is put with `every` of 300 or of 2592000, up to the moment they hold from. */
#define RULE "schedule \"nightly\" every 300 bias 0.0667 missed run_once"
#define MONTHLY "schedule \"nightly\" every 2592000 bias 0.0667 missed run_once"

/* "new +1", "changed +2", "kept", "error -5": as put() has it. */
const char *schedule_put(const char *mode, const char *key, const char *every, const char *cron, int64_t now);
const char *of_schedule(const char *column);
/* "yes" or "no"; a store's own word if it is neither. */
const char *schedule_truth(const char *word);
const char *switch_to(bool on, int64_t now);    /* "yes": it was changed; "no" */

/* The page of a slot that holds the check of the schedule alone. */
struct scene scene_in(int64_t slot);
int settle_at(struct scene *scene, int64_t now);
void answer_renewed(struct settlement *answer, int64_t nominal);
/* The occurrence of SLOT is over, and the next one is found here. */
void occurrence_is_over(int64_t next);

/* The terms are these from this moment on. */
void schedule_rule_is(int line, const char *expected, int64_t from);
#define RULE_IS(expected, from) schedule_rule_is(__LINE__, expected, from)
/* The same, where the first occurrence is looked for in this slot. */
void schedule_rule_seeks(int line, const char *expected, int64_t slot, int64_t from);
#define RULE_SEEKS(expected, slot, from) schedule_rule_seeks(__LINE__, expected, slot, from)

#endif
