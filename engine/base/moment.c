/* moment.c - times and durations, read strictly and written back. Readers step a cursor over the
 * text; each takes one thing and returns whether it was there. */
#include "moment.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "calendar.h"
#include "floor.h"
#include "saturate.h"
#include "utf8.h"

#define DAY_S INT64_C(86400)
#define SECOND_US INT64_C(1000000)

bool moment_is_valid(int64_t at)
{
    return at >= MOMENT_MIN && at <= MOMENT_MAX;
}

/* ---- readers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take(const char **p, char c)
{
    if (**p != c)
        return false;
    ++*p;
    return true;
}

/* Exactly `digits` digits. */
static bool take_digits(const char **p, int digits, int *out)
{
    int n = 0;
    for (int i = 0; i < digits; i++) {
        if (!is_digit((*p)[i]))
            return false;
        n = n * 10 + ((*p)[i] - '0');
    }
    *p += digits;
    *out = n;
    return true;
}

/* A decimal number without a sign, exact to 12 places; a last digit of 1 stands for all that was
 * cut off. */
struct decimal { int64_t whole; int64_t fraction; bool is_huge; };
static const int64_t fraction_unit = INT64_C(1000000000000);

static bool take_fraction(const char **p, int64_t *fraction)
{
    int64_t place = fraction_unit / 10;
    *fraction = 0;
    if (!is_digit(**p))
        return false;
    for (; is_digit(**p); ++*p) {
        if (place)
            *fraction += (**p - '0') * place;
        else if (**p != '0')
            *fraction |= 1;
        place /= 10;
    }
    return true;
}

static bool take_decimal(const char **p, struct decimal *out)
{
    *out = (struct decimal){ 0 };
    if (!is_digit(**p))
        return false;
    for (; is_digit(**p); ++*p)
        if (__builtin_mul_overflow(out->whole, 10, &out->whole) ||
            __builtin_add_overflow(out->whole, **p - '0', &out->whole)) {
            out->is_huge = true;
            out->whole = 0;
        }
    return !take(p, '.') || take_fraction(p, &out->fraction);
}

/* ---- durations ---- */

static const struct unit {
    const char *name;
    int64_t us;
} units[] = {
    /* the largest first */
    { "w", 7 * DAY_S * SECOND_US },
    { "d", DAY_S * SECOND_US },
    { "h", 3600 * SECOND_US },
    { "m", 60 * SECOND_US },
    { "s", SECOND_US },
    { "ms", 1000 },
    { "us", 1 },
};
enum { UNITS = sizeof units / sizeof *units };

