/* plugin.h - finds a job's shared object in the configured folders, refuses what others could have written, loads it.
 * A name is a file name, never a path. What was checked is what is loaded: both go by the same open descriptor. */
#ifndef PRESCIENT_PLUGIN_H
#define PRESCIENT_PLUGIN_H

#include <limits.h>
#include "../../include/prescient/job.h"
#include "../base/err.h"

struct plugin {
    char path[PATH_MAX];            /* for words: DIR/NAME.so */
    struct prescient_plugin api;    /* a copy; what an older plug-in does not have is NULL */
    void *handle;
};

/* Where the plug-in `name` (with or without ".so") is: the first of `dirs` that has it. Checks name, folder and file: both are
 * reached without following a symbolic link, belong to root or to the effective user, and are not writable by group or others.
 * Nothing is loaded. Returns 0 and its path, ERR_NOTFOUND with the folders that were looked into, or ERR_SETTINGS with what was
 * found and what was wanted. */
int plugin_find(const char *const *dirs, int ndirs, const char *name, char path[PATH_MAX], struct err *err);

/* The same, then loads it and checks its ABI. It stays loaded, and its descriptor open, as long as the process lives: what it
 * runs on loading is somebody else's code, so a command that only wants to show it does this in a child. */
int plugin_load(const char *const *dirs, int ndirs, const char *name, struct plugin *out, struct err *err);

#endif
