/* test_store_pg_settings.c - settings that are set for a role or a database do not change what the
 * store does there: they are pinned, make no difference, or are refused in words. */
#include "pg_fixture.h"

#include "../engine/store/store_pg.h"

/* `pinned`: what statements of the store see, NULL: it makes no difference to them. */
static const struct change { const char *name, *setting, *pinned; } changes[] = {
    { "jit", "on", "off" },
    { "jit_above_cost", "0", NULL },
    { "plan_cache_mode", "force_custom_plan", "auto" },
    { "plan_cache_mode", "force_generic_plan", "auto" },
    { "enable_indexscan", "off", "on" },
    { "enable_indexonlyscan", "off", "on" },
    { "enable_bitmapscan", "off", "on" },
    { "enable_nestloop", "off", "on" },
    { "enable_seqscan", "off", NULL },
    { "search_path", "public", "pg_catalog, pg_temp" },
    { "statement_timeout", "54s", "0" },
    { "lock_timeout", "1ms", NULL },                    /* each statement sets its own */
    { "idle_in_transaction_session_timeout", "54s", "0" },
    { "idle_session_timeout", "54s", "0" },
    { "transaction_timeout", "54s", "0" },
    { "row_security", "off", NULL },
    { "standard_conforming_strings", "off", "on" },
    { "array_nulls", "off", "on" },
    { "DateStyle", "German, DMY", "ISO, MDY" },
    { "IntervalStyle", "iso_8601", "postgres" },
    { "bytea_output", "escape", "hex" },
    { "timezone", "Asia/Kathmandu", "UTC" },
    { "quote_all_identifiers", "on", NULL },
    { "default_transaction_deferrable", "on", NULL },
};

/* Triggers note what the statements of the store run with. */
static void begin_noting(void)
{
    PQclear(pgfx_ask(pgfx.app,
                     "CREATE TABLE asked (name text); CREATE TABLE seen (way text, setting text);"
                     "CREATE FUNCTION note_setting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                     " INSERT INTO public.seen SELECT TG_ARGV[0], current_setting(name) FROM public.asked;"
                     " RETURN NEW; END $$;"
                     "CREATE TRIGGER noted BEFORE INSERT ON prescient.slot_lease"
                     " FOR EACH ROW EXECUTE FUNCTION note_setting('call');"
                     "CREATE TRIGGER noted BEFORE INSERT ON prescient.future_job"
                     " FOR EACH ROW WHEN (NEW.entity_name = 'loaded')"
                     " EXECUTE FUNCTION note_setting('load')"));
}

static void end_noting(void)
{
    PQclear(pgfx_ask(pgfx.app,
                     "DROP TRIGGER noted ON prescient.slot_lease; DROP TRIGGER noted ON prescient.future_job;"
                     "DROP FUNCTION note_setting; DROP TABLE seen, asked"));
}

static void load_one(const char *key)
{
    struct load_row row = { .entity_name = "loaded", .entity_key = key, .job_exec = "look", .at = NOW };
    struct load_counts counts;
    int bad;
    RC_IS(0, store_load(pgfx.st, &row, 1, "keep", NOW, &counts, &bad, &pgfx.err));
    CU_ASSERT_EQUAL(counts.added, 1);
}

/* Five checks of a slot from the lease to the last look, and one that is loaded. */
static void run_a_pass(const char *key)
{
    struct pgfx_run run;
    pgfx_run_init(&run, 5);
    struct store_settle settle = pgfx_run_settle(&run);
    RC_IS(0, settle.call.rc);
    check_rows_free(&run.page);
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job WHERE entity_name = 'e'");
    PQclear(pgfx_ask(pgfx.app, "DELETE FROM prescient.slot_lease"));
    load_one(key);
}

/* As behind a pooler: the session is another one, and nothing lasts longer than a transaction. */
static void lose_the_session(void)
{
    struct pg_store *pg = pg_store(pgfx.st);
    pgfx_in_its_session("RESET ALL");
    PQclear(pg->side ? PQexec(pg->side, "RESET ALL") : NULL);
    pg->pooled = true;
}

