/* turns.h - whose turn it is, where several wait for the same workers: each has a tag, the time it
 * was given so far, divided by its weight; the least goes next. Who had nothing to wait with comes
 * back beside the others, and not before them: rest earns nothing. (Start-time fair queueing.) No
 * clock. */
#ifndef PRESCIENT_TURNS_H
#define PRESCIENT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct turns {
    int n;
    int64_t *tags;                  /* n of them; all 0 at first */
    const int32_t *weights;         /* n of them, from 1 on; NULL: all are 1 */
    int64_t reached;                /* the least tag of those that waited last */
};

int64_t turns_tag(const struct turns *t, int who);
/* The one with the least tag among those that wait; -1: nobody does. */
int turns_next(const struct turns *t, const bool *waits);
/* The least tag of those that wait is known: nobody starts below it. */
void turns_reach(struct turns *t, int64_t tag);
/* What so much time adds to a tag. */
int64_t turns_cost(int32_t weight, int64_t us);
/* It gets so much time now, or (where less was used than it was given) so much back. */
void turns_give(struct turns *t, int who, int64_t us);

#endif
