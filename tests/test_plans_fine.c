/* test_plans_fine.c - what the look for fine slots costs, which each daemon makes every second: the
 * blocks that it touches among many checks, many passes, and dead rows that an old transaction
 * keeps. PRESCIENT_TEST_ROWS says how many (5,000); tests/t_plans.sh asks with more. */
/* night: of plans the gate looks at those of the hot statements */
#include "pg_fixture.h"

#include <stdlib.h>

#include "../engine/store/store_pg.h"

#define SECONDS 600             /* how far back a look begins */
#define WAITING 3               /* seconds with checks that nobody has opened */
#define LEFT 20                 /* seconds that an engine has run and left checks of jobs in that it lacks */

static int rows_beside(void)
{
    const char *rows = getenv("PRESCIENT_TEST_ROWS");
    return rows ? atoi(rows) : 5000;
}

static void run(PGconn *conn, const char *sql)
{
    PGresult *r = pgfx_ask(conn, "%s", sql);
    CU_ASSERT(PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK);
    PQclear(r);
}

/* `n` checks at `at`, an expression of their number i. */
static void put_checks(int n, const char *at)
{
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, "
                     "first_check_at, next_check_at)"
                     " SELECT prescient.bucket_of(at::text, i::text), at::text, i::text, 'look', at, at"
                     "   FROM generate_series(1, %d) i, LATERAL (SELECT %s) t (at)",
                     n, at));
}

/* The second that is so many before the one in which `base` was taken. */
static const char *second(char out[80], int ago)
{
    snprintf(out, 80, "(SELECT at - %d * interval '1 second' FROM base)", ago);
    return out;
}

/* Checks in full slots before and after, and the passes of as many seconds as there are checks. */
static void put_world(int n)
{
    char at[80];
    run(pgfx.app, "CREATE TEMP TABLE IF NOT EXISTS base (at timestamptz)");
    run(pgfx.app, "TRUNCATE base; INSERT INTO base SELECT date_trunc('second', now())");
    put_checks(n, "prescient.slot_floor(now()) + (1 + i % 900) * interval '15 minutes'");
    put_checks(n / 10, "prescient.slot_floor(now()) - (5 + i % 900) * interval '15 minutes'");
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, closed_at)"
                     " SELECT base.at - i * interval '1 second', -1, pass, CASE pass WHEN 0 THEN 1 END, now()"
                     "   FROM base, generate_series(0, %d) i, generate_series(0, 1) pass"
                     "  WHERE i NOT IN (100, 200, 300)",
                     n));
    for (int i = 1; i <= WAITING; i++)
        put_checks(n / 10, second(at, i * 100));
}

/* Of jobs that no engine has, until they are put off. */
static void put_left(int n)
{
    char at[80];
    run(pgfx.app, "UPDATE prescient.slot_pass p SET closed_at = NULL FROM base"
                  " WHERE p.pass = 0 AND p.slot_at > base.at - interval '20 s' AND p.slot_at <= base.at");
    run(pgfx.app, "UPDATE prescient.slot_pass p SET left_jobs = '{stranger}' FROM base"
                  " WHERE p.pass = 1 AND p.slot_at > base.at - interval '20 s' AND p.slot_at <= base.at");
    for (int i = 0; i < LEFT; i++)
        put_checks(n / LEFT, second(at, i));
}

/* A second that was run, while a transaction that is older goes on. */
static void put_dead_rows(int n)
{
    char at[80];
    run(pgfx.other, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM prescient.future_job");
    put_checks(n, second(at, 150));
    PQclear(pgfx_ask(pgfx.app, "DELETE FROM prescient.future_job WHERE next_check_at = %s", second(at, 150)));
}

static int blocks_of(const char *plan)
{
    const char *hit = strstr(plan, "\"Shared Hit Blocks\": "),
               *read = strstr(plan, "\"Shared Read Blocks\": ");
    if (!hit || !read)
        return -1;
    return atoi(hit + strlen("\"Shared Hit Blocks\": ")) + atoi(read + strlen("\"Shared Read Blocks\": "));
}

/* Asked as a server asks it that has, or has not yet, a plan for all values. */
static void look_is_cheap(const char *mode, int ago, int slots, int most)
{
    char at[80];
    const Oid types[] = { 1184, 1009 };
    PQclear(PQprepare(pgfx.app, "planned", pg_sql(pg_store(pgfx.st), PG_FINE_SLOTS), 2, types));
    PQclear(pgfx_ask(pgfx.app, "SET plan_cache_mode = %s", mode));
    PGresult *low = pgfx_ask(pgfx.app, "SELECT %s", second(at, ago));
    const char *text = PQgetvalue(low, 0, 0);
    PGresult *r = pgfx_ask(pgfx.app, "EXECUTE planned('%s', '{look}')", text);
    CU_ASSERT_EQUAL(PQntuples(r), slots + 1);
    PQclear(r);
    r = pgfx_ask(pgfx.app, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE planned('%s', '{look}')", text);
    int blocks = PQntuples(r) ? blocks_of(PQgetvalue(r, 0, 0)) : -1;
    if (blocks < 0 || blocks > most)
        printf("      %s, %d s: %d blocks, expected at most %d\n", mode, ago, blocks, most);
    CU_ASSERT(blocks >= 0 && blocks <= most);
    PQclear(r);
    PQclear(low);
    run(pgfx.app, "DEALLOCATE planned; RESET plan_cache_mode");
}

static void looks_are_cheap(void)
{
    static const char *const modes[] = { "force_custom_plan", "force_generic_plan" };
    for (int i = 0; i < 2; i++) {
        look_is_cheap(modes[i], 5, 0, 20);
        look_is_cheap(modes[i], SECONDS, WAITING, 100);
    }
}

static void a_look_for_fine_slots_touches_little_without_statistics_and_with(void)
{
    WITH_SERVER();
    put_world(rows_beside());
    looks_are_cheap();
    run(pgfx.app, "ANALYZE prescient.future_job, prescient.slot_pass");
    looks_are_cheap();
}

/* They are in the index until nobody can see them any more. */
static void dead_rows_of_a_second_that_was_run_are_not_read(void)
{
    WITH_SERVER();
    put_world(rows_beside());
    put_dead_rows(rows_beside());
    looks_are_cheap();
    run(pgfx.other, "ROLLBACK");
}

/* A look reads what is left only for the jobs of who asks. */
static void checks_left_for_jobs_that_nobody_has_are_not_read(void)
{
    WITH_SERVER();
    put_world(rows_beside());
    put_left(rows_beside());
    look_is_cheap("force_custom_plan", 5, 0, 200);
    look_is_cheap("force_generic_plan", 5, 0, 200);
}

static const struct test tests[] = {
    TEST(a_look_for_fine_slots_touches_little_without_statistics_and_with),
    TEST(dead_rows_of_a_second_that_was_run_are_not_read),
    TEST(checks_left_for_jobs_that_nobody_has_are_not_read),
    { NULL, NULL },
};

const struct suite suite_plans_fine = { "plans_fine", pgfx_setup, pgfx_teardown, tests };
