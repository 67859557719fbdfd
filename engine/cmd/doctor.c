/* doctor.c - see doctor.h: what is printed of a finding, and its words. */
#include "doctor.h"

#include <stdarg.h>
#include <string.h>
#include "report.h"
#include "text.h"

static const struct {
    const char *name, *colour;
} levels[] = {
    [OK] = { "ok", "\033[32m" },
    [WARN] = { "warn", "\033[33m" },
    [ERROR] = { "error", "\033[31m" },
};

static void finding_print(struct doctor *d, enum level level, const char *what, const char *found,
                          const char *advice)
{
    FILE *out = d->app->out;
    if (d->colour)
        fputs(levels[level].colour, out);
    fprintf(out, "%-5s", levels[level].name);
    if (d->colour)
        fputs("\033[0m", out);
    fputs("  ", out);
    text_put(out, what, 0);
    fputs(": ", out);
    text_put(out, found, 0);
    fputc('\n', out);
    if (advice && level != OK) {
        fputs("       ", out);
        text_put(out, advice, 0);
        fputc('\n', out);
    }
    fflush(out);
}

void doctor_finding(struct doctor *d, enum level level, const char *what, const char *found,
                    const char *advice)
{
    if (advice && !*advice)
        advice = NULL;
    d->counts[level]++;
    if (!d->findings) {
        finding_print(d, level, what, found, advice);
        return;
    }
    json_t *object = json_pack("{s:s, s:s, s:s, s:s?}", "what", what, "level", levels[level].name, "found",
                               found, "advice", advice);
    report_added(d->app, json_array_append_new(d->findings, object));
}

void doctor_failed(struct doctor *d, const char *what, const struct err *err, const char *advice)
{
    doctor_finding(d, ERROR, what, err->text, advice);
}

const char *doctor_text(struct doctor *d, const char *fmt, ...)
{
    char buffer[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buffer, sizeof buffer, fmt, ap);
    va_end(ap);
    const char *kept = arena_strdup(d->app->arena, buffer);
    return kept ? kept : "out of memory";
}

const char *doctor_shell_word(struct doctor *d, const char *value)
{
    const char *word = "'";
    for (const char *end; (end = strchr(value, '\'')); value = end + 1)
        word = doctor_text(d, "%s%.*s'\\''", word, (int)(end - value), value);
    return doctor_text(d, "%s%s'", word, value);
}

enum level doctor_level_named(const char *name)
{
    for (int i = OK; name && i <= ERROR; i++)
        if (!strcmp(name, levels[i].name))
            return (enum level)i;
    return ERROR;
}
