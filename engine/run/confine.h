/* confine.h - what a worker gives up before it runs anybody's code. */
#ifndef PRESCIENT_CONFINE_H
#define PRESCIENT_CONFINE_H

#include "../base/err.h"
#include "../base/settings.h"

/* Right after exec: default signals, a process group of our own, nothing inherited but stdin (/dev/null), stdout, stderr and
 * `sock`, no way to new privileges; dies with the engine at the other end of `sock`, which must be our parent. */
int confine_start(int sock, struct err *err);

/* Once the settings are known: the user to be, the limits, no core. */
int confine_limits(const struct settings *settings, int sock, struct err *err);

#endif
