/* front.c - see front.h. */
#include "front.h"
#include "asked_metrics.h"
#include "route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../base/moment.h"
#include "browser.h"
#include "page.h"

#define S INT64_C(1000000)

static int64_t now_us(const struct front *f)
{
    return clock_mono_us(f->clock);
}

static int64_t wall_s(const struct front *f)
{
    return clock_wall_us(f->clock) / S;
}

void front_init(struct front *f, const struct settings *settings, struct log *log, const struct clock *clock,
                bool needs_tokens)
{
    *f = (struct front){ .settings = settings, .log = log, .clock = clock };
    f->gate.is_closed = needs_tokens;
}

void front_free(struct front *f)
{
    gate_free(&f->gate);
    bytes_free(&f->unready);
}

/* ---- the list of tokens ---- */

/* Once at the start, and when it changes. */
static void tell(struct front *f, bool was_closed)
{
    if (f->is_told && was_closed == f->gate.is_closed)
        return;
    f->is_told = true;
    if (!f->gate.is_closed)
        log_warn(f->log, "there are no tokens: whoever reaches this server may do all that it can; prescient "
                         "token new makes one");
    else if (!f->gate.n)
        log_warn(f->log, "there are no tokens, and nobody is let in: prescient token new makes one");
    else
        log_info(f->log, "who asks needs a token; there are %d", f->gate.n);
}

static void fails(struct front *f, int64_t asked_us)
{
    gate_fails(&f->gate, asked_us);
    f->ready = (struct ready){ .asked_us = asked_us, .failed = true };
}

void front_take_tokens(struct front *f, const struct answer *answer, int64_t asked_us)
{
    struct err err = { 0 };
    bool was_closed = f->gate.is_closed;
    bytes_take(&f->unready, f->unready.len);
    if (answer->status != HTTP_STATUS_OK) {     /* the process that was asked has logged why */
        bytes_add(&f->unready, answer->body, answer->body_len);
        fails(f, asked_us);
    } else if (gate_take(&f->gate, answer->body, answer->body_len, asked_us, &err) < 0) {
        log_error(f->log, "%s", err.text);
        fails(f, asked_us);
    } else {
        f->ready = (struct ready){ .asked_us = asked_us, .read_only = f->gate.store_reads_only };
        tell(f, was_closed);
    }
}

/* ---- who is held ---- */

void front_forget(struct front *f, struct connection *c)
{
    f->gate.held -= c->visit.is_held;
    c->visit.is_held = false;
}

/* Always false. So many wait at once, whoever asks. */
static bool hold_unknown(struct front *f, struct connection *c, int64_t until_us)
{
    if (f->gate.held >= GATE_HELD) {
        connection_refuse(c, PROBLEM_TOO_MANY, "", "too many requests with unknown tokens wait here; "
                          "ask again later");
        return false;
    }
    f->gate.held++;
    c->visit.is_held = true;
    connection_hold(c, until_us - now_us(f));
    return false;
}

static const struct { enum problem_type problem; const char *challenge, *detail; } refusals[] = {
    [GATE_AWAY] = { PROBLEM_AWAY, "", "who may ask is not known, as the store is away; send it again later" },
    [GATE_NOTHING] = { PROBLEM_NO_TOKEN, "WWW-Authenticate: Bearer realm=\"prescient\"\r\n",
                       "this needs a token: Authorization: Bearer TOKEN, or a session (POST /v1/login); "
                       "prescient token new makes one" },
    [GATE_OVER] = { PROBLEM_NO_TOKEN,
                    "WWW-Authenticate: Bearer realm=\"prescient\", error=\"invalid_token\"\r\n",
                    "the token or the session has expired" },
    [GATE_WRONG] = { PROBLEM_NO_TOKEN,
                     "WWW-Authenticate: Bearer realm=\"prescient\", error=\"invalid_token\"\r\n",
                     "there is no such token, or it was revoked" },
};

/* Who asks for metrics is told that the store is away, and no more: /readiness says that to all. */
static bool tell_away(struct connection *c)
{
    struct bytes out = { 0 };
    enum metrics_format format = metrics_format_wanted(c->request.headers[REQUEST_ACCEPT]);
    struct metrics_text t = { .out = &out, .format = format };
    metrics_of_store(&t, NULL, VERSION, NULL);
    metrics_end(&t);
    if (!t.has_failed)
        connection_answer(c, &(struct answer){ .status = 200, .body = out.data, .body_len = (uint32_t)out.len,
                                               .content = (uint16_t)asked_metrics_content(format) }, "");
    bytes_free(&out);
    return !t.has_failed;
}

/* Always false. */
static bool refuse(struct connection *c, enum gate_rc rc)
{
    bool wants_metrics = c->route >= 0 && route_table[c->route].has_counts;
    if (rc == GATE_AWAY && wants_metrics && tell_away(c))
        return false;
    connection_refuse(c, refusals[rc].problem, refusals[rc].challenge, "%s", refusals[rc].detail);
    return false;
}

