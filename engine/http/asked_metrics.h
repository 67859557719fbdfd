/* asked_metrics.h - GET /metrics: what the store knows is asked for at most once a second and
 * format, for all who ask; what the front has counted comes with the question. */
#ifndef PRESCIENT_HTTP_ASKED_METRICS_H
#define PRESCIENT_HTTP_ASKED_METRICS_H

#include <stdint.h>
#include "../view/metrics.h"
#include "exchange.h"

struct desk;

/* What was told last in each format, and when, monotonic. All zero: nothing yet. */
struct measured { struct { struct bytes text; int64_t at_us; } as[METRICS_FORMATS]; };
void measured_free(struct measured *m);

void asked_metrics_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

/* The content of an answer in that format. */
enum content asked_metrics_content(enum metrics_format format);

#endif
