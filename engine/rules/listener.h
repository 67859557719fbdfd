/* listener.h - which events a listener hears. Pure. */
#ifndef PRESCIENT_LISTENER_H
#define PRESCIENT_LISTENER_H

#include <stdbool.h>
#include "../base/settings.h"

/* A pattern is a name, or what a name begins with and a star. Bytes are compared. */
bool listener_pattern_matches(const char *pattern, const char *event);

/* One of its patterns matches, and none of those that it excepts. */
bool listener_hears(const struct listener_settings *listener, const char *event);

/* The index of the first listener, from `from` on, that hears the event at once, and not in a
 * digest; -1: none does. */
int listeners_next(const struct settings *settings, int from, const char *event);

#endif
