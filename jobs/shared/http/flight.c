/* flight.c - the options of libcurl for one request. A handle is used again for the next one: its
 * connection is kept by the multi handle. */
#include "flight.h"

#include <stdlib.h>
#include <string.h>

#include "place.h"

/* ---- what comes back ---- */

static size_t take_head(char *line, size_t size, size_t n, void *ctx)
{
    struct flight *f = ctx;
    response_line(&f->response, line, size * n);
    return size * n;
}

static bool make_room(struct flight *f, size_t wanted)
{
    if (wanted <= f->room)
        return true;
    size_t room = f->room ? f->room * 2 : 2048;
    while (room < wanted)
        room *= 2;
    char *more = realloc(f->body, room);
    if (!more)
        return false;
    f->body = more;
    f->room = room;
    return true;
}

/* Ends the transfer where enough was read: a response may have no end. */
static size_t take_body(char *bytes, size_t size, size_t n, void *ctx)
{
    struct flight *f = ctx;
    size_t len = size * n, fits = f->most - f->len;
    f->is_cut = len > fits;
    if (f->is_cut)
        len = fits;
    if (!make_room(f, f->len + len + 1))
        return 0;
    memcpy(f->body + f->len, bytes, len);
    f->len += len;
    return f->is_cut ? 0 : size * n;
}

/* ---- the request ---- */

int flight_add_header(struct flight *f, const char *line)
{
    struct curl_slist *more = curl_slist_append(f->headers, line);
    if (more)
        f->headers = more;
    return more ? 0 : -1;
}

/* Without "Expect", a receiver is not asked first whether it wants the body. */
int flight_begin(struct flight *f)
{
    curl_slist_free_all(f->headers);
    f->headers = NULL;
    free(f->sent);
    f->sent = NULL;
    if (f->curl)
        curl_easy_reset(f->curl);
    else
        f->curl = curl_easy_init();
    if (!f->curl || flight_add_header(f, "Expect:") || flight_add_header(f, "User-Agent: prescient"))
        return -1;
    return 0;
}

static void expect(struct flight *f)
{
    CURL *c = f->curl;
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, f->timeout_ms);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_head);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, f);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, f);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, f->error);
    curl_easy_setopt(c, CURLOPT_PRIVATE, f);
}

static void forget_response(struct flight *f)
{
    f->response = (struct response){ .status = 0 };
    f->len = 0;
    f->is_cut = false;
    f->error[0] = '\0';
}

int flight_prepare(struct flight *f, const struct transport *t, const struct flight_request *request)
{
    f->redirects = 0;
    f->left_ms = f->timeout_ms;
    f->waited_ms = 0;
    f->most = (size_t)t->response_max;
    forget_response(f);
    expect(f);
    transport_apply(t, f->curl);
    curl_easy_setopt(f->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    if (request->body) {
        curl_easy_setopt(f->curl, CURLOPT_POSTFIELDS, request->body);
        curl_easy_setopt(f->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
    }
    curl_easy_setopt(f->curl, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, f->headers);
    curl_easy_setopt(f->curl, CURLOPT_RESOLVE, request->addresses);
    return curl_easy_setopt(f->curl, CURLOPT_URL, request->url) ? -1 : 0;
}

/* ---- redirects ---- */

/* What a redirect of 307 or 308 has always meant, and what 301 and 302 mean here. */
static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 307 || status == 308;
}

bool flight_redirect(struct flight *f, const struct transport *t, long took_ms)
{
    char *to = NULL, *from = NULL;
    if (!f->response.has_come || !is_redirect(f->response.status))
        return false;
    if (f->redirects >= t->redirects || took_ms >= f->timeout_ms)
        return false;
    curl_easy_getinfo(f->curl, CURLINFO_REDIRECT_URL, &to);
    curl_easy_getinfo(f->curl, CURLINFO_EFFECTIVE_URL, &from);
    if (!to || !from || !place_is_same(from, to) || curl_easy_setopt(f->curl, CURLOPT_URL, to))
        return false;
    f->left_ms = f->timeout_ms - took_ms;
    curl_easy_setopt(f->curl, CURLOPT_TIMEOUT_MS, f->left_ms);
    f->redirects++;
    forget_response(f);
    return true;
}

/* libcurl counts from the beginning of the transfer, and reads both whenever it looks. */
void flight_wait(struct flight *f, const struct transport *t, long ms)
{
    f->timeout_ms += ms;
    f->left_ms += ms;
    f->waited_ms += ms;
    curl_easy_setopt(f->curl, CURLOPT_TIMEOUT_MS, f->left_ms);
    curl_easy_setopt(f->curl, CURLOPT_CONNECTTIMEOUT_MS, t->connect_timeout_ms + f->waited_ms);
}

void flight_release(struct flight *f)
{
    curl_easy_cleanup(f->curl);
    curl_slist_free_all(f->headers);
    free(f->body);
    free(f->sent);
    *f = (struct flight){ .place = -1 };
}
