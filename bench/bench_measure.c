/* bench_measure.c - the measures: passes by engines and bare SQL on the same rows, round by round,
 * and which ones are compared. */
#include <inttypes.h>
#include <string.h>

#include "../engine/cmd/app.h"
#include "../engine/cmd/progress.h"
#include "bench.h"

/* ---- the measures ---- */

static int64_t since(int64_t now, int64_t before)
{
    return now < 0 || before < 0 ? -1 : now - before;
}

static void end_figures(struct bench_figures *f, const struct bench_figures *before,
                        const struct bench_figures *after)
{
    f->server_cpu_us = since(after->server_cpu_us, before->server_cpu_us);
    f->wal_bytes = since(after->wal_bytes, before->wal_bytes);
    f->transactions = since(after->transactions, before->transactions);
    f->dead_rows = since(after->dead_rows, before->dead_rows);
}

/* Each round uses the next slot, so that checks settled before are in earlier slots, as in
 * production. */
static int prepare(struct bench *b, const char *job, struct err *err)
{
    b->slot += b->slot_length_s;
    return b->ops->prepare(b, job, err);
}

static int run_pass(struct bench *b, const struct bench_measure *m, struct bench_figures *out,
                    struct err *err)
{
    struct bench_figures before = BENCH_UNKNOWN, after = BENCH_UNKNOWN;
    char slot[24];
    int64_t ran = 0, counted = 0, late_us;
    int rc = prepare(b, m->job, err);
    if (rc < 0)
        return rc;
    snprintf(slot, sizeof slot, "%" PRId64, b->slot);
    /* With its own time as --now the slot is current, as for cron and a daemon, not late. */
    struct bench_engine_run run = { .command = { "--now", slot, "run", "--slot", slot },
                                    .engines = b->o.engines };
    rc = b->ops->counters(b, &before, err);
    if (rc < 0)
        return rc;
    rc = bench_engines(b, &run, out, &ran, err);
    if (rc < 0)
        return rc;
    rc = b->ops->counters(b, &after, err);
    if (rc < 0)
        return rc;
    rc = b->ops->pass(b, &out->us, &counted, &late_us, err);
    if (rc < 0)
        return rc;
    end_figures(out, &before, &after);
    out->checks = ran;
    if (ran != b->o.checks || counted != ran)
        return err_set(err, ERR_GENERAL,
                       "%s: expected %" PRId64 " checks to run; the engines report %" PRId64
                       ", the passes of the slot %" PRId64,
                       m->name, b->o.checks, ran, counted);
    return 0;
}

static int run_bare(struct bench *b, const struct bench_measure *m, struct bench_figures *out,
                    struct err *err)
{
    struct bench_figures before = BENCH_UNKNOWN, after = BENCH_UNKNOWN;
    int rc = prepare(b, m->job, err);
    if (rc < 0)
        return rc;
    rc = b->ops->counters(b, &before, err);
    if (rc < 0)
        return rc;
    rc = b->ops->bare(b, m->bare, m->connections, out, err);
    if (rc < 0)
        return rc;
    rc = b->ops->counters(b, &after, err);
    if (rc < 0)
        return rc;
    end_figures(out, &before, &after);
    if (m->job && out->checks != b->o.checks)
        return err_set(err, ERR_GENERAL, "%s: expected %" PRId64 " rows to be written, found %" PRId64,
                       m->name, b->o.checks, out->checks);
    return 0;
}

