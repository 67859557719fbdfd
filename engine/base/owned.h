/* owned.h - opens a file that no users but root and the one that runs us could have written or
 * replaced. Who may write a settings file or a plug-in decides what runs with our rights. */
#ifndef PRESCIENT_OWNED_H
#define PRESCIENT_OWNED_H

#include <stdbool.h>
#include "err.h"

struct owned_rules {
    const char *subject; /* messages begin with it: "plug-in" */
    const char *advice;  /* messages about a wrong owner or mode end with it; "" is fine */
    bool links;          /* symbolic links are followed, which belong to root or us, too; else refused */
    bool sticky;         /* a folder with the sticky bit will do for the file itself; else only above */
    int flags;           /* for open(), beside O_RDONLY, O_NOFOLLOW and O_CLOEXEC */
};

/* Opens the file that `path` names, absolute or from the working directory. It is reached from /
 * down, one name after the other by open descriptors, so that no folder can be exchanged between
 * its check and the next step. The file and every folder that leads to it belong to root or to the
 * effective user, and none may be written by group or others; but for folders with the sticky bit,
 * such as /tmp, whose entries only their owners can move. Of a file that is opened through /proc
 * (/dev/stdin, a shell's <(command)) only the file itself is checked. Returns 0 with *fd,
 * ERR_NOTFOUND without a message when it is not there, or ERR_SETTINGS with what was found and what
 * was expected. */
int owned_open(const char *path, const struct owned_rules *rules, int *fd, struct err *err);

#endif
