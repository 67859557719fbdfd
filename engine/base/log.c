/* log.c - one write a line, so that lines of several processes do not mix; control characters
 * never reach the terminal. */
#include "log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "moment.h"
#include "utf8.h"

enum {
    TEXT_SIZE = 4000,
    NAME_SIZE = 1100, /* of what a line is about: each name has 1,024 bytes */
    NAMES = 3,
    /* each byte of a text may become six */
    LINE_SIZE = 6 * (TEXT_SIZE + NAMES * NAME_SIZE) + 400
};

const char *const log_levels[] = { "debug", "info", "warn", "error", NULL };

static bool is_journal(FILE *out)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat is;
    char name[64];
    if (!stream || fileno(out) < 0 || fstat(fileno(out), &is) < 0)
        return false;
    snprintf(name, sizeof name, "%ju:%ju", (uintmax_t)is.st_dev, (uintmax_t)is.st_ino);
    return !strcmp(name, stream);
}

void log_init(struct log *log, FILE *out, enum log_level least, const char *role)
{
    *log = (struct log){ .out = out, .least = least, .role = role };
    log->to_journal = is_journal(out);
    log_set_json(log, false);
}

void log_set_json(struct log *log, bool is_json)
{
    enum log_form plain = log->to_journal ? LOG_FORM_JOURNAL : LOG_FORM_TEXT;
    log->form = is_json ? LOG_FORM_JSON : plain;
}

int log_level_named(const char *name)
{
    for (int i = 0; i <= LOG_LEVEL_ERROR; i++)
        if (!strcmp(name, log_levels[i]))
            return i;
    return -1;
}

/* How many bytes at `text` would be obeyed by some terminal or viewer, or turn the text around that
 * follows: control characters, line separators, marks and overrides of the direction. 0: none. */
static size_t obeyed(const char *text, size_t len)
{
    static const struct { size_t bytes; const char *first, *last; } ranges[] = {
        { 1, "\x01", "\x1f" },
        { 1, "\x7f", "\x7f" },
        { 2, "\xc2\x80", "\xc2\x9f" },
        { 2, "\xd8\x9c", "\xd8\x9c" },              /* U+061C */
        { 3, "\xe2\x80\x8e", "\xe2\x80\x8f" },      /* U+200E, U+200F */
        { 3, "\xe2\x80\xa8", "\xe2\x80\xae" },      /* U+2028 to U+202E */
        { 3, "\xe2\x81\xa6", "\xe2\x81\xa9" },      /* U+2066 to U+2069 */
    };
    if (!*text)
        return 1;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (len >= ranges[i].bytes && memcmp(text, ranges[i].first, ranges[i].bytes) >= 0 &&
            memcmp(text, ranges[i].last, ranges[i].bytes) <= 0)
            return ranges[i].bytes;
    return 0;
}

static void make_clean(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        memset(text + i, ' ', obeyed(text + i, len - i));
}

/* ---- forms ---- */

struct line {
    enum log_level level;
    const char *text;              /* clean */
    const struct log_about *about; /* as it came */
};

/* Each writes a line of at most LINE_SIZE bytes, without its end, and returns its length. */
typedef size_t write_form(const struct log *log, const struct line *l, char *line);

static size_t put_time(char *line, size_t size)
{
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    size_t n = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &tm);
    return n + (size_t)snprintf(line + n, size - n, ".%03ldZ", now.tv_nsec / 1000000);
}

static size_t write_bare(const struct log *log, const struct line *l, char *line)
{
    return (size_t)snprintf(line, LINE_SIZE - 40, "%s %s[%d]: %s", log_levels[l->level], log->role,
                            (int)getpid(), l->text);
}

static size_t write_text(const struct log *log, const struct line *l, char *line)
{
    size_t n = put_time(line, LINE_SIZE);
    line[n++] = ' ';
    return n + write_bare(log, l, line + n);
}

