/* clients.c - see clients.h. */
#include "clients.h"

#include "share.h"

void clients_add(struct clients *all, struct connection *c)
{
    c->after = all->first;
    if (all->first)
        all->first->before = c;
    all->first = c;
    all->n++;
}

void clients_remove(struct clients *all, struct connection *c)
{
    if (c->before)
        c->before->after = c->after;
    else
        all->first = c->after;
    if (c->after)
        c->after->before = c->before;
    all->n--;
}

struct connection *clients_idlest(const struct clients *all, int64_t now_us)
{
    struct connection *idlest = NULL;
    for (struct connection *c = all->first; c; c = c->after)
        if (connection_may_go(c) && (!idlest || c->since_us < idlest->since_us))
            idlest = c;
    bool is_fresh = idlest && now_us - idlest->since_us < CLIENTS_FRESH_US;
    return is_fresh ? NULL : idlest;
}

/* Others' requests that are under way: those that nobody is let go for. */
static void count_requests(const struct clients *all, const struct connection *but, int *taken, int *own)
{
    *taken = *own = 0;
    for (const struct connection *c = all->first; c; c = c->after) {
        bool is_one = c != but && c->state != CONNECTION_OVER && !connection_may_go(c);
        *taken += is_one;
        *own += is_one && c->peer == but->peer;
    }
}

/* Nobody is counted while there is room for all who are here. */
bool clients_have_share(const struct clients *all, const struct connection *c, int bound)
{
    int taken, own;
    if (!bound && share_is_left(all->most, all->n, all->n))
        return true;
    count_requests(all, c, &taken, &own);
    return share_is_left(all->most, taken, own) && !(bound && own >= bound);
}

bool clients_may_follow(const struct clients *all, const struct connection *one)
{
    int taken = 0, own = 0;
    for (const struct connection *c = all->first; c; c = c->after) {
        taken += follow_is_on(&c->follow);
        own += follow_is_on(&c->follow) && c->peer == one->peer;
    }
    return share_is_left(FOLLOW_MOST, taken, own);
}
