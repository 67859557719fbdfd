/* counts.h - what a server has answered since it was started: how often, by route and status, and
 * how long that took. Pure. */
#ifndef PRESCIENT_HTTP_COUNTS_H
#define PRESCIENT_HTTP_COUNTS_H

#include <stdint.h>
#include "../view/metrics.h"

struct counts;

struct counts *counts_new(void);                /* NULL: out of memory */
void counts_free(struct counts *c);

/* `route`: its index in route_table; -1: none. `took_us`: from its head on. */
void counts_add(struct counts *c, int route, int status, int64_t took_us);
/* As families of metrics. */
void counts_write(const struct counts *c, struct metrics_text *t);

#endif
