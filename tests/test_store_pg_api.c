/* test_store_pg_api.c - the SQL API that applications call on PostgreSQL: words, bad values,
 * triggers, roles; and bulk load. */
/* about 4 s */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/rules/idempotency.h"
#include "pg_fixture.h"

static void bucket_is_the_same_in_sql_and_in_c(void)
{
    WITH_SERVER();
    const char *pairs[][2] = { { "orders", "42" },
                               { "a", "bc" },
                               { "ab", "c" },
                               { "w\xc3\xb6rter", "\xe2\x82\xac" },
                               { "\\x00", "\\\\" } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char expected[8];
        snprintf(expected, sizeof expected, "%d", bucket_of(pairs[i][0], pairs[i][1]));
        SQL_IS(expected, "SELECT prescient.bucket_of('%s', '%s')", pairs[i][0], pairs[i][1]);
    }
}

/* ---- the SQL API ----------------------------------------------------------------------------- */

static void enqueue_says_what_happened(void)
{
    WITH_SERVER();
    SQL_IS("new", "SELECT prescient.enqueue('orders', '42', 'unshipped', now() + interval '3 hours')");
    SQL_IS("kept", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '5 hours')");
    SQL_IS(
        "kept",
        "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '5 hours', conflict => 'earlier')");
    SQL_IS("moved",
           "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '1 hour', conflict => 'earlier')");
    SQL_IS("replaced", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '2 hours', '{\"a\": "
                       "1}', 'replace', 7)");
    SQL_IS("t", "SELECT next_check_at = first_check_at AND payload::text = '{\"a\": 1}' AND priority = 7 AND "
                "next_check_at = prescient.slot_ceil(next_check_at)"
                " AND next_check_at BETWEEN now() + interval '2 hours' AND now() + interval '2 hours 15 "
                "minutes' FROM prescient.future_job");
    SQL_IS("moved", "SELECT prescient.reschedule('orders', '42', 'unshipped', interval '1 day')");
    SQL_IS("not_found", "SELECT prescient.reschedule('orders', '43', 'unshipped', interval '1 day')");
    SQL_IS("moved", "SELECT prescient.reschedule('orders', '42', 'unshipped', '+2 days')");
    SQL_IS("1", "SELECT prescient.resolve('orders', '42')");
    SQL_IS("0", "SELECT prescient.resolve('orders', '42')");
    SQL_IS("resolved", "SELECT outcome FROM prescient.future_job_history");
}

static void enqueue_in_the_past_gets_the_next_slot(void)
{
    WITH_SERVER();
    SQL_IS("new", "SELECT prescient.enqueue('orders', '1', 'j', '1999-01-01 00:00+00')");
    SQL_IS("t", "SELECT next_check_at > now() AND next_check_at <= now() + interval '15 minutes 1 second' "
                "FROM prescient.future_job");
}

static void enqueue_many_takes_arrays_and_names_the_bad_row(void)
{
    WITH_SERVER();
    SQL_IS("(3,1,0,0)", "SELECT prescient.enqueue_many('orders', ARRAY['1', '2', '3', '3'], 'j', now())");
    SQL_IS("(1,1,0,0)", "SELECT prescient.enqueue_each(ARRAY['orders', 'orders'], ARRAY['4', '1'], "
                        "ARRAY['j', 'j'], ARRAY[now(), now()])");
    PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.enqueue_each(ARRAY['a', 'a', ''], ARRAY['1', '2', "
                                     "'3'], ARRAY['j', 'j', 'j'], ARRAY[now(), now(), now()])");
    CU_ASSERT_STRING_EQUAL(PQresultErrorField(r, PG_DIAG_SQLSTATE), "22023");
    CU_ASSERT_STRING_EQUAL(PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL), "row 3");
    PQclear(r);
    SQL_IS("4", "SELECT count(*) FROM prescient.future_job");
}

