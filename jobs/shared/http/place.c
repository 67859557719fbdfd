/* place.c - libcurl reads URLs, as it is libcurl that follows them: two readers could differ. */
#include "place.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int take_parts(struct place *p, CURLU *url)
{
    char *scheme = NULL, *host = NULL, *port = NULL;
    if (!curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) && !curl_url_get(url, CURLUPART_HOST, &host, 0) &&
        !curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT)) {
        p->host = strdup(host);
        p->port = atoi(port);
        if (asprintf(&p->receiver, "%s://%s:%s", scheme, host, port) < 0)
            p->receiver = NULL;
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    return p->host && p->receiver ? 0 : -1;
}

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool has = !curl_url_get(url, part, &text, 0);
    curl_free(text);
    return has;
}

/* NULL, or what is wrong. */
static const char *read_parts(struct place *p, CURLU *url)
{
    if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
        return "expected no user and no password in it; send them as a header";
    return take_parts(p, url) ? "it has no host" : NULL;
}

int place_read(struct place *p, const char *url, char *why, size_t why_size)
{
    *p = (struct place){ .receiver = NULL };
    if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0) {
        snprintf(why, why_size, "expected a URL that begins with http:// or https://");
        return -1;
    }
    CURLU *parts = curl_url();
    CURLUcode rc = parts ? curl_url_set(parts, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
    const char *wrong = rc ? NULL : read_parts(p, parts);
    if (rc)
        snprintf(why, why_size, "it is no URL: %s", curl_url_strerror(rc));
    else if (wrong)
        snprintf(why, why_size, "%s", wrong);
    curl_url_cleanup(parts);
    return rc || wrong ? -1 : 0;
}

void place_release(struct place *p)
{
    free(p->receiver);
    free(p->host);
    *p = (struct place){ .receiver = NULL };
}

static bool is_same_part(CURLU *a, CURLU *b, CURLUPart part)
{
    char *x = NULL, *y = NULL;
    bool same = !curl_url_get(a, part, &x, CURLU_DEFAULT_PORT) &&
                !curl_url_get(b, part, &y, CURLU_DEFAULT_PORT) && !strcasecmp(x, y);
    curl_free(x);
    curl_free(y);
    return same;
}

bool place_is_same(const char *url, const char *other_url)
{
    CURLU *x = curl_url(), *y = curl_url();
    bool same = x && y && !curl_url_set(x, CURLUPART_URL, url, 0) &&
                !curl_url_set(y, CURLUPART_URL, other_url, 0) && is_same_part(x, y, CURLUPART_SCHEME) &&
                is_same_part(x, y, CURLUPART_HOST) && is_same_part(x, y, CURLUPART_PORT);
    curl_url_cleanup(x);
    curl_url_cleanup(y);
    return same;
}
