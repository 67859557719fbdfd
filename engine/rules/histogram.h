/* histogram.h - the classes in which durations are counted: eight to each doubling, so that the
 * middle of a class is at most a sixteenth away from what was counted in it. Pure.
 * The stores compute the middle of a class in SQL (class_us). */
#ifndef PRESCIENT_HISTOGRAM_H
#define PRESCIENT_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_CLASSES = 400 };       /* up to 140 years; what is longer is in the last one */

/* 0 to HISTOGRAM_CLASSES - 1. Less than nothing counts as nothing. */
int histogram_class(int64_t us);

/* What stands for the durations of a class. */
int64_t histogram_middle_us(int class);

/* The bounds of metrics: 1.024 ms, and from there on twice the one before, up to 72 minutes; behind
 * them comes one for all that is longer. Each is the end of a class, so that none is split. */
enum { HISTOGRAM_BOUNDS = 23 };

/* Below which bound a class lies: 0 to HISTOGRAM_BOUNDS. */
int histogram_bound(int class);
/* In microseconds; of one below HISTOGRAM_BOUNDS. */
int64_t histogram_bound_us(int bound);

#endif
