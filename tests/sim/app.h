/* app.h - the application: it files checks, files them again and resolves them. A transaction
 * may stay open for a long time. */
#ifndef PRESCIENT_SIM_APP_H
#define PRESCIENT_SIM_APP_H

#include "world.h"

void app_make(struct world *w);
void app_free(struct world *w);

#endif
