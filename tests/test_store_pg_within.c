/* test_store_pg_within.c - the parameter `within` of prescient.enqueue on PostgreSQL. */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>

#include "../engine/rules/spread.h"
#include "pg_fixture.h"

#define AT INT64_C(1893499200)          /* 2030-01-01 12:00 */
#define AT_SQL "'2030-01-01 12:00+00'"

/* What commands draw in C and SQL by itself. */
static void a_slot_is_drawn_alike_in_sql_and_in_c(void)
{
    WITH_SERVER();
    static const struct spread_load of[] = { { AT, 500 }, { AT + 900, 20 }, { AT + 2700, 7000 } };
    static const int32_t within_s[] = { 900, 3600, 7260, 86400, 30 * 86400 };
    const struct spread_loads loads = { of, 3 };
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.slot_load SELECT to_timestamp(u.at), u.n FROM "
                               "unnest('{1893499200,1893500100,1893501900}'::bigint[], '{500,20,7000}'"
                               "::integer[]) u (at, n)"));
    for (int i = 0; i < 200; i++) {
        char key[24], expected[32];
        int32_t within = within_s[i % 5];
        snprintf(key, sizeof key, "w\xc3\xb6rt%d", i);
        struct spread_hash hash = spread_hash_of("orders", key, "look");
        const struct spread_span span = { AT - 7, within, AT - 1000 * i, 900 };
        snprintf(expected, sizeof expected, "%" PRId64, spread_draw(&span, &loads, &hash));
        SQL_IS(expected, "SELECT date_part('epoch', prescient.drawn_slot('orders', '%s', 'look', "
                         "%d * interval '1 second', to_timestamp(%" PRId64 "), to_timestamp(%" PRId64 ")))"
                         "::bigint", key, within, AT - 1000 * i, AT - 7);
    }
}

static void within_stands_behind_all_other_parameters(void)
{
    WITH_SERVER();
    SQL_IS("new", "SELECT prescient.enqueue('orders', '1', 'j', " AT_SQL ", within => '1 hour')");
    SQL_IS("new", "SELECT prescient.enqueue('orders', 2, 'j', interval '3 hours', within => '1 hour')");
    SQL_IS("new", "SELECT prescient.enqueue('orders', '3', 'j', '3 hours', '{}', 'keep', 1, '1 hour')");
    SQL_IS("new", "SELECT prescient.enqueue('orders', 4::bigint, 'j', now(), within => NULL)");
    /* calls of before */
    SQL_IS("new", "SELECT prescient.enqueue('orders', '5', 'j', " AT_SQL ", '{\"a\": 1}')");
    SQL_IS("new", "SELECT prescient.enqueue('orders', '6', 'j', " AT_SQL ", NULL, 'earlier')");
    SQL_IS("new", "SELECT prescient.enqueue('orders', 7, 'j', " AT_SQL ", NULL, 'replace', 3)");
    SQL_IS("6", "SELECT count(*) FROM pg_proc WHERE pronamespace = 'prescient'::regnamespace AND "
                "proname = 'enqueue' AND pronargs = 10");
    SQL_IS("t", "SELECT bool_and(next_check_at = prescient.slot_ceil(next_check_at) AND next_check_at "
                "BETWEEN "
                AT_SQL " AND '2030-01-01 13:00+00') FROM prescient.future_job WHERE entity_key = '1'");
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job WHERE next_check_at = " AT_SQL " AND "
                "entity_key IN "
                "('5', '6', '7')");
}

