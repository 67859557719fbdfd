/* test_plans_reading.c - what a look costs does not depend on how much there is: the blocks that
 * each report of the PostgreSQL store touches, and each question to the views for readers, with
 * statistics and without. PRESCIENT_TEST_ROWS
 * says among how many checks (5,000); tests/t_plans.sh asks with more. */
/* night: of plans the gate looks at those of the hot statements */
/* about 8 s */
#include "pg_fixture.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../engine/store/store_pg.h"

#define SLOTS 2880              /* to come; as many checks in each as there are checks for them */
#define PAST 30                 /* days */
#define PARAMS 12
#define LONG "60000"            /* ms: within this a report of the past looks; its spans are as long as
                                 * the last ones were quick */
#define TRIES 10

static int rows_beside(void)
{
    const char *rows = getenv("PRESCIENT_TEST_ROWS");
    return rows ? atoi(rows) : 5000;
}

/* A report, its parameters, and how many blocks of 8 KiB it may touch. A million checks are 13,000
 * and their index 4,000; the index gives some hundred checks a block, the table one, as they are
 * scattered. */
static const struct look { const char *name, *params[PARAMS]; int blocks; } looks[] = {
    { "status", { NULL }, 6500 },                           /* the first 100,001 rows are counted */
    { "doctor", { NULL }, 13000 },                          /* 6,240 passes of a day */
    { "slots", { NULL, NULL, "101", "now", "100" }, 15000 },
    { "slots", { "now", NULL, "101", NULL, "100" }, 15000 },
    { "slots", { "-20d", NULL, "101", NULL, "100" }, 15000 },
    /* of up to a thousand slots, some 30 blocks each; of a slot with passes, 65 more */
    { "slots", { "now", NULL, "1001", NULL, "1000", NULL, "20000" }, 60000 },
    { "slots", { "now", NULL, "1001", NULL, "1000", "job", "20000" }, 80000 },
    { "slots", { "-20d", NULL, "1001", NULL, "1000", "tenant", "20000" }, 100000 },
    { "runs_since", { "-20d", "20000" }, 4000 },
    { "lately", { NULL }, 1000 },               /* a day of 30 of what runs were like, and 300 passes */
    { "passes", { NULL, NULL, "101" }, 150 },
    { "passes", { NULL, "-20d", "101" }, 150 },
    { "list", { NULL, NULL, NULL, NULL, NULL, "101", "10000" }, 300 },
    { "list", { NULL, NULL, NULL, "+10d", NULL, "101", "10000" }, 300 },
    { "list", { NULL, NULL, "is_paid", NULL, NULL, "101", "10000" }, 3000 },
    { "list", { NULL, NULL, "nobody", NULL, NULL, "101", "10000" }, 25000 },
    { "list", { "orders", NULL, NULL, NULL, NULL, "101", "10000" }, 3000 },
    { "list", { "rarities", NULL, NULL, NULL, NULL, "101", "10000" }, 1500 },
    /* a reader's view does not know the bucket of a key: it looks into all 64, three blocks each */
    { "list", { "orders", "4711", NULL, NULL, NULL, "101", "10000" }, 250 },
    { "list", { NULL, "4711", NULL, NULL, NULL, "101", "10000" }, 25000 },
    { "list", { NULL, NULL, NULL, NULL, NULL, "101", "20000", NULL, NULL, "[+10d" }, 300 },
    { "list", { NULL, NULL, "nobody", NULL, NULL, "101", "20000", NULL, NULL, "[+10d" }, 45000 },
    { "jobs_pending", { "100000" }, 13000 },
    { "waiting_jobs", { "[\"is_paid\", \"is_shipped\"]", "11" }, 11500 },
    { "waiting_jobs", { "[]", "11" }, 15000 },  /* and jobs that ran lately: by the hour 1,200 to 3,400 */
    { "leases", { NULL }, 10 },
    { "put_off", { "11" }, 1500 },              /* one check of a thousand */
    { "withheld", { NULL }, 600 },              /* of each of 30 days the end of the index */
    /* A third as many rows in each of the two, of 30 days: 7,000 and 5,000 blocks, some 250 a day.
     * What no index leads to is looked for in all of the day that is not over, span by span, and
     * each span reads whole ranges of 128 blocks: so the later in the day (UTC), the more. Before
     * -20d: of each younger day the end is read, up to 128 blocks that the index by time does not
     * know yet, and twice. */
    { "history", { NULL, NULL, NULL, NULL, NULL, NULL, "101", LONG }, 1500 },
    { "history", { NULL, NULL, NULL, NULL, NULL, "-20d", "101", LONG }, 6000 },
    { "history", { NULL, NULL, "is_paid", NULL, NULL, NULL, "101", LONG }, 2500 },
    { "history", { NULL, NULL, "nobody", NULL, NULL, NULL, "101", LONG }, 4000 },
    { "history", { NULL, NULL, NULL, "failed", NULL, NULL, "101", LONG }, 2500 },
    { "history", { NULL, NULL, NULL, "crashed", NULL, NULL, "101", LONG }, 4000 },
    { "refused", { "0", "100000", LONG }, 14000 },
    { "history", { "nobody", NULL, NULL, NULL, NULL, NULL, "101", LONG }, 4000 },
    { "history", { "orders", "4711", NULL, NULL, NULL, NULL, "101", LONG }, 4000 },
    { "deliveries", { NULL, NULL, NULL, "101", "10000", LONG }, 4000 },
    { "deliveries", { "hook", "1", NULL, "101", "10000", LONG }, 4000 },
    { "row_events", { "orders", "4711", "20" }, 4000 },
    { "history", { NULL, NULL, NULL, NULL, NULL, NULL, "101", LONG, NULL, "{-20d" }, 1500 },
    { "runs", { NULL, NULL, NULL, NULL, NULL, NULL, "101", LONG, NULL, "{-20d" }, 1500 },
    { "runs", { NULL, NULL, NULL, NULL, NULL, NULL, "101", LONG }, 1500 },
    { "runs", { NULL, NULL, NULL, NULL, NULL, "-20d", "101", LONG }, 6000 },
    { "runs", { NULL, NULL, "nobody", NULL, NULL, NULL, "101", LONG }, 4000 },
    { "runs", { "orders", "4711", NULL, NULL, NULL, NULL, "101", LONG }, 4000 },
};

