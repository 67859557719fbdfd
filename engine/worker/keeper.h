/* keeper.h - processes that a worker's jobs have started do not outlive an engine that was
 * killed. */
#ifndef PRESCIENT_KEEPER_H
#define PRESCIENT_KEEPER_H

#include <sys/types.h>
#include "../base/err.h"

/* Starts a process in our process group that waits until the engine, our parent and its own, is
 * gone: then it kills the group, itself included. When the worker ends first, the engine kills the
 * group. To be called by the leader of the group, with no descriptors open but 0 to 2 and `sock`,
 * which the keeper closes. */
int keeper_start(pid_t engine, int sock, struct err *err);

#endif
