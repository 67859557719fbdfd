/* terms.c - one row a word: how its value is read, and how it is written. */
#include "terms.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../base/moment.h"
#include "../base/nearest.h"
#include "../base/utf8.h"

/* A word, and where it stands in which text. */
struct place {
    const char *word, *text, *begin;
};

/* In characters, from 1. */
static int column_of(const char *text, const char *p)
{
    int column = 1;
    for (const char *c = text; c < p; c++)
        column += ((unsigned char)*c & 0xc0) != 0x80;
    return column;
}

static int column_at(const struct place *at)
{
    return column_of(at->text, at->begin);
}

static int refuse(struct err *err, const struct place *at, const char *value, const char *expected)
{
    return err_set(err, ERR_INPUT, "terms: %s at column %d: \"%.*s\"; expected %s", at->word, column_at(at),
                   UTF8_SHOWN(value), expected);
}

/* ---- values ---- */

/* A whole number, up to `most`. */
static bool read_number(const char *value, int64_t most, int64_t *out)
{
    int64_t n = 0;
    for (const char *p = value; *p; p++) {
        if (!isdigit((unsigned char)*p) || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, *p - '0', &n))
            return false;
    }
    *out = n;
    return *value && n <= most;
}

static bool is_one_line(const char *value)
{
    for (const unsigned char *p = (const unsigned char *)value; *p; p++)
        if (*p < ' ' || *p == 0x7f)
            return false;
    return true;
}

static int read_schedule(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    struct recurrence *r = &out->recurrence;
    size_t len = strlen(value);
    if (len < 1 || len >= sizeof r->name || !utf8_is_valid(value, len) || !is_one_line(value))
        return refuse(err, at, value, "a name of 1 to 255 bytes of UTF-8, without control characters");
    memcpy(r->name, value, len + 1);
    return 0;
}

static int read_every(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    int64_t *every_s = &out->recurrence.every_s;
    if (read_number(value, RECURRENCE_EVERY_MAX_S, every_s) && *every_s >= 1)
        return 0;
    return refuse(err, at, value, "a whole number of seconds, from 1 to 31622400 (366 days)");
}

/* Up to 0.5, in ten thousandths; places behind the fourth are zeros. */
static bool read_fraction(const char *value, int32_t *out)
{
    const char *p = value;
    int32_t place = 1000, n = 0;
    p += *p == '0';
    if (*p == '.')
        for (p++; isdigit((unsigned char)*p) && (place || *p == '0'); p++, place /= 10)
            n += (*p - '0') * place;
    *out = n;
    return p > value && p[-1] != '.' && !*p && n <= RECURRENCE_BIAS_MAX;
}

static int read_bias(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    if (read_fraction(value, &out->recurrence.bias))
        return 0;
    return refuse(err, at, value, "a fraction from 0 to 0.5 with at most four places, such as 0.0667");
}

/* With one blank for several, so that reports show it tidy. */
static void keep_cron_text(const char *text, char out[CRON_TEXT_MAX + 1])
{
    char *to = out;
    for (; *text; text++) {
        bool is_blank = *text == ' ' || *text == '\t';
        if (!is_blank)
            *to++ = *text;
        else if (to > out && to[-1] != ' ')
            *to++ = ' ';
    }
    to -= to > out && to[-1] == ' ';
    *to = '\0';
}

static int read_cron(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    struct recurrence *r = &out->recurrence;
    int rc = cron_parse(value, &r->cron, err);
    if (rc < 0)
        return err_wrap(err, rc, "terms: cron at column %d: \"%.*s\"", column_at(at), UTF8_SHOWN(value));
    r->is_cron = true;
    keep_cron_text(value, r->cron_text);
    return 0;
}

static int read_zone(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    int rc = zone_check_name(value, err);
    if (rc < 0)
        return err_wrap(err, rc, "terms: zone at column %d", column_at(at));
    snprintf(out->recurrence.zone, sizeof out->recurrence.zone, "%s", value);
    return 0;
}

static int read_missed(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    for (int i = RECURRENCE_RUN_ONCE; i <= RECURRENCE_SKIP; i++)
        if (!strcmp(value, recurrence_missed_word((enum recurrence_missed)i))) {
            out->recurrence.missed = (enum recurrence_missed)i;
            return 0;
        }
    return refuse(err, at, value, "run_once, run_all or skip");
}

