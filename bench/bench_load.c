/* bench_load.c - a rush hour of checks: a number for each minute, some of them peaks, some checks
 * that fail, some that hang, over several tenants. Replayed on a virtual clock as fast as possible,
 * or run by a daemon in real time. Reports how late the checks were. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/base/moment.h"
#include "../engine/rules/slot.h"
#include "../engine/cmd/app.h"
#include "bench.h"
#include "../engine/cmd/report.h"
#include "../engine/cmd/table.h"

enum { MINUTES = 60, ROWS_MAX = 200000, LIVE_TAIL_S = 15, LIVE_LEAD_S = 3 };

struct rush {
    int64_t checks;                 /* all of them */
    int64_t hour, first, last;
    int64_t heavy[MINUTES];         /* 0: shares the checks that are not in peaks */
    int64_t in_minute[MINUTES];
    double failing, slow;           /* percent */
    int64_t timeout_us, slot_length_us;
    int64_t tenants;
    bool live, heavy_given;
    int64_t begin;                  /* the time of minute 0 */
};

/* ---- reading the plan ---- */

static int read_percent(const struct args *args, char letter, double *out, struct err *err)
{
    const char *text = args_text(args, letter);
    char *end;
    if (!text)
        return 0;
    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= 0 && *out <= 100))
        return err_set(err, ERR_INPUT, "--%s: found '%.40s', expected a percentage from 0 to 100",
                       args_name(args, letter), text);
    return 0;
}

static int read_duration(const struct args *args, char letter, int64_t *out_us, struct err *err)
{
    const char *text = args_text(args, letter);
    if (!text)
        return 0;
    int rc = duration_parse_us(text, out_us, err);
    return rc < 0 ? err_wrap(err, rc, "--%s", args_name(args, letter)) : 0;
}

static int read_minutes(struct rush *r, const char *text, struct err *err)
{
    char *end;
    if (!text)
        return 0;
    r->first = strtoll(text, &end, 10);
    r->last = *end == '-' && end != text ? strtoll(end + 1, &end, 10) : -1;
    if (*end || r->first < 0 || r->last < r->first || r->last >= MINUTES)
        return err_set(err, ERR_INPUT, "--minutes: found '%.40s', expected FROM-TO within 0-59", text);
    return 0;
}

static int read_heavy(struct rush *r, const char *text, struct err *err)
{
    if (!text)
        return 0;
    r->heavy_given = true;
    for (const char *at = text; *at;) {
        char *end;
        long minute = strtol(at, &end, 10);
        long long n = *end == ':' && end != at ? strtoll(end + 1, &end, 10) : -1;
        if ((*end && *end != ',') || minute < 0 || minute >= MINUTES || n < 1)
            return err_set(
                err, ERR_INPUT,
                "--heavy: found '%.60s', expected MINUTE:CHECKS separated by commas, as 2:20000,5:15000",
                text);
        r->heavy[minute] = n;
        at = end + (*end == ',');
    }
    return 0;
}

/* Checks that are not in peaks are spread evenly over the other minutes. */
static int spread(struct rush *r, struct err *err)
{
    int64_t heavy = 0, light = 0;
    for (int64_t m = 0; m < MINUTES; m++) {
        bool inside = m >= r->first && m <= r->last;
        if (r->heavy[m] && !inside && r->heavy_given)
            return err_set(err, ERR_INPUT,
                           "--heavy: found minute %" PRId64 ", expected one within --minutes %" PRId64
                           "-%" PRId64,
                           m, r->first, r->last);
        if (!inside)
            r->heavy[m] = 0;
        heavy += r->heavy[m];
        light += inside && !r->heavy[m];
    }
    if (heavy > r->checks || (!light && heavy != r->checks))
        return err_set(err, ERR_INPUT,
                       "--heavy: found %" PRId64 " checks in the heavy minutes, expected at most the %" PRId64
                       " of --checks%s",
                       heavy, r->checks, light ? "" : ", and all of them when every minute has a number");
    int64_t remaining = r->checks - heavy;
    for (int64_t m = r->first; m <= r->last; m++) {
        r->in_minute[m] = r->heavy[m] ? r->heavy[m] : remaining / light;
        if (!r->heavy[m]) {
            remaining -= r->in_minute[m];
            light--;
        }
    }
    return 0;
}

