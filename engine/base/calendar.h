/* calendar.h - days of the Gregorian calendar, by arithmetic: no time zone, no libc calendar. */
#ifndef PRESCIENT_CALENDAR_H
#define PRESCIENT_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#define CALENDAR_DAY_S INT64_C(86400)

struct calendar_date {
    int64_t year;
    int month, day;
}; /* month and day count from 1 */

bool calendar_is_leap(int64_t year);
int calendar_days_in_month(int64_t year, int month);

/* Days from 1970-01-01, both ways; before that day they are negative. */
int64_t calendar_days(struct calendar_date date);
struct calendar_date calendar_date_of(int64_t days_from_1970);

/* 0: Sunday, 6: Saturday. */
int calendar_weekday(int64_t days_from_1970);

/* The day that a moment is in, rounded down, and the seconds since that day began. */
int64_t calendar_day_of(int64_t at);
int calendar_second_of_day(int64_t at);

#endif
