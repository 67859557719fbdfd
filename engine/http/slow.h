/* slow.h - who tries tokens that are wrong is answered more and more slowly. Time is a parameter.
 * Pure. */
#ifndef PRESCIENT_HTTP_SLOW_H
#define PRESCIENT_HTTP_SLOW_H

#include <stdint.h>
#include <sys/socket.h>

/* Of each peer so many in a row are answered at once, and of so many peers it is known. */
enum { SLOW_FREE = 5, SLOW_PEERS = 256 };

#define SLOW_FIRST_US (INT64_C(250) * 1000)
#define SLOW_MOST_US (INT64_C(4) * 1000 * 1000)
/* Who has failed for the last time so long ago begins anew. */
#define SLOW_FORGETS_US (INT64_C(60) * 1000 * 1000)

struct slow_peer {
    uint64_t who;
    int failures;                   /* 0: nobody */
    int64_t last_us;
};

struct slow { struct slow_peer peers[SLOW_PEERS]; };        /* all zero: nobody has failed */

/* An IPv4 address, also one that comes to a socket of IPv6; the first half of an IPv6 address; or
 * all who come over a socket file. */
uint64_t slow_who(const struct sockaddr *peer);

/* One more has failed; returns how long its answer is to wait. */
int64_t slow_failed(struct slow *s, uint64_t who, int64_t now_us);

#endif
