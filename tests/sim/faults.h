/* faults.h - the faults of a world: which, when, and for how long. */
#ifndef PRESCIENT_SIM_FAULTS_H
#define PRESCIENT_SIM_FAULTS_H

#include "world.h"

void faults_make(struct world *w);

/* A host is busy at this moment: a good one for a fault, since hosts are idle for most of the time.
 */
void faults_moment(struct world *w, struct host *h);
void faults_free(struct world *w);

#endif
