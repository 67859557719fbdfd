/* occurrence.h - the occurrence that the check of a schedule waits for: which one it is, whether it
 * is run, and which one is next. On the rule (recurrence.h), and what the row of the check says
 * beside it. Pure: no I/O, no clock. */
#ifndef PRESCIENT_OCCURRENCE_H
#define PRESCIENT_OCCURRENCE_H

#include <stdbool.h>
#include <stdint.h>
#include "recurrence.h"
#include "terms.h"

struct occurrence {
    const struct terms *terms;
    const struct recurrence_grid *grid;
    int64_t first_check_at, next_check_at;
    bool has_begun; /* its job was run, or asked to look later */
};

/* Its nominal slot; 0: there is none. That is first_check_at. But SQL computes no times: it files
 * the check of a new rule under the first slot after `from`, and the first occurrence may come
 * later. Where the rule was edited before that was found, or the slot length was changed, `sought`
 * is the slot under which the check was filed. */
int64_t occurrence_nominal(const struct occurrence *o);

/* What to do with it when its check is read; as recurrence_judge. One that has begun goes on, and
 * one that was asked for before its time (`earlier`) runs where it is. The rule may have been
 * edited while the check was due: then this occurrence is of the rule before, it alone can be late,
 * and the new rule asks for nothing up to its `from`. */
struct recurrence_verdict occurrence_judge(const struct occurrence *o, int64_t now);

/* The nominal slot of the next occurrence after a run of this one, as recurrence_after has it; 0:
 * there is none. */
int64_t occurrence_after(const struct occurrence *o, int64_t began_at, int64_t ended_at);

/* The slot that its check is filed under at `now`. What is made up for has passed already, and does
 * not wait for the next full slot. */
int64_t occurrence_filed_at(int64_t nominal, int64_t now, int32_t slot_length_s);

/* When the check is run from `now` on, if an engine looks at each slot at its time, and at `now` at
 * what is late; each run ends within its first second, and none asks for a further look. At most
 * `most` moments; returns how many there are. `again_at` 0: none; see the column of that name. */
int occurrence_ahead(struct occurrence o, int64_t again_at, int64_t now, int64_t *out, int most);

#endif
