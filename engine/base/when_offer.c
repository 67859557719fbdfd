/* when_offer.c - see when_offer.h. A text is cut into words, each kind of mistake is a row of a
 * table that mends one of them, and what comes out is one text again. */
#include "when_offer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nearest.h"

enum { WORDS = 8, WORD_SIZE = 64 };

struct words {
    char word[WORDS][WORD_SIZE];
    int n;
};

/* False: there are too many, or one is too long. A comma is a blank. */
static bool cut(const char *text, struct words *out)
{
    static const char blanks[] = " \t,";
    *out = (struct words){ 0 };
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t len = strcspn(text, blanks);
        if (out->n == WORDS || len >= WORD_SIZE)
            return false;
        memcpy(out->word[out->n++], text, len);
        text += len;
    }
    return out->n > 0;
}

static void drop(struct words *w, int i)
{
    memmove(w->word[i], w->word[i + 1], (size_t)(w->n - i - 1) * WORD_SIZE);
    w->n--;
}

static bool is_one_of(const char *word, const char *const *all)
{
    for (; *all; all++)
        if (!strcasecmp(word, *all))
            return true;
    return false;
}

/* ---- days ---- */

static const char *const named_days[] = { "today", "tomorrow", "yesterday", NULL };
static const char *const weekdays[] = {
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", NULL,
};
static const char *const beside[] = { "next", "last", NULL };

/* The whole name of a weekday, or of its first three letters; NULL: it is none. */
static const char *weekday_of(const char *word)
{
    for (int i = 0; weekdays[i]; i++)
        if (!strcasecmp(word, weekdays[i]) || (strlen(word) == 3 && !strncasecmp(word, weekdays[i], 3)))
            return weekdays[i];
    return NULL;
}

static bool is_date(const char *word)
{
    return strlen(word) == 10 && word[4] == '-' && word[7] == '-';
}

static bool is_day(const char *word)
{
    return is_date(word) || weekday_of(word) || is_one_of(word, named_days);
}

/* "tomorow" */
static void mend_day(struct words *w, int i)
{
    if (is_day(w->word[i]) || is_one_of(w->word[i], beside) || strchr(w->word[i], '/'))
        return;
    struct nearest near = { .wanted = w->word[i] };
    for (int d = 0; named_days[d]; d++)
        nearest_look(&near, named_days[d]);
    for (int d = 0; weekdays[d]; d++)
        nearest_look(&near, weekdays[d]);
    if (strlen(w->word[i]) > 4 && nearest_word(&near))
        snprintf(w->word[i], WORD_SIZE, "%s", nearest_word(&near));
}

/* "monday" */
static void mend_weekday(struct words *w, int i)
{
    const char *day = weekday_of(w->word[i]);
    if (day && (i == 0 || !is_one_of(w->word[i - 1], beside)))
        snprintf(w->word[i], WORD_SIZE, "next %s", day);
}

/* "2026-12-1", "2026/12/01", "1.12.2026". What has its year behind and no dots may be either day or
 * month first. */
static void mend_date(struct words *w, int i)
{
    char one, other, end;
    int a, b, c;
    if (sscanf(w->word[i], "%4d%c%2d%c%4d%c", &a, &one, &b, &other, &c, &end) != 5 || one != other)
        return;
    if (strchr("-/.", one) && a > 999 && b > 0 && c > 0 && c < 32)
        snprintf(w->word[i], WORD_SIZE, "%04d-%02d-%02d", a, b % 100, c);
    else if (one == '.' && c > 999 && b > 0 && a > 0 && a < 32)
        snprintf(w->word[i], WORD_SIZE, "%04d-%02d-%02d", c % 10000, b % 100, a);
}

/* ---- times of the day ---- */

static bool is_clock(const char *word)
{
    return isdigit((unsigned char)*word) && strchr(word, ':') && !strchr(word, '-');
}

static const char *const noons[] = { "am", "pm", "a.m.", "p.m.", NULL };

/* "9", "9am", "9:30 pm", "9.30", "9h": behind a day a number is an hour. */
static void mend_clock(struct words *w, int i)
{
    char mark = ':', behind[WORD_SIZE] = "";
    int hour = 0, minute = 0, taken = 0, more = 0;
    bool is_behind_day = i > 0 && is_day(w->word[i - 1]);
    if (sscanf(w->word[i], "%2d%n", &hour, &taken) != 1 || !isdigit((unsigned char)*w->word[i]))
        return;
    if (sscanf(w->word[i] + taken, "%c%2d%n", &mark, &minute, &more) == 2 && strchr(":.h", mark))
        taken += more;
    else
        minute = 0;
    snprintf(behind, sizeof behind, "%s", w->word[i] + taken);
    bool has_noon = is_one_of(behind, noons);
    if (!*behind && i + 1 < w->n && is_one_of(w->word[i + 1], noons)) {
        memcpy(behind, w->word[i + 1], WORD_SIZE);
        drop(w, i + 1);
        has_noon = true;
    }
    bool is_one = !*behind || has_noon || !strcasecmp(behind, "h");
    if (!is_one || (!is_behind_day && !has_noon && !is_clock(w->word[i])) || hour > 24 || minute > 59)
        return;
    if (has_noon)
        hour = hour % 12 + (tolower((unsigned char)*behind) == 'p' ? 12 : 0);
    snprintf(w->word[i], WORD_SIZE, "%02d:%02d", hour % 100, minute % 100);
}

