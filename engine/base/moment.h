/* moment.h - times and durations as people write them. UTC only, without a time zone database. */
#ifndef PRESCIENT_MOMENT_H
#define PRESCIENT_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "err.h"

#define MOMENT_TEXT 40
#define MOMENT_MIN 0LL                  /* 1970-01-01T00:00:00Z */
#define MOMENT_MAX 253402300799LL       /* 9999-12-31T23:59:59Z */

bool moment_is_valid(int64_t at);       /* between them */

/* RFC 3339 ("2026-03-01T13:15:00Z", "... 13:15+02:00", a space for the T, seconds and zone
 * optional, no zone is UTC, "2026-03-01"), seconds since the epoch ("1772370900", or
 * "@1772370900"), "now", or relative to `now`: "+3h", "-15m", "+1d". A fraction of a second rounds
 * up. 1970 to 9999, else ERR_INPUT with what was found and expected. */
int moment_parse(const char *text, int64_t now, int64_t *out, struct err *err);

/* The same for who has words of his own for what is refused: NULL, or why it is no time. The year
 * is not looked at. */
const char *moment_read(const char *text, int64_t now, int64_t *out);
/* What was probably meant by a text that is no time ("+3h" for "3 hourz"), or NULL. */
const char *moment_offer(const char *text, char out[MOMENT_TEXT]);

/* "250ms", "90s", "15m", "3h", "30d", "2w", "1h30m", or a number of seconds ("0.5"). Negative and
 * overflowing ones are refused. */
int duration_parse_us(const char *text, int64_t *out, struct err *err);
/* Whether it ends with a unit, or is 0: a number alone is seconds, which is seldom meant where
 * hours are usual. */
bool duration_has_unit(const char *text);

const char *moment_format(int64_t at, char out[MOMENT_TEXT]);              /* "2026-03-01T13:15:00Z" */
const char *moment_format_us(int64_t at_us, char out[MOMENT_TEXT]);        /* with milliseconds */
/* "15m", "1h30m", "2.4ms"; from 1s on rounded to ms; whole ms are parsed back to the same */
const char *duration_format_us(int64_t us, char out[MOMENT_TEXT]);

#endif