static int read_from_1970(const struct place *at, const char *value, int64_t *out, struct err *err)
{
    if (read_number(value, MOMENT_MAX, out))
        return 0;
    return refuse(err, at, value, "a whole number of seconds since 1970, up to the year 9999");
}

static int read_moment(const struct place *at, const char *value, int64_t *out, struct err *err)
{
    if (read_number(value, MOMENT_MAX, out) && *out >= 1)
        return 0;
    return refuse(err, at, value, "a whole number of seconds since 1970, up to the year 9999");
}

static int read_sought(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    return read_moment(at, value, &out->sought, err);
}

static int read_from(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    return read_moment(at, value, &out->from, err);
}

static int read_payload(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    out->has_payload_once = !strcmp(value, "once");
    return out->has_payload_once ? 0 : refuse(err, at, value, "once");
}

/* ---- of an event ---- */

static int read_name(const struct place *at, const char *value, char out[CHECK_NAME_MAX + 1], struct err *err)
{
    size_t len = strlen(value);
    if (len < 1 || len > CHECK_NAME_MAX || !utf8_is_valid(value, len))
        return refuse(err, at, value, "1 to 1024 bytes of UTF-8");
    memcpy(out, value, len + 1);
    return 0;
}

static int read_event(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    return read_name(at, value, out->event.type, err);
}

static int read_of(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    return read_name(at, value, out->event.entity_name, err);
}

static int read_key(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    return read_name(at, value, out->event.entity_key, err);
}

static int read_job(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    return read_name(at, value, out->event.job, err);
}

static int read_listener_name(const struct place *at, const char *value, char out[LISTENER_NAME_MAX + 1],
                              struct err *err)
{
    size_t len = strlen(value);
    if (len < 1 || len > LISTENER_NAME_MAX || !utf8_is_valid(value, len))
        return refuse(err, at, value, "a name of 1 to 64 bytes of UTF-8");
    memcpy(out, value, len + 1);
    return 0;
}

static int read_listener(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    return read_listener_name(at, value, out->event.listener, err);
}

static int read_digest(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    return read_listener_name(at, value, out->digest, err);
}

/* A check is looked at once more often than it was asked to look again. */
static int read_look_number(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    if (read_number(value, INT32_MAX + INT64_C(1), &out->event.check_number) && out->event.check_number >= 1)
        return 0;
    return refuse(err, at, value, "a whole number from 1 to 2147483648");
}

static int read_failures(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    if (read_number(value, INT32_MAX, &out->event.failure_count))
        return 0;
    return refuse(err, at, value, "a whole number from 0 to 2147483647");
}

static int read_first(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    return read_from_1970(at, value, &out->event.first_check_at, err);
}

static int read_at(const struct place *at, const char *value, struct terms *out, struct err *err)
{
    if (read_number(value, MOMENT_MAX * INT64_C(1000000), &out->event.emitted_us) &&
        out->event.emitted_us >= 1)
        return 0;
    return refuse(err, at, value, "a whole number of microseconds since 1970, up to the year 9999");
}

/* ---- writing ---- */

struct writer {
    char *p;
    const char *end;
};

static void put(struct writer *w, const char *text)
{
    size_t n = strlen(text);
    if (n < (size_t)(w->end - w->p)) {
        memcpy(w->p, text, n + 1);
        w->p += n;
    }
}

static void put_byte(struct writer *w, char c)
{
    if (w->end - w->p < 2)
        return;
    *w->p++ = c;
    *w->p = '\0';
}

static void put_number(struct writer *w, int64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, n);
    put(w, text);
}

static void put_quoted(struct writer *w, const char *text)
{
    put(w, "\"");
    for (; *text; text++) {
        put_byte(w, *text);
        if (*text == '"')
            put_byte(w, *text);
    }
    put(w, "\"");
}

static void write_schedule(struct writer *w, const struct terms *t)
{
    put_quoted(w, t->recurrence.name);
}

static void write_every(struct writer *w, const struct terms *t)
{
    put_number(w, t->recurrence.every_s);
}

static void write_bias(struct writer *w, const struct terms *t)
{
    char text[16];
    int n = snprintf(text, sizeof text, "0.%04" PRId32, t->recurrence.bias);
    while (n > 1 && (text[n - 1] == '0' || text[n - 1] == '.'))
        text[--n] = '\0';
    put(w, text);
}

