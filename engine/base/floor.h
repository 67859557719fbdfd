/* floor.h - division that rounds down, for moments before 1970 too; what is left is never negative.
 * The divisor is positive. */
#ifndef PRESCIENT_FLOOR_H
#define PRESCIENT_FLOOR_H

#include <stdint.h>

static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static inline int64_t floor_mod(int64_t a, int64_t b)
{
    return a % b + (a % b < 0 ? b : 0);
}

#endif
