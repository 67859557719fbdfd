/* transport.h - how the requests of a job go, each alike: certificates, proxy, times, how many. */
#ifndef PRESCIENT_SHARED_TRANSPORT_H
#define PRESCIENT_SHARED_TRANSPORT_H

#include <curl/curl.h>

#include "../settings/settings.h"

struct transport {                      /* texts are the host's */
    const char *ca_file, *cert, *key;   /* or NULL */
    const char *proxy;                  /* "": none */
    int in_flight;                      /* requests of a worker at a time */
    int response_max;                   /* bytes of a response that are read */
    int redirects;                      /* that are followed */
    long timeout_ms, connect_timeout_ms;
};

/* The settings ca_file, cert, key, proxy, in_flight, connect_timeout, response_max, redirects. 0,
 * or -1 with words. */
int transport_read(struct transport *t, const struct settings *s);

/* Certificates, proxy and connect_timeout; TLS is always verified. */
void transport_apply(const struct transport *t, CURL *curl);

#endif
