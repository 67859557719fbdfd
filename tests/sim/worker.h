/* worker.h - simulated workers in place of processes. They use the slab and the socket as
 * engine/worker/worker.c does, and they crash, hang, lie and are stopped. The pool starts them
 * through its spawner. */
#ifndef PRESCIENT_SIM_WORKER_H
#define PRESCIENT_SIM_WORKER_H

#include "../../engine/pool/spawn.h"
#include "world.h"

struct worker_sim;

/* The workers of one host. */
struct crew {
    struct spawner spawner;
    struct worker_sim *workers;             /* also dead ones that the pool has not waited for */
    int pids;
};

void workers_make(struct host *h);
void workers_free(struct host *h);
/* after a turn of the engine: reads its messages */
void workers_listen(struct host *h);
void workers_die(struct host *h);           /* their engine has ended, and they end with it */
void workers_are_left(struct host *h);      /* their engine was killed: some runs go on */
void workers_thaw(struct host *h);
bool workers_kill_one(struct host *h);      /* false: no worker runs */
bool workers_stop_one(struct host *h, int64_t us);

#endif