static void bad_values_are_refused_in_words(void)
{
    WITH_SERVER();
    static const struct { const char *call, *words; } bad[] = {
        { "'', '1', 'j', now()", "entity is empty" },
        { "'e', NULL, 'j', now()", "key is NULL" },
        { "'e', '1', '', now()", "job is empty" },
        { "repeat('x', 1025), '1', 'j', now()", "1025 bytes" },
        { "repeat('\u00e4', 513), '1', 'j', now()", "1026 bytes" },
        { "repeat('x', 1000), repeat('y', 1000), repeat('z', 1000), now()", "3000 bytes together" },
        { "'e', '1', 'j', 'infinity'::timestamptz", "check_at is infinity" },
        { "'e', '1', 'j', '1969-12-31 23:00+00'::timestamptz", "1970 to 9999" },
        { "'e', '1', 'j', NULL::timestamptz", "check_at is NULL" },
        { "'e', '1', 'j', now(), ('\"' || repeat('x', 65536) || '\"')::json", "65538 bytes" },
        { "'e', '1', 'j', now(), NULL, 'sooner'", "'sooner', expected keep, earlier or replace" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.enqueue(%s)", bad[i].call);
        const char *words = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
        CU_ASSERT_PTR_NOT_NULL_FATAL(words);
        if (!strstr(words, bad[i].words))
            printf("      '%s', expected '%s'\n", words, bad[i].words);
        CU_ASSERT_PTR_NOT_NULL(strstr(words, bad[i].words));
        CU_ASSERT(strncmp(PQresultErrorField(r, PG_DIAG_SQLSTATE), "22", 2) == 0);
        PQclear(r);
    }
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
}

/* A driver that sends no types calls enqueue_many(text, text, text, text) with four of them. */
static void what_begins_like_an_array_is_no_name(void)
{
    WITH_SERVER();
    static const char *const calls[] = {
        "enqueue_many('{a,b}', '{1,2}', '{noop,noop}', '+3 hours')",
        "enqueue_many('{a,b}', '{1,2}', 'noop', '+3 hours')",
        "enqueue_many('a', '{1,2}', '{noop,noop}', '+3 hours')",
        "enqueue_many('{a,b}', ARRAY[1, 2], 'noop', interval '3 hours')",
        "enqueue('{a,b}', '1', 'noop', now())",
        "enqueue('a', 1, '{noop}', '3 hours')",
        "enqueue_now('{a,b}', '1', 'noop')",
        "enqueue_now('a', '1', '{noop}')",
        "enqueue_each('{a,{b}', '{1,2}', '{noop,noop}', '{now,now}')",
        "enqueue_each(ARRAY['a', '{b'], ARRAY['1', '2'], ARRAY['j', 'j'], ARRAY[now(), now()])",
        "schedule('s', '{a,b}', '1', 'j', every => interval '1 hour')",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.%s", calls[i]);
        const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
        const char *words = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
        CU_ASSERT_PTR_NOT_NULL_FATAL(words);
        bool is_array_refused = !strcmp(state, "22P02");
        bool is_told = is_array_refused || strstr(words, "did you mean prescient.enqueue_each?");
        if (!is_told)
            printf("      %s: %s\n", calls[i], words);
        CU_ASSERT(is_told);
        PQclear(r);
    }
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("new", "SELECT prescient.enqueue('Größe', '{1}', 'ü', now())");
    SQL_IS("new", "SELECT prescient.enqueue('a{', '{1}', '~j', '3 hours')");
}

/* Each way in has its own quick look at what it is given. */
static void no_function_files_a_delivery(void)
{
    WITH_SERVER();
    static const char *const calls[] = {
        "enqueue('prescient.event', '1', 'j', now())",
        "enqueue('prescient.event', 1, 'j', interval '1 hour')",
        "enqueue('prescient.event', '1', 'j', '2 hours', conflict => 'replace')",
        "enqueue_now('prescient.event', '1', 'j')",
        "enqueue_now('prescient.event', 1, 'j', '{}'::jsonb)",
        "enqueue_many('prescient.event', ARRAY['1'], 'j', now())",
        "enqueue_each(ARRAY['prescient.event'], ARRAY['1'], ARRAY['j'], ARRAY[now()])",
        "schedule('s', 'prescient.event', '1', 'j', every => interval '1 hour')",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.%s", calls[i]);
        const char *words = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
        CU_ASSERT_PTR_NOT_NULL_FATAL(words);
        CU_ASSERT_PTR_NOT_NULL(strstr(words, "prescient.event, which stands for deliveries: only events"));
        PQclear(r);
    }
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("new", "SELECT prescient.enqueue('prescient.events', '1', 'j', now())");
    SQL_IS("not_found", "SELECT prescient.reschedule('prescient.event', '1', 'j', now())");
    SQL_IS("0", "SELECT prescient.resolve('prescient.event', '1')");
}

static void no_function_files_a_digest(void)
{
    WITH_SERVER();
    static const char *const calls[] = {
        "enqueue('prescient.digest', '1', 'j', now())",
        "enqueue('prescient.digest', 1, 'j', interval '1 hour')",
        "enqueue('prescient.digest', '1', 'j', '2 hours', conflict => 'replace')",
        "enqueue_now('prescient.digest', '1', 'j')",
        "enqueue_now('prescient.digest', 1, 'j', '{}'::jsonb)",
        "enqueue_many('prescient.digest', ARRAY['1'], 'j', now())",
        "enqueue_each(ARRAY['prescient.digest'], ARRAY['1'], ARRAY['j'], ARRAY[now()])",
        "schedule('s', 'prescient.digest', '1', 'j', every => interval '1 hour')",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.%s", calls[i]);
        const char *words = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
        CU_ASSERT_PTR_NOT_NULL_FATAL(words);
        CU_ASSERT_PTR_NOT_NULL(strstr(words, "prescient.digest, which stands for digests: only engines"));
        PQclear(r);
    }
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("new", "SELECT prescient.enqueue('prescient.digests', '1', 'j', now())");
    SQL_IS("not_found", "SELECT prescient.reschedule('prescient.digest', '1', 'j', now())");
    SQL_IS("0", "SELECT prescient.resolve('prescient.digest', '1')");
}

static void the_key_of_a_check_does_not_change(void)
{
    WITH_SERVER();
    SQL_IS("new", "SELECT prescient.enqueue('e', '1', 'j', '2030-01-01 00:15+00'::timestamptz)");
    SQL_IS("23514", "UPDATE prescient.future_job SET entity_key = '2'");
    SQL_IS("23514", "UPDATE prescient.future_job SET bucket = 1 - bucket, priority = 1");
    SQL_IS("23514",
           "INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec, "
           "first_check_at, next_check_at)"
           " VALUES (prescient.bucket_of('e', '1'), 'e', '1', 'j', now(), '2030-01-01 00:15+00')"
           " ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO UPDATE SET entity_name = 'f'");
    SQL_IS("e 1 0", "SELECT entity_name || ' ' || entity_key || ' ' || priority FROM prescient.future_job");
}

static void the_api_works_in_a_trigger_and_rolls_back_with_it(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(
        pgfx.app,
        "DROP TABLE IF EXISTS orders; CREATE TABLE orders (id bigint PRIMARY KEY, shipped boolean NOT NULL "
        "DEFAULT false);"
        "CREATE OR REPLACE FUNCTION orders_checked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        "  IF NEW.shipped THEN PERFORM prescient.resolve('orders', NEW.id::text);"
        "  ELSE PERFORM prescient.enqueue('orders', NEW.id::text, 'unshipped', interval '3 hours'); END IF; "
        "RETURN NULL; END $$;"
        "CREATE TRIGGER t AFTER INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION orders_checked()"));
    PQclear(pgfx_ask(pgfx.app, "BEGIN"));
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO orders VALUES (1)"));
    PQclear(pgfx_ask(pgfx.app, "ROLLBACK"));
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO orders VALUES (2), (3)"));
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
    PQclear(pgfx_ask(pgfx.app, "UPDATE orders SET shipped = true WHERE id = 2"));
    SQL_IS("3", "SELECT entity_key FROM prescient.future_job");
    PQclear(pgfx_ask(pgfx.app, "DROP TABLE orders"));
}

