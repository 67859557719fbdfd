/* failover.h - a standby that lags behind takes over: what was committed meanwhile is lost, and
 * numbers come again. */
#ifndef PRESCIENT_SIM_FAILOVER_H
#define PRESCIENT_SIM_FAILOVER_H

#include "world.h"

struct standby;

struct standby *standby_new(const struct world *w);         /* a copy of what is committed at this moment */
void standby_free(struct standby *s);                       /* NULL is fine */
/* the database becomes what the copy is; transactions are rolled back */
void standby_take_over(struct world *w, struct standby *s);

#endif
