/* turns.c - tags of those that share workers. */
#include "turns.h"

#include <stddef.h>

enum { SCALE = 1000 };              /* of a weight: what is divided stays more than a few bits long */

int64_t turns_tag(const struct turns *t, int who)
{
    return t->tags[who] > t->reached ? t->tags[who] : t->reached;
}

int turns_next(const struct turns *t, const bool *waits)
{
    int next = -1;
    for (int i = 0; i < t->n; i++) {
        bool is_before = waits[i] && (next < 0 || turns_tag(t, i) < turns_tag(t, next));
        if (is_before)
            next = i;
    }
    return next;
}

void turns_reach(struct turns *t, int64_t tag)
{
    if (tag > t->reached)
        t->reached = tag;
}

int64_t turns_cost(int32_t weight, int64_t us)
{
    return us * SCALE / weight;
}

void turns_give(struct turns *t, int who, int64_t us)
{
    if (us > 0)
        t->tags[who] = turns_tag(t, who);
    t->tags[who] += turns_cost(t->weights ? t->weights[who] : 1, us);
}
