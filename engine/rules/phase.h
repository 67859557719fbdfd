/* phase.h - over which seconds of a full slot its checks come up (`prescient pace`). A slot has 64
 * parts, which begin one after the other, and a check is of the part that bucket_of() of its row
 * names. So it comes up as long after its slot has begun as it did in the slot before. Pure. */
#ifndef PRESCIENT_PHASE_H
#define PRESCIENT_PHASE_H

#include <stdint.h>

enum { PHASES = 64 };

/* How many seconds after its slot the part 0 to 63 begins, if a slot is spread over `pace_s`
 * seconds; 0: it is not spread. */
int32_t phase_begins_s(int phase, int32_t pace_s);
/* How many parts have begun so many seconds after the slot: 1 to 64. */
int phases_begun(int64_t into_s, int32_t pace_s);

#endif
