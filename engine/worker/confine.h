/* confine.h - what a worker gives up before it runs code of a job. */
#ifndef PRESCIENT_CONFINE_H
#define PRESCIENT_CONFINE_H

#include "../base/err.h"
#include "../base/settings.h"

/* Keeps our memory private: no core file, and other processes of the same user can read neither it
 * nor our environment. Every command does so, as it holds passwords. (Not under a sanitizer, which
 * reads its own memory from another process.) */
void confine_memory(void);

/* Right after exec: default signals, a process group of our own, no descriptors but stdin
 * (/dev/null), stdout, stderr and `sock`, no new privileges, private memory. From then on we die
 * with the engine at the other end of `sock`, which must be our parent, and so does what jobs start
 * (keeper.h). */
int confine_start(int sock, struct err *err);

/* Once the settings are known: the user to switch to, the limits, the system calls to refuse. */
int confine_limits(const struct settings *settings, int sock, struct err *err);

#endif
