/* route.c - see route.h. */
#include "route.h"

#include <string.h>

#include "asked_events.h"
#include "asked_jobs.h"
#include "asked_request.h"
#include "asked_why.h"
#include "lists.h"
#include "looks.h"
#include "post.h"
#include "ready.h"

const struct route route_table[] = {
    { HTTP_GET, "/liveness", .answer = NULL },
    { HTTP_GET, "/readiness", .answer = ready_answer },
    { HTTP_POST, "/v1/checks", .writes = true, .takes_many = true, .content_type = "application/json",
      .body_max = 8 * 1024 * 1024, .answer = post_answer },
    { HTTP_GET, "/v1/checks", .answer = lists_answer },
    { HTTP_GET, "/v1/history", .answer = lists_answer },
    { HTTP_GET, "/v1/runs", .answer = lists_answer },
    { HTTP_GET, "/v1/slots", .answer = lists_answer },
    { HTTP_GET, "/v1/schedules", .answer = lists_answer },
    { HTTP_GET, "/v1/engines", .answer = lists_answer },
    { HTTP_GET, "/v1/events", .answer = asked_events_answer },
    { HTTP_GET, "/v1/jobs", .answer = asked_jobs_answer },
    { HTTP_GET, "/v1/check", .answer = looks_answer },
    { HTTP_GET, "/v1/slot", .answer = looks_answer },
    { HTTP_GET, "/v1/status", .answer = looks_answer },
    { HTTP_GET, "/v1/requests", .answer = asked_request_answer },
    { HTTP_GET, "/v1/why", .answer = asked_why_answer },
};

const int routes = sizeof route_table / sizeof *route_table;

int route_find(enum http_method method, const char *path, bool *is_path)
{
    if (method == HTTP_HEAD)
        method = HTTP_GET;
    *is_path = false;
    for (int i = 0; i < routes; i++) {
        if (strcmp(route_table[i].path, path) != 0)
            continue;
        *is_path = true;
        if (route_table[i].method == method)
            return i;
    }
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
        if (!strcmp(route_table[i].path, path))
            add_method(out, route_table[i].method);
    return out;
}