static int read_options(const struct args *args, struct rush *r, struct bench_options *o, struct err *err)
{
    int rc = bench_refuse_options(args, "iory", "this option belongs to `bench` without load", err);
    if (rc < 0)
        return rc;
    rc = bench_common_options(args, o, err);
    if (rc < 0)
        return rc;
    rc = args_number(args, 'n', 1, 100000000, &r->checks, err);
    if (rc < 0)
        return rc;
    rc = args_number(args, 'H', 0, 23, &r->hour, err);
    if (rc < 0)
        return rc;
    rc = args_number(args, 't', 1, 100000, &r->tenants, err);
    if (rc < 0)
        return rc;
    rc = read_minutes(r, args_text(args, 'm'), err);
    if (rc < 0)
        return rc;
    rc = read_heavy(r, args_text(args, 'v'), err);
    if (rc < 0)
        return rc;
    rc = read_percent(args, 'F', &r->failing, err);
    if (rc < 0)
        return rc;
    rc = read_percent(args, 'S', &r->slow, err);
    if (rc < 0)
        return rc;
    rc = read_duration(args, 'T', &r->timeout_us, err);
    if (rc < 0)
        return rc;
    r->live = args_has(args, 'L');
    return read_duration(args, 'l', &r->slot_length_us, err);
}

/* ---- filling ---- */

struct filling {
    struct bench *b;
    struct store *st;
    struct load_row *rows;
    char (*keys)[32], (*names)[32];
    int n;
    int64_t now;
};

static int flush_rows(struct filling *f, struct err *err)
{
    struct load_counts counts = { 0 };
    int bad = -1;
    if (f->n == 0)
        return 0;
    int rc = store_load(f->st, f->rows, f->n, "keep", f->now, &counts, &bad, err);
    if (rc < 0)
        return rc;
    if (counts.added != f->n)
        return err_set(err, ERR_GENERAL, "load: expected %d checks to be added, found %" PRId64, f->n,
                       counts.added);
    f->n = 0;
    return 0;
}

