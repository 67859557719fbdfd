/* browser.h - a change that a browser asks for comes from a page of this server: what another
 * site's page makes a browser send is refused. Pure. */
#ifndef PRESCIENT_HTTP_BROWSER_H
#define PRESCIENT_HTTP_BROWSER_H

#include "gate.h"
#include "request.h"

/* Whether the origin, "https://shop.example:8443", is that of the host "shop.example:8443". */
bool browser_is_ours(const char *origin, const char *host);
/* Whether pages of that origin come over TLS: a proxy in front of this server has it. */
bool browser_is_secure(const char *origin);

enum browser_wish { BROWSER_CHANGE, BROWSER_LOGIN };

/* Why a change is refused; NULL: it is not. A token in the header Authorization is sent by no page
 * of another site, so nothing is asked of that. */
const char *browser_refuses(const struct request *r, const struct gate_guest *guest, enum browser_wish wish);

#endif
