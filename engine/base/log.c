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
    for (size_t i = 0; i < end; i++) {
        unsigned char c = (unsigned char)line[i], next = i + 1 < end ? (unsigned char)line[i + 1] : 0;
        if (c < 0x20 || c == 0x7f)
            line[i] = ' ';
        /* control characters of two bytes: some terminals obey these, too */
        else if (c == 0xc2 && next >= 0x80 && next < 0xa0)
            line[i] = line[i + 1] = ' ';
    }
    line[end] = '\n';
    fwrite(line, 1, end + 1, log->out);
    fflush(log->out);
}
