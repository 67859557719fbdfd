/* reload.h - settings that are read again while a process goes on (SIGHUP in daemon and serve). */
#ifndef PRESCIENT_RELOAD_H
#define PRESCIENT_RELOAD_H

#include "app.h"

/* What is read: the file, variables and flags of the command, as at its start. */
struct reload_from {
    const struct settings *before; /* those in force */
    const char *const *fixed;      /* names of those that stay as they are; ends with NULL */
    bool read_only;                /* http_read_only, whatever the file says */
};

struct reload {
    struct settings settings;
    const char *changes; /* what differs from before, by names; "": nothing */
    const char *kept;    /* those of `fixed` that would differ, and do not; "": none */
    struct arena *arena;
};

/* ERR_SETTINGS, with the place in the file, when they cannot be in force; nothing is to be released
 * then. */
int reload_read(struct app *app, const struct reload_from *from, struct reload *out, struct err *err);
void reload_release(struct reload *r);

/* They are in force: the log says so, and is written as they say; nothing is kept of them. */
void reload_tell(struct app *app, const struct reload *r);
void reload_tell_failure(struct app *app, const struct err *err);

#endif