/* A schema of an application's in front of pg_catalog: its functions and operators take the very
 * types, and fail. */
static void make_hostile_schema(void)
{
    static const struct { const char *name, *types, *result; } functions[] = {
        { "octet_length", "text", "integer" },          { "clock_timestamp", "", "timestamptz" },
        { "sha256", "bytea", "bytea" },                 { "date_part", "text, timestamptz", "float8" },
        { "current_setting", "text, boolean", "text" }, { "to_timestamp", "float8", "timestamptz" },
        { "compared", "text, text", "boolean" },        { "compared", "timestamptz, timestamptz", "boolean" },
        { "computed", "float8, float8", "float8" },
    };
    static const struct { const char *name, *type, *function; } operators[] = {
        { "=", "text", "compared" },          { "<>", "text", "compared" }, { ">", "text", "compared" },
        { ">=", "timestamptz", "compared" },  { "<", "timestamptz", "compared" },
        { "<=", "timestamptz", "compared" },  { "/", "float8", "computed" }, { "*", "float8", "computed" },
    };
    PQclear(pgfx_ask(pgfx.app, "DROP SCHEMA IF EXISTS hostile CASCADE; CREATE SCHEMA hostile"));
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        PQclear(pgfx_ask(pgfx.app,
                         "CREATE FUNCTION hostile.%s(%s) RETURNS %s LANGUAGE plpgsql AS $$ BEGIN "
                         "RAISE 'hostile code was called'; END $$",
                         functions[i].name, functions[i].types, functions[i].result));
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        PQclear(pgfx_ask(pgfx.app,
                         "CREATE OPERATOR hostile.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = hostile.%s)",
                         operators[i].name, operators[i].type, operators[i].type, operators[i].function));
    PQclear(pgfx_ask(pgfx.app, "SET search_path = hostile, pg_catalog"));
}

