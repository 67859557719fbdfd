/* slow.c - see slow.h. */
#include "slow.h"

#include <netinet/in.h>
#include <string.h>

/* As a network of IPv6 that nobody has. */
static uint64_t who_of_v4(const void *address)
{
    uint8_t bytes[sizeof(uint64_t)] = { [3] = 1 };
    uint64_t who;
    memcpy(bytes + 4, address, 4);
    memcpy(&who, bytes, sizeof who);
    return who;
}

uint64_t slow_who(const struct sockaddr *peer)
{
    uint64_t who = 0;
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)peer)->sin6_addr;
    if (peer->sa_family == AF_INET)
        who = who_of_v4(&((const struct sockaddr_in *)peer)->sin_addr);
    else if (peer->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(v6))
        who = who_of_v4(v6->s6_addr + 12);      /* as such a peer comes to [::] */
    else if (peer->sa_family == AF_INET6)
        memcpy(&who, v6, sizeof who);
    return who;
}

/* Its row; else that of who has failed for the last time longest ago. */
static struct slow_peer *find(struct slow *s, uint64_t who)
{
    struct slow_peer *oldest = &s->peers[0];
    for (int i = 0; i < SLOW_PEERS; i++) {
        struct slow_peer *p = &s->peers[i];
        if (p->failures && p->who == who)
            return p;
        if (p->last_us < oldest->last_us)
            oldest = p;
    }
    return oldest;
}

int64_t slow_failed(struct slow *s, uint64_t who, int64_t now_us)
{
    struct slow_peer *p = find(s, who);
    if (p->who != who || now_us - p->last_us >= SLOW_FORGETS_US)
        p->failures = 0;
    p->who = who;
    p->last_us = now_us;
    if (p->failures < INT32_MAX)
        p->failures++;
    int64_t delay_us = 0;
    for (int i = SLOW_FREE; i < p->failures && delay_us < SLOW_MOST_US; i++)
        delay_us = delay_us ? 2 * delay_us : SLOW_FIRST_US;
    return delay_us < SLOW_MOST_US ? delay_us : SLOW_MOST_US;
}