/* What a dashboard or an admin page asks of the views, with the settings of any session. The day
 * that is not over has no index by entity and key: what it has is read. The last event is looked
 * for in each day, as its cursor names none. A session that calls a function for the first time
 * reads the catalog, too. Without statistics an open range of time counts as a third of the table;
 * dashboards give both ends. */
static const struct view_look {
    const char *sql;
    int blocks;
} view_looks[] = {
    { "SELECT * FROM prescient.pending('orders', 4711)", 150 },
    { "SELECT * FROM prescient.pending WHERE entity_name = 'orders' AND entity_key = '4711'", 350 },
    { "SELECT * FROM prescient.pending ORDER BY next_check_at LIMIT 100", 300 },
    { "SELECT count(*) FROM prescient.pending WHERE next_check_at BETWEEN now() AND now() + interval '1 "
      "hour'",
      2500 },
    { "SELECT * FROM prescient.history WHERE archived_at BETWEEN now() - interval '1 hour' AND now()", 800 },
    { "SELECT * FROM prescient.history WHERE entity_name = 'orders' AND entity_key = '4711'", 1000 },
    { "SELECT * FROM prescient.runs WHERE recorded_at BETWEEN now() - interval '1 hour' AND now()", 800 },
    { "SELECT * FROM prescient.runs WHERE entity_name = 'orders' AND entity_key = '4711'", 1000 },
    { "SELECT * FROM prescient.events WHERE recorded_at BETWEEN now() - interval '1 hour' AND now()", 800 },
    { "SELECT * FROM prescient.events WHERE entity_name = 'orders' AND entity_key = '4711'", 1000 },
    { "SELECT * FROM prescient.events WHERE (generation, xid, id) > (SELECT 1::bigint << 60, '0'::xid8, 0) "
      "ORDER BY generation, xid, id LIMIT 100",
      300 },
    { "SELECT * FROM prescient.events_after(NULL)", 300 },
    { "SELECT n.* FROM (SELECT cursor FROM prescient.events_after(NULL) LIMIT 1) e, "
      "prescient.events_after(e.cursor) n", 500 },       /* that are two looks */
    { "SELECT * FROM prescient.slots WHERE slot_at BETWEEN now() - interval '1 hour' AND now()", 150 },
    { "SELECT * FROM prescient.passes WHERE slot_at BETWEEN now() - interval '1 hour' AND now()", 150 },
};

/* Beside schedules, a fifth as many as checks, and pauses that hold half of all checks. A line of a
 * list is a descent for its check. `pauses` counts the first ten thousand checks of each pause, and
 * touches a block for each of them, where nothing was vacuumed since they were moved. */