/* ---- zones ---- */

/* "+2", "UTC+2" */
static void mend_offset(struct words *w, int i)
{
    int hours, minutes = 0;
    const char *p = w->word[i];
    p += !strncasecmp(p, "utc", 3) || !strncasecmp(p, "gmt", 3) ? 3 : 0;
    char sign = *p, end;
    if (i == 0 || (sign != '+' && sign != '-') || !isdigit((unsigned char)p[1]))
        return;
    int n = sscanf(p + 1, "%2d:%2d%c", &hours, &minutes, &end);
    if ((n == 1 && strlen(p) <= 3) || n == 2)
        snprintf(w->word[i], WORD_SIZE, "%c%02d:%02d", sign, hours % 100, minutes % 100);
}

/* "America/New York": its parts are put together. */
static void mend_zone(struct words *w, int i)
{
    while (i > 0 && i + 1 < w->n && strchr(w->word[i], '/') && isalpha((unsigned char)*w->word[i + 1])) {
        size_t len = strlen(w->word[i]), more = strlen(w->word[i + 1]);
        if (len + 1 + more >= WORD_SIZE)
            return;
        w->word[i][len] = '_';
        memcpy(w->word[i] + len + 1, w->word[i + 1], more + 1);
        drop(w, i + 1);
    }
}

/* ---- durations ---- */

/* "3 hours" is "3h". */
static void mend_duration(struct words *w, int i)
{
    static const char *const units[] = { "s", "sec", "secs", "second", "seconds", "m", "min", "mins",
                                         "minute", "minutes", "h", "hr", "hrs", "hour", "hours", "d", "day",
                                         "days", "w", "week", "weeks", NULL };
    size_t digits = strspn(w->word[i], "0123456789");
    const char *unit = w->word[i] + digits;
    if (!digits || digits > 6)
        return;
    if (!*unit && i + 1 < w->n && is_one_of(w->word[i + 1], units)) {
        snprintf(w->word[i] + digits, WORD_SIZE - digits, "%c", tolower((unsigned char)*w->word[i + 1]));
        drop(w, i + 1);
    } else if (*unit && is_one_of(unit, units)) {
        w->word[i][digits] = (char)tolower((unsigned char)*unit);
        w->word[i][digits + 1] = '\0';
    }
}

/* ---- the order ---- */

/* "tomorrow at 9:00" */
static void drop_filler(struct words *w, int i)
{
    static const char *const fillers[] = { "at", "on", "the", NULL };
    if (w->n > 1 && is_one_of(w->word[i], fillers))
        drop(w, i);
}

/* "09:00 tomorrow"; and alone it is today's. */
static void mend_order(struct words *w, int i)
{
    char clock[WORD_SIZE];
    if (i > 0 || !is_clock(w->word[0]))
        return;
    snprintf(clock, sizeof clock, "%s", w->word[0]);
    int days = w->n > 1 && is_day(w->word[1]);
    if (w->n > 2 && is_one_of(w->word[1], beside))
        days = 2;
    if (days) {
        memmove(w->word[0], w->word[1], (size_t)days * WORD_SIZE);
        snprintf(w->word[days], WORD_SIZE, "%s", clock);
    } else {
        snprintf(w->word[0], WORD_SIZE, "today %.50s", clock);
    }
}

/* ---- all of them ---- */

bool when_offer(const char *text, char out[WHEN_OFFER])
{
    static void (*const mends[])(struct words *w, int i) = {
        drop_filler, mend_duration, mend_day,  mend_date,    mend_zone,
        mend_offset, mend_clock,    mend_order, mend_weekday,
    };
    struct words w;
    size_t n = 0;
    if (!cut(text, &w))
        return false;
    for (size_t m = 0; m < sizeof mends / sizeof *mends; m++)
        for (int i = 0; i < w.n; i++)
            mends[m](&w, i);
    for (int i = 0; i < w.n && n < WHEN_OFFER; i++)
        n += (size_t)snprintf(out + n, WHEN_OFFER - n, "%s%s", i ? " " : "", w.word[i]);
    return n < WHEN_OFFER && strcmp(out, text) != 0;
}
