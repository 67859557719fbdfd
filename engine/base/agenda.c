/* agenda.c - a pairing heap: setting an alarm is a comparison, taking the first one out is cheap in
 * the long run. */
#include "agenda.h"

#include <stdbool.h>
#include <stddef.h>

/* Of two heaps the one that rings later becomes the first child of the other. */
static struct alarm *join(struct alarm *a, struct alarm *b)
{
    if (!a || !b)
        return a ? a : b;
    if (b->at_us < a->at_us) {
        struct alarm *earlier = b;
        b = a;
        a = earlier;
    }
    b->before = a;
    b->after = a->child;
    if (a->child)
        a->child->before = b;
    a->child = b;
    a->before = a->after = NULL;
    return a;
}

/* One heap of a list of them: in pairs from its beginning, then all pairs from its end. */
static struct alarm *join_all(struct alarm *list)
{
    struct alarm *pairs = NULL, *all = NULL;
    while (list) {
        struct alarm *a = list, *b = a->after;
        list = b ? b->after : NULL;
        a = join(a, b);
        a->after = pairs;
        pairs = a;
    }
    while (pairs) {
        struct alarm *a = pairs;
        pairs = a->after;
        a->after = NULL;
        all = join(all, a);
    }
    return all;
}

static void take_out(struct agenda *agenda, struct alarm *alarm)
{
    struct alarm *children = join_all(alarm->child);
    if (agenda->first == alarm)
        agenda->first = children;
    else {
        struct alarm *before = alarm->before;
        if (before->child == alarm)
            before->child = alarm->after;
        else
            before->after = alarm->after;
        if (alarm->after)
            alarm->after->before = before;
        agenda->first = join(agenda->first, children);
    }
    if (agenda->first)
        agenda->first->before = agenda->first->after = NULL;
    *alarm = (struct alarm){ 0 };
}

void agenda_unset(struct agenda *agenda, struct alarm *alarm)
{
    if (alarm->before || agenda->first == alarm)
        take_out(agenda, alarm);
}

void agenda_set(struct agenda *agenda, struct alarm *alarm, int64_t at_us)
{
    bool is_set = alarm->before || agenda->first == alarm;
    if (is_set && alarm->at_us == at_us)
        return;
    if (is_set)
        take_out(agenda, alarm);
    if (at_us == INT64_MAX)
        return;
    *alarm = (struct alarm){ .at_us = at_us };
    agenda->first = join(agenda->first, alarm);
}

void agenda_ring(struct agenda *agenda, int64_t now_us)
{
    while (agenda->first && agenda->first->at_us <= now_us)
        take_out(agenda, agenda->first);
}