static const struct look schedule_looks[] = {
    { "schedules", { NULL, NULL, NULL, NULL, "101" }, 800 },
    { "schedules", { NULL, NULL, NULL, NULL, "101", "stock of shop 0000500" }, 800 },
    { "schedules", { "stock of shop 00001", NULL, NULL, NULL, "101" }, 800 },
    { "schedules", { "there is none", NULL, NULL, NULL, "101" }, 800 },
    { "schedules", { NULL, NULL, NULL, "is_shipped", "101" }, 800 },
    { "schedules", { NULL, NULL, NULL, "rare", "101" }, 800 },
    { "schedules", { NULL, NULL, NULL, "nobody", "101" }, 30 },
    { "schedules_amiss", { NULL }, 80000 },
    { "schedule", { "stock of shop 0000500" }, 40 },
    { "schedule", { "there is none" }, 30 },
    { "pauses", { NULL, "101" }, 205000 },
    { "pauses", { "true", "101" }, 205000 },
    { "pauses", { NULL, "4", "1000" }, 5500 },  /* of status and doctor */
    { "status", { NULL }, 6500 },
};

/* ---- the rows ---- */

static void run(const char *sql)
{
    PGresult *r = pgfx_ask(pgfx.app, "%s", sql);
    CU_ASSERT(PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK);
    PQclear(r);
}

static void put_waiting(int n)
{
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, "
                     "first_check_at, next_check_at)"
                     " SELECT prescient.bucket_of(e, i::text), e, i::text, CASE WHEN i %% 10 = 0 THEN "
                     "'is_paid' ELSE 'is_shipped' END, at, at"
                     "   FROM generate_series(1, %d) i, LATERAL (SELECT CASE i %% 1000 WHEN 7 THEN "
                     "'rarities' ELSE 'orders' END,"
                     "        prescient.slot_floor(now()) + (1 + i::bigint * 1000003 %% %d) * interval '15 "
                     "minutes' OFFSET 0) t (e, at)",
                     n, SLOTS));
    CU_ASSERT_EQUAL(atoi(pgfx_cell(pgfx.app, "SELECT count(*) FROM prescient.future_job")), n);
    PQclear(pgfx_ask(pgfx.app, "UPDATE prescient.future_job SET put_off_at = first_check_at - interval "
                               "'1 day' WHERE entity_key::integer %% 1000 = 3"));
}

static void put_passes(void)
{
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, closed_at)"
                     " SELECT at, b, CASE b WHEN -1 THEN 0 ELSE 1 END, CASE b WHEN -1 THEN 64 END, CASE b "
                     "WHEN -1 THEN at END"
                     "   FROM generate_series(prescient.slot_floor(now()) - %d * interval '1 day', now(), "
                     "interval '15 minutes') at,"
                     "        generate_series(-1, 63) b",
                     PAST));
}

/* What the runs of each hour were like, of 20 kinds. */
static void put_hours(void)
{
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.run_hour (hour_at, job_exec, entity_name, tenant, outcome, runs, "
                     "took_us, took_max_us, late_max_us, took_classes, took_runs, late_classes, late_runs)"
                     " SELECT h, 'is_shipped', 'orders', t::text, 'done', 24, 24, 1, 1, c.classes, c.runs, "
                     "        c.classes, c.runs"
                     "   FROM generate_series(date_trunc('hour', now()) - %d * interval '1 day', now(), "
                     "interval '1 hour') h, generate_series(1, 20) t,"
                     "        (SELECT array_agg(n::smallint), array_agg(1::bigint) FROM generate_series(1, "
                     "48) n) c (classes, runs)",
                     PAST));
}

/* Each of a row of its own, whose check waits among the others; one in a hundred of a rare job. */
static void put_schedules(int n)
{
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.schedule (name, entity_name, entity_key, job_exec, every_s, "
                     "missed, made_at, made_by, changed_at, changed_by)"
                     " SELECT 'stock of shop ' || lpad(i::text, 7, '0'), 'shop', i::text,"
                     "        CASE WHEN i %% 100 = 0 THEN 'rare' ELSE 'is_shipped' END, 300, 'run_once',"
                     "        now(), 'me', now(), 'me' FROM generate_series(1, %d) i",
                     n));
    run("INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, "
        "next_check_at, terms) SELECT prescient.bucket_of(s.entity_name, s.entity_key), s.entity_name, "
        "s.entity_key, s.job_exec, f.next_check_at, f.next_check_at, prescient.terms_of(s, now())"
        "   FROM prescient.schedule s JOIN prescient.future_job f"
        "     ON f.entity_name = 'orders' AND f.entity_key = s.entity_key AND f.job_exec = 'is_shipped'");
}

