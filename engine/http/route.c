/* route.c - see route.h. */
#include "route.h"

#include <string.h>
#include <strings.h>

#include "asked_deliveries.h"
#include "asked_events.h"
#include "asked_jobs.h"
#include "asked_metrics.h"
#include "asked_request.h"
#include "asked_schedule.h"
#include "asked_tokens.h"
#include "asked_why.h"
#include "change.h"
#include "front.h"
#include "lists.h"
#include "looks.h"
#include "openapi.h"
#include "page.h"
#include "post.h"
#include "post_lines.h"
#include "stream.h"

/* What is read of the store, and looked at by many. */
#define LOOKED_AT ACCESS_READ, .is_shared = true

/* What takes a change as an object. */
#define CHANGES                                                                                              \
    ACCESS_OPERATE, .writes = true, .ends_shared = true, .may_be_dry = true,                                 \
        .content_type = "application/json", .body_max = 1024 * 1024, .answer = change_answer

const struct route route_table[] = {
    { HTTP_GET, "/liveness", ACCESS_ANYONE, .at_front = front_alive },
    { HTTP_GET, "/readiness", ACCESS_ANYONE, .at_front = front_ready },
    { HTTP_GET, "/metrics", ACCESS_READ, .needs_no_store = true, .has_counts = true,
      .answer = asked_metrics_answer },
    { HTTP_GET, "/", ACCESS_ANYONE, .is_of_pages = true, .at_front = front_page },
    { HTTP_POST, "/v1/login", ACCESS_ANYONE, .content_type = "application/json", .body_max = 1024,
      .at_front = front_login },
    { HTTP_POST, "/v1/logout", ACCESS_ANYONE, .content_type = "application/json", .body_max = 1024,
      .at_front = front_logout },
    { HTTP_GET, "/v1/openapi.json", ACCESS_READ, .answer = openapi_answer },
    { HTTP_GET, "/v1/session", ACCESS_READ, .needs_no_store = true, .at_front = front_session },
    { HTTP_POST, "/v1/checks", ACCESS_ENQUEUE, .writes = true, .takes_many = true,
      .takes_no_query = true, .content_type = "application/json", .body_max = 8 * 1024 * 1024,
      .answer = post_answer },
    { HTTP_POST, "/v1/checks", ACCESS_ENQUEUE, .writes = true, .streams = true,
      .takes_no_query = true, .content_type = "application/x-ndjson", .body_max = STREAM_BODY_MAX,
      .answer = post_lines_answer },
    { HTTP_GET, "/v1/checks", LOOKED_AT, .answer = lists_answer },
    { HTTP_GET, "/v1/history", LOOKED_AT, .answer = lists_answer },
    { HTTP_GET, "/v1/runs", LOOKED_AT, .answer = lists_answer },
    { HTTP_GET, "/v1/slowest", LOOKED_AT, .answer = lists_answer },
    { HTTP_GET, "/v1/slots", LOOKED_AT, .answer = lists_answer },
    { HTTP_GET, "/v1/schedules", LOOKED_AT, .answer = lists_answer },
    { HTTP_GET, "/v1/schedule", LOOKED_AT, .answer = asked_schedule_answer },
    { HTTP_GET, "/v1/engines", LOOKED_AT, .answer = lists_answer },
    { HTTP_GET, "/v1/audit", LOOKED_AT, .answer = lists_answer },
    { HTTP_GET, "/v1/events", ACCESS_READ, .answer = asked_events_answer },
    { HTTP_GET, "/v1/deliveries", LOOKED_AT, .answer = asked_deliveries_answer },
    { HTTP_GET, "/v1/jobs", LOOKED_AT, .answer = asked_jobs_answer },
    { HTTP_GET, "/v1/check", LOOKED_AT, .answer = looks_answer },
    { HTTP_GET, "/v1/job", LOOKED_AT, .answer = looks_answer },
    { HTTP_GET, "/v1/slot", LOOKED_AT, .answer = looks_answer },
    { HTTP_GET, "/v1/status", LOOKED_AT, .answer = looks_answer },
    { HTTP_GET, "/v1/requests", ACCESS_ENQUEUE, .answer = asked_request_answer },
    { HTTP_GET, "/v1/why", LOOKED_AT, .answer = asked_why_answer },
    { HTTP_POST, "/v1/resolve", CHANGES },
    { HTTP_POST, "/v1/cancel", CHANGES },
    { HTTP_POST, "/v1/reschedule", CHANGES },
    { HTTP_POST, "/v1/run-now", CHANGES },
    { HTTP_POST, "/v1/retry", CHANGES },
    { HTTP_POST, "/v1/pause", CHANGES },
    { HTTP_POST, "/v1/resume", CHANGES },
    { HTTP_POST, "/v1/deliver-again", CHANGES },
    { HTTP_PUT, "/v1/schedules", CHANGES },
    { HTTP_DELETE, "/v1/schedules", ACCESS_OPERATE, .writes = true, .ends_shared = true,
      .answer = change_answer },
};

const int routes = sizeof route_table / sizeof *route_table;

/* No path leads to it. */
static const struct route of_front = { HTTP_GET, "", .answer = asked_tokens_answer };

const struct route *route_at(uint32_t index)
{
    if (index < (uint32_t)routes)
        return &route_table[index];
    return index == (uint32_t)routes ? &of_front : NULL;
}

static bool is_at(const struct route *route, const char *path)
{
    return route->is_of_pages ? page_find(path) != NULL : !strcmp(route->path, path);
}

int route_find(enum http_method method, const char *path, bool *is_path)
{
    if (method == HTTP_HEAD)
        method = HTTP_GET;
    *is_path = false;
    for (int i = 0; i < routes; i++) {
        if (!is_at(&route_table[i], path))
            continue;
        *is_path = true;
        if (route_table[i].method == method)
            return i;
    }
    return -1;
}

static bool is_beside(const struct route *a, const struct route *b)
{
    return a->method == b->method && !strcmp(a->path, b->path);
}

/* "application/json; charset=utf-8" is "application/json". */
static bool is_type(const char *header, const char *type)
{
    size_t len = strlen(type);
    return !strncasecmp(header, type, len) && (!header[len] || strchr("; \t", header[len]));
}

int route_of_type(int first, const char *content_type)
{
    for (int i = first; i < routes && is_beside(&route_table[first], &route_table[i]); i++)
        if (is_type(content_type, route_table[i].content_type))
            return i;
    return -1;
}

static void add_method(char out[ROUTE_ALLOW], enum http_method method)
{
    size_t len = strlen(out);
    const char *beside = method == HTTP_GET ? ", HEAD" : "";
    snprintf(out + len, ROUTE_ALLOW - len, "%s%s%s", len ? ", " : "", http_method_str(method), beside);
}

const char *route_allow(const char *path, char out[ROUTE_ALLOW])
{
    out[0] = '\0';
    for (int i = 0; i < routes; i++)
        if (is_at(&route_table[i], path) && !(i && is_beside(&route_table[i - 1], &route_table[i])))
            add_method(out, route_table[i].method);
    return out;
}
