/* plugin.h - finds a job's shared object in the configured folders, refuses one that other users
 * could have written, loads it. A name is a file name, never a path. The file that was checked is
 * the one that is loaded: both use the same open descriptor. */
#ifndef PRESCIENT_PLUGIN_H
#define PRESCIENT_PLUGIN_H

#include <limits.h>
#include <sys/types.h>
#include "../../include/prescient/job.h"
#include "../base/err.h"

struct plugin {
    char path[PATH_MAX];            /* for messages: DIR/NAME.so */
    int fd;                         /* the file that was checked; it stays open once it is loaded */
    dev_t dev;                      /* which file that is */
    ino_t ino;
    struct prescient_plugin api;    /* a copy; what an older plug-in does not have is NULL */
    void *handle;                   /* NULL: not loaded */
};

/* Opens the plug-in `name` (with or without ".so") from the first of `dirs` that has it. The file,
 * its folder and every folder above are reached one from the other, without following a symbolic
 * link; each belongs to root or to the effective user, and none may be written by group or others
 * (but for folders above with the sticky bit, such as /tmp, whose entries only their owner can
 * move). Nothing is loaded. Returns 0, ERR_NOTFOUND with the folders that were searched, or
 * ERR_SETTINGS with what was found and what was expected. */
int plugin_open(const char *const *dirs, int ndirs, const char *name, struct plugin *out, struct err *err);

/* Loads what was opened and checks its ABI. It stays loaded, and its descriptor open, as long as
 * the process lives; after a failure it is closed. Loading runs code of the plug-in, so a command
 * that only shows it does this in a child. */
int plugin_load(struct plugin *p, struct err *err);

/* Closes what was opened and not loaded. */
void plugin_close(struct plugin *p);

#endif
