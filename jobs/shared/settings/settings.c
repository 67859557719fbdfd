/* settings.c - what a setting was found to be stands in the words, but for those that may be
 * secret: their readers leave words of their own. */
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int settings_refuse(const struct settings *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->why, s->why_size, fmt, ap);
    va_end(ap);
    return -1;
}

const char *settings_text(const struct settings *s, const char *name)
{
    return s->host->setting(s->host, name);
}

const char *settings_element(const struct settings *s, const char *list, int i)
{
    char name[80];
    snprintf(name, sizeof name, "%s.%d", list, i);
    return settings_text(s, name);
}

int settings_length(const struct settings *s, const char *name, const char *such)
{
    int n = s->host->setting_count(s->host, name);
    if (n == 0 && settings_text(s, name))
        return settings_refuse(s, "setting '%s': expected a list such as %s", name, such);
    if (n > SETTINGS_LIST_MAX)
        return settings_refuse(s, "setting '%s': found %d elements, expected at most %d", name, n,
                               SETTINGS_LIST_MAX);
    return n < 0 ? 0 : n;
}

/* ---- plain values ---- */

int settings_whole_number(const char *text, long least, long most, int *out)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < least || n > most)
        return -1;
    *out = (int)n;
    return 0;
}

int settings_has_no_user(const struct settings *s, const char *name, const char *place)
{
    if (!strchr(place, '@'))
        return 0;
    return settings_refuse(s, "setting '%s': expected no user and no password in it, but what stands behind "
                           "its '@'", name);
}

int settings_number(const struct settings *s, const char *name, long least, long most, int *out)
{
    const char *text = settings_text(s, name);
    if (!text && s->host->setting_count(s->host, name) < 0)
        return 0;
    if (!text || settings_whole_number(text, least, most, out))
        return settings_refuse(s, "setting '%s': found '%.40s', expected a whole number from %ld to %ld",
                               name, text ? text : "a list", least, most);
    return 0;
}

int settings_file(const struct settings *s, const char *name, const char **out)
{
    const char *path = settings_text(s, name);
    if (path && *path != '/')
        return settings_refuse(s, "setting '%s': found '%.200s', expected a path that begins with '/'", name,
                               path);
    if (path && access(path, R_OK))
        return settings_refuse(s, "setting '%s': %.200s: %s", name, path, strerror(errno));
    *out = path;
    return 0;
}

int settings_bytes(const struct settings *s, const char *name, int least, int most, int *out)
{
    const char *text = settings_text(s, name);
    if (!text)
        return 0;
    char *end;
    long n = strtol(text, &end, 10);
    if (!strcmp(end, "KiB") && n >= 0 && n <= most >> 10)
        n <<= 10;
    else if (*end)
        n = -1;
    if (end == text || n < least || n > most)
        return settings_refuse(s, "setting '%s': found '%.40s', expected \"%dKiB\" to \"%dKiB\"", name, text,
                               least >> 10, most >> 10);
    *out = (int)n;
    return 0;
}

int settings_read(const struct settings *s, settings_part *const parts[], size_t n, void *into)
{
    for (size_t i = 0; i < n; i++)
        if (parts[i](s, into))
            return -1;
    return 0;
}
