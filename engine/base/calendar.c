/* calendar.c - years, months and days counted from 0001-01-01, where the cycle of 400 years begins
 * that leap days repeat in. */
#include "calendar.h"

#include "floor.h"

#define DAYS_TO_1970 INT64_C(719162) /* from 0001-01-01 */
#define DAYS_IN_400_YEARS INT64_C(146097)
#define THURSDAY 4 /* 1970-01-01 */

bool calendar_is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int calendar_days_in_month(int64_t year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return days[month - 1] + (month == 2 && calendar_is_leap(year));
}

/* Days from 0001-01-01 to the first of January of `year`, which may lie before. */
static int64_t days_before_year(int64_t year)
{
    int64_t past = year - 1;
    return 365 * past + floor_div(past, 4) - floor_div(past, 100) + floor_div(past, 400);
}

int64_t calendar_days(struct calendar_date date)
{
    int64_t days = days_before_year(date.year) - DAYS_TO_1970 + date.day - 1;
    for (int m = 1; m < date.month; m++)
        days += calendar_days_in_month(date.year, m);
    return days;
}

struct calendar_date calendar_date_of(int64_t days_from_1970)
{
    int64_t days = days_from_1970 + DAYS_TO_1970;
    int64_t cycle = floor_div(days, DAYS_IN_400_YEARS);
    /* never too late, hardly ever too early */
    int64_t y = cycle * 400 + 1 + (days - cycle * DAYS_IN_400_YEARS) / 366;
    while (days_before_year(y + 1) <= days)
        y++;
    int rest = (int)(days - days_before_year(y)), m = 1;
    for (; rest >= calendar_days_in_month(y, m); m++)
        rest -= calendar_days_in_month(y, m);
    return (struct calendar_date){ .year = y, .month = m, .day = rest + 1 };
}

int calendar_weekday(int64_t days_from_1970)
{
    return (int)floor_mod(days_from_1970 + THURSDAY, 7);
}

int64_t calendar_day_of(int64_t at)
{
    return floor_div(at, CALENDAR_DAY_S);
}

int calendar_second_of_day(int64_t at)
{
    return (int)floor_mod(at, CALENDAR_DAY_S);
}