static void see(const struct change *c, const char *form)
{
    const char *seen = pgfx_cell(pgfx.app, "SELECT coalesce(string_agg(DISTINCT way || ' ' || setting, ', '),"
                                           " 'nothing') FROM public.seen");
    char expected[200];
    snprintf(expected, sizeof expected, "call %s, load %s", c->pinned, c->pinned);
    if (c->pinned && strcmp(seen, expected) != 0)
        printf("      %s = %s, %s: %s\n", c->name, c->setting, form, seen);
    CU_ASSERT(!c->pinned || strcmp(seen, expected) == 0);
    PQclear(pgfx_ask(pgfx.app, "DELETE FROM public.seen"));
}

static void settings_of_a_role_change_nothing(void)
{
    WITH_SERVER();
    struct store *usual = pgfx.st;
    begin_noting();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const struct change *c = &changes[i];
        if (strcmp(pgfx_cell(pgfx.app, "SELECT current_setting('%s', true) IS NULL", c->name), "t") == 0)
            continue;                   /* of a newer server */
        SQL_IS("", "ALTER ROLE CURRENT_USER IN DATABASE %s SET %s = '%s'", pgfx.db.name, c->name,
               c->setting);
        PQclear(pgfx_ask(pgfx.app, "DELETE FROM public.asked; INSERT INTO public.asked VALUES ('%s')",
                         c->name));
        pgfx.st = pgfx_new_store(NULL);
        run_a_pass("one");
        see(c, "once a session");
        lose_the_session();
        run_a_pass("two");
        see(c, "in each transaction");
        store_free(pgfx.st);
        pgfx.st = usual;
        SQL_IS("", "ALTER ROLE CURRENT_USER IN DATABASE %s RESET %s", pgfx.db.name, c->name);
        pgfx_begin();
    }
    end_noting();
}

/* The server's session goes to other programs between our transactions. */
static void behind_a_pooler_the_session_stays_as_it_was(void)
{
    WITH_SERVER();
    struct store *usual = pgfx.st;
    SQL_IS("", "ALTER DATABASE %s SET jit = on", pgfx.db.name);
    pgfx.st = pgfx_new_store(NULL);
    run_a_pass("one");
    PGconn *side = pg_store(pgfx.st)->side;
    CELL_IS(side, "off", "SHOW jit");
    lose_the_session();
    run_a_pass("two");
    CELL_IS(side, "on", "SHOW jit");
    pgfx_in_its_session("DO $$ BEGIN ASSERT current_setting('jit') = 'on'; END $$");
    store_free(pgfx.st);
    pgfx.st = usual;
    SQL_IS("", "ALTER DATABASE %s RESET jit", pgfx.db.name);
}

/* A command that reads a file has a transaction open meanwhile, or a session that says nothing. */
static void a_session_may_wait_for_us(void)
{
    WITH_SERVER();
    struct store *usual = pgfx.st;
    SQL_IS("", "ALTER DATABASE %s SET idle_in_transaction_session_timeout = '20ms'", pgfx.db.name);
    pgfx.st = pgfx_new_store(NULL);
    load_one("one");
    PGconn *side = pg_store(pgfx.st)->side;
    RC_IS(0, pg_begin_blocking(pg_store(pgfx.st), side, PG_BEGIN_LOAD, &pgfx.err));
    SQL_IS("", "SELECT pg_sleep(0.2)");
    CELL_IS(side, "1", "SELECT 1");
    CELL_IS(side, "", "ROLLBACK");
    store_free(pgfx.st);
    pgfx.st = usual;
    SQL_IS("", "ALTER DATABASE %s RESET idle_in_transaction_session_timeout", pgfx.db.name);
}

