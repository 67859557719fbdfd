/* slot.h - which slot a moment falls in. Arithmetic only: no store, no clock. All moments: seconds
 * since the Unix epoch, UTC.
 *
 * Each whole second is a slot. The multiples of the slot length are called full, the seconds
 * between them fine: these are for what cannot wait. A slot without another word is a full one. */
#ifndef PRESCIENT_SLOT_H
#define PRESCIENT_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../base/moment.h"

#define SLOT_LENGTH_DEFAULT_S 900
#define SLOT_LENGTH_MIN_S 1
#define SLOT_LENGTH_MAX_S 86400

/* From here on (9000-01-01) paused checks wait, each pause in a slot of its own that never begins.
 * No check is asked for there. */
#define SLOT_PAUSES_FROM 221845392000LL
static inline bool slot_is_of_pause(int64_t slot) { return slot >= SLOT_PAUSES_FROM && slot <= MOMENT_MAX; }

/* From 1 s to 1 day, and it divides a day. */
bool slot_length_is_valid(int64_t length_s);

int64_t slot_floor(int64_t at, int32_t length_s);      /* the slot that is running at `at` */
int64_t slot_ceil(int64_t at, int32_t length_s);       /* `at` rounded up; a moment on the boundary stays */
/* the first slot that has not begun at `now`; always > now */
int64_t slot_next(int64_t now, int32_t length_s);

/* Where a check wanted at `at` is filed when the clock says `now`: rounded up, and never into a
 * slot that has begun. */
int64_t slot_for(int64_t at, int64_t now, int32_t length_s);

/* Asked several times a check. */
static inline bool slot_is_fine(int64_t slot, int32_t length_s)
{
    return length_s > 1 && slot % length_s != 0;
}

/* The first fine slot that has not begun at `now`. The second on which a full slot begins is
 * skipped: what is filed there waits behind all checks of that slot. Where slots are a second long,
 * the next slot takes its place. */
int64_t slot_fine_next(int64_t now, int32_t length_s);
/* The first fine slot at or after `at` that has not begun. */
int64_t slot_fine_for(int64_t at, int64_t now, int32_t length_s);

/* Where a check goes that leaves the slot `left` and is to move to the slot `wanted`: there, or
 * when that has begun, to the next slot of its kind. Never back into `left`, also when the clock
 * was set back: a row that stayed would be as it was read, and be written twice. An attempt
 * (`is_attempt`) is not made in the first seconds of another full slot than the one it was meant
 * for, but with the checks of the full slot after it. The same as prescient.slot_moved in SQL. */
struct slot_move { int64_t wanted, left, now; bool is_attempt; };
int64_t slot_moved_in_turn(const struct slot_move *move, int32_t length_s);
static inline int64_t slot_moved(const struct slot_move *move, int32_t length_s)
{
    if (move->wanted > move->now && move->wanted != move->left)
        return move->wanted;
    return slot_moved_in_turn(move, length_s);
}

/* Whether a check wanted at `at` was wanted before `now` and its own slot has begun: then slot_for
 * gives another one, the next. */
bool slot_has_passed(int64_t at, int64_t now, int32_t length_s);

/* Whether this server runs the slot: `serve` lists minutes of the hour (0 to 59); n = 0 serves
 * all. */
bool slot_is_served(int64_t slot, const int *serve, int n);

/* Whether a slot of this length ever begins in that minute of an hour. */
bool slot_begins_in_minute(int minute, int32_t length_s);

/* How many minutes of `serve` are the beginning of no slot: a mistake that a server can find alone,
 * without knowing which slots others serve. `message` names them, and the minutes in which slots
 * begin ("": no mistake). */
int slot_serve_mistakes(const int *serve, int n, int32_t length_s, char *message, size_t size);

#endif
