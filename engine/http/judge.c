/* judge.c - see judge.h. */
#include "judge.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../base/utf8.h"

static bool refuse(struct verdict_of_head *v, enum problem_type problem, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Always false. */
static bool refuse(struct verdict_of_head *v, enum problem_type problem, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(v->detail, sizeof v->detail, fmt, ap);
    va_end(ap);
    v->problem = problem;
    v->route = -1;
    return false;
}

/* ---- host ---- */

enum { HOST_MAX = 255 };

/* Nothing, or ":8080". */
static bool is_port(const char *text)
{
    return !*text || (*text == ':' && !text[1 + strspn(text + 1, "0123456789")]);
}

/* "[::1]:8080" without its port and brackets. False: it is no name. */
static bool host_name(const char *host, char out[HOST_MAX + 1])
{
    bool is_v6 = *host == '[';
    const char *from = host + is_v6;
    size_t len = strcspn(from, is_v6 ? "]" : ":");
    const char *rest = from + len;
    if (len > HOST_MAX || (is_v6 && *rest++ != ']') || !is_port(rest))
        return false;
    memcpy(out, from, len);
    out[len] = '\0';
    struct in6_addr v6;
    return !is_v6 || inet_pton(AF_INET6, out, &v6) == 1;
}

static bool is_loopback(const char *name)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (!strcasecmp(name, "localhost"))
        return true;
    if (inet_pton(AF_INET, name, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool is_our_host(const struct judge_rules *rules, const char *host)
{
    char name[HOST_MAX + 1];
    if (!host_name(host, name))
        return false;
    for (int i = 0; i < rules->nhosts; i++)
        if (!strcasecmp(rules->hosts[i], name))
            return true;
    return is_loopback(name);
}

/* HTTP/1.0 has none. */
bool judge_host(struct verdict_of_head *v, const struct judge_rules *rules, const struct request *r)
{
    const char *host = r->headers[REQUEST_HOST];
    if (!host || is_our_host(rules, host))
        return true;
    return refuse(v, PROBLEM_FOREIGN_HOST,
                  "this is not the server of %.*s; the setting http_hosts has the names that it answers to",
                  UTF8_SHOWN(host));
}

/* ---- route ---- */

static bool find_route(struct verdict_of_head *v, const struct judge_rules *rules, const struct request *r)
{
    bool is_path = false;
    const char *path = request_path_below(r, rules->base_path);
    v->route = path ? route_find(r->method, path, &is_path) : -1;
    if (v->route >= 0) {
        v->row = &route_table[v->route];
        return true;
    }
    if (!is_path)
        return refuse(v, PROBLEM_NOT_FOUND, "there is nothing at %.*s", UTF8_SHOWN(r->path));
    route_allow(path, v->allow);
    return refuse(v, PROBLEM_METHOD, "%s is not for %.*s; it takes %s", http_method_str(r->method),
                  UTF8_SHOWN(r->path), v->allow);
}

/* ---- body ---- */

/* What the body is decides which of several routes takes it. */
static bool check_type(struct verdict_of_head *v, const struct route *route, const struct request *r)
{
    const char *type = r->headers[REQUEST_CONTENT_TYPE], *encoding = r->headers[REQUEST_CONTENT_ENCODING];
    int of_type = route_of_type(v->route, type ? type : "");
    if (encoding)
        return refuse(v, PROBLEM_CONTENT_TYPE, "no Content-Encoding is read here, found \"%.*s\"",
                      UTF8_SHOWN(encoding));
    if (of_type >= 0) {
        v->route = of_type;
        return true;
    }
    return refuse(v, PROBLEM_CONTENT_TYPE, "expected Content-Type: %s, found \"%.*s\"", route->content_type,
                  UTF8_SHOWN(type ? type : ""));
}

static bool check_stream(struct verdict_of_head *v, const struct request *r)
{
    if (r->headers[REQUEST_IDEMPOTENCY_KEY])
        return refuse(v, PROBLEM_BAD_REQUEST,
                      "the header Idempotency-Key is for one check; give each line a uniqid");
    if (r->parser.http_minor == 0)
        return refuse(v, PROBLEM_BAD_REQUEST, "HTTP/1.0 has no chunks, so that an answer that is cut off "
                                              "would look complete; send lines with HTTP/1.1");
    return true;
}

static bool check_body(struct verdict_of_head *v, const struct route *route, const struct request *r)
{
    if (!route->content_type && r->has_body)
        return refuse(v, PROBLEM_BAD_REQUEST, "%s takes no body", route->path);
    if (!route->content_type)
        return true;
    if (!check_type(v, route, r))
        return false;
    route = &route_table[v->route];
    if (route->takes_no_query && *r->query)
        return refuse(v, PROBLEM_BAD_REQUEST, "there is no %.*s in the query of %s: all of it stands in the "
                                              "body", UTF8_SHOWN(r->query), route->path);
    if (r->body_length > route->body_max)
        return refuse(v, PROBLEM_TOO_LARGE, "the body has %llu bytes, expected at most %zu",
                      (unsigned long long)r->body_length, route->body_max);
    return !route->streams || check_stream(v, r);
}

struct verdict_of_head judge_head(const struct judge_rules *rules, const struct request *r)
{
    struct verdict_of_head v = { .route = -1 };
    if (judge_host(&v, rules, r) && find_route(&v, rules, r))
        check_body(&v, &route_table[v.route], r);
    return v;
}