static void refused_in_words(const char *name, const char *setting, int expected, const char *words)
{
    struct store *usual = pgfx.st;
    struct store_hello hello = STORE_HELLO_INIT;
    SQL_IS("", "ALTER DATABASE %s SET %s = '%s'", pgfx.db.name, name, setting);
    pgfx.st = pgfx_new_store(NULL);
    RC_IS(expected, pgfx_call(&hello.call));
    if (!strstr(pgfx.err.text, words))
        printf("      %s\n", pgfx.err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, words));
    store_free(pgfx.st);
    pgfx.st = usual;
    PQclear(pgfx_ask(pgfx.app, "SET default_transaction_read_only = off"));
    SQL_IS("", "ALTER DATABASE %s RESET %s", pgfx.db.name, name);
}

static void what_cannot_be_pinned_is_refused_in_words(void)
{
    WITH_SERVER();
    refused_in_words("default_transaction_isolation", "serializable", ERR_SETTINGS,
                     "expected default_transaction_isolation 'read committed'");
    refused_in_words("default_transaction_read_only", "on", ERR_LOST, "read-only");
}

/* The answer of the report `slots`; what it calls for each slot notes that it was called. */
static int slots_that_write(struct store *st)
{
    struct arena *a = arena_new(0);
    struct store_report r = pgfx_report(a, "slots", 0, NULL);
    int rc = st ? store_do(st, &r.call) : 0;
    pgfx.err = r.call.err;
    arena_free(a);
    return rc;
}

/* Also behind a pooler, where no setting of the session would last. */
static void a_report_that_reads_can_change_nothing_whatever_it_calls(void)
{
    WITH_SERVER();
    PGresult *before = pgfx_ask(pgfx.app, "SELECT pg_get_functiondef('prescient.slot_count'::regproc)");
    pgfx_put_checks(1);
    RC_IS(0, slots_that_write(pgfx.st));
    SQL_IS("", "CREATE TABLE called (); "
               "CREATE OR REPLACE FUNCTION prescient.slot_count(slot timestamptz, counted bigint, "
               "OUT checks bigint, OUT is_estimate boolean) LANGUAGE sql AS $$ "
               "INSERT INTO public.called DEFAULT VALUES; SELECT 1::bigint, false $$");
    RC_IS(ERR_LOST, slots_that_write(pgfx.st));
    CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, "read-only transaction"));
    pg_store(pgfx.st)->pooled = true;
    RC_IS(ERR_LOST, slots_that_write(pgfx.st));
    pg_store(pgfx.st)->pooled = false;
    SQL_IS("0", "SELECT count(*) FROM public.called");
    SQL_IS("", "DROP TABLE called");
    PQclear(PQexec(pgfx.app, PQgetvalue(before, 0, 0)));
    PQclear(before);
    RC_IS(0, slots_that_write(pgfx.st));
}

static void the_session_of_a_store_that_only_reads_is_read_only(void)
{
    WITH_SERVER();
    struct store *usual = pgfx.st;
    struct store_hello hello = STORE_HELLO_INIT;
    pgfx.st = pgfx_new_store(&(struct store_options){ .reads_only = true });
    RC_IS(0, pgfx_call(&hello.call));
    CU_ASSERT(hello.read_only);
    pgfx_in_its_session("DO $$ BEGIN ASSERT current_setting('transaction_read_only') = 'on'; END $$");
    store_free(pgfx.st);
    pgfx.st = usual;
    hello = (struct store_hello)STORE_HELLO_INIT;
    RC_IS(0, pgfx_call(&hello.call));
    CU_ASSERT_FALSE(hello.read_only);
}

static const struct test tests[] = {
    TEST(settings_of_a_role_change_nothing),
    TEST(behind_a_pooler_the_session_stays_as_it_was),
    TEST(a_session_may_wait_for_us),
    TEST(what_cannot_be_pinned_is_refused_in_words),
    TEST(a_report_that_reads_can_change_nothing_whatever_it_calls),
    TEST(the_session_of_a_store_that_only_reads_is_read_only),
    { NULL, NULL },
};

const struct suite suite_store_pg_settings = { "store_pg_settings", pgfx_setup, pgfx_teardown, tests };
