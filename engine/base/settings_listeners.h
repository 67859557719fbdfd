/* settings_listeners.h - the listeners of a file that was parsed. */
#ifndef PRESCIENT_SETTINGS_LISTENERS_H
#define PRESCIENT_SETTINGS_LISTENERS_H

#include <stdio.h>
#include "settings_loader.h"

enum { LISTENERS_MAX = 256 };

/* After the jobs, which they name. */
int settings_listeners_read(struct settings_loader *l);

/* In libconfig syntax, on request with their places; nothing where there are none. */
void settings_listeners_put(const struct settings *s, bool placed, FILE *out);

#endif
