/* cron.c - the five fields become sets of numbers; a search over days, then over the minutes of one
 * finds the next local time; the zone's spans make UTC of it. */
#include "cron.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../base/calendar.h"
#include "../base/nearest.h"
#include "../base/saturate.h"
#include "../base/utf8.h"

#define NONE INT64_MAX /* no such time */
#define DAY_MINUTES 1440

enum field { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

static const struct field_row {
    const char *name;
    int least, most;
    const char *words[13]; /* the first is `least` */
    const char *expected;
} rows[FIELDS] = {
    [MINUTE] = { "minute", 0, 59, { NULL }, "0 to 59, *, a range (0-30), a step (*/15) or a list of these" },
    [HOUR] = { "hour", 0, 23, { NULL }, "0 to 23, *, a range (9-17), a step (*/2) or a list of these" },
    [DAY] = { "day of month", 1, 31, { NULL }, "1 to 31, *, a range (1-7), a step (*/2) or a list of these" },
    [MONTH] = { "month",
                1,
                12,
                { "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", NULL },
                "1 to 12, jan to dec, *, a range (mar-oct), a step (*/3) or a list of these" },
    [WEEKDAY] = { "weekday",
                  0,
                  7,
                  { "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL },
                  "0 to 7 (0 and 7 are Sunday), sun to sat, *, a range (mon-fri) or a list of these" },
};

static const struct {
    const char *word, *means;
} nicknames[] = {
    { "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
    { "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
    { "@hourly", "0 * * * *" },
};
enum { NICKNAMES = sizeof nicknames / sizeof *nicknames };

/* ---- reading ---- */

/* A field as it is read. */
struct part {
    uint64_t set;
    bool has_star;
    int column;
};

struct reader {
    const char *text, *p;
    enum field field;
    struct err *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int column_of(const struct reader *r, const char *p)
{
    return (int)(p - r->text) + 1;
}

/* How many bytes of the word at `p` a message shows: up to a blank or comma, whole characters. */
static int shown(const char *p)
{
    size_t len = utf8_valid_bytes(p, strcspn(p, " \t\r\n,"));
    return (int)utf8_cut(p, len, 30);
}

static int expected(const struct reader *r, const char *at, const char *found)
{
    const struct field_row *row = &rows[r->field];
    return err_set(r->err, ERR_INPUT, "%s: %s at column %d; expected %s", row->name, found, column_of(r, at),
                   row->expected);
}

static int refuse_word(const struct reader *r)
{
    char found[120];
    const struct field_row *row = &rows[r->field];
    for (int i = 0; row->words[i]; i++)
        if (!strncasecmp(r->p, row->words[i], 3))
            return err_set(r->err, ERR_INPUT, "%s: \"%.*s\" at column %d; expected the short name, %s",
                           row->name, shown(r->p), r->p, column_of(r, r->p), row->words[i]);
    char odd = r->p[strspn(r->p, "0123456789")];
    bool elsewhere = odd && strchr("LlWw#?", odd);
    snprintf(found, sizeof found, "\"%.*s\"%s", shown(r->p), r->p,
             elsewhere ? " (L, W, # and ? are words of other crons)" : "");
    if (shown(r->p) == 0)
        snprintf(found, sizeof found, "nothing that can be read");
    return expected(r, r->p, found);
}

static bool is_end_of_value(char c)
{
    return !c || is_blank(c) || strchr(",-/", c);
}

/* jan, MON, ... */
static bool take_name(struct reader *r, int *out)
{
    const struct field_row *row = &rows[r->field];
    for (int i = 0; row->words[i]; i++)
        if (!strncasecmp(r->p, row->words[i], 3) && is_end_of_value(r->p[3])) {
            r->p += 3;
            *out = row->least + i;
            return true;
        }
    return false;
}

static int take_number(struct reader *r, int *out)
{
    const char *begin = r->p;
    int n = 0;
    for (; isdigit((unsigned char)*r->p); r->p++)
        n = n > 9999 ? n : 10 * n + (*r->p - '0');
    *out = n;
    return r->p > begin && is_end_of_value(*r->p) ? 0 : -1;
}

static int take_value(struct reader *r, int *out)
{
    const struct field_row *row = &rows[r->field];
    const char *begin = r->p;
    if (take_name(r, out))
        return 0;
    if (take_number(r, out) < 0) {
        r->p = begin;
        return refuse_word(r);
    }
    if (*out >= row->least && *out <= row->most)
        return 0;
    return err_set(r->err, ERR_INPUT, "%s: %.*s at column %d is not between %d and %d", row->name,
                   (int)utf8_cut(begin, (size_t)(r->p - begin), 30), begin, column_of(r, begin), row->least,
                   row->most);
}

/* Sunday is 7 at the end of a range and 0 at its beginning, however it is written. */
static void turn_sunday(enum field field, int *first, int *last)
{
    if (field != WEEKDAY)
        return;
    if (*first == 7 && *last != 7)
        *first = 0;
    if (*last == 0 && *first != 0)
        *last = 7;
}

static int check_range(const struct reader *r, const char *begin, int first, int last)
{
    const struct field_row *row = &rows[r->field];
    if (first <= last)
        return 0;
    return err_set(r->err, ERR_INPUT,
                   "%s: the range %.*s at column %d runs backwards; expected the smaller end first, or two "
                   "ranges with a comma, such as %d-%d,%d-%d",
                   row->name, (int)(r->p - begin), begin, column_of(r, begin), first,
                   row->most - (r->field == WEEKDAY), row->least, last);
}

/* "/n" behind a star or a range. */
static int take_step(struct reader *r, int *step)
{
    const struct field_row *row = &rows[r->field];
    const char *begin = r->p + 1;
    int most = row->most - row->least + (r->field != WEEKDAY);
    *step = 1;
    if (*r->p != '/')
        return 0;
    r->p++;
    if (take_number(r, step) == 0 && *step >= 1 && *step <= most)
        return 0;
    return err_set(r->err, ERR_INPUT, "%s: the step \"%.*s\" at column %d; expected a number from 1 to %d",
                   row->name, shown(begin), begin, column_of(r, begin), most);
}

static int refuse_step(const struct reader *r, int first)
{
    int step = (int)strspn(r->p + 1, "0123456789") + 1;
    return err_set(r->err, ERR_INPUT,
                   "%s: the step at column %d stands behind one value; expected a range, such as "
                   "%d-%d%.*s",
                   rows[r->field].name, column_of(r, r->p), first, rows[r->field].most, step, r->p);
}

/* A value or a range. */
static int take_ends(struct reader *r, int *first, int *last)
{
    const char *begin = r->p;
    int rc = take_value(r, first);
    if (rc < 0)
        return rc;
    *last = *first;
    if (*r->p == '/')
        return refuse_step(r, *first);
    if (*r->p != '-')
        return 0;
    r->p++;
    rc = take_value(r, last);
    if (rc < 0)
        return rc;
    turn_sunday(r->field, first, last);
    return check_range(r, begin, *first, *last);
}

/* One of a list: *, a value, a range; with a step perhaps. */
static int take_element(struct reader *r, struct part *out)
{
    int first = rows[r->field].least, last = rows[r->field].most, step, rc = 0;
    bool is_star = *r->p == '*';
    r->p += is_star;
    out->has_star |= is_star;
    if (!is_star)
        rc = take_ends(r, &first, &last);
    if (rc < 0)
        return rc;
    rc = take_step(r, &step);
    if (rc < 0)
        return rc;
    for (int n = first; n <= last; n += step)
        out->set |= UINT64_C(1) << n;
    return 0;
}

static int take_field(struct reader *r, struct part *out)
{
    *out = (struct part){ .column = column_of(r, r->p) };
    for (;; r->p++) {
        int rc = take_element(r, out);
        if (rc < 0)
            return rc;
        if (*r->p == ',')
            continue;
        return !*r->p || is_blank(*r->p) ? 0 : refuse_word(r);
    }
}

static void skip_blanks(struct reader *r)
{
    while (is_blank(*r->p))
        r->p++;
}

static int missing_field(const struct reader *r)
{
    return err_set(r->err, ERR_INPUT,
                   "%s: nothing at column %d: this is field %d of five; expected minute, hour, day of "
                   "month, month and weekday, such as \"0 9 * * mon-fri\"",
                   rows[r->field].name, column_of(r, r->p), r->field + 1);
}

/* ---- dates that do not exist ---- */

/* Whether a month of the set has a day of the set, in a leap year. */
static bool has_a_date(const struct cron *c)
{
    for (int month = 1; month <= 12; month++)
        for (int day = 1; day <= calendar_days_in_month(2000, month); day++)
            if (c->months >> month & 1 && c->days >> day & 1)
                return true;
    return false;
}

/* Refuses a rule that no day matches. Each weekday comes in every month, and each of them also on
 * the 29th of some February. */
static int check_dates(const struct cron *c, const struct part parts[FIELDS], struct err *err)
{
    if (c->either_day || has_a_date(c))
        return 0;
    return err_set(err, ERR_INPUT,
                   "day of month: %d at column %d: none of the months at column %d has that day, so this "
                   "would never run",
                   __builtin_ctz(c->days), parts[DAY].column, parts[MONTH].column);
}

static struct cron from_parts(const struct part parts[FIELDS])
{
    uint64_t weekdays = parts[WEEKDAY].set;
    return (struct cron){
        .minutes = parts[MINUTE].set,
        .hours = (uint32_t)parts[HOUR].set,
        .days = (uint32_t)parts[DAY].set,
        .months = (uint16_t)parts[MONTH].set,
        .weekdays = (uint8_t)((weekdays | weekdays >> 7) & 0x7f),
        .follows_clock = parts[HOUR].has_star,
        .either_day = !parts[DAY].has_star && !parts[WEEKDAY].has_star,
    };
}

static int read_fields(struct reader *r, struct cron *out)
{
    struct part parts[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        skip_blanks(r);
        r->field = (enum field)i;
        if (!*r->p)
            return missing_field(r);
        int rc = take_field(r, &parts[i]);
        if (rc < 0)
            return rc;
    }
    skip_blanks(r);
    if (*r->p)
        return err_set(r->err, ERR_INPUT,
                       "\"%.*s\" at column %d is a sixth field; expected five: there are no seconds and no "
                       "years",
                       shown(r->p), r->p, column_of(r, r->p));
    struct cron c = from_parts(parts);
    int rc = check_dates(&c, parts, r->err);
    if (rc == 0)
        *out = c;
    return rc;
}

static int unknown_nickname(const struct reader *r, const char *word)
{
    struct nearest n = { .wanted = word };
    for (int i = 0; i < NICKNAMES; i++)
        nearest_look(&n, nicknames[i].word);
    const char *best = nearest_word(&n);
    const char *mean = best ? "; did you mean " : "";
    return err_set(r->err, ERR_INPUT,
                   "\"%.*s\" at column %d; expected @yearly, @annually, @monthly, @weekly, @daily, "
                   "@midnight or @hourly%s%s",
                   shown(r->p), r->p, column_of(r, r->p), mean, best ? best : "");
}

/* The text that a nickname stands for; NULL: it is none. */
static const char *nickname_means(const char *word)
{
    for (int i = 0; i < NICKNAMES; i++)
        if (!strcasecmp(word, nicknames[i].word))
            return nicknames[i].means;
    return NULL;
}

static int read_nickname(struct reader *r, struct cron *out)
{
    char word[16];
    size_t len = strcspn(r->p, " \t");
    const char *behind = r->p + len + strspn(r->p + len, " \t");
    snprintf(word, sizeof word, "%.*s", (int)len, r->p);
    const char *means = nickname_means(word);
    if (!means)
        return unknown_nickname(r, word);
    if (*behind)
        return err_set(r->err, ERR_INPUT, "\"%.*s\" at column %d: nothing may follow %s", shown(behind),
                       behind, column_of(r, behind), word);
    return read_fields(&(struct reader){ .text = means, .p = means, .err = r->err }, out);
}

int cron_parse(const char *text, struct cron *out, struct err *err)
{
    struct reader r = { .text = text, .p = text, .err = err };
    size_t len = strlen(text);
    if (len > CRON_TEXT_MAX)
        return err_set(err, ERR_INPUT, "a cron text of %zu bytes; expected at most %d", len, CRON_TEXT_MAX);
    skip_blanks(&r);
    if (*r.p == '@')
        return read_nickname(&r, out);
    return read_fields(&r, out);
}

/* ---- local times ---- */

static bool day_matches(const struct cron *c, int day, int weekday)
{
    bool by_day = c->days >> day & 1;
    bool by_weekday = c->weekdays >> weekday & 1;
    return c->either_day ? by_day || by_weekday : by_day && by_weekday;
}

/* The first minute of a day that matches, from one on; DAY_MINUTES: none. */
static int minute_from(const struct cron *c, int from)
{
    int hour = from / 60;
    uint64_t minutes = c->minutes >> from % 60 << from % 60; /* what is left of the first hour */
    for (; hour < 24; hour++, minutes = c->minutes)
        if (c->hours >> hour & 1 && minutes)
            return hour * 60 + __builtin_ctzll(minutes);
    return DAY_MINUTES;
}

/* The first whole minute of local time that matches, at or after `from` and before `end`. */
static int64_t local_match(const struct cron *c, int64_t from, int64_t end)
{
    int64_t day = calendar_day_of(from);
    int second = calendar_second_of_day(from);
    int start = (second + 59) / 60;
    struct calendar_date date = calendar_date_of(day);
    while (day * CALENDAR_DAY_S < end) {
        int days = calendar_days_in_month(date.year, date.month), skipped = 1;
        bool in_month = c->months >> date.month & 1;
        if (in_month && day_matches(c, date.day, calendar_weekday(day))) {
            int minute = start < DAY_MINUTES ? minute_from(c, start) : DAY_MINUTES;
            int64_t at = day * CALENDAR_DAY_S + INT64_C(60) * minute;
            if (minute < DAY_MINUTES)
                return at < end ? at : NONE;
        }
        if (!in_month)
            skipped = days - date.day + 1;
        start = 0;
        day += skipped;
        date.day += skipped;
        if (date.day > days)
            date = calendar_date_of(day);
    }
    return NONE;
}

/* ---- moments ---- */

#define BACK_S (2 * CALENDAR_DAY_S) /* no two offsets of a zone are further apart */

/* Up to which local time the clocks had come when a span begins. */
static int64_t local_reached(const struct zone *z, int64_t begins)
{
    int64_t reached = INT64_MIN;
    for (int64_t at = begins; at > begins - BACK_S;) {
        struct zone_span span = zone_span(z, at - 1);
        int64_t end = span.ends + span.offset_s;
        reached = end > reached ? end : reached;
        at = span.begins;
    }
    return reached;
}

/* The first moment of a span that matches, from one in it on. */
static int64_t next_in_span(const struct cron *c, const struct zone *z, const struct zone_span *span,
                            int64_t from)
{
    int64_t local = from + span->offset_s;
    int64_t end = saturate_add(span->ends, span->offset_s);
    bool has_before = span->begins > INT64_MIN + BACK_S;
    if (!c->follows_clock && has_before) {
        int64_t reached = local_reached(z, span->begins);
        if (from == span->begins && local_match(c, reached, local) != NONE)
            return from;                           /* in the gap */
        local = reached > local ? reached : local; /* not twice */
    }
    end = end < CRON_LAST + BACK_S ? end : CRON_LAST + BACK_S;
    int64_t found = local_match(c, local, end);
    return found == NONE ? NONE : found - span->offset_s;
}

int64_t cron_next(const struct cron *c, const struct zone *z, int64_t after)
{
    int64_t at = after < 0 ? 1 : saturate_add(after, 1);
    while (at <= CRON_LAST) {
        struct zone_span span = zone_span(z, at);
        int64_t found = next_in_span(c, z, &span, at);
        if (found <= CRON_LAST)
            return found;
        at = span.ends;
    }
    return 0;
}