static void write_cron(struct writer *w, const struct terms *t)
{
    put_quoted(w, t->recurrence.cron_text);
}

static void write_zone(struct writer *w, const struct terms *t)
{
    put_quoted(w, t->recurrence.zone);
}

static void write_missed(struct writer *w, const struct terms *t)
{
    put(w, recurrence_missed_word(t->recurrence.missed));
}

static void write_sought(struct writer *w, const struct terms *t)
{
    put_number(w, t->sought);
}

static void write_from(struct writer *w, const struct terms *t)
{
    put_number(w, t->from);
}

static void write_digest(struct writer *w, const struct terms *t)
{
    put_quoted(w, t->digest);
}

static void write_payload(struct writer *w, const struct terms *t)
{
    put(w, t->has_payload_once ? "once" : "");
}

static void write_event(struct writer *w, const struct terms *t)
{
    put_quoted(w, t->event.type);
}

static void write_of(struct writer *w, const struct terms *t)
{
    put_quoted(w, t->event.entity_name);
}

static void write_key(struct writer *w, const struct terms *t)
{
    put_quoted(w, t->event.entity_key);
}

static void write_job(struct writer *w, const struct terms *t)
{
    put_quoted(w, t->event.job);
}

static void write_look_number(struct writer *w, const struct terms *t)
{
    put_number(w, t->event.check_number);
}

static void write_failures(struct writer *w, const struct terms *t)
{
    put_number(w, t->event.failure_count);
}

static void write_first(struct writer *w, const struct terms *t)
{
    put_number(w, t->event.first_check_at);
}

static void write_listener(struct writer *w, const struct terms *t)
{
    put_quoted(w, t->event.listener);
}

static void write_at(struct writer *w, const struct terms *t)
{
    put_number(w, t->event.emitted_us);
}

/* ---- the words, in the order in which they are written ---- */

enum word { SCHEDULE, EVERY, BIAS, CRON, ZONE, MISSED, SOUGHT, FROM, DIGEST, PAYLOAD, OF_SCHEDULES,
            EVENT = OF_SCHEDULES, OF, KEY, JOB, NUMBER, FAILURES, FIRST, LISTENER, AT, WORDS };

static const struct word_row {
    const char *word;
    int (*read)(const struct place *at, const char *value, struct terms *out, struct err *err);
    void (*write)(struct writer *w, const struct terms *t);
    int needs; /* a word that must be there, too; -1: none */
} rows[WORDS] = {
    [SCHEDULE] = { "schedule", read_schedule, write_schedule, -1 },
    [EVERY] = { "every", read_every, write_every, SCHEDULE },
    [BIAS] = { "bias", read_bias, write_bias, EVERY },
    [CRON] = { "cron", read_cron, write_cron, SCHEDULE },
    [ZONE] = { "zone", read_zone, write_zone, CRON },
    [MISSED] = { "missed", read_missed, write_missed, SCHEDULE },
    [SOUGHT] = { "sought", read_sought, write_sought, FROM },
    [FROM] = { "from", read_from, write_from, SCHEDULE },
    [DIGEST] = { "digest", read_digest, write_digest, SCHEDULE },
    [PAYLOAD] = { "payload", read_payload, write_payload, SCHEDULE },
    [EVENT] = { "event", read_event, write_event, AT },
    [OF] = { "of", read_of, write_of, EVENT },
    [KEY] = { "key", read_key, write_key, OF },
    [JOB] = { "job", read_job, write_job, KEY },
    [NUMBER] = { "number", read_look_number, write_look_number, JOB },
    [FAILURES] = { "failures", read_failures, write_failures, NUMBER },
    [FIRST] = { "first", read_first, write_first, FAILURES },
    [LISTENER] = { "listener", read_listener, write_listener, FIRST },
    [AT] = { "at", read_at, write_at, LISTENER },
};

