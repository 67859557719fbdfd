/* owned.h - opens a file that nobody but root and the user that runs us could have written or put
 * in its place. Who may write a settings file or a plug-in decides what runs with our rights. */
#ifndef PRESCIENT_OWNED_H
#define PRESCIENT_OWNED_H

#include <stdbool.h>
#include "err.h"

struct owned_rules {
    const char *subject; /* words begin with it: "plug-in" */
    const char *advice;  /* and those about a wrong owner or mode end with it; "" is fine */
    bool links;          /* symbolic links are followed, which belong to root or us, too; else refused */
    bool sticky;         /* a folder with the sticky bit will do for the file itself; else only above */
    int flags;           /* for open(), beside O_RDONLY, O_NOFOLLOW and O_CLOEXEC */
};

/* Opens the file that `path` names, absolute or from the working directory. It is reached from /
 * down, one name from the other by open descriptors, so that nothing can be exchanged between a
 * look and the next step. The file and every folder that leads to it belong to root or to the
 * effective user, and none may be written by group or others; but for folders with the sticky bit,
 * such as /tmp, whose entries nobody else can move away. What is opened through /proc (/dev/stdin,
 * a shell's <(command)) is judged by itself alone. Returns 0 with *fd, ERR_NOTFOUND without words
 * when it is not there, or ERR_SETTINGS with what was found and what was wanted. */
int owned_open(const char *path, const struct owned_rules *rules, int *fd, struct err *err);

#endif
