/* worker.h - simulated workers, in place of processes: they read and write the slab and speak over
 * the socket as run/worker.c does, and they crash, hang, lie and are stopped. The pool meets them
 * through its spawner. */
#ifndef PRESCIENT_SIM_WORKER_H
#define PRESCIENT_SIM_WORKER_H

#include "../../engine/pool/spawn.h"
#include "world.h"

struct worker_sim;

/* What the workers of one host have in common. */
struct crew {
    struct spawner spawner;
    struct worker_sim *workers;             /* until they are buried */
    int pids;
};

void workers_make(struct host *h);
void workers_free(struct host *h);
/* after a turn of the engine: it may have said something to them */
void workers_listen(struct host *h);
void workers_die(struct host *h);           /* their engine is gone, and so are they */
void workers_thaw(struct host *h);
bool workers_kill_one(struct host *h);      /* false: there is none */
bool workers_stop_one(struct host *h, int64_t us);

#endif