static bool is_written(const struct terms *t, enum word word)
{
    if (t->has_event || word >= OF_SCHEDULES)
        return t->has_event && word >= OF_SCHEDULES && (word != LISTENER || *t->event.listener) &&
               (word != AT || t->event.emitted_us);
    bool is_cron = t->recurrence.is_cron;
    if (word == CRON || word == ZONE)
        return is_cron;
    if (word == EVERY || word == BIAS)
        return !is_cron;
    if (word == SOUGHT)
        return t->sought != 0;
    if (word == DIGEST)
        return *t->digest;
    if (word == PAYLOAD)
        return t->has_payload_once;
    return word != FROM || t->from != 0;
}

const char *terms_print(const struct terms *terms, char out[TERMS_MAX + 1])
{
    struct writer w = { out, out + TERMS_MAX + 1 };
    *out = '\0';
    for (int i = 0; i < WORDS; i++) {
        if (!is_written(terms, (enum word)i))
            continue;
        put(&w, w.p > out ? " " : "");
        put(&w, rows[i].word);
        put(&w, " ");
        rows[i].write(&w, terms);
    }
    return out;
}

/* ---- reading ---- */

struct reader {
    const char *text, *p;
    struct err *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct reader *r)
{
    while (is_blank(*r->p))
        r->p++;
}

static void unknown_word(const struct reader *r, const char *word)
{
    struct nearest n = { .wanted = word };
    for (int i = 0; i < WORDS; i++)
        nearest_look(&n, rows[i].word);
    const char *best = nearest_word(&n);
    const char *mean = best ? "; did you mean " : "";
    err_set(r->err, ERR_INPUT,
            "terms: unknown word \"%.*s\" at column %d; expected schedule, every, bias, cron, zone, missed, "
            "sought, from, digest or payload, or event, of, key, job, number, failures, first, listener or "
            "at%s%s",
            UTF8_SHOWN(word), column_of(r->text, r->p), mean, best ? best : "");
}

/* Copies a bare word or value; `out` has room for the whole text. */
static void take_bare(struct reader *r, char *out)
{
    while (*r->p && !is_blank(*r->p))
        *out++ = *r->p++;
    *out = '\0';
}

static int take_quoted(struct reader *r, char *out)
{
    const char *begin = r->p++;
    for (; *r->p; r->p++) {
        if (*r->p == '"' && r->p[1] != '"')
            break;
        r->p += *r->p == '"';
        *out++ = *r->p;
    }
    *out = '\0';
    if (!*r->p)
        return err_set(r->err, ERR_INPUT, "terms: the quote at column %d is never closed",
                       column_of(r->text, begin));
    r->p++;
    if (!*r->p || is_blank(*r->p))
        return 0;
    return err_set(r->err, ERR_INPUT,
                   "terms: nothing may follow the quote that ends before column %d but a blank; inside of "
                   "a text a quote is doubled",
                   column_of(r->text, r->p));
}

/* The word at the cursor; NULL with an error. */
static const struct word_row *take_word(struct reader *r, char *room, uint32_t *seen, struct place *at)
{
    const char *begin = r->p;
    take_bare(r, room);
    for (int i = 0; i < WORDS; i++) {
        if (*room != *rows[i].word || strcmp(room, rows[i].word) != 0)
            continue;
        *at = (struct place){ rows[i].word, r->text, begin };
        bool twice = *seen >> i & 1;
        *seen |= UINT32_C(1) << i;
        if (!twice)
            return &rows[i];
        err_set(r->err, ERR_INPUT, "terms: %s at column %d stands there twice", at->word, column_at(at));
        return NULL;
    }
    r->p = begin;
    unknown_word(r, room);
    return NULL;
}

static int take_value(struct reader *r, const struct place *at, char *room)
{
    skip_blanks(r);
    if (!*r->p)
        return err_set(r->err, ERR_INPUT, "terms: %s at column %d has no value", at->word, column_at(at));
    if (*r->p == '"')
        return take_quoted(r, room);
    take_bare(r, room);
    return 0;
}

/* Which words must be there, and which must not, beside others. */
static int check_words(uint32_t seen, struct err *err)
{
    for (int i = 0; i < WORDS; i++)
        if (seen >> i & 1 && rows[i].needs >= 0 && !(seen >> rows[i].needs & 1))
            return err_set(err, ERR_INPUT, "terms: %s without %s", rows[i].word, rows[rows[i].needs].word);
    bool every = seen >> EVERY & 1, cron = seen >> CRON & 1, event = seen >> EVENT & 1;
    if (event && seen & ((UINT32_C(1) << OF_SCHEDULES) - 1))
        return err_set(err, ERR_INPUT, "terms: both event and words of a schedule");
    if (event)
        return 0;
    if (every != cron)
        return 0;
    return err_set(err, ERR_INPUT, "terms: %s; expected one of them",
                   every ? "both every and cron" : "neither every nor cron");
}

