/* confine.h - what a worker gives up before it runs anybody's code. */
#ifndef PRESCIENT_CONFINE_H
#define PRESCIENT_CONFINE_H

#include "../base/err.h"
#include "../base/settings.h"

/* What is in our memory stays there: no core file, and others of the same user can neither look
 * into it nor read our environment. For the program itself as well: it knows passwords. (A
 * sanitizer looks at itself from outside: then nothing is done.) */
void confine_memory(void);

/* Right after exec: default signals, a process group of our own, nothing inherited but stdin
 * (/dev/null), stdout, stderr and `sock`, no way to new privileges, nothing of our memory outside;
 * dies with the engine at the other end of `sock`, which must be our parent, and so does what it
 * starts (keeper.h). */
int confine_start(int sock, struct err *err);

/* Once the settings are known: the user to be, the limits, the system calls that are refused. */
int confine_limits(const struct settings *settings, int sock, struct err *err);

#endif