/* Check i of a minute is wanted within its 60 s, evenly. */
static int fill_minute(struct filling *f, const struct rush *r, int64_t minute, struct err *err)
{
    for (int64_t i = 0, n = r->in_minute[minute]; i < n; i++) {
        snprintf(f->keys[f->n], sizeof f->keys[0], "%" PRId64 "-%" PRId64, minute, i);
        snprintf(f->names[f->n], sizeof f->names[0], "tenant_%" PRId64, i % r->tenants);
        f->rows[f->n] = (struct load_row){ .entity_name = f->names[f->n],
                                           .entity_key = f->keys[f->n],
                                           .job_exec = "bench_load",
                                           .at = r->begin + minute * 60 + i * 60 / n + 1 };
        if (++f->n < BENCH_CHUNK)
            continue;
        int rc = flush_rows(f, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int fill(struct bench *b, const struct rush *r, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1024 * 1024);
    CLEANUP(bench_store_freep) struct store *st = bench_store(b, err);
    if (!st)
        return err->code;
    if (!a)
        return err_set(err, ERR_NOMEM, "out of memory");
    struct filling f = { .b = b, .st = st, .now = r->live ? 0 : r->begin };
    f.rows = arena_alloc(a, BENCH_CHUNK * sizeof *f.rows);
    f.keys = arena_alloc(a, BENCH_CHUNK * sizeof *f.keys);
    f.names = arena_alloc(a, BENCH_CHUNK * sizeof *f.names);
    if (!f.rows || !f.keys || !f.names)
        return err_set(err, ERR_NOMEM, "out of memory");
    for (int64_t m = r->first; m <= r->last; m++) {
        int rc = fill_minute(&f, r, m, err);
        if (rc < 0)
            return rc;
    }
    return flush_rows(&f, err);
}

/* ---- lateness ---- */

struct lateness { int64_t us, n; };
struct rush_result {
    struct lateness *late;          /* in any order */
    int n;
    int64_t checks, whole_us, longest_pass_us;
    int64_t engine_cpu_us, worker_cpu_us;
};

static int by_us(const void *a, const void *b)
{
    int64_t x = ((const struct lateness *)a)->us, y = ((const struct lateness *)b)->us;
    return (x > y) - (x < y);
}

static int64_t percentile_us(const struct rush_result *r, double share)
{
    int64_t wanted = (int64_t)(share * (double)r->checks), so_far = 0;
    for (int i = 0; i < r->n; i++) {
        so_far += r->late[i].n;
        if (so_far > wanted || i == r->n - 1)
            return r->late[i].us;
    }
    return 0;
}

/* On a virtual clock: each pass took its real time, and began at its slot, or when the pass before
 * ended. */
static void late_by_queue(struct rush_result *r, int64_t (*rows)[4], int n)
{
    int64_t free_us = 0, begin_us = 0, slot = -1, end_us = 0;
    for (int i = 0; i < n; i++) {
        if (rows[i][0] != slot) {
            slot = rows[i][0];
            free_us = end_us;
            begin_us = free_us > slot * 1000000 ? free_us : slot * 1000000;
        }
        int64_t took = rows[i][2] - rows[i][1];
        end_us = begin_us + took;
        r->longest_pass_us = took > r->longest_pass_us ? took : r->longest_pass_us;
        r->late[r->n++] = (struct lateness){ end_us - slot * 1000000, rows[i][3] };
        r->checks += rows[i][3];
    }
}

static int read_lateness(struct bench *b, bool live, struct rush_result *r, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1024 * 1024);
    int64_t (*rows)[4] = a ? arena_alloc(a, ROWS_MAX * sizeof *rows) : NULL;
    r->late = arena_alloc(b->app->arena, ROWS_MAX * sizeof *r->late);
    if (!rows || !r->late)
        return err_set(err, ERR_NOMEM, "out of memory");
    int n = b->ops->ask(b, live ? "load_starts" : "load_lateness", rows, NULL, ROWS_MAX, err);
    if (n < 0)
        return n;
    if (!live)
        late_by_queue(r, rows, n);
    for (int i = 0; live && i < n; i++) {
        r->late[r->n++] = (struct lateness){ rows[i][0], rows[i][1] };
        r->checks += rows[i][1];
    }
    qsort(r->late, (size_t)r->n, sizeof *r->late, by_us);
    return 0;
}

/* ---- running ---- */

static int run_virtual(struct bench *b, const struct rush *r, struct bench_figures *f, int64_t *ran,
                       struct err *err)
{
    char from[24], to[24];
    snprintf(from, sizeof from, "%" PRId64, r->begin + 1);
    snprintf(to, sizeof to, "%" PRId64, r->begin + 24 * 3600);
    struct bench_engine_run run = { .command = { "replay", "--from", from, "--to", to }, .engines = 1 };
    return bench_engines(b, &run, f, ran, err);
}

static int run_live(struct bench *b, const struct rush *r, struct bench_figures *f, int64_t *ran,
                    struct err *err)
{
    int64_t now_us = clock_wall_us(&clock_system), end = r->begin + (r->last + 1) * 60 +
                                                         r->slot_length_us / 1000000 +
                                                         r->timeout_us / 1000000 + LIVE_TAIL_S;
    struct bench_engine_run run = { .command = { "daemon" },
                                    .engines = b->o.engines,
                                    .stop_after_us = end * 1000000 - now_us };
    return bench_engines(b, &run, f, ran, err);
}

static const char load_jobs[] = "\njobs = {\n"
                                "    bench_load = { plugin = \"rehearse\"; timeout = \"%s\"; settings = { "
                                "failing = \"%.4f\"; slow = \"%.4f\"; slow_for = \"%s\"; }; };\n"
                                "    bench_end = { plugin = \"noop\"; };\n"
                                "};\n";

static void choose_begin(struct bench *b, struct rush *r)
{
    int64_t now = clock_wall_us(&clock_system) / 1000000;
    if (r->live)
        r->begin = slot_next(now + LIVE_LEAD_S + r->checks / 50000, b->slot_length_s) - r->first * 60;
    else
        r->begin = now / 86400 * 86400 + r->hour * 3600;
}

/* ---- printing it ---- */

static const double shares[] = { 0.5, 0.9, 0.99, 0.999, 1 };
static const char *const share_names[] = { "p50", "p90", "p99", "p99.9", "max" };
enum { SHARES = 5, OUTCOMES_MAX = 32 };

struct outcomes {
    int n;
    char names[OUTCOMES_MAX][64];
    int64_t counts[OUTCOMES_MAX][4];
    int64_t pending;
};

static int read_outcomes(struct bench *b, struct outcomes *o, struct err *err)
{
    int64_t pending[1][4] = { 0 };
    o->n = b->ops->ask(b, "load_outcomes", o->counts, o->names, OUTCOMES_MAX, err);
    if (o->n < 0)
        return o->n;
    int rc = b->ops->ask(b, "load_pending", pending, NULL, 1, err);
    if (rc < 0)
        return rc;
    o->pending = pending[0][0];
    return 0;
}

static void print_json(struct bench *b, const struct rush *r, const struct rush_result *result,
                       const struct outcomes *o)
{
    json_t *late = json_object(), *outcomes = json_object();
    for (int i = 0; i < SHARES; i++)
        json_object_set_new(late, share_names[i], json_real((double)percentile_us(result, shares[i]) / 1e6));
    for (int i = 0; i < o->n; i++)
        json_object_set_new(outcomes, o->names[i], json_integer(o->counts[i][1]));
    report_print_object(
        b->app,
        json_pack("{s:s, s:b, s:I, s:I, s:f, s:f, s:f, s:o, s:o, s:I, s:f, s:f}", "server", b->server, "live",
                  r->live, "checks", (json_int_t)r->checks, "looked_at", (json_int_t)result->checks, "s",
                  (double)result->whole_us / 1e6, "failing_percent", r->failing, "slow_percent", r->slow,
                  "late_s", late, "outcomes", outcomes, "pending", (json_int_t)o->pending, "engine_cpu_s",
                  (double)result->engine_cpu_us / 1e6, "worker_cpu_s", (double)result->worker_cpu_us / 1e6));
}

static void print_text(struct bench *b, const struct rush *r, const struct rush_result *result,
                       const struct outcomes *o)
{
    char text[MOMENT_TEXT];
    FILE *out = b->app->out;
    fprintf(out,
            "%s\n%" PRId64 " checks of %" PRId64 " tenants in minutes %" PRId64 " to %" PRId64
            ", slots of %d s, %.4g %% fail, %.4g %% hang until their timeout of %s\n",
            b->server, r->checks, r->tenants, r->first, r->last, (int)b->slot_length_s, r->failing, r->slow,
            duration_format_us(r->timeout_us, text));
    fprintf(out, "in the minutes:");
    for (int64_t m = r->first; m <= r->last; m++)
        fprintf(out, " %" PRId64, r->in_minute[m]);
    fprintf(out, "\n%s: %.2f s; engine %.2f s and workers %.2f s of CPU",
            r->live ? "lived through" : "replayed on a virtual clock", (double)result->whole_us / 1e6,
            (double)result->engine_cpu_us / 1e6, (double)result->worker_cpu_us / 1e6);
    if (!r->live)
        fprintf(out, "; the longest pass took %.3f s", (double)result->longest_pass_us / 1e6);
    fprintf(out, "\n%s:",
            r->live ? "from a slot to the start of a run"
                    : "from a slot to the settle, with passes in a queue");
    for (int i = 0; i < SHARES; i++)
        fprintf(out, "  %s %.3f s", share_names[i], (double)percentile_us(result, shares[i]) / 1e6);
    fprintf(out, "\n");
    for (int i = 0; i < o->n; i++)
        fprintf(out, "%s%s %" PRId64, i ? ", " : "", o->names[i], o->counts[i][1]);
    fprintf(out, "; still waiting %" PRId64 "\n", o->pending);
}

static int run_rush(struct bench *b, struct rush *r, struct err *err)
{
    struct bench_figures f = BENCH_UNKNOWN;
    struct rush_result result = { 0 };
    struct outcomes *o = arena_zalloc(b->app->arena, sizeof *o);
    int64_t ran = 0;
    int rc = 0;
    if (!o)
        return err_set(err, ERR_NOMEM, "out of memory");
    if (b->o.future) { /* vacuums, and writes the waiting checks to disk before the hour begins */
        rc = b->ops->prepare(b, NULL, err);
        if (rc < 0)
            return rc;
    }
    choose_begin(b, r);
    rc = fill(b, r, err);
    if (rc < 0)
        return rc;
    rc = r->live ? run_live(b, r, &f, &ran, err) : run_virtual(b, r, &f, &ran, err);
    if (rc < 0)
        return rc;
    rc = read_lateness(b, r->live, &result, err);
    if (rc < 0)
        return rc;
    rc = read_outcomes(b, o, err);
    if (rc < 0)
        return rc;
    result.whole_us = f.whole_us;
    result.engine_cpu_us = f.engine_cpu_us;
    result.worker_cpu_us = f.worker_cpu_us;
    if (b->app->json)
        print_json(b, r, &result, o);
    else
        print_text(b, r, &result, o);
    return 0;
}

static int rush_open(struct bench *b, struct rush *r, struct err *err)
{
    char timeout[MOMENT_TEXT], slow_for[MOMENT_TEXT];
    int64_t slow_us = r->timeout_us * 10 + 1000000 - r->timeout_us * 10 % 1000000;
    duration_format_us(r->timeout_us, timeout);
    duration_format_us(slow_us, slow_for);
    const char *jobs = arena_printf(b->app->arena, load_jobs, timeout, r->failing, r->slow, slow_for);
    if (!jobs)
        return err_set(err, ERR_NOMEM, "out of memory");
    int rc = interrupt_init(&b->interrupt, err);
    if (rc < 0)
        return rc;
    b->o.slot_length_s = (int32_t)(r->slot_length_us / 1000000);
    b->o.checks = 1; /* business rows: no job reads them */
    return bench_open(b, jobs, err);
}

static int open_and_run(struct bench *b, struct rush *r, struct err *err)
{
    int rc = rush_open(b, r, err);
    if (rc < 0)
        return rc;
    app_remark(b->app, "works in %s, which is dropped at the end; the real tables are not touched", b->where);
    return run_rush(b, r, err);
}

static int rush_main(struct bench *b, struct rush *r)
{
    struct err err = { 0 };
    int rc = open_and_run(b, r, &err);
    bench_close(b);
    return rc < 0 ? app_fail(b->app, &err) : EXIT_WELL;
}

int bench_load_main(struct app *app, const struct args *args)
{
    struct bench b = { .app = app, .interrupt.fd = -1, .o = { .engines = 1, .rounds = 1 } };
    struct rush r = { .checks = 75000,
                      .hour = 9,
                      .first = 0,
                      .last = 9,
                      .failing = 1,
                      .slow = 0.1,
                      .timeout_us = 5000000,
                      .slot_length_us = 60000000,
                      .tenants = 10 };
    struct err err = { 0 };
    if (read_options(args, &r, &b.o, &err) < 0)
        return app_fail(app, &err);
    if (r.slot_length_us % 1000000 || !slot_length_is_valid(r.slot_length_us / 1000000))
        return app_usage(app, "--slot-length: expected a length from 1s to 1d that divides a day");
    if (!r.heavy_given && r.checks == 75000 && r.first == 0 && r.last == 9) {
        r.heavy[2] = 20000;
        r.heavy[5] = 15000;
        r.heavy[7] = 20000;
    }
    if (spread(&r, &err) < 0)
        return app_fail(app, &err);
    return rush_main(&b, &r);
}
