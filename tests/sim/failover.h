/* failover.h - a lagging standby takes over: commits since its copy are lost, and numbers come
 * again. */
#ifndef PRESCIENT_SIM_FAILOVER_H
#define PRESCIENT_SIM_FAILOVER_H

#include "world.h"

struct standby;

struct standby *standby_new(const struct world *w);         /* a copy of the rows committed so far */
void standby_free(struct standby *s);                       /* NULL is fine */
/* Replaces the database by the copy; transactions are rolled back. */
void standby_take_over(struct world *w, struct standby *s);

#endif
