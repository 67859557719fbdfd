/* spawn.h - starting and ending processes. A worker is fork and exec of this same program, in a
 * process group of its own, with nothing but a socketpair, a pipe for what it prints, and a clean
 * environment. */
#ifndef PRESCIENT_SPAWN_H
#define PRESCIENT_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>
#include "../base/err.h"

struct child {
    pid_t pid;          /* and its process group */
    int sock;           /* SOCK_SEQPACKET, non-blocking (message.h) */
    int output;         /* the read end of its stdout and stderr, non-blocking; -1: none */
};

/* Processes, behind a seam as the clock is: a simulation brings its own. */
struct spawner {
    /* `program` is what to exec with the argument "worker"; `pg_environment` passes PG* variables
     * on, for a business database that is named by them. ERR_BUSY when there are no processes or
     * descriptors left just now. */
    int (*start)(void *ctx, const char *program, bool pg_environment, struct child *out, struct err *err);
    void (*signal)(void *ctx, pid_t pid, int sig);      /* to the worker, and to its process group */
    /* it has ended and is not reaped yet: until then no other process has its number */
    bool (*has_ended)(void *ctx, pid_t pid);
    /* a child, worker or orphan of a job, that has ended and is not reaped yet; 0: none */
    pid_t (*any_ended)(void *ctx);
    /* reaps it; waits for one that was killed a moment ago. Returns its wait status */
    int (*bury)(void *ctx, pid_t pid);
    void *ctx;
};

extern const struct spawner spawner_system;

/* Closes what is ours of it; the process itself is killed and reaped by the pool. */
void spawn_close(struct child *child);

#endif
