/* spawn.h - starts a worker process: fork and exec of this same program, in a process group of its own, with nothing but a
 * socketpair, a pipe for what it prints, and a clean environment. */
#ifndef PRESCIENT_SPAWN_H
#define PRESCIENT_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>
#include "../base/err.h"

struct child {
    pid_t pid;          /* and its process group */
    int sock;           /* SOCK_SEQPACKET, non-blocking (wire.h) */
    int output;         /* the read end of its stdout and stderr, non-blocking */
};

/* `program` is what to exec with the argument "worker"; `pg_environment` passes PG* variables on, for a
 * business database that is named by them. ERR_BUSY when there are no processes or descriptors left just now. */
int spawn_worker(const char *program, bool pg_environment, struct child *out, struct err *err);

/* Closes what is ours of it; the process itself is killed and reaped by the pool. */
void child_close(struct child *child);

#endif