static void a_hostile_search_path_changes_nothing(void)
{
    WITH_SERVER();
    make_hostile_schema();
    SQL_IS("P0001", "SELECT value > 'x'::text FROM prescient.setting");     /* they would be called */
    SQL_IS("P0001", "SELECT clock_timestamp()");
    SQL_IS("new", "SELECT prescient.enqueue('e', 1, 'j', '3 hours', '{\"a\": 1}')");
    SQL_IS("kept", "SELECT prescient.enqueue('e', '1', 'j', pg_catalog.now())");
    SQL_IS("replaced",
           "SELECT prescient.enqueue('e', 1::bigint, 'j', interval '3 hours', conflict => 'replace')");
    SQL_IS("(2,0,0,0)", "SELECT prescient.enqueue_many('e', ARRAY[2, 3], 'j', 'tomorrow')");
    SQL_IS("(1,1,0,0)", "SELECT prescient.enqueue_each('{e,e}', '{3,4}', '{j,j}', '{3 hours,tomorrow}')");
    SQL_IS("moved", "SELECT prescient.reschedule('e', 2, 'j', '2030-01-01')");
    SQL_IS("1", "SELECT prescient.resolve('e', 2)");
    PQclear(pgfx_ask(pgfx.app, "RESET search_path; DROP SCHEMA hostile CASCADE"));
}

/* Asks `other` until it says yes; false after ten seconds. */
static bool comes_true(const char *question)
{
    for (int i = 0; i < 500; i++) {
        if (!strcmp(pgfx_cell(pgfx.other, "%s", question), "t"))
            return true;
        PQclear(pgfx_ask(pgfx.other, "SELECT pg_sleep(0.02)"));
    }
    return false;
}

/* By the clock from before it waited the slot would not have begun, and the row would be taken
 * from under the engine that is running it. */