static int load_all(struct bench *b, struct store *st, struct arena *a, struct err *err)
{
    struct load_row *rows = arena_alloc(a, BENCH_CHUNK * sizeof *rows);
    char (*keys)[24] = arena_alloc(a, BENCH_CHUNK * sizeof *keys);
    if (!rows || !keys)
        return err_set(err, ERR_NOMEM, "out of memory");
    for (int64_t i = 0; i < b->o.checks;) {
        struct load_counts counts = { 0 };
        int n = 0, bad;
        for (; n < BENCH_CHUNK && i < b->o.checks; n++, i++) {
            snprintf(keys[n], sizeof keys[n], "%" PRId64, i);
            rows[n] = (struct load_row){ .entity_name = "orders",
                                         .entity_key = keys[n],
                                         .job_exec = "bench_end",
                                         .at = b->slot + 20000LL * b->slot_length_s };
        }
        int rc = store_load(st, rows, n, "keep", 0, &counts, &bad, err);
        if (rc < 0)
            return rc;
        if (counts.added != n)
            return err_set(err, ERR_GENERAL, "bulk: expected %d rows to be added, found %" PRId64, n,
                           counts.added);
    }
    return 0;
}

static int run_bulk(struct bench *b, const struct bench_measure *m, struct bench_figures *out,
                    struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(64 * 1024);
    CLEANUP(bench_store_freep) struct store *st = NULL;
    struct bench_figures before = BENCH_UNKNOWN, after = BENCH_UNKNOWN;
    if (!a)
        return err_set(err, ERR_NOMEM, "out of memory");
    int rc = prepare(b, m->job, err);
    if (rc < 0)
        return rc;
    st = bench_store(b, err);
    if (!st)
        return err->code;
    struct store_hello hello = STORE_HELLO_INIT;        /* connects */
    rc = store_do(st, &hello.call);
    if (rc < 0) {
        *err = hello.call.err;
        return rc;
    }
    rc = b->ops->counters(b, &before, err);
    if (rc < 0)
        return rc;
    int64_t began = clock_mono_us(&clock_system);
    int64_t cpu = bench_self_cpu_us();
    rc = load_all(b, st, a, err);
    if (rc < 0)
        return rc;
    out->us = clock_mono_us(&clock_system) - began;
    out->client_cpu_us = bench_self_cpu_us() - cpu;
    out->checks = b->o.checks;
    store_free(st); /* its server process reports its counts when it ends */
    st = NULL;
    rc = b->ops->counters(b, &after, err);
    if (rc < 0)
        return rc;
    end_figures(out, &before, &after);
    return 0;
}

