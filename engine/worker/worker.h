/* worker.h - the process that runs jobs: `prescient worker`, started by an engine (spawn.c), never
 * by hand. It has no store connection: it can only answer the checks in its slab. */
#ifndef PRESCIENT_WORKER_H
#define PRESCIENT_WORKER_H

/* Runs until the engine sends EXIT (0) or goes away (1). `sock` is our end of the engine's
 * socketpair (message.h), which also tells who made it: the engine must be our parent. Returns the
 * exit code: 78 when settings or plug-ins are unusable, after having sent FAILED with the
 * reason. */
int worker_main(int sock);

#endif
