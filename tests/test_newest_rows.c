/* test_newest_rows.c - the history and the runs, looked for in spans of time, are those of one
 * statement over all, in the same order. */
/* night: it compares hundreds of spans; the contract asks for some */
/* about 4 s */
#include "pg_fixture.h"

#include <stdlib.h>

static void run(const char *sql)
{
    PGresult *r = pgfx_ask(pgfx.app, "%s", sql);
    CU_ASSERT(PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK);
    if (PQresultStatus(r) == PGRES_FATAL_ERROR)
        printf("      %s\n", PQerrorMessage(pgfx.app));
    PQclear(r);
}

/* Bursts and pauses of all lengths, more rows in one moment than a span may have, days that are
 * over with their indexes, one of them empty, and rows from before the clock was set back. A tenth
 * ended in another time than they were written in, as in a replay. */
static void put_past(void)
{
    run("SELECT setseed(0.5)");
    run("SELECT count(prescient.make_history_day(prescient.utc_day(now()) - n)) FROM generate_series(1, 6) "
        "n");
    run("CREATE TEMP TABLE past AS SELECT i, least(now() + interval '2 seconds', now() + interval '2 "
        "seconds' - d.at * (1 - 0.2 * (d.at > interval '3 days')::int)) AS at"
        " FROM (SELECT i, CASE i % 7 WHEN 0 THEN interval '1 day' * 5 * random() WHEN 1 THEN interval '1 "
        "second' * 20 * random() WHEN 2 THEN interval '90 minutes'"
        "   WHEN 3 THEN interval '26 hours' + interval '1 second' * random() WHEN 4 THEN interval '26 hours' "
        "ELSE interval '5 days' * power(random(), 6) END AS at"
        "   FROM generate_series(1, 30000) i) d");
    run("INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, "
        "check_count, failure_count, run_count, entity_name,"
        " entity_key, job_exec, outcome) SELECT at, CASE i % 10 WHEN 0 THEN at - interval '300 days' * "
        "random() ELSE at END, at, at, 0, 0, 1,"
        " 'e' || i % 3, (i % 5000)::text, CASE WHEN i % 9999 = 1 THEN 'rare' ELSE 'j' || i % 2 END, CASE i % "
        "50 WHEN 1 THEN 'failed' ELSE 'done' END FROM past");
    run("INSERT INTO prescient.future_job_run (recorded_at, run_at, slot_at, next_check_at, run_us, "
        "check_count, failure_count, entity_name, entity_key, job_exec,"
        " outcome) SELECT at, CASE i % 10 WHEN 0 THEN at - interval '300 days' * random() ELSE at END, at, "
        "at, 1, i % 4, 0,"
        " 'e' || i % 3, (i % 5000)::text, CASE WHEN i % 9999 = 1 THEN 'rare' ELSE 'j' || i % 2 END, CASE i % "
        "50 WHEN 1 THEN 'failed' ELSE 'again' END FROM past");
    while (atoi(pgfx_cell(pgfx.app, "SELECT prescient.index_history_day()")) > 0)
        continue;
}

/* Entity, key, job, outcome, since and before as hours from now. */
static const struct { const char *entity, *key, *job, *outcome, *since, *before;
} filters[] = {
    { 0 },
    { .entity = "'e1'" },
    { .entity = "'e1'", .key = "'4711'" },
    { .job = "'j1'" },
    { .job = "'rare'" },
    { .job = "'nobody'" },
    { .outcome = "'failed'" },
    { .outcome = "'crashed'" },
    { .since = "-30" },
    { .before = "-27" },
    { .before = "-26" },
    { .before = "48" },
    { .since = "-100", .before = "-90" },
    { .before = "-2000" },
    { .since = "1" },
    { .job = "'j1'", .outcome = "'failed'", .before = "-20" },
    { .key = "'17'" },
};

#define OR(word, value) ((word) ? (word) : (value))

