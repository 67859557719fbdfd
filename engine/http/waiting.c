/* waiting.c - see waiting.h. */
#include "waiting.h"

void waiting_init(struct waiting *w)
{
    w->first = NULL;
    w->end = &w->first;
}

void waiting_put(struct waiting *w, struct connection *c)
{
    c->next_waiting = NULL;
    *w->end = c;
    w->end = &c->next_waiting;
}

struct connection *waiting_take(struct waiting *w)
{
    struct connection *c = w->first;
    w->first = c->next_waiting;
    if (!w->first)
        w->end = &w->first;
    return c;
}

void waiting_drop(struct waiting *w, const struct connection *c)
{
    struct connection **at = &w->first;
    while (*at && *at != c)
        at = &(*at)->next_waiting;
    if (!*at)
        return;
    struct connection *instead = c->sharers;
    *at = instead ? instead : c->next_waiting;
    if (instead)
        instead->next_waiting = c->next_waiting;
    if (w->end == &c->next_waiting)
        w->end = instead ? &instead->next_waiting : at;
}

void sharers_join(struct connection *leads, struct connection *c)
{
    c->sharers = leads->sharers;
    leads->sharers = c;
}

struct connection *sharers_take(struct connection *c)
{
    struct connection *next = c->sharers;
    c->sharers = NULL;
    return next;
}

void sharers_drop(struct connection *leads, const struct connection *c)
{
    for (struct connection *at = leads; at; at = at->sharers)
        if (at->sharers == c) {
            at->sharers = c->sharers;
            return;
        }
}
