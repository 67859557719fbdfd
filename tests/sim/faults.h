/* faults.h - what goes wrong in a world, when, and for how long. */
#ifndef PRESCIENT_SIM_FAULTS_H
#define PRESCIENT_SIM_FAULTS_H

#include "world.h"

void faults_make(struct world *w);

/* Something happens on this host: a moment for a fault, since most of a world's time nothing does.
 */
void faults_moment(struct world *w, struct host *h);
void faults_free(struct world *w);

#endif
