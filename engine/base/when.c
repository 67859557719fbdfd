/* when.c - see when.h. A text is cut into words, and what they say is put together again as a time
 * that moment_read takes; so there is one reader of dates and times of the day. */
#include "when.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "calendar.h"
#include "cleanup.h"
#include "moment.h"
#include "nearest.h"
#include "saturate.h"
#include "utf8.h"
#include "zone.h"

enum { WORDS = 4, WORD_SIZE = ZONE_NAME_MAX + 1, DAYS_A_WEEK = 7 };

struct words {
    char word[WORDS][WORD_SIZE];
    int n;
};

/* False: there are too many, or one is too long. */
static bool words_cut(const char *text, struct words *out)
{
    *out = (struct words){ 0 };
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
        size_t len = strcspn(text, " \t");
        if (out->n == WORDS || len >= WORD_SIZE)
            return false;
        memcpy(out->word[out->n++], text, len);
        text += len;
    }
    return out->n > 0;
}

/* ---- from now on ---- */

/* A duration with a unit and no sign. */
static bool is_duration(const char *text, int64_t *us)
{
    bool has_unit = text[strspn(text, "0123456789.")] != '\0';
    return has_unit && isdigit((unsigned char)*text) && duration_parse_us(text, us, NULL) == 0;
}

static int64_t whole_seconds(int64_t us)
{
    return us / 1000000 + (us % 1000000 != 0);
}

/* Seconds from now on, rounded up: "3h", "in 3h", "3h ago". */
static bool words_are_apart(const struct words *w, bool looks_back, int64_t *seconds)
{
    int64_t us = 0;
    bool is_back = looks_back;
    if (w->n == 1 && is_duration(w->word[0], &us))
        *seconds = is_back ? -(us / 1000000) : whole_seconds(us);
    else if (w->n == 2 && !strcasecmp(w->word[0], "in") && is_duration(w->word[1], &us))
        *seconds = whole_seconds(us);
    else if (w->n == 2 && !strcasecmp(w->word[1], "ago") && is_duration(w->word[0], &us))
        *seconds = -(us / 1000000);
    else
        return false;
    return true;
}

bool when_is_after(const char *text, int64_t *seconds)
{
    struct words w;
    int64_t us;
    if (!words_cut(text, &w))
        return false;
    if (w.n == 1 && !strcasecmp(w.word[0], "now")) {
        *seconds = 0;
        return true;
    }
    const char *first = w.word[0];
    if (w.n == 1 && (*first == '+' || *first == '-') && !duration_parse_us(first + 1, &us, NULL)) {
        *seconds = *first == '+' ? whole_seconds(us) : -(us / 1000000);
        return true;
    }
    return words_are_apart(&w, false, seconds);
}

/* ---- days ---- */

static const char *const weekdays[DAYS_A_WEEK] = {
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
};

/* "monday" or "mon"; -1: none. */
static int weekday_named(const char *word)
{
    for (int i = 0; i < DAYS_A_WEEK; i++)
        if (!strcasecmp(word, weekdays[i]) || (strlen(word) == 3 && !strncasecmp(word, weekdays[i], 3)))
            return i;
    return -1;
}

static const struct { const char *word; int days; } days_named[] = {
    { "yesterday", -1 }, { "today", 0 }, { "tomorrow", 1 },
};
enum { DAYS_NAMED = sizeof days_named / sizeof *days_named };

/* One word or two that say a day, as days after today; returns how many they are, 0: none. */
static int take_day(const struct words *w, int64_t today, int64_t *day)
{
    for (int i = 0; i < DAYS_NAMED; i++)
        if (!strcasecmp(w->word[0], days_named[i].word)) {
            *day = today + days_named[i].days;
            return 1;
        }
    int weekday = w->n > 1 ? weekday_named(w->word[1]) : -1;
    if (weekday < 0)
        return 0;
    int ahead = (weekday - calendar_weekday(today) + DAYS_A_WEEK) % DAYS_A_WEEK;
    if (!strcasecmp(w->word[0], "next"))
        *day = today + (ahead ? ahead : DAYS_A_WEEK);
    else if (!strcasecmp(w->word[0], "last"))
        *day = today + ahead - DAYS_A_WEEK;
    else
        return 0;
    return 2;
}

/* ---- a day, a time of the day, a zone ---- */

struct day_time {
    char date[16];                  /* "2026-12-01"; "": it is `day` */
    char clock[WORD_SIZE];          /* "09:00", with an offset perhaps */
    char zone[WORD_SIZE];           /* "": none */
    int first;                      /* the word behind the day */
};

static bool is_date(const char *word)
{
    return strlen(word) >= 10 && word[4] == '-' && word[7] == '-' && strspn(word, "0123456789") == 4;
}

static bool is_clock(const char *word)
{
    return strspn(word, "0123456789") == 2 && word[2] == ':';
}

static bool is_offset(const char *word)
{
    return *word == '+' || *word == '-' || !strcasecmp(word, "z");
}

/* "2026-12-01T09:00+01:00" is two words in one. False: behind the date is something else. */
static bool split_date(const char *word, struct day_time *out)
{
    memcpy(out->date, word, 10);
    if (!word[10])
        return true;
    snprintf(out->clock, sizeof out->clock, "%s", word + 11);
    return (word[10] == 'T' || word[10] == 't') && out->clock[0];
}

