/* bench_report.c - medians of the rounds, and ratios, as tables or JSON. A ratio is computed in
 * each round, between measures that ran next to each other; the report has the median of these
 * ratios. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"
#include "../engine/cmd/report.h"
#include "../engine/cmd/table.h"

struct spread { double median, least, most; };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct spread spread_of(const double *values, int n)
{
    double sorted[BENCH_ROUNDS_MAX];
    if (n == 0)
        return (struct spread){ -1, -1, -1 };
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    return (struct spread){ median, sorted[0], sorted[n - 1] };
}

/* ---- the columns ---- */

static double per_s(const struct bench_figures *f)
{
    return f->us > 0 ? (double)f->checks * 1e6 / (double)f->us : -1;
}
static double seconds(const struct bench_figures *f) { return (double)f->us / 1e6; }
static double whole_s(const struct bench_figures *f)
{
    return f->whole_us < 0 ? -1 : (double)f->whole_us / 1e6;
}
static double each(int64_t sum, const struct bench_figures *f)
{
    return sum < 0 || f->checks < 1 ? -1 : (double)sum / (double)f->checks;
}
static double engine_us(const struct bench_figures *f) { return each(f->engine_cpu_us, f); }
static double worker_us(const struct bench_figures *f) { return each(f->worker_cpu_us, f); }
static double client_us(const struct bench_figures *f) { return each(f->client_cpu_us, f); }
static double server_us(const struct bench_figures *f) { return each(f->server_cpu_us, f); }
static double wal_bytes(const struct bench_figures *f) { return each(f->wal_bytes, f); }
static double dead_rows(const struct bench_figures *f) { return each(f->dead_rows, f); }
static double transactions(const struct bench_figures *f)
{
    return f->transactions < 0 ? -1 : each(f->transactions * 1000, f);
}
static double engine_mib(const struct bench_figures *f)
{
    return f->engine_peak_kib < 0 ? -1 : (double)f->engine_peak_kib / 1024;
}
static double worker_mib(const struct bench_figures *f)
{
    return f->worker_peak_kib < 0 ? -1 : (double)f->worker_peak_kib / 1024;
}

