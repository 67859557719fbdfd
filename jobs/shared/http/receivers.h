/* receivers.h - the hosts that a job sends to: their addresses, and when nothing is sent to
 * them. */
#ifndef PRESCIENT_SHARED_RECEIVERS_H
#define PRESCIENT_SHARED_RECEIVERS_H

#include <curl/curl.h>

#include "address.h"
#include "hold.h"
#include "place.h"

enum { RECEIVERS_MAX = 1024 }; /* a batch has no more checks */

struct receiver {
    struct place place;
    struct hold hold;
    struct curl_slist *addresses; /* as CURLOPT_RESOLVE takes them; NULL: none are needed */
    char *why;                    /* it has no addresses: why; else NULL */
    long batch;                   /* the last in which it was wanted */
    bool is_wanted, is_looked_up; /* in that one */
    bool is_asked;                /* receivers_look_up's own */
};

struct receivers {
    struct receiver **list;
    int n;
    long batch;                        /* counts them */
    const struct address_rules *rules; /* of addresses; NULL: all may be used */
    bool are_looked_up;                /* false: a proxy does that */
};

/* What was looked up before is looked up again. */
void receivers_begin_batch(struct receivers *r);
/* The one at this place; what it had is taken from `place`. NULL: out of memory. It stays until a
 * later batch. */
struct receiver *receivers_find(struct receivers *r, struct place *place);
/* Looks up all that are wanted (is_wanted), at the same time, in `timeout_ms` altogether. One that
 * is not looked up then had no time for it. */
void receivers_look_up(struct receivers *r, long timeout_ms);
void receivers_release(struct receivers *r);

#endif