static void a_check_that_waits_is_dealt_with_as_if_the_drawn_slot_was_asked_for(void)
{
    WITH_SERVER();
    SQL_IS("new", "SELECT prescient.enqueue('orders', '1', 'j', '2030-01-02')");
    SQL_IS("kept", "SELECT prescient.enqueue('orders', '1', 'j', " AT_SQL ", within => '6 hours')");
    SQL_IS("moved", "SELECT prescient.enqueue('orders', '1', 'j', " AT_SQL ", NULL, 'earlier', within => '6 "
                    "hours')");
    /* drawn by a hash, so a call that is made again asks for the same slot */
    SQL_IS("kept", "SELECT prescient.enqueue('orders', '1', 'j', " AT_SQL ", NULL, 'earlier', within => '6 "
                   "hours')");
    SQL_IS("replaced", "SELECT prescient.enqueue('orders', '1', 'j', '2030-01-03', NULL, 'replace', within "
                       "=> "
                       "'6 hours')");
    SQL_IS("t", "SELECT next_check_at BETWEEN '2030-01-03' AND '2030-01-03 06:00' FROM prescient.future_job");
    SQL_IS("moved", "SELECT prescient.reschedule('orders', '1', 'j', '2030-01-04')");
    SQL_IS("t", "SELECT next_check_at = '2030-01-04' FROM prescient.future_job");
}

static void a_span_that_is_over_gives_the_next_slot(void)
{
    WITH_SERVER();
    SQL_IS("new", "SELECT prescient.enqueue('orders', '1', 'j', now() - interval '1 day', "
                  "within => '1 hour')");
    SQL_IS("t", "SELECT next_check_at > now() AND next_check_at <= now() + interval '901 seconds' FROM "
                "prescient.future_job");
}

static void refuses(const char *within, const char *words)
{
    PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.enqueue('orders', '1', 'j', now(), within => '%s')",
                           within);
    CU_ASSERT_STRING_EQUAL(PQresultErrorField(r, PG_DIAG_SQLSTATE), "22023");
    CU_ASSERT_STRING_EQUAL(PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY), words);
    PQclear(r);
}

static void what_is_no_span_is_refused_with_both_figures(void)
{
    WITH_SERVER();
    refuses("14 min 59 s",
            "prescient: within is 00:14:59, expected from 900 s, the length of a slot, to 366 days");
    refuses("0", "prescient: within is 00:00:00, expected from 900 s, the length of a slot, to 366 days");
    refuses("-1 hour",
            "prescient: within is -01:00:00, expected from 900 s, the length of a slot, to 366 days");
    refuses("100 years",
            "prescient: within is 100 years, expected from 900 s, the length of a slot, to 366 days");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("22023", "SELECT prescient.enqueue('', '1', 'j', now(), within => '1 hour')");
    SQL_IS("22008", "SELECT prescient.enqueue('orders', '1', 'j', 'infinity', within => '1 hour')");
}

/* Of a large slot a 64th is counted. */
static void a_slot_with_many_checks_is_estimated(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, "
                               "first_check_at, next_check_at) SELECT prescient.bucket_of('many', g::text), "
                               "'many', g::text, 'j', s.at, s.at FROM generate_series(1, 20000) g, (SELECT "
                               "prescient.slot_next(now() + interval '1 hour') AS at) s"));
    SQL_IS("", "SELECT prescient.ask_loads()");
    SQL_IS("1", "SELECT prescient.note_loads()");
    SQL_IS("t", "SELECT checks BETWEEN 15000 AND 25000 FROM prescient.slot_load");
}

/* The second does not wait for the first. */
static void of_two_engines_one_counts(void)
{
    WITH_SERVER();
    SQL_IS("", "SELECT prescient.ask_loads()");
    PQclear(PQexec(pgfx.app, "BEGIN"));
    SQL_IS("0", "SELECT prescient.note_loads()");
    CELL_IS(pgfx.other, "", "SELECT prescient.note_loads()");
    PQclear(PQexec(pgfx.app, "COMMIT"));
    CELL_IS(pgfx.other, "", "SELECT prescient.note_loads()");
}

static const struct test tests[] = {
    TEST(a_slot_is_drawn_alike_in_sql_and_in_c),
    TEST(within_stands_behind_all_other_parameters),
    TEST(a_check_that_waits_is_dealt_with_as_if_the_drawn_slot_was_asked_for),
    TEST(a_span_that_is_over_gives_the_next_slot),
    TEST(what_is_no_span_is_refused_with_both_figures),
    TEST(a_slot_with_many_checks_is_estimated),
    TEST(of_two_engines_one_counts),
    { 0 }
};

const struct suite suite_store_pg_within = { "store_pg_within", pgfx_setup, pgfx_teardown, tests };
