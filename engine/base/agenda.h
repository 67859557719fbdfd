/* agenda.h - when something must be done next: alarms, and which of them rings first. An alarm is a
 * member of what it belongs to, so that setting one takes no memory and cannot fail: the agenda is
 * a pairing heap, whose links are in the alarms. */
#ifndef PRESCIENT_AGENDA_H
#define PRESCIENT_AGENDA_H

#include <stdint.h>

struct alarm {                      /* all zero: not set */
    int64_t at_us;
    /* in the heap: `before` is the parent of the first child, and else the sibling before */
    struct alarm *before, *after, *child;
};

struct agenda { struct alarm *first; };

/* Sets it, or moves it. INT64_MAX: it is not set any more. An alarm is in one agenda at most, and
 * is unset before its memory goes. */
void agenda_set(struct agenda *agenda, struct alarm *alarm, int64_t at_us);
void agenda_unset(struct agenda *agenda, struct alarm *alarm);

/* when the first one rings; INT64_MAX: none is set */
static inline int64_t agenda_next_us(const struct agenda *agenda)
{
    return agenda->first ? agenda->first->at_us : INT64_MAX;
}

/* Those that have rung by `now_us` are not set any more: their owners are about to be looked at. */
void agenda_ring(struct agenda *agenda, int64_t now_us);

#endif