/* The priorities are those of syslog(3). */
static size_t put_priority(enum log_level level, char *line)
{
    static const int priorities[] = { 7, 6, 4, 3 };
    return (size_t)snprintf(line, LINE_SIZE, "<%d>", priorities[level]);
}

static size_t write_journal(const struct log *log, const struct line *l, char *line)
{
    (void)log;
    size_t n = put_priority(l->level, line);
    return n + (size_t)snprintf(line + n, LINE_SIZE - n, "%s", l->text);
}

static size_t put_quoted(char *line, const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            line[n++] = '\\';
        line[n++] = text[i];
    }
    return n;
}

/* A byte that is no UTF-8 becomes U+FFFD. */
static size_t put_escaped(char *line, const char *text)
{
    static const char unknown[] = "\\ufffd";
    size_t n = 0;
    while (*text) {
        size_t good = utf8_valid_bytes(text, strlen(text));
        n += put_quoted(line + n, text, good);
        text += good;
        if (!*text)
            break;
        memcpy(line + n, unknown, sizeof unknown - 1);
        n += sizeof unknown - 1;
        text++;
    }
    return n;
}

/* A longer name ends where there is no more room, and not within a character. */
static size_t put_member(char *line, const char *name, const char *value)
{
    char clean[NAME_SIZE];
    if (!value)
        return 0;
    size_t len = utf8_cut(value, strlen(value), sizeof clean - 1);
    memcpy(clean, value, len);
    clean[len] = '\0';
    make_clean(clean, len);
    size_t n = (size_t)sprintf(line, ",\"%s\":\"", name);
    n += put_escaped(line + n, clean);
    line[n++] = '"';
    return n;
}

static size_t put_about(char *line, const struct log_about *about)
{
    char slot[MOMENT_TEXT];
    size_t n = put_member(line, "slot", about->slot ? moment_format(about->slot, slot) : NULL);
    n += put_member(line + n, "job", about->job);
    n += put_member(line + n, "entity", about->entity);
    return n + put_member(line + n, "key", about->key);
}

static size_t write_json(const struct log *log, const struct line *l, char *line)
{
    char at[40];
    at[put_time(at, sizeof at)] = '\0';
    size_t n = log->to_journal ? put_priority(l->level, line) : 0;
    n += (size_t)snprintf(line + n, LINE_SIZE - n,
                          "{\"time\":\"%s\",\"level\":\"%s\",\"role\":\"%s\",\"pid\":%d,\"message\":\"", at,
                          log_levels[l->level], log->role, (int)getpid());
    n += put_escaped(line + n, l->text);
    line[n++] = '"';
    n += put_about(line + n, l->about);
    line[n++] = '}';
    return n;
}

static write_form *const forms[] = { write_text, write_bare, write_journal, write_json };

static void write_line(const struct log *log, enum log_level level, const struct log_about *about,
                       const char *fmt, va_list ap)
{
    char text[TEXT_SIZE], line[LINE_SIZE];
    int n = vsnprintf(text, sizeof text, fmt, ap);
    size_t len = n < 0 ? 0 : (size_t)n;
    if (len >= sizeof text)
        len = sizeof text - 1;
    make_clean(text, len);
    text[len] = '\0';
    size_t end = forms[log->form](log, &(struct line){ level, text, about }, line);
    line[end] = '\n';
    if (log->before_line)
        log->before_line(log->ctx);
    fwrite(line, 1, end + 1, log->out);
    fflush(log->out);
}

void log_line(struct log *log, enum log_level level, const char *fmt, ...)
{
    va_list ap;
    if (!log || level < log->least)
        return;
    va_start(ap, fmt);
    write_line(log, level, &(struct log_about){ 0 }, fmt, ap);
    va_end(ap);
}

void log_line_about(struct log *log, enum log_level level, struct log_about about, const char *fmt, ...)
{
    va_list ap;
    if (!log || level < log->least)
        return;
    va_start(ap, fmt);
    write_line(log, level, &about, fmt, ap);
    va_end(ap);
}
