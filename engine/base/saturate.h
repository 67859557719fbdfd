/* saturate.h - sums of moments that stop at the ends of int64_t instead of overflowing. */
#ifndef PRESCIENT_SATURATE_H
#define PRESCIENT_SATURATE_H

#include <stdint.h>

static inline int64_t saturate_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t saturate_sub(int64_t a, int64_t b)
{
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

#endif
