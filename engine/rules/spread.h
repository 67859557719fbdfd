/* spread.h - into which slot of a span a check is drawn that may be late by so much, so that what
 * is due at one time does not come at one time. Pure: no I/O, no clock; what is there already comes
 * as counts. The same as prescient.drawn_slot in SQL. */
#ifndef PRESCIENT_SPREAD_H
#define PRESCIENT_SPREAD_H

#include <stdint.h>

struct err;

#define SPREAD_WITHIN_MAX_S (366 * INT64_C(86400))
#define SPREAD_CANDIDATES 64    /* slots that one draw looks at */
#define SPREAD_LEVEL 100        /* differences below so many checks hardly count */

/* How many checks a slot had when an engine counted them last; it may be out of date. */
struct spread_load {
    int64_t slot, checks;
};

/* In the order of their slots; a slot that is missing has none. */
struct spread_loads {
    const struct spread_load *of;
    int n;
};

/* From one slot to 366 days, whatever the time that it counts from: whether a call is refused
 * depends on the slot length alone, and there is always a slot in (t, t + within]. ERR_INPUT with
 * both figures. */
int spread_check(int64_t within_us, int32_t slot_length_s, struct err *err);

/* Two numbers that are the same everywhere for one check. */
struct spread_hash {
    uint64_t place, share;
};
struct spread_hash spread_hash_of(const char *entity_name, const char *entity_key, const char *job_exec);

/* One of the slots from the first at or after `at` that has not begun at `now` to the last one up
 * to at + within_s; the first, if that is over. Of a long span, SPREAD_CANDIDATES slots at equal
 * distances are looked at. The emptier a slot, the likelier it is, but the fullest is drawn, too:
 * the counts are old, and all that is filed until they are renewed would go to the emptiest. */
struct spread_span {
    int64_t at, within_s, now;
    int32_t slot_length_s;
};
int64_t spread_draw(const struct spread_span *span, const struct spread_loads *loads,
                    const struct spread_hash *hash);

#endif