static int read_words(struct reader *r, char *room, struct terms *out, uint32_t *seen)
{
    for (skip_blanks(r); *r->p; skip_blanks(r)) {
        struct place at;
        const struct word_row *row = take_word(r, room, seen, &at);
        if (!row)
            return ERR_INPUT;
        int rc = take_value(r, &at, room);
        if (rc < 0)
            return rc;
        rc = row->read(&at, room, out, r->err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Not the whole struct: its texts are long. */
static void clear(struct terms *t)
{
    t->has_event = false;
    struct recurrence *r = &t->recurrence;
    *r->name = *r->cron_text = *r->zone = '\0';
    r->is_cron = false;
    r->every_s = 0;
    r->bias = RECURRENCE_BIAS_DEFAULT;
    r->cron = (struct cron){ 0 };
    r->missed = RECURRENCE_RUN_ONCE;
    t->sought = t->from = 0;
    *t->digest = '\0';
    t->has_payload_once = false;
}

int terms_parse(const char *text, struct terms *out, struct err *err)
{
    struct terms terms;
    struct reader r = { text, text, err };
    char room[TERMS_MAX + 1];
    uint32_t seen = 0;
    size_t len = strlen(text);
    if (len > TERMS_MAX)
        return err_set(err, ERR_INPUT, "terms: %zu bytes; expected at most %d", len, TERMS_MAX);
    clear(&terms);
    int rc = read_words(&r, room, &terms, &seen);
    if (rc < 0)
        return rc;
    rc = check_words(seen, err);
    if (rc < 0)
        return rc;
    if (terms.recurrence.is_cron && !*terms.recurrence.zone)
        snprintf(terms.recurrence.zone, sizeof terms.recurrence.zone, "UTC");
    terms.has_event = seen >> EVENT & 1;
    memcpy(out, &terms, terms.has_event ? sizeof terms : offsetof(struct terms, event));
    return 0;
}

/* What follows `schedule "NAME"`, with the name's place; NULL: the text does not begin so, or the
 * name is too long, or has a quote, a control character or more than ASCII. */
static const char *behind_plain_name(const char *text, const char **name, size_t *len)
{
    static const char before[] = "schedule \"";
    if (strncmp(text, before, sizeof before - 1) != 0)
        return NULL;
    const char *p = *name = text + sizeof before - 1;
    while (*p >= ' ' && *p < 0x7f && *p != '"')
        p++;
    *len = (size_t)(p - *name);
    return *len && *len <= RECURRENCE_NAME_MAX && p[0] == '"' && p[1] == ' ' ? p + 1 : NULL;
}

const struct terms *terms_read(struct terms_memo *memo, const char *text, struct err *err)
{
    const char *name;
    size_t len;
    const char *rest = behind_plain_name(text, &name, &len);
    if (rest && !strcmp(rest, memo->rest)) {
        memcpy(memo->terms.recurrence.name, name, len);
        memo->terms.recurrence.name[len] = '\0';
        return &memo->terms;
    }
    *memo->rest = '\0';
    if (terms_parse(text, &memo->terms, err) < 0)
        return NULL;
    if (rest && strlen(rest) < sizeof memo->rest)
        snprintf(memo->rest, sizeof memo->rest, "%s", rest);
    return &memo->terms;
}

bool terms_have_payload_once(const char *terms)
{
    static const char words[] = " payload once";
    size_t n = sizeof words - 1, len = strlen(terms);
    return len > n && !memcmp(terms + len - n, words, n);
}

bool settlement_gives_back_payload(const struct settlement *s)
{
    bool is_over = s->renews && (s->ends || s->ran || s->outcome == OUTCOME_SKIPPED);
    return is_over && s->check->terms && terms_have_payload_once(s->check->terms);
}

bool terms_are_of_event(const char *terms)
{
    size_t len = strlen(rows[EVENT].word);
    while (is_blank(*terms))
        terms++;
    return !strncmp(terms, rows[EVENT].word, len) && is_blank(terms[len]);
}
