/* place.h - where a URL leads: scheme, host and port. Only http and https, and nobody's name or
 * password in it. */
#ifndef PRESCIENT_SHARED_PLACE_H
#define PRESCIENT_SHARED_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct place {
    char *receiver;                     /* "https://example.com:443": what errors may name of it */
    char *host;                         /* an address of IPv6 is in brackets */
    int port;
};

/* 0, or -1 with words in `why`, such as "it is no URL: ..."; they have nothing of the URL, which
 * may be secret. place_release in both cases. */
int place_read(struct place *p, const char *url, char *why, size_t why_size);
void place_release(struct place *p);

/* Both lead to the same scheme, host and port. */
bool place_is_same(const char *url, const char *other_url);

#endif