/* The rows as one text, by the function or by one statement over all. */
static void same_rows(const char *table, const char *at, const char *told, int f, int limit)
{
    char *by_spans = NULL, *by_one = NULL;
    const char *since = OR(filters[f].since, "NULL"), *before = OR(filters[f].before, "NULL");
    CU_ASSERT_FATAL(
        asprintf(&by_spans,
                 "SELECT md5(string_agg(r::text, ';')) || count(*) FROM (SELECT r.* FROM "
                 "prescient.newest_rows(NULL::prescient.%s, %s, %s, %s, %s,"
                 " now() + %s * interval '1 hour', now() + %s * interval '1 hour', %d, NULL) r) r",
                 table, OR(filters[f].entity, "NULL"), OR(filters[f].key, "NULL"), OR(filters[f].job, "NULL"),
                 OR(filters[f].outcome, "NULL"), since, before, limit) > 0);
    CU_ASSERT_FATAL(
        asprintf(
            &by_one,
            "SELECT md5(string_agg(r::text, ';')) || count(*) FROM (SELECT r.* FROM prescient.%s r WHERE "
            "entity_name = coalesce(%s, entity_name)"
            " AND entity_key = coalesce(%s, entity_key) AND job_exec = coalesce(%s, job_exec) AND outcome = "
            "coalesce(%s, outcome)"
            " AND %s >= coalesce(now() + %s * interval '1 hour', '-infinity') AND %s < coalesce(now() + %s * "
            "interval '1 hour', 'infinity')"
            " ORDER BY %s DESC, %s DESC, check_count DESC, entity_name DESC, entity_key DESC, job_exec DESC "
            "LIMIT %d) r",
            table, OR(filters[f].entity, "NULL"), OR(filters[f].key, "NULL"), OR(filters[f].job, "NULL"),
            OR(filters[f].outcome, "NULL"), told, since, told, before, at, told, limit) > 0);
    char expected[64];
    snprintf(expected, sizeof expected, "%s", pgfx_cell(pgfx.app, "%s", by_one));
    SQL_IS(expected, "%s", by_spans);
    free(by_spans);
    free(by_one);
}

static void rows_found_in_spans_are_those_of_one_statement(void)
{
    static const int limits[] = { 1, 101, 2000000, 7000 };
    WITH_SERVER();
    put_past();
    run("BEGIN");                       /* one now() for both */
    for (int f = 0; f < (int)(sizeof filters / sizeof *filters); f++)
        /* few and many, by turns */
        for (int l = f % 2; l < (int)(sizeof limits / sizeof *limits); l += 2) {
            same_rows("future_job_history", "archived_at", "ended_at", f, limits[l]);
            same_rows("future_job_run", "recorded_at", "run_at", f, limits[l]);
        }
    run("ROLLBACK");
    run("DROP TABLE past");
}

static void a_look_that_took_too_long_says_how_far_back_it_came(void)
{
    WITH_SERVER();
    put_past();
    SQL_IS("1 true", "SELECT count(*) || ' ' || bool_and(entity_name IS NULL AND ended_at = archived_at AND "
                     "ended_at < now())::text"
                     " FROM prescient.newest_rows(NULL::prescient.future_job_history, NULL, NULL, 'nobody', "
                     "NULL, NULL, NULL, 100, 0)");
    SQL_IS("1", "SELECT count(*) FROM prescient.newest_rows(NULL::prescient.future_job_run, NULL, NULL, "
                "'nobody', NULL, NULL, NULL, 100, 0)"
                " WHERE entity_name IS NULL AND run_at IS NOT NULL");
    SQL_IS("0", "SELECT count(*) FROM prescient.newest_rows(NULL::prescient.future_job_run, NULL, NULL, "
                "'nobody', NULL, NULL, NULL, 100, 600000)");
    run("DROP TABLE past");
}

/* Where nothing was told for later than it was written. */
static void a_look_since_a_moment_ends_with_what_was_written_before_it(void)
{
    WITH_SERVER();
    put_past();
    SQL_IS("0", "SELECT count(*) FROM prescient.newest_rows(NULL::prescient.future_job_history, NULL, NULL, "
                "'nobody', NULL, now() + interval '10 years', NULL, 100, 0)");
    SQL_IS("0", "SELECT count(*) FROM prescient.newest_rows(NULL::prescient.future_job_run, NULL, NULL, "
                "'nobody', NULL, now() + interval '10 years', NULL, 100, 0)");
    run("DROP TABLE past");
}

/* As on a server that makes machine code of each statement first. A span that takes long is
 * followed by a shorter one, and that would be no quicker. */
static void where_each_statement_is_slow_it_comes_to_the_end(void)
{
    WITH_SERVER();
    SQL_IS("", "CREATE VIEW public.slow AS SELECT r.* FROM prescient.future_job_run r WHERE (SELECT "
               "pg_sleep(0.021) IS NOT NULL)");
    SQL_IS("", "SET statement_timeout = '1min'");
    SQL_IS("0", "SELECT count(*) FROM prescient.newest_rows(NULL::public.slow, 'none', NULL, NULL, NULL, "
                "NULL, NULL, 5, NULL)");
    SQL_IS("", "RESET statement_timeout; DROP VIEW public.slow");
}

static const struct test tests[] = {
    TEST(rows_found_in_spans_are_those_of_one_statement),
    TEST(a_look_that_took_too_long_says_how_far_back_it_came),
    TEST(a_look_since_a_moment_ends_with_what_was_written_before_it),
    TEST(where_each_statement_is_slow_it_comes_to_the_end),
    { NULL, NULL },
};

const struct suite suite_newest_rows = { "newest_rows", pgfx_setup, pgfx_teardown, tests };
