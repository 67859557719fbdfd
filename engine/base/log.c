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

#include "utf8.h"

enum {
    TEXT_SIZE = 4000,
    LINE_SIZE = 6 * TEXT_SIZE + 300         /* each byte of a text may become six */
};

static const char *const level_names[] = { "debug", "info", "warn", "error" };

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
    log->form = is_journal(out) ? LOG_FORM_JOURNAL : LOG_FORM_TEXT;
}

int log_level_named(const char *name)
{
    for (int i = 0; i <= LOG_LEVEL_ERROR; i++)
        if (!strcmp(name, level_names[i]))
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

/* ---- forms ---- */

/* Each writes a line of at most LINE_SIZE bytes, without its end, and returns its length. `text` is
 * clean. */
typedef size_t write_form(const struct log *log, enum log_level level, const char *text, char *line);

static size_t put_time(char *line, size_t size)
{
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    size_t n = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &tm);
    return n + (size_t)snprintf(line + n, size - n, ".%03ldZ", now.tv_nsec / 1000000);
}

static size_t write_bare(const struct log *log, enum log_level level, const char *text, char *line)
{
    return (size_t)snprintf(line, LINE_SIZE - 40, "%s %s[%d]: %s", level_names[level], log->role,
                            (int)getpid(), text);
}

static size_t write_text(const struct log *log, enum log_level level, const char *text, char *line)
{
    size_t n = put_time(line, LINE_SIZE);
    line[n++] = ' ';
    return n + write_bare(log, level, text, line + n);
}

/* The priorities are those of syslog(3). */
static size_t write_journal(const struct log *log, enum log_level level, const char *text, char *line)
{
    static const int priorities[] = { 7, 6, 4, 3 };
    (void)log;
    return (size_t)snprintf(line, LINE_SIZE, "<%d>%s", priorities[level], text);
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

static size_t write_json(const struct log *log, enum log_level level, const char *text, char *line)
{
    char at[40];
    at[put_time(at, sizeof at)] = '\0';
    size_t n = (size_t)snprintf(line, LINE_SIZE,
                                "{\"time\":\"%s\",\"level\":\"%s\",\"role\":\"%s\",\"pid\":%d,"
                                "\"message\":\"", at, level_names[level], log->role, (int)getpid());
    n += put_escaped(line + n, text);
    line[n++] = '"';
    line[n++] = '}';
    return n;
}

static write_form *const forms[] = { write_text, write_bare, write_journal, write_json };

void log_line(struct log *log, enum log_level level, const char *fmt, ...)
{
    if (!log || level < log->least)
        return;
    char text[TEXT_SIZE], line[LINE_SIZE];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n;
    if (len >= sizeof text)
        len = sizeof text - 1;
    for (size_t i = 0; i < len; i++)
        memset(text + i, ' ', obeyed(text + i, len - i));
    text[len] = '\0';
    size_t end = forms[log->form](log, level, text, line);
    line[end] = '\n';
    fwrite(line, 1, end + 1, log->out);
    fflush(log->out);
}
