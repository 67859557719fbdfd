/* listener.c - see listener.h. */
#include "listener.h"

#include <string.h>

static bool has_star(const char *pattern)
{
    size_t len = strlen(pattern);
    return len > 0 && pattern[len - 1] == '*';
}

bool listener_pattern_matches(const char *pattern, const char *event)
{
    if (!has_star(pattern))
        return !strcmp(pattern, event);
    return !strncmp(pattern, event, strlen(pattern) - 1);
}

static bool is_named(const struct listener_settings *l, const char *event)
{
    bool by_name_only = !strcmp(event, EVENT_DELIVERY_FAILED);
    for (int i = 0; i < l->nevents; i++)
        if (!(by_name_only && has_star(l->events[i])) && listener_pattern_matches(l->events[i], event))
            return true;
    return false;
}

static bool is_excepted(const struct listener_settings *l, const char *event)
{
    for (int i = 0; i < l->nexcept; i++)
        if (listener_pattern_matches(l->except[i], event))
            return true;
    return false;
}

bool listener_hears(const struct listener_settings *listener, const char *event)
{
    return is_named(listener, event) && !is_excepted(listener, event);
}

int listeners_next(const struct settings *settings, int from, const char *event)
{
    for (int i = from; i < settings->nlisteners; i++)
        if (!settings->listeners[i].digest && listener_hears(&settings->listeners[i], event))
            return i;
    return -1;
}