static const struct bench_measure measures[] = {
    { .name = "enqueue",
      .title = "enqueue, one a transaction",
      .run = run_bare,
      .bare = BARE_ENQUEUE,
      .connections = 1 },
    { .name = "enqueue-bare",
      .title = "  bare INSERT",
      .run = run_bare,
      .bare = BARE_INSERT,
      .connections = 1 },
    { .name = "enqueue-unwaited",
      .title = "the same, no commit waited for",
      .run = run_bare,
      .bare = BARE_ENQUEUE_UNWAITED,
      .connections = 1,
      .server_only = true },
    { .name = "enqueue-bigint",
      .title = "  enqueue, bigint key",
      .run = run_bare,
      .bare = BARE_ENQUEUE_BIGINT,
      .connections = 1,
      .server_only = true },
    { .name = "enqueue-uuid",
      .title = "  enqueue, uuid key",
      .run = run_bare,
      .bare = BARE_ENQUEUE_UUID,
      .connections = 1,
      .server_only = true },
    { .name = "enqueue-interval",
      .title = "  enqueue, bigint key, interval",
      .run = run_bare,
      .bare = BARE_ENQUEUE_INTERVAL,
      .connections = 1,
      .server_only = true },
    { .name = "enqueue-words",
      .title = "  enqueue, no types, '+3 hours'",
      .run = run_bare,
      .bare = BARE_ENQUEUE_WORDS,
      .connections = 1,
      .server_only = true },
    { .name = "enqueue-jsonb",
      .title = "  enqueue, jsonb payload",
      .run = run_bare,
      .bare = BARE_ENQUEUE_JSONB,
      .connections = 1,
      .server_only = true },
    { .name = "enqueue-unwaited-bare",
      .title = "  bare INSERT",
      .run = run_bare,
      .bare = BARE_INSERT_UNWAITED,
      .connections = 1,
      .server_only = true },
    { .name = "enqueue-unwaited-plain",
      .title = "  bare INSERT: bucket given, no conflicts",
      .run = run_bare,
      .bare = BARE_PLAIN_UNWAITED,
      .connections = 1,
      .server_only = true },
    { .name = "bulk", .title = "enqueue, 10,000 a transaction", .run = run_bulk },
    { .name = "bulk-bare",
      .title = "  bare COPY (SQLite: INSERT)",
      .run = run_bare,
      .bare = BARE_COPY,
      .connections = 1 },
    { .name = "end", .title = "no-op checks that end", .run = run_pass, .job = "bench_end" },
    { .name = "end-bare-1",
      .title = "  bare DELETE + history, 1 connection",
      .run = run_bare,
      .job = "bench_end",
      .bare = BARE_END,
      .connections = 1 },
    { .name = "end-bare-2",
      .title = "  bare DELETE + history, 2 connections",
      .run = run_bare,
      .job = "bench_end",
      .bare = BARE_END,
      .connections = 2,
      .server_only = true },
    { .name = "end-range-1",
      .title = "  the same by a range of ids, 1 connection",
      .run = run_bare,
      .job = "bench_end",
      .bare = BARE_END_RANGE,
      .connections = 1,
      .server_only = true },
    { .name = "end-range-2",
      .title = "  the same by a range of ids, 2 connections",
      .run = run_bare,
      .job = "bench_end",
      .bare = BARE_END_RANGE,
      .connections = 2,
      .server_only = true },
    { .name = "loop-1",
      .title = "  hand-written SKIP LOCKED, 1 connection",
      .run = run_bare,
      .job = "handmade",
      .bare = BARE_LOOP,
      .connections = 1,
      .server_only = true,
      .plain_only = true },
    { .name = "loop-2",
      .title = "  hand-written SKIP LOCKED, 2 connections",
      .run = run_bare,
      .job = "handmade",
      .bare = BARE_LOOP,
      .connections = 2,
      .server_only = true,
      .plain_only = true },
    { .name = "again", .title = "no-op checks that move", .run = run_pass, .job = "bench_again" },
    { .name = "again-bare-1",
      .title = "  bare UPDATE + run log, 1 connection",
      .run = run_bare,
      .job = "bench_again",
      .bare = BARE_MOVE,
      .connections = 1 },
    { .name = "again-bare-2",
      .title = "  bare UPDATE + run log, 2 connections",
      .run = run_bare,
      .job = "bench_again",
      .bare = BARE_MOVE,
      .connections = 2,
      .server_only = true },
    { .name = "again-range-1",
      .title = "  the same by a range of ids, 1 connection",
      .run = run_bare,
      .job = "bench_again",
      .bare = BARE_MOVE_RANGE,
      .connections = 1,
      .server_only = true },
    { .name = "again-range-2",
      .title = "  the same by a range of ids, 2 connections",
      .run = run_bare,
      .job = "bench_again",
      .bare = BARE_MOVE_RANGE,
      .connections = 2,
      .server_only = true },
    { .name = "recur",
      .title = "no-op checks of schedules, to the next time",
      .run = run_pass,
      .job = "bench_recur" },
    { .name = "keyed",
      .title = "no-op checks that end, of 1,000 concurrency keys",
      .run = run_pass,
      .job = "bench_keyed" },
    { .name = "tenants",
      .title = "no-op checks that end, of a large tenant and 500 small ones",
      .run = run_pass,
      .job = "bench_tenants" },
    { .name = "emit", .title = "no-op checks that end with an event", .run = run_pass, .job = "bench_emit" },
    { .name = "emit-heard",
      .title = "  the same, heard by a listener",
      .run = run_pass,
      .job = "bench_heard" },
    { .name = "look-one",
      .title = "each looks at its row, one by one",
      .run = run_pass,
      .job = "bench_look_one" },
    { .name = "look-many",
      .title = "each looks at its row, batched",
      .run = run_pass,
      .job = "bench_look_many" },
    { .name = "look-sql",
      .title = "the same by sql_check, batched",
      .run = run_pass,
      .job = "bench_look_sql" },
};
enum { MEASURES = sizeof measures / sizeof *measures };

