/* faults.h - the faults of a world: which, when, and for how long. */
#ifndef PRESCIENT_SIM_FAULTS_H
#define PRESCIENT_SIM_FAULTS_H

#include "world.h"

void faults_make(struct world *w);

/* To be called while a host is busy. Hosts are idle most of the time, so these are the moments at
 * which a fault finds most. */
void faults_moment(struct world *w, struct host *h);
void faults_free(struct world *w);

#endif