/* What stands behind the day. */
static bool take_rest(const struct words *w, struct day_time *out)
{
    int i = out->first;
    if (i < w->n && !out->clock[0] && is_clock(w->word[i]))
        memcpy(out->clock, w->word[i++], WORD_SIZE);
    if (!out->clock[0])
        memcpy(out->clock, "00:00", sizeof "00:00");
    if (i < w->n && is_offset(w->word[i])) {
        size_t len = strlen(out->clock);
        snprintf(out->clock + len, sizeof out->clock - len, "%s", w->word[i++]);
    } else if (i < w->n && isalpha((unsigned char)*w->word[i])) {
        memcpy(out->zone, w->word[i++], WORD_SIZE);
    }
    return i == w->n;
}

/* A zone is needed before the day is known: where it is, tomorrow may have begun. */
static bool cut_day_time(const struct words *w, struct day_time *out)
{
    int64_t day;
    *out = (struct day_time){ 0 };
    if (is_date(w->word[0])) {
        out->first = 1;
        return split_date(w->word[0], out) && take_rest(w, out);
    }
    out->first = take_day(w, 0, &day);
    return out->first > 0 && take_rest(w, out);
}

static void put_date(int64_t day, char *out, size_t size)
{
    struct calendar_date d = calendar_date_of(day);
    snprintf(out, size, "%04d-%02d-%02d", (int)d.year, d.month, d.day);
}

static int64_t local_of(const struct zone *z, int64_t at)
{
    return z ? saturate_add(at, zone_span(z, at).offset_s) : at;
}

static const char *read_day_time(const struct words *w, const struct day_time *t, const struct zone *z,
                                 int64_t now, int64_t *out)
{
    char text[16 + WORD_SIZE + 2], date[16];
    int64_t day = 0, local;
    memcpy(date, t->date, sizeof date);
    take_day(w, calendar_day_of(local_of(z, now)), &day);
    if (!*date)
        put_date(day, date, sizeof date);
    snprintf(text, sizeof text, "%sT%sZ", date, t->clock);
    const char *wrong = moment_read(text, now, &local);
    if (!wrong) {
        *out = z ? zone_moment(z, local) : local;
        return NULL;
    }
    text[strlen(text) - 1] = '\0';      /* perhaps it has an offset of its own */
    wrong = moment_read(text, now, out);
    return wrong || !*t->zone ? wrong : "it has an offset, and a zone";
}

/* ---- all of it ---- */

static const char *weekday_offer(const struct words *w, char out[MOMENT_TEXT])
{
    int weekday = weekday_named(w->word[0]);
    if (weekday >= 0)
        snprintf(out, MOMENT_TEXT, "next %s", weekdays[weekday]);
    else if (w->n == 1 && is_clock(w->word[0]))
        snprintf(out, MOMENT_TEXT, "today %.20s", w->word[0]);
    else
        return NULL;
    return out;
}

/* "tomorrow" for "tomorow". */
static const char *day_offer(const struct words *w)
{
    struct nearest near = { .wanted = w->word[0] };
    for (int i = 0; i < DAYS_NAMED; i++)
        if (strcasecmp(w->word[0], days_named[i].word) != 0)
            nearest_look(&near, days_named[i].word);
    return nearest_word(&near);
}

/* `w` NULL: there are no words. */
static int refuse(const char *text, const struct words *w, const char *why, struct err *err)
{
    char room[MOMENT_TEXT];
    const char *offer = w ? weekday_offer(w, room) : NULL;
    if (!offer && w)
        offer = day_offer(w);
    if (!offer)
        offer = moment_offer(text, room);
    const char *mean = offer ? "; did you mean " : "";
    return err_set(err, ERR_INPUT,
                   "\"%.*s\": expected a time such as 2026-03-01T13:15:00Z, 2026-12-01 09:00 Europe/Berlin, "
                   "1772370900, 3h, -2w, tomorrow 09:00, next monday or now (%s%s%s)",
                   UTF8_SHOWN(text), why, mean, offer ? offer : "");
}

static const char *read_any(const char *text, const struct words *w, const struct when *when,
                            const struct zone *zone, int64_t *out)
{
    struct day_time t;
    int64_t apart;
    if (words_are_apart(w, when->looks_back, &apart)) {
        *out = saturate_add(when->now, apart);
        return NULL;
    }
    if (cut_day_time(w, &t))
        return read_day_time(w, &t, zone, when->now, out);
    if (w->n == 1 && !strcasecmp(w->word[0], "now")) {
        *out = when->now;
        return NULL;
    }
    return moment_read(text, when->now, out);
}

int when_parse(const char *text, const struct when *when, int64_t *out, struct err *err)
{
    struct words w;
    struct day_time t;
    CLEANUP(zone_freep) struct zone *named = NULL;
    int64_t at = 0;
    if (!words_cut(text, &w))
        return refuse(text, NULL, "that is not a time", err);
    if (cut_day_time(&w, &t) && *t.zone) {
        struct err why;
        int rc = zone_read(t.zone, &named, &why);
        if (rc < 0 && rc != ERR_INPUT)
            return err_set(err, rc, "%s", why.text);
        if (rc < 0)
            return refuse(text, &w, why.text, err);
    }
    const char *wrong = read_any(text, &w, when, named ? named : when->zone, &at);
    if (!wrong && !moment_is_valid(at))
        wrong = "that is not between the years 1970 and 9999";
    if (wrong)
        return refuse(text, &w, wrong, err);
    *out = at;
    return 0;
}
