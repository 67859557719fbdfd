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

#endif
