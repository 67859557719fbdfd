/* guard.h - the process between a worker and a command. */
#ifndef GUARD_H
#define GUARD_H

#include "command.h"

/* What the guard, or the command before it is executed, reports: one record a packet. */
enum { GUARD_ENDED, GUARD_NO_FOLDER, GUARD_NO_PROGRAM, GUARD_NO_PROCESS };
struct guard_report { int what, value; };       /* the status of waitpid(), or an errno */

/* Of the command: 0 to 2, and the socket. */
struct guard_files { int in, out, err, sock; };

/* In a child that was just forked. Its peer on `sock` must be held by the process that wants the
 * command, and by no other: its end ends the command. */
_Noreturn void guard_run(const struct command *c, char *const envp[], const struct guard_files *files);

#endif