static const struct bench_ratio ratios[] = {
    { .name = "end", .against = { "end-bare-1", "end-bare-2" } },
    { .name = "end", .against = { "end-range-1", "end-range-2" } },
    { .name = "again", .against = { "again-bare-1", "again-bare-2" } },
    { .name = "again", .against = { "again-range-1", "again-range-2" } },
    { .name = "recur", .against = { "again" } },
    { .name = "keyed", .against = { "end" } },
    { .name = "tenants", .against = { "end" } },
    { .name = "end", .against = { "loop-1", "loop-2" } },
    { .name = "emit", .against = { "end" } },
    { .name = "emit-heard", .against = { "emit" } },
    { .name = "look-many", .against = { "end" } },
    { .name = "look-sql", .against = { "end" } },
    { .name = "look-one", .against = { "end" } },
    { .name = "bulk", .against = { "bulk-bare" } },
    { .name = "enqueue", .against = { "enqueue-bare" } },
    { .name = "enqueue-unwaited", .against = { "enqueue-unwaited-bare" } },
    { .name = "enqueue-unwaited", .against = { "enqueue-unwaited-plain" } },
    { .name = "enqueue-bigint", .against = { "enqueue-unwaited-plain" } },
    { .name = "enqueue-uuid", .against = { "enqueue-unwaited-plain" } },
    { .name = "enqueue-interval", .against = { "enqueue-unwaited-plain" } },
    { .name = "enqueue-words", .against = { "enqueue-unwaited-plain" } },
    { .name = "enqueue-jsonb", .against = { "enqueue-unwaited-plain" } },
    { 0 }
};

/* ---- the run ---- */

static const char jobs_format[] =
    "\njobs = {\n"
    "    bench_end = { plugin = \"noop\"; settings = { answer = \"done\"; }; };\n"
    "    bench_again = { plugin = \"noop\"; settings = { answer = \"again\"; again_after = \"1h\"; }; };\n"
    "    bench_recur = { plugin = \"noop\"; settings = { answer = \"done\"; }; };\n"
    "    bench_keyed = { plugin = \"noop\"; settings = { answer = \"done\"; }; };\n"
    "    bench_tenants = { plugin = \"noop\"; settings = { answer = \"done\"; }; };\n"
    "    bench_emit = { plugin = \"noop\"; settings = { event = \"bench.emitted\"; }; };\n"
    "    bench_heard = { plugin = \"noop\"; settings = { event = \"bench.heard\"; }; };\n"
    "    bench_look_one = { plugin = \"unshipped_order\"; batch = 1; settings = { table = \"%sbench_order\"; "
    "}; };\n"
    "    bench_look_many = { plugin = \"unshipped_order\"; settings = { table = \"%sbench_order\"; }; };\n"
    "    bench_look_sql = { plugin = \"sql_check\"; settings = {\n"
    "        query_postgresql = \"SELECT k FROM json_array_elements_text($1::json) AS k JOIN "
    "prescient_bench.bench_order o ON o.id = k::bigint\"\n"
    "                           \" WHERE o.shipped_at IS NOT NULL\";\n"
    "        query_sqlite = \"SELECT k.value FROM json_each($1) AS k JOIN bench_order o ON o.id = k.value "
    "WHERE o.shipped_at IS NOT NULL\";\n"
    "        event = \"order.unshipped\"; }; };\n"
    "};\n"
    "listeners = ( { events = \"bench.heard\"; job = \"bench_end\"; } );\n";

