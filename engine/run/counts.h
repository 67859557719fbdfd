/* counts.h - adding up what passes counted. */
#ifndef PRESCIENT_COUNTS_H
#define PRESCIENT_COUNTS_H

#include <stdbool.h>
#include "../store/store_slot.h"

/* A settlement was written. */
void counts_add_settled(struct pass_counts *counts, const struct settlement *s);

/* What an engine did from its beginning on; a command prints it at its end. */
struct totals {
    struct pass_counts counts;
    int64_t slots, held_by_others;
    int64_t ended_badly;            /* checks that are over, in trouble: not those that are tried again */
    int64_t events;                 /* that settles have written */
    int64_t filed_until;            /* the last second of an attempt in this full slot, or of a filing */
    int64_t made_up_until;          /* the last second in this full slot of a missed occurrence */
    int64_t delivered_until;        /* the last one into which a settle filed a delivery, or a later one */
    /* a check that was due was left behind, and the log says so: a command's exit code does, too */
    bool skipped_some;
    int64_t began_us; /* monotonic */
    /* the last pass of a full slot that it was in, and when that was over, by the clock that
     * counts; 0: none */
    int64_t last_slot, last_pass_us;
};

/* What another engine did, too; of that, what a command prints. */
void totals_add(struct totals *to, const struct totals *from);

#endif
