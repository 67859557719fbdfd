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
#include "saturate.h"
#include "utf8.h"
#include "when_offer.h"
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

/* "09:00", and "9:00" */
static bool is_clock(const char *word)
{
    size_t digits = strspn(word, "0123456789");
    return (digits == 1 || digits == 2) && word[digits] == ':';
}

static void put_clock(const char *word, struct day_time *out)
{
    snprintf(out->clock, sizeof out->clock, "%s%.61s", word[0] && word[1] == ':' ? "0" : "", word);
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
    put_clock(word + 11, out);
    return (word[10] == 'T' || word[10] == 't') && out->clock[0];
}

/* What stands behind the day. */
static bool take_rest(const struct words *w, struct day_time *out)
{
    int i = out->first;
    if (i < w->n && !out->clock[0] && is_clock(w->word[i]))
        put_clock(w->word[i++], out);
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

/* How far an offset behind the time of the day is ahead of UTC; false: there is none. What is no
 * offset counts as 0 here, and is refused where all of the time is read. */
static bool has_offset(const struct day_time *t, int64_t *seconds)
{
    const int64_t midnight = 86400;         /* of 1970-01-02 in UTC */
    char text[WORD_SIZE + 20];
    const char *offset = strpbrk(t->clock, "+-Zz");
    int64_t at = midnight;
    if (!offset)
        return false;
    snprintf(text, sizeof text, "1970-01-02T00:00%s", offset);
    *seconds = moment_read(text, 0, &at) ? 0 : midnight - at;
    return true;
}

/* Which day it is now where the time is to be: by its offset, else in its zone. */
static int64_t today_for(const struct day_time *t, const struct zone *z, int64_t now)
{
    int64_t ahead;
    return calendar_day_of(has_offset(t, &ahead) ? saturate_add(now, ahead) : local_of(z, now));
}

static const char *read_day_time(const struct words *w, const struct day_time *t, const struct zone *z,
                                 int64_t now, int64_t *out)
{
    char text[16 + WORD_SIZE + 2], date[16];
    int64_t day = 0, local;
    memcpy(date, t->date, sizeof date);
    take_day(w, today_for(t, z, now), &day);
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

/* NULL, or why the text is no time; in `room` where it has to be put together. ERR_INPUT is the
 * caller's to say. */
static int read_text(const char *text, const struct when *when, int64_t *out, const char **wrong,
                     struct err *room)
{
    struct words w;
    struct day_time t;
    CLEANUP(zone_freep) struct zone *named = NULL;
    int64_t at = 0;
    *wrong = "that is not a time";
    if (!words_cut(text, &w))
        return ERR_INPUT;
    if (cut_day_time(&w, &t) && *t.zone) {
        int rc = zone_read(t.zone, &named, room);
        *wrong = room->text;
        if (rc < 0)
            return rc;
    }
    *wrong = read_any(text, &w, when, named ? named : when->zone, &at);
    if (!*wrong && !moment_is_valid(at))
        *wrong = "that is not between the years 1970 and 9999";
    if (*wrong)
        return ERR_INPUT;
    *out = at;
    return 0;
}

static int refuse(const char *text, const struct when *when, const char *why, struct err *err)
{
    char room[WHEN_OFFER];
    const char *of_offer, *offer = moment_offer(text, room);
    struct err ignored;
    int64_t at;
    if (!offer && when_offer(text, room) && read_text(room, when, &at, &of_offer, &ignored) == 0)
        offer = room;
    const char *mean = offer ? "; did you mean " : "";
    return err_set(err, ERR_INPUT,
                   "\"%.*s\": expected a time such as 2026-03-01T13:15:00Z, 2026-12-01 09:00 Europe/Berlin, "
                   "1772370900, 3h, -2w, tomorrow 09:00, next monday or now (%s%s%s)",
                   UTF8_SHOWN(text), why, mean, offer ? offer : "");
}

int when_parse(const char *text, const struct when *when, int64_t *out, struct err *err)
{
    const char *wrong;
    struct err room = { 0 };
    int rc = read_text(text, when, out, &wrong, &room);
    if (rc == ERR_INPUT)
        return refuse(text, when, wrong, err);
    return rc < 0 ? err_set(err, rc, "%s", wrong) : 0;
}
