/* histogram.c - see histogram.h. Up to 7 us a class has one value; from there on the classes of a
 * doubling are twice as wide as those of the one before. */
#include "histogram.h"

enum { PARTS = 8, PART_BITS = 3 };      /* of a doubling */

int histogram_class(int64_t us)
{
    if (us < PARTS)
        return us < 0 ? 0 : (int)us;
    int width_bits = 63 - __builtin_clzll((unsigned long long)us) - PART_BITS;
    int class = PARTS * (width_bits + 1) + (int)(us >> width_bits) - PARTS;
    return class < HISTOGRAM_CLASSES ? class : HISTOGRAM_CLASSES - 1;
}

int64_t histogram_middle_us(int class)
{
    if (class < PARTS)
        return class;
    int64_t width = INT64_C(1) << (class / PARTS - 1);
    return (PARTS + class % PARTS) * width + width / 2;
}

enum { FIRST_BOUND_BITS = 10 };

int histogram_bound(int class)
{
    int bits = class < PARTS ? PART_BITS : class / PARTS + PART_BITS;      /* less than 1 << bits */
    int bound = bits > FIRST_BOUND_BITS ? bits - FIRST_BOUND_BITS : 0;
    return bound < HISTOGRAM_BOUNDS ? bound : HISTOGRAM_BOUNDS;
}

int64_t histogram_bound_us(int bound)
{
    return INT64_C(1) << (FIRST_BOUND_BITS + bound);
}