/* Twenty, and one that is over for each of a thousand days. */
static void put_pauses(void)
{
    run("INSERT INTO prescient.pause (slot_at, what, name, paused_at, paused_by, resumed_at, ended_at)"
        " SELECT timestamptz '9000-01-01 00:00:00+00' + n * interval '24 hours', 'entity', 'orders ' || n, "
        "        now(), 'me', CASE WHEN n > 20 THEN now() END, CASE WHEN n > 20 THEN now() END"
        "   FROM generate_series(1, 1020) n");
    run("UPDATE prescient.future_job SET next_check_at = timestamptz '9000-01-01 00:00:00+00' "
        "+ (1 + entity_key::integer % 20) * interval '24 hours' WHERE entity_key::integer % 40 < 20");
}

/* In the order of time, with a burst each quarter of an hour. */
static void put_past(int n)
{
    PQclear(pgfx_ask(pgfx.app,
                     "SELECT count(prescient.make_history_day(prescient.utc_day(now()) - n)) FROM "
                     "generate_series(1, %d) n",
                     PAST));
    PQclear(pgfx_ask(
        pgfx.app,
        "INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, "
        "check_count, failure_count, run_count,"
        " entity_name, entity_key, job_exec, outcome) SELECT at, at, at, at, 0, 0, 1, 'orders', i::text,"
        " CASE WHEN i %% 10 = 0 THEN 'is_paid' ELSE 'is_shipped' END, CASE WHEN i %% 50 = 0 THEN 'failed' "
        "ELSE 'done' END FROM generate_series(1, %d) i,"
        " LATERAL (SELECT prescient.slot_floor(now() - (1 - i::float8 / %d) * interval '%d days')) t (at)",
        n, n, PAST - 1));
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.future_job_run (recorded_at, run_at, slot_at, "
                               "next_check_at, run_us, check_count, failure_count,"
                               " entity_name, entity_key, job_exec, outcome) SELECT archived_at, "
                               "archived_at, archived_at, archived_at, 1, 1, 0, entity_name, entity_key,"
                               " job_exec, 'again' FROM prescient.future_job_history"));
    CU_ASSERT_EQUAL(atoi(pgfx_cell(pgfx.app, "SELECT count(*) FROM prescient.future_job_run")), n);
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.event (generation, recorded_at, emitted_at, slot_at, "
                               "check_count, event, entity_name, entity_key, job_exec) SELECT g.newest, "
                               "archived_at, archived_at, archived_at, 1, 'late', entity_name, entity_key, "
                               "job_exec FROM prescient.future_job_history, (SELECT max(generation) FROM "
                               "prescient.generation) g (newest)"));
    CU_ASSERT_EQUAL(atoi(pgfx_cell(pgfx.app, "SELECT count(*) FROM prescient.events")), n);
    while (atoi(pgfx_cell(pgfx.app, "SELECT prescient.index_history_day()")) > 0)
        continue;
    /* the index by time is told of new blocks, as autovacuum does */
    run("VACUUM prescient.future_job_history, prescient.future_job_run, prescient.event");
}

/* ---- what a look costs ---- */

enum { WORD = 96 };

/* "+10d" and "now" as a report takes moments; "[+10d" is the cursor of a check there, "{-20d" that
 * of a row of the past; anything else is as it is. */
static const char *param_of(const char *word, char out[WORD])
{
    bool is_check = word && strncmp(word, "[+", 2) == 0, is_past = word && strncmp(word, "{-", 2) == 0;
    bool is_moment = word && (*word == '+' || *word == '-' || strcmp(word, "now") == 0);
    if (!is_check && !is_past && !is_moment)
        return word;
    int days = atoi(word + (is_check || is_past));
    const char *at = pgfx_cell(pgfx.app, "SELECT date_part('epoch', date_trunc('hour', now()) + %d * "
                                         "interval '1 day')::bigint", days);
    if (is_check)
        snprintf(out, WORD, "[\"%s\", 0, 0, 0]", at);
    else if (is_past)
        snprintf(out, WORD, "[%s000000, %s000000, 0, \"a\", \"a\", \"a\"]", at, at);
    else
        snprintf(out, WORD, "%s", at);
    return out;
}

