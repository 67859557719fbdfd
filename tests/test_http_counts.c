/* test_http_counts.c - what a server has answered is counted by route and status. */
#include "../engine/http/counts.h"

#include <stdio.h>
#include <string.h>

#include "../engine/http/route.h"
#include "test.h"

#define TOOK "prescient_http_request_duration_seconds"

static struct counts *counts;
static struct bytes out;

static void begin(void)
{
    counts = counts_new();
    CU_ASSERT_PTR_NOT_NULL_FATAL(counts);
}

static void end(void)
{
    counts_free(counts);
    bytes_free(&out);
}

static bool has(const char *line)
{
    struct metrics_text t = { .out = &out, .format = METRICS_TEXT };
    bytes_take(&out, out.len);
    counts_write(counts, &t);
    CU_ASSERT_FALSE(t.has_failed);
    CU_ASSERT_FATAL(bytes_add(&out, "", 1));
    const char *found = strstr(out.data, line);
    bool is_there = found && found[strlen(line)] == '\n';
    if (!is_there)
        printf("      no line: %s\n", line);
    return is_there;
}

static int route_of(enum http_method method, const char *path)
{
    bool is_path;
    return route_find(method, path, &is_path);
}

static void answers_are_counted_by_route_and_status(void)
{
    begin();
    counts_add(counts, route_of(HTTP_GET, "/metrics"), 200, 3000);
    counts_add(counts, route_of(HTTP_GET, "/metrics"), 200, 500);
    counts_add(counts, route_of(HTTP_POST, "/v1/checks"), 422, 0);
    counts_add(counts, route_of(HTTP_POST, "/v1/checks"), 201, 1000000);
    CU_ASSERT(has("prescient_http_requests_total{route=\"GET /metrics\",code=\"200\"} 2"));
    CU_ASSERT(has("prescient_http_requests_total{route=\"POST /v1/checks\",code=\"422\"} 1"));
    CU_ASSERT(has("prescient_http_requests_total{route=\"POST /v1/checks\",code=\"201\"} 1"));
    CU_ASSERT(has(TOOK "_bucket{route=\"GET /metrics\",le=\"0.001024\"} 1"));
    CU_ASSERT(has(TOOK "_bucket{route=\"GET /metrics\",le=\"0.004096\"} 2"));
    CU_ASSERT(has(TOOK "_sum{route=\"GET /metrics\"} 0.0035"));
    CU_ASSERT(has(TOOK "_count{route=\"POST /v1/checks\"} 2"));
    end();
}

/* Whoever asks chooses paths: they become no labels. */
static void what_has_no_route_is_one_route(void)
{
    begin();
    counts_add(counts, -1, 404, 0);
    counts_add(counts, -1, 404, 0);
    counts_add(counts, routes, 431, 0);
    CU_ASSERT(has("prescient_http_requests_total{route=\"none\",code=\"404\"} 2"));
    CU_ASSERT(has("prescient_http_requests_total{route=\"none\",code=\"431\"} 1"));
    end();
}

static void more_statuses_than_there_is_room_for_lose_no_count(void)
{
    enum { MANY = 100 };
    begin();
    for (int status = 1; status <= MANY; status++)
        counts_add(counts, 0, status, 0);
    CU_ASSERT(has("prescient_http_requests_total{route=\"GET /liveness\",code=\"1\"} 1"));
    CU_ASSERT(has("prescient_http_requests_total{route=\"GET /liveness\",code=\"24\"} 77"));
    end();
}

static const struct test tests[] = {
    TEST(answers_are_counted_by_route_and_status),
    TEST(what_has_no_route_is_one_route),
    TEST(more_statuses_than_there_is_room_for_lose_no_count),
    { NULL, NULL },
};

const struct suite suite_http_counts = { .name = "http_counts", .tests = tests };
