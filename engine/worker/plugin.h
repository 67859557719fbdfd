/* plugin.h - finds a job's shared object in the configured folders, refuses what others could have
 * written, loads it. A name is a file name, never a path. What was checked is what is loaded: both
 * go by the same open descriptor. */
#ifndef PRESCIENT_PLUGIN_H
#define PRESCIENT_PLUGIN_H

#include <limits.h>
#include <sys/types.h>
#include "../../include/prescient/job.h"
#include "../base/err.h"

struct plugin {
    char path[PATH_MAX];            /* for words: DIR/NAME.so */
    /* the file that was checked; as long as the process lives, once it is loaded */
    int fd;
    dev_t dev;                      /* which file that is */
    ino_t ino;
    struct prescient_plugin api;    /* a copy; what an older plug-in does not have is NULL */
    void *handle;                   /* NULL: not loaded */
};

/* Opens the plug-in `name` (with or without ".so") from the first of `dirs` that has it. The file,
 * its folder and every folder above are reached one from the other, without following a symbolic
 * link; each belongs to root or to the effective user, and none may be written by group or others
 * (but for folders above with the sticky bit, such as /tmp: whose entries nobody else can move
 * away). Nothing is loaded. Returns 0, ERR_NOTFOUND with the folders that were looked into, or
 * ERR_SETTINGS with what was found and what was wanted. */
int plugin_open(const char *const *dirs, int ndirs, const char *name, struct plugin *out, struct err *err);

/* Loads what was opened and checks its ABI. It stays loaded, and its descriptor open, as long as
 * the process lives; after a failure it is closed. What it runs on loading is somebody else's
 * code, so a command that only wants to show it does this in a child. */
int plugin_load(struct plugin *p, struct err *err);

/* Closes what was opened and not loaded. */
void plugin_close(struct plugin *p);

#endif