static const struct {
    const char *title, *json;
    double (*of)(const struct bench_figures *f);
    int digits;
    bool range;
} columns[] = {
    { "checks/s", "per_s", per_s, 0, true },
    { "s", "s", seconds, 3, false },
    { "whole s", "whole_s", whole_s, 3, false },
    { "engine us", "engine_cpu_us", engine_us, 2, false },
    { "worker us", "worker_cpu_us", worker_us, 2, false },
    { "client us", "client_cpu_us", client_us, 2, false },
    { "server us", "server_cpu_us", server_us, 2, false },
    { "WAL B", "wal_bytes", wal_bytes, 0, false },
    { "dead", "dead_rows", dead_rows, 2, false },
    { "tx/1000", "transactions_per_1000", transactions, 2, false },
    { "engine MiB", "engine_peak_mib", engine_mib, 1, false },
    { "worker MiB", "worker_peak_mib", worker_mib, 1, false },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static struct spread of_rounds(const struct bench_figures *rounds, int n,
                               double (*of)(const struct bench_figures *f))
{
    double values[BENCH_ROUNDS_MAX];
    for (int i = 0; i < n; i++)
        values[i] = of(&rounds[i]);
    return spread_of(values, n);
}

/* ---- ratios ---- */

struct report {
    struct bench *b;
    const struct bench_measure *measures;
    int n;
    struct bench_figures (*rounds)[BENCH_ROUNDS_MAX];
    const bool *measured;
};

static int find(const struct report *r, const char *name)
{
    for (int i = 0; i < r->n; i++)
        if (name && !strcmp(r->measures[i].name, name))
            return r->measured[i] ? i : -1;
    return -1;
}

/* The better one of the measures to compare with; -1: none was measured. */
static int better_of(const struct report *r, const struct bench_ratio *ratio)
{
    int best = -1;
    double best_rate = 0;
    for (int k = 0; k < 3 && ratio->against[k]; k++) {
        int i = find(r, ratio->against[k]);
        double rate = i < 0 ? -1 : of_rounds(r->rounds[i], r->b->o.rounds, per_s).median;
        if (i >= 0 && rate > best_rate) {
            best = i;
            best_rate = rate;
        }
    }
    return best;
}

/* All CPU time of a check, the client's and the server's; -1 when the server's is not known. */
static double all_cpu_us(const struct bench_figures *f)
{
    int64_t sum = f->server_cpu_us;
    const int64_t own[] = { f->engine_cpu_us, f->worker_cpu_us, f->client_cpu_us };
    for (int i = 0; i < 3; i++)
        sum += sum >= 0 && own[i] > 0 ? own[i] : 0;
    return each(sum, f);
}

static struct spread ratio_of(const struct report *r, int a, int b)
{
    double values[BENCH_ROUNDS_MAX];
    for (int i = 0; i < r->b->o.rounds; i++)
        values[i] = per_s(&r->rounds[a][i]) / per_s(&r->rounds[b][i]);
    return spread_of(values, r->b->o.rounds);
}

/* The same by CPU time, which other programs on the machine disturb less. If all processors are
 * busy, both ratios are equal. */
static struct spread cpu_ratio_of(const struct report *r, int a, int b)
{
    double values[BENCH_ROUNDS_MAX];
    int n = 0;
    for (int i = 0; i < r->b->o.rounds; i++)
        if (all_cpu_us(&r->rounds[a][i]) > 0 && all_cpu_us(&r->rounds[b][i]) > 0)
            values[n++] = all_cpu_us(&r->rounds[b][i]) / all_cpu_us(&r->rounds[a][i]);
    return spread_of(values, n);
}

/* ---- tables ---- */

static const char *number(struct arena *a, double v, int digits)
{
    const char *text = v < 0 ? "-" : arena_printf(a, "%.*f", digits, v);
    return text ? text : "?";
}

static void print_measures(const struct report *r, struct arena *a)
{
    struct table_column titles[COLUMNS + 2] = { { .name = "what" }, { .name = "checks", .right = true } };
    const char **cells = arena_zalloc(a, (size_t)r->n * (COLUMNS + 2) * sizeof *cells);
    int rows = 0;
    for (int c = 0; c < COLUMNS; c++)
        titles[c + 2] = (struct table_column){ .name = columns[c].title, .right = true };
    for (int i = 0; cells && i < r->n; i++) {
        if (!r->measured[i])
            continue;
        const char **row = cells + rows++ * (COLUMNS + 2);
        row[0] = r->measures[i].title;
        row[1] = arena_printf(a, "%" PRId64, r->rounds[i][0].checks);
        for (int c = 0; c < COLUMNS; c++) {
            struct spread s = of_rounds(r->rounds[i], r->b->o.rounds, columns[c].of);
            if (columns[c].range && r->b->o.rounds > 1)
                row[c + 2] = arena_printf(a, "%.0f (%.0f-%.0f)", s.median, s.least, s.most);
            else
                row[c + 2] = number(a, s.median, columns[c].digits);
        }
    }
    table_print(r->b->app->out, titles, COLUMNS + 2, cells, rows, 0);
}

static void print_ratios(const struct report *r, const struct bench_ratio *ratios, struct arena *a)
{
    static const struct table_column titles[] = { { .name = "ratio of" },
                                                  { .name = "to" },
                                                  { .name = "median", .right = true },
                                                  { .name = "least", .right = true },
                                                  { .name = "most", .right = true },
                                                  { .name = "by CPU", .right = true } };
    const char *cells[6 * 32];
    int rows = 0;
    for (; ratios->name && rows < 32; ratios++) {
        int i = find(r, ratios->name), k = better_of(r, ratios);
        if (i < 0 || k < 0)
            continue;
        struct spread s = ratio_of(r, i, k);
        const char **row = cells + 6 * rows++;
        row[0] = r->measures[i].title;
        row[1] = r->measures[k].title;
        row[2] = number(a, s.median, 2);
        row[3] = number(a, s.least, 2);
        row[4] = number(a, s.most, 2);
        row[5] = number(a, cpu_ratio_of(r, i, k).median, 2);
    }
    if (rows) {
        fputc('\n', r->b->app->out);
        table_print(r->b->app->out, titles, 6, cells, rows, 0);
    }
}

static void print_heading(const struct bench *b)
{
    struct utsname u;
    uname(&u);
    fprintf(b->app->out, "%s\n%s %s, %ld processors; prescient %s\n", b->server, u.sysname, u.release,
            sysconf(_SC_NPROCESSORS_ONLN), VERSION);
    const char *scattered = b->o.scattered ? " (scattered)" : "";
    const char *snapshot = b->o.old_snapshot ? ", an old snapshot held" : "";
    const char *engines = b->o.engines == 1 ? "engine" : "engines";
    const char *rounds = b->o.rounds == 1 ? "round" : "rounds";
    fprintf(b->app->out,
            "%" PRId64 " checks in one slot, %" PRId64
            " waiting%s%s, %d %s, median of %d %s; us are of CPU for one check\n\n",
            b->o.checks, b->o.future, scattered, snapshot, b->o.engines, engines, b->o.rounds, rounds);
}

/* ---- JSON ---- */

static json_t *json_spread(struct spread s)
{
    return s.median < 0 ? json_null()
                        : json_pack("{s:f, s:f, s:f}", "median", s.median, "least", s.least, "most", s.most);
}

static json_t *json_measures(const struct report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->n; i++) {
        if (!r->measured[i])
            continue;
        json_t *o = json_pack("{s:s, s:s, s:I}", "name", r->measures[i].name, "what", r->measures[i].title,
                              "checks", (json_int_t)r->rounds[i][0].checks);
        for (int c = 0; c < COLUMNS; c++)
            json_object_set_new(o, columns[c].json,
                                json_spread(of_rounds(r->rounds[i], r->b->o.rounds, columns[c].of)));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *json_ratios(const struct report *r, const struct bench_ratio *ratios)
{
    json_t *list = json_array();
    for (; ratios->name; ratios++) {
        int i = find(r, ratios->name), k = better_of(r, ratios);
        if (i >= 0 && k >= 0)
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:o, s:o}", "of", r->measures[i].name, "to",
                                            r->measures[k].name, "ratio", json_spread(ratio_of(r, i, k)),
                                            "ratio_by_cpu", json_spread(cpu_ratio_of(r, i, k))));
    }
    return list;
}

void bench_report(struct bench *b, const struct bench_measure *measures, int n,
                  struct bench_figures (*rounds)[BENCH_ROUNDS_MAX], const bool *measured,
                  const struct bench_ratio *ratios)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(16 * 1024);
    struct report r = { b, measures, n, rounds, measured };
    if (!a)
        return;
    if (b->app->json) {
        report_print_object(
            b->app,
            json_pack("{s:s, s:s, s:i, s:I, s:I, s:b, s:I, s:i, s:i, s:o, s:o}", "version", VERSION, "server",
                      b->server, "processors", (int)sysconf(_SC_NPROCESSORS_ONLN), "checks",
                      (json_int_t)b->o.checks, "future", (json_int_t)b->o.future, "scattered", b->o.scattered,
                      "old_snapshot", (json_int_t)b->o.old_snapshot, "engines", b->o.engines, "rounds",
                      b->o.rounds, "measures", json_measures(&r), "ratios", json_ratios(&r, ratios)));
        return;
    }
    print_heading(b);
    print_measures(&r, a);
    print_ratios(&r, ratios, a);
}
