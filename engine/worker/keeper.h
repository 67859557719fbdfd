/* keeper.h - what a worker's jobs have started does not outlive an engine that was killed. */
#ifndef PRESCIENT_KEEPER_H
#define PRESCIENT_KEEPER_H

#include <sys/types.h>
#include "../base/err.h"

/* Starts a process that stays in our process group and does nothing until the engine, our parent
 * and its, is gone: then it kills the group, itself included. The engine itself kills the group
 * when the worker ends first. Call it as the leader of the group, when nothing is open but 0 to 2
 * and `sock`: none of it is the keeper's. */
int keeper_start(pid_t engine, int sock, struct err *err);

#endif
