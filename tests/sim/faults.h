/* faults.h - what goes wrong in a world, when, and for how long. */
#ifndef PRESCIENT_SIM_FAULTS_H
#define PRESCIENT_SIM_FAULTS_H

#include "world.h"

void faults_make(struct world *w);
void faults_free(struct world *w);

#endif
