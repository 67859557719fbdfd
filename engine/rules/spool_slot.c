/* spool_slot.c - two digits each for year, month, day, hour and minute. */
#include "spool_slot.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../base/calendar.h"

enum { CENTURY = 2000, MINUTE_S = 60, HOUR_S = 3600 };

bool spool_slot_name(int64_t slot, char out[SPOOL_SLOT_SIZE])
{
    struct calendar_date date = calendar_date_of(calendar_day_of(slot));
    int second = calendar_second_of_day(slot);
    if (second % MINUTE_S != 0 || date.year < CENTURY || date.year > CENTURY + 99)
        return false;
    unsigned year = (unsigned)(date.year - CENTURY) % 100, month = (unsigned)date.month % 100;
    unsigned day = (unsigned)date.day % 100, hour = (unsigned)(second / HOUR_S) % 100;
    unsigned minute = (unsigned)(second % HOUR_S / MINUTE_S) % 100;
    snprintf(out, SPOOL_SLOT_SIZE, "%02u%02u%02u%02u%02u", year, month, day, hour, minute);
    return true;
}

static int two_digits(const char *text)
{
    return (text[0] - '0') * 10 + (text[1] - '0');
}

bool spool_slot_of(const char *name, int64_t *slot)
{
    if (strspn(name, "0123456789") != SPOOL_SLOT_SIZE - 1 || name[SPOOL_SLOT_SIZE - 1])
        return false;
    struct calendar_date date = { CENTURY + two_digits(name), two_digits(name + 2), two_digits(name + 4) };
    int hour = two_digits(name + 6), minute = two_digits(name + 8);
    if (date.month < 1 || date.month > 12 || date.day < 1 || hour > 23 || minute > 59 ||
        date.day > calendar_days_in_month(date.year, date.month))
        return false;
    *slot = calendar_days(date) * CALENDAR_DAY_S + hour * HOUR_S + minute * MINUTE_S;
    return true;
}
