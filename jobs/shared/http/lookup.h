/* lookup.h - the addresses of hosts, in a time that we set: a name server may be silent. */
#ifndef PRESCIENT_SHARED_LOOKUP_H
#define PRESCIENT_SHARED_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>

#include "address.h"

/* Nothing has to be looked up: the host is an address, which is copied, without brackets. */
bool lookup_is_address(const char *host, char *out, size_t size);

struct lookup_wish {
    const char *host;
    int port;
    /* What becomes of it, to be freed: "HOST:PORT:ADDRESS,ADDRESS", as CURLOPT_RESOLVE takes it, or
     * why there is none. Both NULL: it was not looked up, since the others took the time. */
    char *addresses, *why;
};

/* Looks up all of them, some at a time, in `timeout_ms` altogether. Each has so long; where they
 * are many, half of it, so that some that are silent do not take the time of the others. With
 * rules, addresses that they refuse are left out. */
void lookup_all(struct lookup_wish *wishes, int n, long timeout_ms, const struct address_rules *rules);

#endif
