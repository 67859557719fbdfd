/* listener_line.h - a listener as a line of text: engines note theirs in the store, and `doctor`
 * compares them. Pure. */
#ifndef PRESCIENT_LISTENER_LINE_H
#define PRESCIENT_LISTENER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include "../base/settings.h"

/* A name has 64 bytes, a mark 16, and words are cut. */
enum { LISTENER_MARK_SIZE = 17, LISTENER_WORDS_MAX = 160, LISTENER_LINE_SIZE = 256 };

/* "hook 0123456789abcdef job hook, each 15m: order.*, but not order.test", without the end of a
 * line.
 * Two marks are the same when the two listeners hear the same events, for the same job, at the same
 * times, in whatever order the settings have them. `out` has LISTENER_LINE_SIZE bytes. */
void listener_line(const struct listener_settings *listener, char *out);

struct listener_line { const char *name, *mark, *words; int name_length, mark_length, words_length; };
/* The next of some lines, and moves `*at` behind it; false: there is none. What is missing in it is
 * empty. */
bool listener_line_next(const char **at, struct listener_line *out);

#endif
