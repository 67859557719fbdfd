/* pace.h - how long checks take here, and from how many on a slot is worth splitting. */
#ifndef PRESCIENT_PACE_H
#define PRESCIENT_PACE_H

#include <stdint.h>

/* Answers of workers, and what the last hundred or so of them took, in 64ths of a microsecond. */
struct pace { int64_t seen, mean_run_us64; };

void pace_add(struct pace *pace, int64_t run_us);

/* From how many checks on a slot is split; `split_at` is the setting. Leases, settles and ends of
 * 64 parts cost as much as thousands of quick checks. Once checks are known to be quick, a slot
 * that one engine could run in a fifth of a second is not split, up to ten times the setting. */
int pace_split_at(const struct pace *pace, int split_at);

#endif
