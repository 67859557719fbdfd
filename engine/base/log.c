/* log.c - one write a line, so that lines of several processes do not mix; control characters
 * never reach the terminal. */
#include "log.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_init(struct log *log, FILE *out, enum log_level least, const char *role)
{
    *log = (struct log){ .out = out, .least = least, .role = role, .stamps = true };
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

void log_line(struct log *log, enum log_level level, const char *fmt, ...)
{
    if (!log || level < log->least)
        return;
    char line[4096];
    size_t n = 0;
    if (log->stamps) {
        struct timespec now;
        struct tm tm;
        clock_gettime(CLOCK_REALTIME, &now);
        gmtime_r(&now.tv_sec, &tm);
        n += strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &tm);
        n += (size_t)snprintf(line + n, sizeof line - n, ".%03ldZ ", now.tv_nsec / 1000000);
    }
    n += (size_t)snprintf(line + n, sizeof line - n, "%s %s[%d]: ", level_names[level], log->role,
                          (int)getpid());
    va_list ap;
    va_start(ap, fmt);
    int more = vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
    va_end(ap);
    size_t end = more < 0 ? n : n + (size_t)more;
    if (end > sizeof line - 2)
        end = sizeof line - 2;
    for (size_t i = 0; i < end; i++)
        memset(line + i, ' ', obeyed(line + i, end - i));
    line[end] = '\n';
    fwrite(line, 1, end + 1, log->out);
    fflush(log->out);
}
