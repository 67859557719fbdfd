/* cron.h - cron texts: five fields, read strictly, and the times that they mean in a time zone.
 * Pure: the zone is data that the caller brings.
 *
 * Fields: minute (0-59), hour (0-23), day of month (1-31), month (1-12 or jan-dec), weekday (0-7 or
 * sun-sat; 0 and 7 are Sunday). Each is a list of `*`, values and ranges; a star or a range may
 * have a step (`0-30/10`), at most as large as the field has values: other crons read a step of 90
 * minutes as once an hour, without a word. fri-sun and 7-2 go over Sunday. Blanks between fields
 * are spaces and tabs. Upper case is as lower case, in ASCII.
 * Or the text is one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. There
 * are no seconds, no years, and no L, W, # or ?.
 *
 * Days: when both day fields are restricted, a day matches by either one ("0 0 13 * 5": each 13th
 * and each Friday), else by both. A field that contains a star, also one with a step, is not
 * restricted, as in Vixie cron: each second day with weekday 1 means odd days that are Mondays.
 *
 * When clocks are changed: an hour field with a star follows the clock. Its times that are skipped
 * do not happen, and those that come twice happen twice. An hour field without a star names times
 * of the day, each of which happens once: a time that is skipped happens at the first moment after
 * the gap, and one that comes twice happens the first time. Several times of one gap are one. The
 * same holds for any change of a zone's offset, of half an hour or of a whole day. Leap seconds are
 * ignored: no minute has more than 60 seconds. */
#ifndef PRESCIENT_CRON_H
#define PRESCIENT_CRON_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/err.h"
#include "../base/zone.h"

#define CRON_TEXT_MAX 499               /* bytes */
#define CRON_LAST INT64_C(221845391999) /* 8999-12-31T23:59:59Z: nothing recurs later */

struct cron { /* bit n of a set: the value n */
    uint64_t minutes;
    uint32_t hours, days;
    uint16_t months;
    uint8_t weekdays;
    bool follows_clock; /* the hour field contains a star */
    bool either_day;    /* both day fields are restricted */
};

/* ERR_INPUT with the field, its column (from 1), what was found and what was expected. A text that
 * no day of any year matches ("0 0 31 2 *") is refused, too. */
int cron_parse(const char *text, struct cron *out, struct err *err);

/* The first time later than `after` and than 1970-01-01T00:00:00Z; 0: there is none up to
 * CRON_LAST. */
int64_t cron_next(const struct cron *c, const struct zone *z, int64_t after);

#endif