/* The number behind `name` in this line; 0 without it. */
static int number_of(const char *line, const char *name)
{
    const char *at = strstr(line, name);
    return at ? atoi(at + strlen(name)) : 0;
}

/* Of the whole plan: its first line of buffers tells the sum, functions and all; where planning
 * comes before such a line, none were touched. The plan that is counted is the one that is shown: a
 * second look finds what the first one has marked dead. */
static int blocks_of(PGresult *plan)
{
    if (PQresultStatus(plan) != PGRES_TUPLES_OK)
        return -1;
    for (int i = 0; i < PQntuples(plan); i++) {
        const char *line = PQgetvalue(plan, i, 0);
        if (strstr(line, "Planning"))
            return 0;
        if (strstr(line, "Buffers: shared"))
            return number_of(line, " hit=") + number_of(line, " read=");
    }
    return 0;
}

/* A function that is gone through for each row of another look: that touches no block. */
static bool repeats_functions(PGresult *plan)
{
    for (int i = 0; i < PQntuples(plan); i++) {
        const char *line = PQgetvalue(plan, i, 0);
        if (strstr(line, "Function Scan on generate_series") && number_of(line, " loops=") > 1000)
            return true;
    }
    return false;
}

static void show(PGresult *plan)
{
    for (int i = 0; i < PQntuples(plan); i++)
        printf("        %s\n", PQgetvalue(plan, i, 0));
}

static PGresult *explain(const struct look *look, unsigned forms)
{
    char words[PARAMS][WORD];
    const char *params[PARAMS];
    for (int i = 0; i < PARAMS; i++)
        params[i] = param_of(look->params[i], words[i]);
    int report = 0;
    while (report < PG_STATEMENTS && strcmp(pg_statements[report].name, look->name) != 0)
        report++;
    CU_ASSERT_FATAL(report < PG_STATEMENTS);
    int n = pg_statements[report].nin;
    const char *sql = pg_sql(pg_store(pgfx.st), report + sql_form(&pg_statements[report], forms));
    char *text = NULL;
    Oid types[PARAMS];
    for (int i = 0; i < PARAMS; i++)
        types[i] = 25;
    CU_ASSERT_FATAL(sql && asprintf(&text, "EXPLAIN (ANALYZE, BUFFERS) %s", sql) > 0);
    PGresult *r = PQexecParams(pgfx.app, text, n, types, params, NULL, NULL, 0);
    free(text);
    return r;
}

/* Explains it, with the time limit of a report; *blocks: what it has touched. */
static PGresult *tried(const struct look *look, unsigned forms, int *blocks)
{
    run("BEGIN");
    run(pg_sql(pg_store(pgfx.st), PG_PATH));
    PGresult *r = PQexecParams(pgfx.app, pg_sql(pg_store(pgfx.st), PG_READING), 1, NULL,
                               (const char *const[]){ "60s" }, NULL, NULL, 0);
    CU_ASSERT_EQUAL(PQresultStatus(r), PGRES_TUPLES_OK);
    PQclear(r);
    r = explain(look, forms);
    *blocks = blocks_of(r);
    run("ROLLBACK");
    return r;
}

static bool judges_time(const struct look *look)
{
    for (int i = 0; i < PARAMS; i++)
        if (look->params[i] && !strcmp(look->params[i], LONG))
            return true;
    return false;
}

/* A look that judges time goes in smaller spans where the machine keeps it waiting, and touches
 * more: it counts when it was not. What it costs by itself, it costs each time. */
static void look_is_cheap(const struct look *look, unsigned forms)
{
    bool cheap = false;
    for (int tries = judges_time(look) ? TRIES : 1; !cheap && tries > 0; tries--) {
        int blocks;
        PGresult *r = tried(look, forms, &blocks);
        cheap = blocks >= 0 && blocks <= look->blocks && !repeats_functions(r);
        if (!cheap && tries == 1) {
            printf("      %s%s(%s, %s, %s, ...): %d blocks, expected at most %d %s\n", look->name,
                   forms ? ", narrow" : "", look->params[0], look->params[1], look->params[2], blocks,
                   look->blocks, PQerrorMessage(pgfx.app));
            show(r);
        }
        PQclear(r);
    }
    CU_ASSERT_TRUE(cheap);
}

static void view_look_is_cheap(const struct view_look *look)
{
    PGresult *r = pgfx_ask(pgfx.app, "EXPLAIN (ANALYZE, BUFFERS) %s", look->sql);
    int blocks = blocks_of(r);
    bool cheap = blocks >= 0 && blocks <= look->blocks;
    if (!cheap) {
        printf("      %s: %d blocks, expected at most %d %s\n", look->sql, blocks, look->blocks,
               PQerrorMessage(pgfx.app));
        show(r);
    }
    CU_ASSERT_TRUE(cheap);
    PQclear(r);
}