static void an_enqueue_that_waited_for_its_row_until_the_slot_began_moves_nothing(void)
{
    WITH_SERVER();
    char waits[80];
    snprintf(waits, sizeof waits, "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pid = %d)",
             PQbackendPID(pgfx.app));
    PQclear(pgfx_ask(pgfx.app, "SELECT prescient.set_slot_length(1)"));
    SQL_IS("new",
           "SELECT prescient.enqueue('orders', '42', 'unshipped', clock_timestamp() + interval '2 seconds')");
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT FROM prescient.future_job FOR UPDATE"));
    CU_ASSERT(PQsendQuery(
        pgfx.app,
        "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '0', conflict => 'earlier')"));
    CU_ASSERT(comes_true(waits));
    CU_ASSERT(comes_true("SELECT clock_timestamp() >= next_check_at FROM prescient.future_job"));
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    PGresult *r = PQgetResult(pgfx.app);
    CU_ASSERT_STRING_EQUAL(PQgetvalue(r, 0, 0), "kept");
    PQclear(r);
    PQclear(PQgetResult(pgfx.app));
    SQL_IS("t",
           "SELECT next_check_at = first_check_at AND again_at < next_check_at FROM prescient.future_job");
    PQclear(pgfx_ask(pgfx.app, "SELECT prescient.set_slot_length(900)"));
}

static void an_enqueuer_calls_the_api_and_sees_no_table(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app, "SET ROLE prescient_enqueuer"));
    SQL_IS("new", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '3 hours')");
    SQL_IS("(1,1,0,0)", "SELECT prescient.enqueue_many('orders', ARRAY['42', '43'], 'unshipped', now() + "
                        "interval '3 hours')");
    SQL_IS("moved", "SELECT prescient.reschedule('orders', '42', 'unshipped', interval '1 day')");
    SQL_IS("1", "SELECT prescient.resolve('orders', '42', 'unshipped')");
    SQL_IS("42501", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("42501", "SELECT count(*) FROM prescient.future_job_history");
    SQL_IS("42501", "DELETE FROM prescient.setting");
    SQL_IS("42501", "SELECT prescient.set_slot_length(60)");
    SQL_IS("42501", "SELECT prescient.file_check('e', '1', 'j', now(), NULL, 'keep', 0, NULL)");
    PQclear(pgfx_ask(pgfx.app, "RESET ROLE"));
}

static void an_engine_role_runs_checks_without_owning_the_tables(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app, "DROP ROLE IF EXISTS prescient_test_login; CREATE ROLE prescient_test_login "
                               "LOGIN IN ROLE prescient_engine"));
    char as_engine[600];
    const char *at = strstr(pgfx.db.url, "postgres@");
    if (!at)
        return;
    snprintf(as_engine, sizeof as_engine, "%.*sprescient_test_login@%s", (int)(at - pgfx.db.url), pgfx.db.url,
             at + strlen("postgres@"));
    struct store *owner_store = pgfx.st;
    pgfx.st = pgfx_new_store(&(struct store_options){ .url = as_engine });
    struct pgfx_run run;
    pgfx_run_init(&run, 3);
    CU_ASSERT_EQUAL(pgfx_run_settle(&run).touched, 3);
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 8;
    RC_IS(0, pgfx_call(&days.call));
    check_rows_free(&run.page);
    store_free(pgfx.st);
    pgfx.st = owner_store;
    PQclear(pgfx_ask(pgfx.app, "DROP ROLE prescient_test_login"));
}

/* ---- load ------------------------------------------------------------------------------------ */

