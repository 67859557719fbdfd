/* peer.h - the last look at where a request goes: at the address itself that is connected, whatever
 * was looked up. */
#ifndef PRESCIENT_SHARED_PEER_H
#define PRESCIENT_SHARED_PEER_H

#include <curl/curl.h>

#include "address.h"

/* From now on no request of this handle is sent to an address that the rules refuse, on a new
 * connection or on one that is used again: it ends as CURLE_COULDNT_CONNECT, or as
 * CURLE_ABORTED_BY_CALLBACK. The rules are the caller's, and live as long as the handle. */
void peer_watch(CURL *curl, const struct address_rules *rules);

#endif
