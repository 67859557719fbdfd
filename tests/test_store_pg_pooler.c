/* test_store_pg_pooler.c - the PostgreSQL store behind a pooler that hands each transaction
 * another session, as far as that shows in one session: what was prepared is gone, or was prepared
 * by somebody else. */
#include "pg_fixture.h"

#include "../engine/base/fingerprint.h"
#include "../engine/store/store_pg.h"

static struct store_hello greet(void)
{
    struct store_hello hello = STORE_HELLO_INIT;
    RC_IS(0, pgfx_call(&hello.call));
    return hello;
}

static void where_there_is_none_all_stays_prepared(void)
{
    WITH_SERVER();
    greet();
    struct store_hello hello = greet();
    CU_ASSERT_FALSE(hello.pooled);
    CU_ASSERT_FALSE(hello.lost_prepared);
    CU_ASSERT_FALSE(pg_store(pgfx.st)->unprepared);
}

static void a_session_that_forgot_what_was_prepared_tells_of_one(void)
{
    WITH_SERVER();
    greet();
    pgfx_in_its_session("DEALLOCATE ALL");
    CU_ASSERT_TRUE(greet().lost_prepared);
}

static void and_one_that_knows_it_already(void)
{
    WITH_SERVER();
    greet();
    struct pg_store *pg = pg_store(pgfx.st);
    memset(pg->prepared, 0, sizeof pg->prepared);
    CU_ASSERT_TRUE(greet().lost_prepared);
}

/* The settle that met it took effect once. */
static void a_settle_that_meets_it_counts_once(void)
{
    WITH_SERVER();
    struct pgfx_run run;
    pgfx_run_init(&run, 3);
    pgfx_in_its_session("DEALLOCATE ALL");
    struct store_settle settle = pgfx_run_settle(&run);
    RC_IS(0, pgfx_call(&settle.call));
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job_history");
    check_rows_free(&run.page);
}

static void another_schema_is_another_statement(void)
{
    WITH_SERVER();
    struct store *other = pgfx_new_store(&(struct store_options){ .schema = "other" });
    struct pg_store *here = pg_store(pgfx.st), *there = pg_store(other);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pg_sql(here, PG_READ_PAGE));
    CU_ASSERT_PTR_NOT_NULL_FATAL(pg_sql(there, PG_READ_PAGE));
    CU_ASSERT_PTR_NOT_NULL_FATAL(pg_sql(here, PG_READ_PAGE_SLOT));
    CU_ASSERT_STRING_NOT_EQUAL(here->names[PG_READ_PAGE], there->names[PG_READ_PAGE]);
    CU_ASSERT_STRING_NOT_EQUAL(here->names[PG_READ_PAGE], here->names[PG_READ_PAGE_SLOT]);
    CU_ASSERT_EQUAL(strncmp(here->names[PG_READ_PAGE], "read_page_", 10), 0);
    for (int i = 0; i < PG_STATEMENTS; i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(pg_sql(here, i));
        CU_ASSERT(strlen(here->names[i]) > FINGERPRINT_SIZE && strlen(here->names[i]) < 64);
        CU_ASSERT_EQUAL(strncmp(here->names[i], pg_statements[i].name, strcspn(here->names[i], "_")), 0);
    }
    store_free(other);
}

static const struct test tests[] = {
    TEST(where_there_is_none_all_stays_prepared),
    TEST(a_session_that_forgot_what_was_prepared_tells_of_one),
    TEST(and_one_that_knows_it_already),
    TEST(a_settle_that_meets_it_counts_once),
    TEST(another_schema_is_another_statement),
    { NULL, NULL },
};

const struct suite suite_store_pg_pooler = { "store_pg_pooler", pgfx_setup, pgfx_teardown, tests };
