/* when.h - times as people type them: on the command line, and over HTTP. What programs write, such
 * as the answers of jobs, is moment.h alone. */
#ifndef PRESCIENT_WHEN_H
#define PRESCIENT_WHEN_H

#include <stdbool.h>
#include <stdint.h>
#include "err.h"

struct zone;

struct when {
    int64_t now;
    const struct zone *zone;        /* of times that name none; NULL: UTC */
    bool looks_back;                /* "3h" is three hours ago, as in --since 3h; else in three hours */
};

/* What moment_parse takes; "3h", "in 3h", "3h ago"; a day ("today", "tomorrow", "yesterday", "next
 * monday", "last mon", "2026-12-01") with or without a time of the day ("09:00", "9:00"), and with
 * or without a zone ("Z", "+02:00", "Europe/Berlin"). A day alone begins at its midnight. Which day
 * it is now is asked in that zone, or by that offset; "next monday" is after today and "last
 * monday" before it. Of times that clocks show twice the first is meant; one that they skip is the
 * first moment after the gap.
 * Durations are time that passes: "1d" is 24 hours. Capitals do not matter, except in a zone.
 * Returns 0, or ERR_INPUT with what was found, expected and probably meant; 1970 to 9999. */
int when_parse(const char *text, const struct when *when, int64_t *out, struct err *err);

/* Whether it counts from now on, so that it may be added to a clock that is asked later: how many
 * seconds, rounded up. */
bool when_is_after(const char *text, int64_t *seconds);

#endif
