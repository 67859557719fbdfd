/* app.h - the application: files checks, files them again, resolves them, in transactions that may
 * stay open for long. */
#ifndef PRESCIENT_SIM_APP_H
#define PRESCIENT_SIM_APP_H

#include "world.h"

void app_make(struct world *w);
void app_free(struct world *w);

#endif
