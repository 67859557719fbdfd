/* test_store_pg_buckets.c - checks that a plain INSERT has filed in a bucket that is not that of
 * their key: a number that no lease is for is refused, others come into the right one. */
#include "pg_fixture.h"

#define SOON "date_trunc('hour', now()) + interval '3 hours'"
#define OWN(key) "prescient.bucket_of('e', '" key "')"

static const char put[] =
    "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, "
    "next_check_at) SELECT %s, 'e', k.key, 'look', k.at, k.at FROM (SELECT '%s' AS key, %s AS at) k";

static struct store_mark_swept sweep(void)
{
    struct store_mark_swept m = STORE_MARK_SWEPT_INIT;
    m.slot = SLOT - LENGTH;
    RC_IS(0, pgfx_call(&m.call));
    return m;
}

static void a_bucket_that_no_lease_is_for_is_refused(void)
{
    WITH_SERVER();
    SQL_IS("23514", put, "64", "1", SOON);
    SQL_IS("23514", put, "-1", "1", SOON);
    SQL_IS("23502", put, "NULL", "1", SOON);
    SQL_IS("", put, "0", "1", SOON);
    SQL_IS("", put, "63", "2", SOON);
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
}

/* All columns have a value that is none of their defaults. */
static void what_is_in_a_wrong_bucket_comes_into_its_own_as_it_was(void)
{
    WITH_SERVER();
    SQL_IS("", "INSERT INTO prescient.future_job SELECT (r).* FROM (SELECT jsonb_populate_record("
               "NULL::prescient.future_job, jsonb_build_object('id', 7, 'first_check_at', " SOON ", "
               "'next_check_at', " SOON ", 'check_count', 2, 'failure_count', 3, 'priority', 4, "
               "'bucket', (" OWN("1") " + 1) %% 64, 'entity_name', 'e', 'entity_key', '1', 'job_exec', "
               "'look', 'payload', '{\"a\": 1}'::jsonb, 'again_at', now(), 'deferred_at', now(), "
               "'first_run_at', now(), 'total_run_us', 5, 'run_count', 6, 'origin', 'here', 'put_off_at', "
               "now(), 'terms', 'some', 'concurrency_key', 'k', 'tenant', 't')) AS r OFFSET 0) x");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job f, jsonb_each(to_jsonb(f)) v "
                "WHERE v.value = 'null'");
    SQL_IS("", "CREATE TEMP TABLE was AS SELECT to_jsonb(f) - '{id,bucket}'::text[] AS r "
               "FROM prescient.future_job f");
    SQL_IS("", "SELECT next_check_at FROM prescient.pending('e', '1')");
    struct store_mark_swept m = sweep();
    CU_ASSERT_EQUAL(m.refiled, 1);
    CU_ASSERT_EQUAL(m.doubles, 0);
    CU_ASSERT_STRING_EQUAL(m.one_refiled, "(e, 1, look)");
    SQL_IS("t", "SELECT to_jsonb(f) - '{id,bucket}'::text[] = (SELECT r FROM was) "
                "AND f.bucket = " OWN("1") " AND f.id <> 7 FROM prescient.future_job f");
    SQL_IS("", "DROP TABLE was");
    m = sweep();
    CU_ASSERT_EQUAL(m.refiled, 0);
    CU_ASSERT_STRING_EQUAL(m.one_refiled, "");
    SQL_IS("1", "SELECT prescient.resolve('e', '1')");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
}

/* The idempotency key is made of the id it had. */
static void its_key_for_other_systems_stays(void)
{
    WITH_SERVER();
    SQL_IS("", put, "(" OWN("1") " + 1) % 64", "1", SOON);
    SQL_IS("t", "SELECT set_config('test.origin', prescient.origin_of(origin, first_check_at, id), false) "
                "IS NOT NULL FROM prescient.future_job");
    CU_ASSERT_EQUAL(sweep().refiled, 1);
    SQL_IS("t", "SELECT prescient.origin_of(origin, first_check_at, id) = current_setting('test.origin') "
                "FROM prescient.future_job");
}

