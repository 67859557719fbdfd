/* front_metrics.h - GET /metrics, at the front: what it has counted goes with the question to the
 * store, and whoever waits too long for that is told it without the store. */
#ifndef PRESCIENT_HTTP_FRONT_METRICS_H
#define PRESCIENT_HTTP_FRONT_METRICS_H

#include "backends.h"
#include "connection.h"
#include "counts.h"

struct front_metrics {
    struct counts *counts;
    struct backends *backends;
    struct agenda *agenda;
};

/* The connection waits for the store, with an alarm. Or it has been refused. */
void front_metrics_ask(const struct front_metrics *m, struct connection *c, int64_t now_us);
/* Its alarm has rung: it is answered. */
void front_metrics_late(const struct front_metrics *m, struct connection *c);

#endif