/* The unit at the cursor, or NULL. Names are whole words: the "m" of "ms" is none. */
static const struct unit *take_unit(const char **p)
{
    size_t len = strspn(*p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    for (const struct unit *u = units; u < units + UNITS; u++)
        if (strlen(u->name) == len && !memcmp(u->name, *p, len)) {
            *p += len;
            return u;
        }
    return NULL;
}

/* Adds `n` units to *sum, a fraction of a microsecond rounded up; false when that does not fit. */
static bool add_units(int64_t *sum, const struct decimal *n, int64_t unit_us)
{
    int64_t us, part = (int64_t)(((__int128)n->fraction * unit_us + fraction_unit - 1) / fraction_unit);
    return !n->is_huge && !__builtin_mul_overflow(n->whole, unit_us, &us) &&
           !__builtin_add_overflow(us, part, &us) && !__builtin_add_overflow(*sum, us, sum);
}

/* Returns NULL, or what is wrong. */
static const char *read_duration(const char *p, int64_t *out)
{
    const struct unit *last = NULL;
    struct decimal n = { 0 };
    int64_t sum = 0;
    bool fits = true;
    if (*p == '-')
        return "a duration is never negative";
    do {
        if (n.fraction)
            return "only the last number may have a fraction";
        if (!take_decimal(&p, &n))
            return "that is not a number with a unit";
        const struct unit *unit = take_unit(&p);
        if (!unit && (last || *p))
            return *p ? "the units are us, ms, s, m, h, d and w" : "the last number has no unit";
        if (unit && last && unit <= last)
            return "the units go from large to small, each once";
        fits &= add_units(&sum, &n, unit ? unit->us : SECOND_US);
        last = unit;
    } while (*p);
    if (!fits)
        return "that is too long";
    *out = sum;
    return NULL;
}

bool duration_has_unit(const char *text)
{
    size_t number = strspn(text, "0123456789."), zeros = strspn(text, "0.");
    return text[number] || zeros == number;
}

int duration_parse_us(const char *text, int64_t *out, struct err *err)
{
    const char *wrong = read_duration(text, out);
    if (!wrong)
        return 0;
    return err_set(err, ERR_INPUT, "\"%.*s\": expected a duration such as 250ms, 90s, 15m, 3h, 30d (%s)",
                   UTF8_SHOWN(text), wrong);
}

/* "2", "2.4" or "2.345" and the unit. */
static char *put_number(char *p, const char *end, uint64_t whole, unsigned thousandths, const char *unit)
{
    p += snprintf(p, (size_t)(end - p), "%" PRIu64, whole);
    if (thousandths) {
        p += snprintf(p, (size_t)(end - p), ".%03u", thousandths % 1000);
        while (p[-1] == '0')
            p--;
    }
    return p + snprintf(p, (size_t)(end - p), "%s", unit);
}

const char *duration_format_us(int64_t us, char out[MOMENT_TEXT])
{
    uint64_t size = us < 0 ? -(uint64_t)us : (uint64_t)us;
    char *p = out, *end = out + MOMENT_TEXT;
    if (us < 0)
        *p++ = '-';
    if (size < 1000) {
        put_number(p, end, size, 0, size ? "us" : "s");
        return out;
    }
    if (size < (uint64_t)SECOND_US) {
        put_number(p, end, size / 1000, size % 1000, "ms");
        return out;
    }
    uint64_t ms = (size + 500) / 1000;          /* microseconds do not matter beyond a second */
    for (const struct unit *u = units + 1; u->us > SECOND_US; u++) {    /* days, never weeks */
        uint64_t n = ms / (uint64_t)(u->us / 1000);
        ms %= (uint64_t)(u->us / 1000);
        if (n)
            p = put_number(p, end, n, 0, u->name);
    }
    if (ms)
        put_number(p, end, ms / 1000, ms % 1000, "s");
    return out;
}

/* ---- moments ---- */

struct reading {
    int year, month, day, hour, minute, second, zone_s;
    bool has_fraction;
};

/* Each of these takes one form and returns false where the text has another one; wrong_in checks
 * afterwards whether there is such a day or hour. */
static bool take_date(const char **p, struct reading *r)
{
    return take_digits(p, 4, &r->year) && take(p, '-') && take_digits(p, 2, &r->month) && take(p, '-') &&
           take_digits(p, 2, &r->day);
}

static bool take_clock(const char **p, struct reading *r)
{
    int64_t fraction = 0;
    if (!take_digits(p, 2, &r->hour) || !take(p, ':') || !take_digits(p, 2, &r->minute))
        return false;
    if (take(p, ':') && (!take_digits(p, 2, &r->second) || (take(p, '.') && !take_fraction(p, &fraction))))
        return false;
    r->has_fraction = fraction != 0;
    return true;
}

/* Z, +02:00, +0200, +02 or nothing. A zone that cannot exist is kept as INT32_MAX, for wrong_in. */
static bool take_zone(const char **p, struct reading *r)
{
    int sign = **p == '-' ? -1 : 1, hours, minutes = 0;
    if (!**p || take(p, 'Z') || take(p, 'z'))
        return true;
    if (!take(p, '+') && !take(p, '-'))
        return false;
    if (!take_digits(p, 2, &hours))
        return false;
    bool colon = take(p, ':');
    if ((colon || **p) && !take_digits(p, 2, &minutes))
        return false;
    r->zone_s = sign * (hours * 3600 + minutes * 60);
    if (hours > 23 || minutes > 59)
        r->zone_s = INT32_MAX;
    return true;
}

static const char *wrong_in(const struct reading *r)
{
    if (r->month < 1 || r->month > 12)
        return "there is no such month";
    if (r->day < 1 || r->day > calendar_days_in_month(r->year, r->month))
        return "that month has no such day";
    if (r->hour > 23 || r->minute > 59 || r->second > 60)
        return "there is no such time of day";
    if (r->zone_s == INT32_MAX)
        return "there is no such zone";
    return NULL;
}

static const char not_a_time[] = "that is not a time";

static const char *read_calendar(const char *p, int64_t *out)
{
    struct reading r = { 0 };
    if (!take_date(&p, &r))
        return not_a_time;
    if (*p && !((take(&p, 'T') || take(&p, 't') || take(&p, ' ')) && take_clock(&p, &r) &&
                take_zone(&p, &r) && !*p))
        return not_a_time;
    const char *wrong = wrong_in(&r);
    if (wrong)
        return wrong;
    int64_t days = calendar_days((struct calendar_date){ r.year, r.month, r.day });
    int64_t at = days * DAY_S + r.hour * 3600 + r.minute * 60 + r.second - r.zone_s;
    if (r.second == 60 && at % DAY_S != 0)
        return "a leap second ends a day";
    *out = at + r.has_fraction;
    return NULL;
}

static const char *read_epoch(const char *p, int64_t *out)
{
    struct decimal n;
    if (!take_decimal(&p, &n) || *p)
        return not_a_time;
    *out = n.is_huge ? INT64_MAX : saturate_add(n.whole, n.fraction != 0);
    return NULL;
}

static const char *read_relative(const char *p, int64_t now, int64_t *out)
{
    int64_t us;
    const char *wrong = read_duration(p + 1, &us);
    if (wrong)
        return wrong;
    if (*p == '+')
        *out = saturate_add(now, us / SECOND_US + (us % SECOND_US != 0));
    else
        *out = saturate_sub(now, us / SECOND_US);
    return NULL;
}

const char *moment_read(const char *text, int64_t now, int64_t *out)
{
    if (!strcmp(text, "now")) {
        *out = now;
        return NULL;
    }
    if (*text == '+' || *text == '-')
        return read_relative(text, now, out);
    if (*text == '@')
        return read_epoch(text + 1, out);
    if (is_digit(*text) && text[strspn(text, "0123456789.")] == '\0')
        return read_epoch(text, out);
    return read_calendar(text, out);
}

/* What SQL understands, and people write: "3 hours", "+2w", "tomorrow". Only its spelling here is
 * offered, since a text that is read in two ways is read in the wrong one some day. */
static const struct { const char *word, *offer; } day_words[] = {
    { "now()", "now" }, { "today", "now" }, { "tomorrow", "+1d" }, { "yesterday", "-1d" },
};

/* "+3h" for "3 hourz". False: the text is no number with a word. */
static bool offer_duration(const char *p, char out[MOMENT_TEXT])
{
    char sign = *p == '-' ? '-' : '+';
    p += *p == '-' || *p == '+';
    p += strspn(p, " ");
    size_t digits = strspn(p, "0123456789");
    const char *word = p + digits + strspn(p + digits, " ");
    bool is_month = !strncmp(word, "mo", 2), is_unit = *word && strchr("dhmsw", *word);
    if (digits < 1 || digits > 6 || !is_unit || is_month || strlen(word) > 8)
        return false;
    if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz")])
        return false;
    int number = atoi(p);
    if (*word == 'w')
        snprintf(out, MOMENT_TEXT, "%c%dd", sign, 7 * number);
    else
        snprintf(out, MOMENT_TEXT, "%c%d%c", sign, number, *word);
    return true;
}

const char *moment_offer(const char *text, char out[MOMENT_TEXT])
{
    for (size_t i = 0; i < sizeof day_words / sizeof *day_words; i++)
        if (!strcasecmp(text, day_words[i].word))
            return day_words[i].offer;
    return offer_duration(text, out) ? out : NULL;
}

int moment_parse(const char *text, int64_t now, int64_t *out, struct err *err)
{
    int64_t at;
    char room[MOMENT_TEXT];
    const char *wrong = moment_read(text, now, &at);
    const char *offer = wrong ? moment_offer(text, room) : NULL;
    const char *mean = offer ? "; did you mean " : "";
    if (!wrong && !moment_is_valid(at))
        wrong = "that is not between the years 1970 and 9999";
    if (wrong)
        return err_set(err, ERR_INPUT,
                       "\"%.*s\": expected a time such as 2026-03-01T13:15:00Z, 2026-03-01 13:15+02:00, "
                       "1772370900, +3h or now (%s%s%s)",
                       UTF8_SHOWN(text), wrong, mean, offer ? offer : "");
    *out = at;
    return 0;
}

static int put_moment(int64_t at, char out[MOMENT_TEXT])
{
    struct calendar_date date = calendar_date_of(calendar_day_of(at));
    int second = calendar_second_of_day(at);
    const char *sign = date.year < 0 ? "-" : "";
    int64_t year = date.year < 0 ? -date.year : date.year;
    return snprintf(out, MOMENT_TEXT, "%s%04" PRId64 "-%02d-%02dT%02d:%02d:%02d", sign, year, date.month,
                    date.day, second / 3600, second / 60 % 60, second % 60);
}

const char *moment_format(int64_t at, char out[MOMENT_TEXT])
{
    int n = put_moment(at, out);
    snprintf(out + n, (size_t)(MOMENT_TEXT - n), "Z");
    return out;
}

const char *moment_format_us(int64_t at_us, char out[MOMENT_TEXT])
{
    int n = put_moment(floor_div(at_us, SECOND_US), out);
    snprintf(out + n, (size_t)(MOMENT_TEXT - n), ".%03dZ", (int)(floor_mod(at_us, SECOND_US) / 1000));
    return out;
}