/* It could not be found, so it was filed once more: one question stays one. */
static void a_double_ends_and_the_earlier_time_counts(void)
{
    WITH_SERVER();
    SQL_IS("", put, "(" OWN("1") " + 1) % 64", "1", SOON);
    SQL_IS("", put, "(" OWN("2") " + 1) % 64", "2", SOON);
    SQL_IS("new", "SELECT prescient.enqueue('e', '1', 'look', " SOON " + interval '1 hour')");
    SQL_IS("new", "SELECT prescient.enqueue('e', '2', 'look', " SOON " - interval '1 hour')");
    struct store_mark_swept m = sweep();
    CU_ASSERT_EQUAL(m.refiled, 0);
    CU_ASSERT_EQUAL(m.doubles, 2);
    SQL_IS("1 00:00:00, 2 -01:00:00",
           "SELECT string_agg(entity_key || ' ' || (next_check_at - (" SOON "))::text, ', ' "
           "ORDER BY entity_key) FROM prescient.future_job");
    SQL_IS("1 resolved, 2 resolved",
           "SELECT string_agg(entity_key || ' ' || outcome, ', ' ORDER BY entity_key) "
           "FROM prescient.future_job_history WHERE note LIKE 'a plain INSERT filed it in the bucket %%'");
}

static void what_is_due_or_paused_or_locked_stays_where_it_is(void)
{
    WITH_SERVER();
    SQL_IS("", put, "(" OWN("1") " + 1) % 64", "1", "now() - interval '1 hour'");
    SQL_IS("", put, "(" OWN("2") " + 1) % 64", "2", "timestamptz '9000-01-05 00:00+00'");
    SQL_IS("", put, "(" OWN("3") " + 1) % 64", "3", SOON);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    CELL_IS(pgfx.other, "3", "SELECT entity_key FROM prescient.future_job WHERE entity_key = '3' "
                             "FOR KEY SHARE");
    CU_ASSERT_EQUAL(sweep().refiled, 0);
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job "
                "WHERE bucket <> prescient.bucket_of('e', entity_key)");
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
    CU_ASSERT_EQUAL(sweep().refiled, 1);
    SQL_IS("1 2", "SELECT string_agg(entity_key, ' ' ORDER BY entity_key) FROM prescient.future_job "
                  "WHERE bucket <> prescient.bucket_of('e', entity_key)");
}

/* One that files the same check and is open: the sweep does not wait for it, and undoes nothing. */
static void who_files_the_same_check_is_not_waited_for_long(void)
{
    WITH_SERVER();
    SQL_IS("", put, "(" OWN("1") " + 1) % 64", "1", SOON);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    CELL_IS(pgfx.other, "new", "SELECT prescient.enqueue('e', '1', 'look', " SOON ")");
    CU_ASSERT_EQUAL(sweep().refiled, 0);
    SQL_IS("1", "SELECT count(*) FROM prescient.future_job");
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    CU_ASSERT_EQUAL(sweep().doubles, 1);
    SQL_IS("1", "SELECT count(*) FROM prescient.future_job");
}

/* Where one is wrong, there are more; where none is, no more than a thousand are looked at. */
static void a_sweep_looks_at_few_and_on_where_some_are_wrong(void)
{
    WITH_SERVER();
    static const char many[] =
        "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, "
        "next_check_at) SELECT (prescient.bucket_of('e', i::text) + %d) %% 64, 'e', i, 'look', t.at, t.at "
        "FROM generate_series(%d, %d) i, (SELECT " SOON " + interval '%d hours' AS at) t";
    SQL_IS("", many, 0, 1, 1000, 0);
    SQL_IS("", many, 1, 1001, 1001, 1);
    CU_ASSERT_EQUAL(sweep().refiled, 0);
    SQL_IS("", "DELETE FROM prescient.future_job WHERE entity_key = '1'");
    CU_ASSERT_EQUAL(sweep().refiled, 1);
    SQL_IS("", "TRUNCATE prescient.future_job");
    SQL_IS("", many, 1, 1, 10500, 0);
    CU_ASSERT_EQUAL(sweep().refiled, 10000);
    SQL_IS("", "DELETE FROM prescient.future_job WHERE bucket = prescient.bucket_of('e', entity_key)");
    CU_ASSERT_EQUAL(sweep().refiled, 500);
}

static const struct test tests[] = {
    TEST(a_bucket_that_no_lease_is_for_is_refused),
    TEST(what_is_in_a_wrong_bucket_comes_into_its_own_as_it_was),
    TEST(its_key_for_other_systems_stays),
    TEST(a_double_ends_and_the_earlier_time_counts),
    TEST(what_is_due_or_paused_or_locked_stays_where_it_is),
    TEST(who_files_the_same_check_is_not_waited_for_long),
    TEST(a_sweep_looks_at_few_and_on_where_some_are_wrong),
    { NULL, NULL },
};

const struct suite suite_store_pg_buckets = { "store_pg_buckets", pgfx_setup, pgfx_teardown, tests };