/* A name in --only chooses all that begin with it: "end" includes its bare SQL. */
static bool is_wanted(const struct bench *b, const struct bench_measure *m)
{
    if (m->server_only && strcmp(b->ops->scheme, "postgresql") != 0)
        return false;
    if (m->plain_only && (b->o.future || b->o.old_snapshot))
        return false;
    if (!b->o.only)
        return true;
    for (const char *at = b->o.only; *at;) {
        size_t n = strcspn(at, ",");
        if (n && !strncmp(m->name, at, n) && (m->name[n] == '\0' || m->name[n] == '-'))
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

/* An old snapshot matters only with dead rows: engines settle checks while it is held. */
static int settle_under_snapshot(struct bench *b, struct err *err)
{
    struct bench_measure m = { .name = "old-snapshot", .job = "bench_end" };
    if (!b->ops->hold_snapshot)
        return err_set(err, ERR_INPUT, "--old-snapshot: SQLite has no old snapshots to hold");
    int rc = b->ops->hold_snapshot(b, err);
    if (rc < 0)
        return rc;
    for (int64_t n = 0; n < b->o.old_snapshot; n += b->o.checks) {
        struct bench_figures figures = BENCH_UNKNOWN;
        rc = run_pass(b, &m, &figures, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int run_one(struct bench *b, const struct bench_measure *m, struct bench_figures *out, struct err *err)
{
    *out = (struct bench_figures)BENCH_UNKNOWN;
    int rc = m->run(b, m, out, err);
    if (rc == 0 && interrupt_came(&b->interrupt))
        rc = err_set(err, ERR_STOPPED, "stopped");
    return rc < 0 ? err_wrap(err, rc, "%s", m->name) : 0;
}

static int run_rounds(struct bench *b, struct bench_figures (*rounds)[BENCH_ROUNDS_MAX], bool *measured,
                      struct progress *bar, struct err *err)
{
    for (int r = 0; r < b->o.rounds; r++) {
        for (int i = 0; i < MEASURES; i++) {
            if (!is_wanted(b, &measures[i]))
                continue;
            progress_show(bar, (int64_t)r * MEASURES + i, measures[i].name);
            int rc = run_one(b, &measures[i], &rounds[i][r], err);
            if (rc < 0)
                return rc;
            measured[i] = true;
        }
    }
    return 0;
}

static int run_all(struct bench *b, struct err *err)
{
    struct app *app = b->app;
    struct bench_figures (*rounds)[BENCH_ROUNDS_MAX] = arena_zalloc(app->arena, MEASURES * sizeof *rounds);
    bool measured[MEASURES] = { 0 };
    bool is_sqlite = strncmp(app->settings.store, "sqlite:", 7) == 0;
    const char *schema = is_sqlite ? "" : "prescient_bench.";
    const char *jobs = arena_printf(app->arena, jobs_format, schema, schema);
    if (!rounds || !jobs)
        return err_set(err, ERR_NOMEM, "out of memory");
    int rc = interrupt_init(&b->interrupt, err);
    if (rc < 0)
        return rc;
    rc = bench_open(b, jobs, err);
    if (rc < 0)
        return rc;
    app_remark(app, "works in %s, which is dropped at the end; the real tables are not touched", b->where);
    if (b->o.old_snapshot) {
        rc = settle_under_snapshot(b, err);
        if (rc < 0)
            return rc;
    }
    struct progress bar;
    progress_init(&bar, "bench", (int64_t)b->o.rounds * MEASURES, !app->quiet);
    rc = run_rounds(b, rounds, measured, &bar, err);
    progress_clear(&bar);
    if (rc < 0)
        return rc;
    bench_report(b, measures, MEASURES, rounds, measured, ratios);
    return 0;
}

int bench_measures(struct bench *b)
{
    struct err err = { 0 };
    int rc = run_all(b, &err);
    bench_close(b);
    return rc < 0 ? app_fail(b->app, &err) : EXIT_WELL;
}
