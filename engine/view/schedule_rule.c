/* schedule_rule.c - see schedule_rule.h. */
#include "schedule_rule.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/recurrence.h"

int schedule_read_every(struct arena *a, const char *text, const char **out, struct err *err)
{
    int64_t us = 0;
    int rc = duration_parse_us(text, &us, err);
    if (rc < 0)
        return err_wrap(err, rc, "every");
    if (us % 1000000 || us < 1000000 || us > RECURRENCE_EVERY_MAX_S * 1000000)
        return err_set(err, ERR_INPUT, "every is '%s', expected whole seconds, from 1s to 366 days", text);
    *out = arena_printf(a, "%" PRId64, us / 1000000);
    return 0;
}

int schedule_read_bias(struct arena *a, const char *text, const char **out, struct err *err)
{
    char *end;
    bool is_decimal = !text[strspn(text, "+-.0123456789eE")];
    double fraction = strtod(text, &end);
    if (!is_decimal || end == text || *end || !(fraction >= 0 && fraction <= 0.5))
        return err_set(err, ERR_INPUT, "bias is '%s', expected a fraction of every from 0 to 0.5", text);
    int stored = (int)(fraction * 10000 + 0.5);
    if (fraction > 0 && stored == 0)
        return err_set(err, ERR_INPUT, "bias is '%s', expected 0, or a fraction from 0.0001 to 0.5", text);
    *out = arena_printf(a, "%d", stored);
    return 0;
}

const char *schedule_bias_text(struct arena *a, const char *bias)
{
    return bias ? arena_printf(a, "%.4g", strtod(bias, NULL) / 10000) : NULL;
}

int schedule_check_missed(const char *missed, bool has_every, struct err *err)
{
    enum recurrence_missed m = RECURRENCE_RUN_ONCE;
    while (m <= RECURRENCE_SKIP && strcmp(recurrence_missed_word(m), missed) != 0)
        m++;
    if (m > RECURRENCE_SKIP)
        return err_set(err, ERR_INPUT, "missed is '%.*s', expected run_once, run_all or skip",
                       UTF8_SHOWN(missed));
    if (m == RECURRENCE_RUN_ALL && has_every)
        return err_set(err, ERR_INPUT,
                       "missed is 'run_all', which belongs to cron; every counts from the end of a run, so "
                       "only one can be missed");
    return 0;
}

/* Small letters, one blank between fields: as it is stored. */
static char *tidy(struct arena *a, const char *text)
{
    char *out = arena_strdup(a, text), *to = out;
    for (; out && *text; text++)
        if (*text != ' ' && *text != '\t')
            *to++ = (char)tolower((unsigned char)*text);
        else if (to > out && to[-1] != ' ')
            *to++ = ' ';
    if (to && to > out && to[-1] == ' ')
        to--;
    if (to)
        *to = '\0';
    return out;
}

int schedule_read_cron(struct arena *a, const char *text, const char *zone_name, const char **out,
                       struct err *err)
{
    CLEANUP(zone_freep) struct zone *zone = NULL;
    struct cron cron;
    int rc = text ? cron_parse(text, &cron, err) : 0;
    if (rc < 0)
        return err_wrap(err, rc, "cron");
    rc = zone_name ? zone_read(zone_name, &zone, err) : 0;
    if (rc < 0)
        return err_wrap(err, rc, "timezone");
    *out = text ? tidy(a, text) : NULL;
    return text && !*out ? err_set(err, ERR_NOMEM, "out of memory") : 0;
}

const char *schedule_becomes(struct arena *a, int32_t length_s, const char *every_s, const char *bias)
{
    char given[MOMENT_TEXT], becomes[MOMENT_TEXT], slot[MOMENT_TEXT];
    if (!every_s || !bias || length_s <= 0)
        return NULL;
    struct recurrence r = { .every_s = strtoll(every_s, NULL, 10), .bias = (int32_t)strtol(bias, NULL, 10) };
    int64_t becomes_s = recurrence_becomes_s(&r, length_s);
    if (becomes_s == r.every_s)
        return NULL;
    return arena_printf(a, "every %s becomes %s in slots of %s",
                        duration_format_us(r.every_s * 1000000, given),
                        duration_format_us(becomes_s * 1000000, becomes),
                        duration_format_us(length_s * INT64_C(1000000), slot));
}
