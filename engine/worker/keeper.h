/* keeper.h - processes that a worker's jobs have started outlive neither an engine that was killed
 * nor their worker. */
#ifndef PRESCIENT_KEEPER_H
#define PRESCIENT_KEEPER_H

#include <sys/types.h>
#include "../base/err.h"

/* Starts a process in our process group that waits until we or the engine, our parent and its own,
 * are gone: then it kills the group, itself included. To be called by the leader of the group, with
 * no descriptors open but 0 to 2 and `sock`, which the keeper closes. */
int keeper_start(pid_t engine, int sock, struct err *err);

#endif
