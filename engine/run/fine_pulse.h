/* fine_pulse.h - the pulse, by which what was asked for at once is found: each second one question
 * that writes nothing, for the fine slots in (low, now] that hold rows and that nobody has opened,
 * and for those that an engine without their jobs has left. A part of the plans that need it.
 *
 * `low` is in memory. It begins at the full slot that runs (what is older is the sweep's), and
 * moves up to the time of an earlier pulse when no writer can file below that any more: all
 * transactions that had an id at the earlier one are over, and a look of a later second finds
 * nothing up to there.
 * A writer takes a transaction id before it reads the clock. What is committed into a slot that is
 * open already is found by the second looks. SQLite has no ids, and a reader sees nothing of a
 * writer: there `low` stays at the full slot before the one that runs. */
#ifndef PRESCIENT_FINE_PULSE_H
#define PRESCIENT_FINE_PULSE_H

#include "plan.h"

struct fine_pulse {
    int64_t low;                    /* 0: the full slot that runs */
    bool has_noted;
    int64_t noted_at, noted_next;   /* of an earlier pulse, up to which `low` is to move */
    int64_t incarnation;            /* the server of `noted_next` */
    int64_t next_us;                /* when to ask again, monotonic */
    int64_t asked_at;               /* by the database, at the last answer, in seconds; 0: none */
    bool was_cut;                   /* the last answer had no room for all slots */
};

/* Asks when it is time to, by `errands`: just after each second of the database's clock. */
void fine_pulse_tick(const struct plan_env *env, struct fine_pulse *p, struct errands *errands);
void fine_pulse_errand_done(const struct plan_env *env, struct fine_pulse *p,
                            const struct errand_result *result);
/* True when all that was filed at or before `moment`, and committed, was found by then. */
bool fine_pulse_has_seen(const struct fine_pulse *p, int64_t moment);

/* What an answer changes; the arithmetic of the above. */
void fine_pulse_note(struct fine_pulse *p, const struct store_fine_slots *answer, int32_t length_s);

#endif
