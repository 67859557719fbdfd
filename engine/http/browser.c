/* browser.c - see browser.h. */
#include "browser.h"

#include <nettle/memops.h>
#include <string.h>
#include <strings.h>

static const struct { const char *text, *port; bool is_secure; } schemes[] = {
    { "http://", ":80", false }, { "https://", ":443", true },
};

enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* -1: it is none of them ("null", an extension). */
static int scheme_of(const char *origin)
{
    for (int i = 0; i < SCHEMES; i++)
        if (!strncmp(origin, schemes[i].text, strlen(schemes[i].text)))
            return i;
    return -1;
}

/* Without the port that the scheme has anyway. */
static size_t significant(const char *authority, const char *port)
{
    size_t len = strlen(authority), tail = strlen(port);
    bool has_port = len >= tail && !strcmp(authority + len - tail, port);
    return has_port ? len - tail : len;
}

bool browser_is_ours(const char *origin, const char *host)
{
    int i = scheme_of(origin);
    if (i < 0)
        return false;
    const char *authority = origin + strlen(schemes[i].text);
    size_t len = significant(authority, schemes[i].port);
    return len && len == significant(host, schemes[i].port) && !strncasecmp(authority, host, len);
}

bool browser_is_secure(const char *origin)
{
    int i = scheme_of(origin);
    return i >= 0 && schemes[i].is_secure;
}

static bool is_same_text(const char *a, const char *b)
{
    size_t len = strlen(a);
    return len == strlen(b) && memeql_sec(a, b, len);
}

const char *browser_refuses(const struct request *r, const struct gate_guest *guest, enum browser_wish wish)
{
    const char *origin = r->headers[REQUEST_ORIGIN], *host = r->headers[REQUEST_HOST];
    const char *site = r->headers[REQUEST_SEC_FETCH_SITE], *csrf = r->headers[REQUEST_CSRF_TOKEN];
    if (guest->by == BY_TOKEN)
        return NULL;
    if (origin && (!host || !browser_is_ours(origin, host)))
        return "the header Origin is that of another site";
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return "a page of another site has asked for this (Sec-Fetch-Site)";
    if (!origin && (guest->by == BY_SESSION || wish == BROWSER_LOGIN))
        return "the header Origin is missing: sessions are for browsers; a program sends its token as "
               "Authorization: Bearer TOKEN";
    if (guest->by == BY_SESSION && (!csrf || !is_same_text(csrf, guest->csrf)))
        return "the header X-CSRF-Token is missing, or not the csrf_token of GET /v1/session";
    return NULL;
}
