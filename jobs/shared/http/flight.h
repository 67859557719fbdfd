/* flight.h - one request on its way: what is sent, and what comes back. */
#ifndef PRESCIENT_SHARED_FLIGHT_H
#define PRESCIENT_SHARED_FLIGHT_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "response.h"
#include "transport.h"

struct flight {                         /* all 0 but `place`: ready to be used */
    CURL *curl;
    struct curl_slist *headers;
    char *sent;                         /* the body, when it is freed with the request; or NULL */
    int place;                          /* of its check; -1: it is free */
    int redirects;                      /* followed so far */
    int64_t began_us;
    long timeout_ms;                    /* from then on, with its redirects */
    long left_ms, waited_ms;            /* since the last redirect; of flight_wait */
    struct response response;
    char *body;                         /* of the response; may be NULL */
    size_t len, room, most;
    bool is_cut;                        /* it had more than `most` bytes */
    char error[CURL_ERROR_SIZE];
};

struct flight_request {
    const char *url, *method;
    const char *body;                   /* NULL: it has none; else it lives until the request is over */
    size_t body_len;
    struct curl_slist *addresses;       /* of the host, as CURLOPT_RESOLVE takes them */
};

/* A request begins without headers: add them, then prepare it. 0, or -1: out of memory. */
int flight_begin(struct flight *f);
int flight_add_header(struct flight *f, const char *line);
/* Makes it ready, to be over within f->timeout_ms. 0, or -1: out of memory. */
int flight_prepare(struct flight *f, const struct transport *t, const struct flight_request *request);

/* It was redirected to where the same request may be sent again, after `took_ms`: now it would go
 * there. */
bool flight_redirect(struct flight *f, const struct transport *t, long took_ms);

/* It was not looked at for so long: that is no part of its time. */
void flight_wait(struct flight *f, const struct transport *t, long ms);

void flight_release(struct flight *f);

#endif