static void a_load_copies_what_is_new_and_settles_what_is_not(void)
{
    WITH_SERVER();
    struct load_row rows[] = { { "e", "1", "j", "{\"a\": 1}", SLOT - 10, 3, NULL, NULL },
                               { "e", "2", "j", NULL, SLOT + 1, 0, NULL, NULL },
                               { "e", "3", "j", NULL, 0, 0, NULL, NULL } };
    struct load_counts counts;
    int bad;
    RC_IS(0, store_load(pgfx.st, rows, 3, "keep", NOW - LENGTH, &counts, &bad, &pgfx.err));
    CU_ASSERT_EQUAL(counts.added, 3);
    SQL_IS("1,2,3", "SELECT string_agg(entity_key, ',' ORDER BY entity_key) FROM prescient.future_job WHERE "
                    "bucket = prescient.bucket_of(entity_name, entity_key)");
    SQL_IS("t",
           "SELECT next_check_at = to_timestamp(%" PRId64
           ") AND priority = 3 AND payload->>'a' = '1' FROM prescient.future_job WHERE entity_key = '1'",
           SLOT);
    SQL_IS("t",
           "SELECT next_check_at = to_timestamp(%" PRId64
           ") FROM prescient.future_job WHERE entity_key = '2'",
           SLOT + LENGTH);
    SQL_IS("t",
           "SELECT next_check_at = to_timestamp(%" PRId64
           ") FROM prescient.future_job WHERE entity_key = '3'",
           SLOT);
    struct load_row more[] = { { "e", "1", "j", NULL, SLOT - 10, 0, NULL, NULL },
                               { "e", "4", "j", NULL, SLOT, 0, NULL, NULL },
                               { "e", "2", "j", NULL, SLOT - 10, 0, NULL, NULL } };
    RC_IS(0, store_load(pgfx.st, more, 3, "earlier", NOW - LENGTH, &counts, &bad, &pgfx.err));
    CU_ASSERT(counts.added == 1 && counts.kept == 1 && counts.moved == 1 && counts.replaced == 0);
    RC_IS(0, store_load(pgfx.st, more, 3, "replace", NOW - LENGTH, &counts, &bad, &pgfx.err));
    CU_ASSERT_EQUAL(counts.replaced, 3);
}

static void a_load_names_the_bad_row_and_leaves_nothing(void)
{
    WITH_SERVER();
    struct load_row rows[] = { { "e", "1", "j", NULL, SLOT, 0, NULL, NULL },
                               { "e", "2", "j", "{not json", SLOT, 0, NULL, NULL },
                               { "e", "3", "j", NULL, SLOT, 0, NULL, NULL } };
    struct load_counts counts;
    int bad;
    RC_IS(ERR_INPUT, store_load(pgfx.st, rows, 3, "keep", NOW, &counts, &bad, &pgfx.err));
    CU_ASSERT_EQUAL(bad, 1);
    CU_ASSERT_EQUAL(counts.added, 0);
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    rows[1].payload = NULL;
    RC_IS(0, store_load(pgfx.st, rows, 3, "keep", NOW, &counts, &bad, &pgfx.err));
    rows[2].payload = "{";
    RC_IS(ERR_INPUT, store_load(pgfx.st, rows, 3, "keep", NOW, &counts, &bad, &pgfx.err));
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job");
}

static const struct test tests[] = {
    TEST(bucket_is_the_same_in_sql_and_in_c),
    TEST(enqueue_says_what_happened),
    TEST(enqueue_in_the_past_gets_the_next_slot),
    TEST(enqueue_many_takes_arrays_and_names_the_bad_row),
    TEST(bad_values_are_refused_in_words),
    TEST(what_begins_like_an_array_is_no_name),
    TEST(no_function_files_a_delivery),
    TEST(no_function_files_a_digest),
    TEST(the_key_of_a_check_does_not_change),
    TEST(the_api_works_in_a_trigger_and_rolls_back_with_it),
    TEST(a_hostile_search_path_changes_nothing),
    TEST(an_enqueue_that_waited_for_its_row_until_the_slot_began_moves_nothing),
    TEST(an_enqueuer_calls_the_api_and_sees_no_table),
    TEST(an_engine_role_runs_checks_without_owning_the_tables),
    TEST(a_load_copies_what_is_new_and_settles_what_is_not),
    TEST(a_load_names_the_bad_row_and_leaves_nothing),
    { NULL, NULL },
};

const struct suite suite_store_pg_api = { "store_pg_api", pgfx_setup, pgfx_teardown, tests };
