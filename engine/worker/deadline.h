/* deadline.h - a worker that is late for checks with a concurrency key is killed by the kernel,
 * also where no engine is there to do it: their places are others' from then on. */
#ifndef PRESCIENT_DEADLINE_H
#define PRESCIENT_DEADLINE_H

#include <stdint.h>
#include <time.h>
#include "../base/err.h"

struct deadline { timer_t timer; };

int deadline_open(struct deadline *d, struct err *err);
/* SIGKILL at this moment of CLOCK_BOOTTIME, which goes on while the machine is suspended; if it has
 * passed, at once. 0: not at all. */
void deadline_set(const struct deadline *d, int64_t boot_us);

#endif
