/* counts.c - see counts.h. A route has few statuses: a list each. */
#include "counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "route.h"

enum { STATUSES = 24 };

struct counts_of_route {
    struct { int status; int64_t n; } by_status[STATUSES];      /* status 0: no more of them */
    int64_t took[HISTOGRAM_BOUNDS + 1], took_us;
};

struct counts {
    int n;
    struct counts_of_route all[];   /* as route_table; the last one is of what has no route */
};

struct counts *counts_new(void)
{
    size_t n = (size_t)routes + 1;
    struct counts *c = calloc(1, sizeof *c + n * sizeof *c->all);
    if (c)
        c->n = (int)n;
    return c;
}

void counts_free(struct counts *c)
{
    free(c);
}

/* Rows that differ by the type of their body alone are one. */
static int first_alike(int route)
{
    int first = 0;
    while (route_table[first].method != route_table[route].method ||
           strcmp(route_table[first].path, route_table[route].path) != 0)
        first++;
    return first;
}

void counts_add(struct counts *c, int route, int status, int64_t took_us)
{
    bool has_route = route >= 0 && route < c->n - 1;
    struct counts_of_route *r = &c->all[has_route ? first_alike(route) : c->n - 1];
    int i = 0;
    while (i < STATUSES - 1 && r->by_status[i].status && r->by_status[i].status != status)
        i++;
    if (!r->by_status[i].status)
        r->by_status[i].status = status;
    r->by_status[i].n++;
    r->took[histogram_bound(histogram_class(took_us))]++;
    r->took_us += took_us;
}

/* "GET /metrics": a path may have several methods. */
static const char *name_of(const struct counts *c, int route, char *out, size_t size)
{
    if (route == c->n - 1)
        return "none";
    snprintf(out, size, "%s %s", http_method_str(route_table[route].method), route_table[route].path);
    return out;
}

enum { NAME = 128 };

void counts_write(const struct counts *c, struct metrics_text *t)
{
    const struct metric *requests = metric_named("http_requests");
    const struct metric *took = metric_named("http_request_duration_seconds");
    char name[NAME], code[16];
    metrics_begin(t, requests);
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < STATUSES && c->all[i].by_status[k].status; k++) {
            snprintf(code, sizeof code, "%d", c->all[i].by_status[k].status);
            metrics_sample(t, requests, name_of(c, i, name, sizeof name), code,
                           (double)c->all[i].by_status[k].n);
        }
    metrics_begin(t, took);
    for (int i = 0; i < c->n; i++)
        if (c->all[i].by_status[0].status)
            metrics_histogram(t, took, name_of(c, i, name, sizeof name), c->all[i].took,
                              (double)c->all[i].took_us / 1e6);
}
