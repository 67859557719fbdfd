/* worker.h - the process that runs jobs: `prescient worker`, started by an engine (spawn.c), never
 * by hand. It has no store connection and no say: it can only answer what is in its slab. */
#ifndef PRESCIENT_WORKER_H
#define PRESCIENT_WORKER_H

/* Runs until the engine says EXIT (0) or goes away (1). `sock` is our end of the engine's
 * socketpair (message.h); that the engine is our parent is asked of the socket. Returns the exit
 * code: 78 when settings or plug-ins are unusable, after having said why. */
int worker_main(int sock);

#endif
