/* slot.h - which slot a moment falls in. Arithmetic only: no store, no clock. All moments: seconds
 * since the Unix epoch, UTC. */
#ifndef PRESCIENT_SLOT_H
#define PRESCIENT_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../base/moment.h"

#define SLOT_LENGTH_DEFAULT_S 900
#define SLOT_LENGTH_MIN_S 1
#define SLOT_LENGTH_MAX_S 86400

/* From 1 s to 1 day, and it divides a day. */
bool slot_length_is_valid(int64_t length_s);

int64_t slot_floor(int64_t at, int32_t length_s);      /* the slot that is running at `at` */
int64_t slot_ceil(int64_t at, int32_t length_s);       /* `at` rounded up; a moment on the boundary stays */
/* the first slot that has not begun at `now`; always > now */
int64_t slot_next(int64_t now, int32_t length_s);

/* Where a check wanted at `at` is filed when the clock says `now`: rounded up, and never into a
 * slot that has begun. */
int64_t slot_for(int64_t at, int64_t now, int32_t length_s);

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
