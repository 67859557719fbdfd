/* clocks.h - the database's clock as it is known here, against this machine's monotonic one. What
 * counts for slots and for all that is written down is the database's clock, or the virtual time of
 * a replay. No clock is read here: the caller brings the time. */
#ifndef PRESCIENT_CLOCKS_H
#define PRESCIENT_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct clocks {
    int64_t virtual_now;            /* seconds, in place of the database's clock; 0: none */
    bool is_known;                  /* the database has been asked: the fields below are set */
    /* the database showed another time than was expected: ask it again */
    bool is_doubtful;
    int64_t offset_us;              /* the database's clock minus our monotonic one */
    /* CLOCK_BOOTTIME minus the monotonic one, as of this turn: so long was the machine suspended */
    int64_t suspended_us;
    int32_t slot_length_s;
    int32_t pace_s;                 /* full slots are spread over so many seconds (phases.h); 0: not */
    /* when a sweep last began with a full look, by the database's clock and for all engines; 0:
     * never */
    int64_t full_look_at;
};

/* What the database answered when it was asked at `mono_us`. */
void clocks_set(struct clocks *c, int64_t database_us, int32_t slot_length_s, int64_t full_look_at,
                int64_t mono_us);
/* by the clock that counts; 0 as long as it is not known */
int64_t clocks_now_us(const struct clocks *c, int64_t mono_us);
int64_t clocks_now(const struct clocks *c, int64_t mono_us);        /* the same in seconds */

/* The database's clock also where a virtual time counts. */
int64_t clocks_database_us(const struct clocks *c, int64_t mono_us);

/* An answer showed the database's clock at some moment of a call that took `took_us` and ended at
 * `mono_us`. A difference of a second or more raises `is_doubtful`: a clock was set, or this
 * machine slept. `shown_us` 0: the answer showed none. */
void clocks_compare(struct clocks *c, int64_t shown_us, int64_t took_us, int64_t mono_us);

/* A moment of this machine's CLOCK_BOOTTIME by the database's clock. No clock is read for it, since
 * every check has one; only a suspend comes between the two clocks of the machine. */
int64_t clocks_of_boot_us(const struct clocks *c, int64_t boot_us);

/* The last full look, by whichever engine, was an hour ago or more: a transaction may have come in
 * below the sweep's mark since then. */
bool clocks_wants_full_look(const struct clocks *c, int64_t mono_us);
void clocks_note_full_look(struct clocks *c, int64_t mono_us);

#endif