static void looks_are_cheap(void)
{
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        look_is_cheap(&looks[i], PG_FORM_PLAIN);
        look_is_cheap(&looks[i], PG_FORM_NARROW);       /* the same where there is no such form */
    }
    for (size_t i = 0; i < sizeof view_looks / sizeof *view_looks; i++)
        view_look_is_cheap(&view_looks[i]);
}

static void every_look_is_bounded_without_statistics_and_with(void)
{
    WITH_SERVER();
    put_waiting(rows_beside());
    put_passes();
    put_hours();
    put_past(rows_beside() / 3);
    looks_are_cheap();
    run("VACUUM ANALYZE");
    looks_are_cheap();
    /* the fixture deletes: a count of the next test would go over all these dead rows */
    run("TRUNCATE prescient.future_job_history, prescient.future_job_run, prescient.event");
}

/* A count takes a block of the table for each check that is late or put off, so it ends. */
static void looks_are_bounded_when_most_checks_are_late_or_put_off(void)
{
    WITH_SERVER();
    static const struct look late[] = {
        { "status", { NULL }, 38000 },
        { "put_off", { "11" }, 12000 },
        { "doctor", { NULL }, 32000 },
    };
    int n = rows_beside() < 60000 ? 60000 : rows_beside();
    put_waiting(n);
    run("UPDATE prescient.future_job SET next_check_at = next_check_at - interval '40 days' WHERE "
        "entity_key::integer % 10 < 6");
    run("UPDATE prescient.future_job SET put_off_at = next_check_at - interval '20 days' WHERE "
        "entity_key::integer % 10 > 2");
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        look_is_cheap(&late[i], PG_FORM_PLAIN);
        look_is_cheap(&late[i], PG_FORM_NARROW);
    }
    run("VACUUM ANALYZE prescient.future_job");
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        look_is_cheap(&late[i], PG_FORM_PLAIN);
}

/* They were all filed at once, behind the others, whose end a look by the table would have to find:
 * 3,000 blocks. */
static void an_entity_at_the_end_of_the_table_is_not_looked_for_from_its_beginning(void)
{
    WITH_SERVER();
    static const struct look last[] = {
        { "list", { "letters", NULL, NULL, NULL, NULL, "101", "100" }, 1500 },
        { "deliveries", { NULL, NULL, NULL, "101", "100", LONG }, 2000 },
    };
    int n = rows_beside() < 200000 ? 200000 : rows_beside();
    put_waiting(n);
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, "
                     "first_check_at, next_check_at) SELECT prescient.bucket_of(e, i::text), e, i::text, "
                     "'is_sent', at, at FROM generate_series(1, %d) i, unnest('{letters,prescient.event}'"
                     "::text[]) e, LATERAL (SELECT prescient.slot_floor(now()) + interval '40 days') t (at)",
                     n / 10));
    run("VACUUM ANALYZE prescient.future_job");
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        look_is_cheap(&last[i], PG_FORM_PLAIN);
        look_is_cheap(&last[i], PG_FORM_NARROW);
    }
}

static void schedule_looks_are_cheap(void)
{
    for (size_t i = 0; i < sizeof schedule_looks / sizeof *schedule_looks; i++) {
        look_is_cheap(&schedule_looks[i], PG_FORM_PLAIN);
        look_is_cheap(&schedule_looks[i], PG_FORM_NARROW);
    }
}

static void schedules_and_pauses_are_listed_by_an_index_without_statistics_and_with(void)
{
    WITH_SERVER();
    put_waiting(rows_beside());
    put_schedules(rows_beside() / 5);
    put_pauses();
    schedule_looks_are_cheap();
    run("VACUUM ANALYZE");
    schedule_looks_are_cheap();
}

static const struct test tests[] = {
    TEST(looks_are_bounded_when_most_checks_are_late_or_put_off),
    TEST(every_look_is_bounded_without_statistics_and_with),
    TEST(an_entity_at_the_end_of_the_table_is_not_looked_for_from_its_beginning),
    TEST(schedules_and_pauses_are_listed_by_an_index_without_statistics_and_with),
    { NULL, NULL },
};

const struct suite suite_plans_reading = { "plans_reading", pgfx_setup, pgfx_teardown, tests };
