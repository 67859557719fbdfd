/* clients.h - all clients of a server: who is here, who makes room for others, and whose share is
 * used up. Pure. */
#ifndef PRESCIENT_HTTP_CLIENTS_H
#define PRESCIENT_HTTP_CLIENTS_H

#include "connection.h"

/* A client is given so long to say something before another one may have its place. */
#define CLIENTS_FRESH_US (INT64_C(100) * 1000)

struct clients {
    struct connection *first;       /* the newest; each has the next one in `after` */
    int n, most;
};

void clients_add(struct clients *all, struct connection *c);
void clients_remove(struct clients *all, struct connection *c);

/* Who has said nothing for the longest time makes room: thousands that are held open keep nobody
 * out. NULL: none may go. */
struct connection *clients_idlest(const struct clients *all, int64_t now_us);

/* Whether one more request of this client's peer may be under way. `bound`: how many of each peer;
 * 0: as many as there is room for. */
bool clients_have_share(const struct clients *all, const struct connection *c, int bound);
/* Whether it may wait for events beside those who do. */
bool clients_may_follow(const struct clients *all, const struct connection *c);

#endif