/* The longer, the more often the same peer was wrong. */
static int64_t delay_us(struct front *f, const struct connection *c)
{
    return slow_failed(&f->gate.slow, c->peer, now_us(f));
}

/* False: it has been answered, or is held. */
static bool lets_in(struct front *f, struct connection *c, const struct gate_asks *asks)
{
    struct gate_visit *visit = &c->visit;
    int64_t now = now_us(f);
    front_forget(f, c);
    if (!visit->came_us)
        visit->came_us = now;
    if (visit->refused_at_us)
        return visit->refused_at_us > now ? hold_unknown(f, c, visit->refused_at_us) : refuse(c, GATE_WRONG);
    enum gate_rc rc = gate_judge(&f->gate, asks, now, wall_s(f), visit);
    if (rc == GATE_LETS_IN)
        return true;
    if (rc == GATE_WAITS) {
        connection_hold(c, visit->came_us + GATE_PATIENCE_US - now);
        return false;
    }
    if (rc == GATE_UNKNOWN)
        return hold_unknown(f, c, visit->came_us + GATE_PATIENCE_US);
    int64_t delay = rc == GATE_WRONG ? delay_us(f, c) : 0;
    if (!delay)
        return refuse(c, rc);
    visit->refused_at_us = now + delay;
    return hold_unknown(f, c, visit->refused_at_us);
}

/* ---- what a head is let in for ---- */

static bool is_change(const struct request *r)
{
    return r->method != HTTP_GET && r->method != HTTP_HEAD;
}

/* Why somebody who was let in may not do this; NULL: he may. */
static const char *forbids(const struct front *f, const struct connection *c, const struct route *row)
{
    enum browser_wish wish = row->at_front == front_login ? BROWSER_LOGIN : BROWSER_CHANGE;
    if (!token_role_may(c->visit.guest.role, row->access))
        return "the role of this token is too small for that";
    if (row->writes && f->settings->http_read_only)
        return ROUTE_READ_ONLY;
    return is_change(&c->request) ? browser_refuses(&c->request, &c->visit.guest, wish) : NULL;
}

static const char *name_cookie(const struct front *f, const struct connection *c, char out[SESSION_NAME])
{
    const char *base_path = f->settings->base_path ? f->settings->base_path : "";
    session_name(c->request.headers[REQUEST_HOST], base_path, out);
    return out;
}

bool front_lets_in(struct front *f, struct connection *c, const struct verdict_of_head *v)
{
    const char *const *headers = c->request.headers;
    char cookie_name[SESSION_NAME];
    if (v->problem == PROBLEM_FOREIGN_HOST && v->route < 0)
        return true;                /* and it is refused for that */
    bool is_for_all = v->row && v->row->access == ACCESS_ANYONE;
    struct gate_asks asks = { .authorization = headers[REQUEST_AUTHORIZATION],
                              .cookie = headers[REQUEST_COOKIE],
                              .cookie_name = name_cookie(f, c, cookie_name),
                              .needs_no_store = v->row && v->row->needs_no_store };
    if (!is_for_all && !lets_in(f, c, &asks))
        return false;
    const char *why = v->route >= 0 ? forbids(f, c, &route_table[v->route]) : NULL;
    if (why)
        connection_refuse(c, PROBLEM_NOT_ALLOWED, "", "%s", why);
    return !why;
}

/* ---- answers ---- */

static void answer(struct connection *c, json_t *body, const char *headers)
{
    char *text = problem_text(body);
    struct answer a = { .status = 200, .content = CONTENT_JSON, .body = text };
    if (text) {
        a.body_len = (uint32_t)strlen(text);
        connection_answer(c, &a, headers);
    } else {
        connection_refuse(c, PROBLEM_AWAY, "", "there is no memory for the answer; ask again later");
    }
    free(text);
}

void front_alive(struct front *f, struct connection *c)
{
    (void)f;
    answer(c, json_pack("{s:s}", "status", "alive"), "");
}

static void tell_unready(const struct front *f, struct connection *c)
{
    struct answer a = { .status = HTTP_STATUS_SERVICE_UNAVAILABLE, .content = CONTENT_PROBLEM,
                        .retry_after_s = problem_retry_s(PROBLEM_AWAY), .body = f->unready.data,
                        .body_len = (uint32_t)f->unready.len };
    if (f->unready.len)
        connection_answer(c, &a, "");
    else
        connection_refuse(c, PROBLEM_AWAY, "", "the store has not answered within %d s; ask again later",
                          (int)(READY_OLD_US / S));
}

void front_ready(struct front *f, struct connection *c)
{
    enum ready_rc rc = ready_judge(&f->ready, now_us(f), c->asked_us);
    if (rc == READY_WAITS)
        connection_hold(c, c->asked_us + READY_OLD_US - now_us(f));
    else if (rc == READY_YES)
        answer(c, json_pack("{s:s, s:b}", "status", "ready", "read_only", f->ready.read_only), "");
    else
        tell_unready(f, c);
}

