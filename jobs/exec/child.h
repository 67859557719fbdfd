/* child.h - a command that was started beside its guard, and the pipes to both. */
#ifndef CHILD_H
#define CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "command.h"
#include "guard.h"

/* Our ends, which do not block; -1: closed. */
enum { CHILD_IN, CHILD_OUT, CHILD_ERR, CHILD_GUARD, CHILD_FILES };
struct child { int fd[CHILD_FILES]; pid_t guard; };

/* Where its standard error goes, unless into a file of ours. */
enum { CHILD_ERR_WITH_OUT = -1, CHILD_ERR_APART = -2 };

#define CHILD_NONE ((struct child){ .fd = { -1, -1, -1, -1 }, .guard = -1 })

/* Starts the guard, which starts the command. 0, or -1 and errno; then nothing has to be ended. */
int child_start(struct child *c, const struct command *command, char *const envp[], int err);

void child_close(struct child *c, int which);           /* one that is closed is fine */

/* Takes the guard's report, once there is something to read. 0, or -1: it was killed, or its
 * command was not wanted any more. */
int child_report(const struct child *c, struct guard_report *report);

/* What a report means: 0 and the status of waitpid(), or -1 with words. */
int child_judge(const struct guard_report *report, const struct command *command, int *status, char *why,
                size_t why_size);

/* Closes all and waits for the guard, which first ends what is left of the command: half a second
 * at most. */
void child_end(struct child *c);

/* A child that does not read must not end the worker by SIGPIPE: around all that writes to one. */
void child_hold_sigpipe(sigset_t *before);
void child_release_sigpipe(const sigset_t *before);

#endif