void front_page(struct front *f, struct connection *c)
{
    const struct request *r = &c->request;
    const char *base = f->settings->base_path ? f->settings->base_path : "";
    const struct page *page = page_find(request_path_below(r, base));
    char headers[PAGE_HEADERS];
    struct answer answer = { .status = HTTP_STATUS_OK, .content = (uint16_t)page->content,
                             .body = page->bytes, .body_len = (uint32_t)page->len };
    if (page_is_known(page, r->headers[REQUEST_IF_NONE_MATCH]))
        answer.status = HTTP_STATUS_NOT_MODIFIED;
    connection_answer(c, &answer, page_headers(page, headers));
}

void front_session(struct front *f, struct connection *c)
{
    const struct gate_guest *guest = &c->visit.guest;
    const char *base_path = f->settings->base_path ? f->settings->base_path : "";
    const char *csrf = NULL, *until = NULL;
    char text[MOMENT_TEXT];
    if (guest->by == BY_SESSION) {
        csrf = guest->csrf;
        moment_format(guest->until_s, text);
        until = text;
    }
    answer(c, json_pack("{s:b, s:s, s:s, s:b, s:s, s:s?, s:s?}", "tokens", f->gate.is_closed,
                        "name", guest->name, "role", token_role_word(guest->role), "read_only",
                        f->settings->http_read_only, "base_path", base_path, "csrf_token", csrf,
                        "until", until), "");
}

/* ---- logging in and out ---- */

enum { COOKIE_HEADER = SESSION_NAME + SESSION_TEXT + 400 };

/* `value` "": the browser forgets it. A proxy that has TLS is seen by where the page comes from. */
static void cookie_header(const struct front *f, const struct connection *c, const char *value, int lasts_s,
                          char out[COOKIE_HEADER])
{
    const char *origin = c->request.headers[REQUEST_ORIGIN];
    const char *path = f->settings->base_path ? f->settings->base_path : "/";
    const char *secure = origin && browser_is_secure(origin) ? "; Secure" : "";
    char name[SESSION_NAME];
    snprintf(out, COOKIE_HEADER, "Set-Cookie: %s=%s; Path=%s; Max-Age=%d; HttpOnly; SameSite=Strict%s\r\n",
             name_cookie(f, c, name), value, path, lasts_s, secure);
}

/* "Bearer TOKEN" of {"token": TOKEN}, as the header has it; NULL: the body is none of these. */
static char *read_login(const struct request *r)
{
    char *out = NULL;
    const char *token;
    json_t *body = json_loadb(r->body.data ? r->body.data : "", r->body.len, JSON_REJECT_DUPLICATES, NULL);
    bool is_good = json_unpack(body, "{s:s !}", "token", &token) == 0;
    if (is_good && asprintf(&out, "Bearer %s", token) < 0)
        out = NULL;
    json_decref(body);
    return out;
}

static void log_in(struct front *f, struct connection *c, const char *token)
{
    struct session session;
    char text[SESSION_TEXT], header[COOKIE_HEADER];
    uint8_t random[SESSION_RANDOM];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        connection_refuse(c, PROBLEM_AWAY, "", "there are no random bytes; log in again later");
        return;
    }
    session_make(token, wall_s(f) + SESSION_LASTS_S, random, &session);
    session_text(&session, text);
    cookie_header(f, c, text, SESSION_LASTS_S, header);
    c->visit.guest.by = BY_SESSION;
    c->visit.guest.until_s = session_until_s(&session);
    session_csrf(&session, c->visit.guest.csrf);
    char until[MOMENT_TEXT];
    moment_format(c->visit.guest.until_s, until);
    answer(c, json_pack("{s:s, s:s, s:s, s:s}", "name", c->visit.guest.name, "role",
                        token_role_word(c->visit.guest.role), "csrf_token", c->visit.guest.csrf,
                        "until", until), header);
}

void front_login(struct front *f, struct connection *c)
{
    char *sent = read_login(&c->request), token[TOKEN_TEXT];
    if (!sent) {
        connection_refuse(c, PROBLEM_BAD_REQUEST, "", "expected {\"token\": \"" TOKEN_PREFIX "...\"}");
        return;
    }
    if (lets_in(f, c, &(struct gate_asks){ .authorization = sent })) {
        if (c->visit.guest.by == BY_TOKEN && token_of_header(sent, token))
            log_in(f, c, token);
        else
            connection_refuse(c, PROBLEM_CONFLICT, "", "there are no tokens, so nobody needs to log in");
    }
    free(sent);
}

/* The session itself ends with its time, or with its token: no server stores it. */
void front_logout(struct front *f, struct connection *c)
{
    char header[COOKIE_HEADER];
    cookie_header(f, c, "", 0, header);
    answer(c, json_pack("{s:b}", "logged_out", 1), header);
}
