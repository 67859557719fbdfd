/* test_store_pg_settings.c - settings that are set for a role or a database do not change what the
 * store does there: they are pinned, make no difference, or are refused in words. */
#include "pg_fixture.h"

#include <ctype.h>

#include "../engine/store/embedded_sql.h"
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

/* ---- the sessions of applications ------------------------------------------------------------ */

/* The literal that begins at `quote`: what comes behind it, and whether it has a backslash that
 * another setting of standard_conforming_strings reads in another way. */
static const char *behind_literal(const char *quote, const char *text, bool *depends)
{
    bool escapes = quote > text && (quote[-1] == 'E' || quote[-1] == 'e')
                   && (quote == text + 1 || !(isalnum((unsigned char)quote[-2]) || quote[-2] == '_'));
    const char *at = quote + 1;
    *depends = false;
    for (; *at && (*at != '\'' || at[1] == '\''); at++) {
        if (*at == '\\' && !escapes)
            *depends = true;
        at += *at == '\'' || (*at == '\\' && escapes && at[1]);
    }
    return *at ? at + 1 : at;
}

/* The first literal of a text of SQL that depends so; NULL: none does. */
static const char *dependent_literal(const char *text)
{
    for (const char *at = text; *at;) {
        if (at[0] == '-' && at[1] == '-') {
            at += strcspn(at, "\n");
        } else if (*at == '"') {
            at += 1 + strcspn(at + 1, "\"");
            at += *at == '"';
        } else if (*at == '\'') {
            bool depends;
            const char *behind = behind_literal(at, text, &depends);
            if (depends)
                return at;
            at = behind;
        } else {
            at++;
        }
    }
    return NULL;
}

/* A function is read by the session that calls it, which is an application's: the program sets
 * standard_conforming_strings for its own ones alone. */
static void no_literal_of_a_function_depends_on_standard_strings(void)
{
    CU_ASSERT_PTR_NULL(dependent_literal("SELECT E'\\\\n' -- '\\'\n, \"'\\\", 'it''s', x.e('a')"));
    CU_ASSERT_PTR_NOT_NULL(dependent_literal("SELECT 'it''s', '[\\t]'"));
    CU_ASSERT_PTR_NOT_NULL(dependent_literal("SELECT E'\\'', one'\\n'"));
    for (const struct sql_migration *m = migrations_pg; m->name; m++) {
        const char *found = dependent_literal(m->text);
        if (found)
            printf("      %s: %.60s\n", m->name, found);
        CU_ASSERT_PTR_NULL(found);
    }
}

/* What an application, an operator and a reader call, and what is left in the tables. None of these
 * texts is read by the session in another way. */
static const char *const asked[] = {
    "prescient.enqueue('e', '1', 'j', '2030-02-01 10:00+00'::timestamptz, $${\"a\": \"\\\\\"}$$)",
    "prescient.enqueue('e', 2, 'j', interval '3 hours', $${\"a\": 1.5e300}$$::json, within => '2 hours')",
    "prescient.enqueue('e', 3, 'j', 'tomorrow', $${\"a\": \"\\u0000\"}$$)",
    "prescient.enqueue('e', 3, 'j', '+3 hours', $${\"a\": 1e400}$$)",
    "prescient.enqueue('e', 3, 'j', '+3 hours', $${\"a\": [12345678901234567890]}$$)",
    "prescient.enqueue('e', 3, 'j', '+3 hours', $${\"a\": [123456789012345678, \"\\\"1e999\"]}$$)",
    "prescient.enqueue('e', 3, 'j', '+3 hours', 'no json')",
    "prescient.enqueue('e', '', 'j', '+3 hours')",
    "prescient.enqueue_now('e', 5, 'j', $${\"b\": \"\\\\\"}$$::jsonb)",
    "prescient.enqueue_many('e', '{NULL}', 'k', '1 hour')",
    "prescient.enqueue_many('e', '{a\"b,\"NULL\"}', 'k', '1 hour', $$[\"\\n\"]$$)",
    "prescient.enqueue_each(ARRAY['e', 'e'], ARRAY[7, 8], ARRAY['j', 'j'], interval '1 hour', "
    "ARRAY[$$[\"\\n\"]$$, NULL])",
    "prescient.enqueue_each(ARRAY['e', 'e'], ARRAY[7, 8], ARRAY['k', 'k'], "
    "'{\"2030-02-01 10:00+00\",+1 hour}', ARRAY[NULL, $$[\"NULL\"]$$]::json[])",
    "prescient.reschedule('e', 2, 'j', '5 hours')",
    "prescient.resolve('e', 5)",
    "prescient.schedule('s', 'se', 1, 'j', interval '1 hour', payload => $$[\"\\n\"]$$)",
    "prescient.schedule('s', 'se', 1, 'j', interval '2 hours', bias => 0.25)",
    "prescient.schedule('t', 'se', 2, 'j', cron => E'*/5  9-17\t* jan-mar mon-fri', timezone => "
    "'Europe/Amsterdam')",
    "prescient.schedule('u', 'se', 3, 'j', cron => '@daily', timezone => 'new york')",
    "prescient.schedule_set('s', bias => 0.1)",
    "prescient.schedule_off('t', 'why')",
    "prescient.schedule_on('t')",
    "prescient.pause(job => 'k')",
    "prescient.resume(job => 'k')",
    "(prescient.change_checks('cancel', '[[\"e\", \"1\", \"j\"]]')).outcome",
    "(prescient.change_checks('run-now', '[[\"e\", \"3\", \"j\"]]')).outcome",
    "(prescient.change_schedule('put', $${\"name\": \"v\", \"entity_name\": \"se\", \"entity_key\": \"4\", "
    "\"job_exec\": \"j\", \"every_s\": 3600, \"payload\": \"{}\"}$$)).outcome",
    "prescient.change_delivery('mail/0123456789abcdef0123456789abcdef')",
    "(SELECT count(*) FROM prescient.events_after(NULL))",
    "(SELECT count(*) FROM prescient.row_events('e', '1'))",
    "(SELECT count(*) FROM prescient.runs_by('hour'))",
    "(SELECT count(*) FROM prescient.jobs_noted())",
    "(SELECT count(*) FROM prescient.newest_rows(NULL::prescient.history, 'e', '1', 'j', NULL, NULL, NULL, "
    "9, NULL))",
    "prescient.set_slot_length(600)",
    "(SELECT md5(string_agg(concat_ws('|', f.entity_name, f.entity_key, f.job_exec, date_part('epoch', "
    "f.next_check_at)::bigint, f.payload, f.terms), ';' ORDER BY f.entity_name, f.entity_key, f.job_exec)) "
    "FROM prescient.future_job f)",
    "(SELECT string_agg(concat_ws('|', c.change, c.before, c.after), ';' ORDER BY c.id) FROM "
    "prescient.change c)",
};

#define ANSWERS (sizeof asked / sizeof *asked)

/* The answers that a new session gets under a setting, with nothing left behind. */
static void ask_under(const char *name, const char *setting, char answers[ANSWERS][512])
{
    PGconn *conn = PQconnectdb(pgfx.db.url);
    PQsetNoticeProcessor(conn, pg_drop_notice, NULL);
    CELL_IS(conn, "", "BEGIN; SET LOCAL prescient.now = '2030-01-31 15:00+00'; SET LOCAL statement_timeout "
                      "= '1min'");
    if (name)
        CELL_IS(conn, setting, "SELECT set_config('%s', '%s', true)", name, setting);
    for (size_t i = 0; i < ANSWERS; i++) {
        CELL_IS(conn, "", "SAVEPOINT one");
        snprintf(answers[i], 512, "%s", pgfx_cell(conn, "SELECT %s::text", asked[i]));
        if (PQtransactionStatus(conn) == PQTRANS_INERROR)
            CELL_IS(conn, "", "ROLLBACK TO one");
    }
    CELL_IS(conn, "", "ROLLBACK");
    PQfinish(conn);
}

static void the_settings_of_applications_change_nothing_for_them(void)
{
    WITH_SERVER();
    static const char *const theirs[][2] = {
        { "standard_conforming_strings", "off" }, { "array_nulls", "off" },
        { "transform_null_equals", "on" },        { "quote_all_identifiers", "on" },
        { "IntervalStyle", "sql_standard" },      { "IntervalStyle", "iso_8601" },
        { "DateStyle", "SQL, DMY" },              { "DateStyle", "German, DMY" },
        { "bytea_output", "escape" },             { "extra_float_digits", "-15" },
        { "xmloption", "document" },              { "row_security", "off" },
        { "plan_cache_mode", "force_generic_plan" }, { "plpgsql.extra_errors", "all" },
        { "search_path", "\"\"" },
    };
    static char usual[ANSWERS][512], found[ANSWERS][512];
    ask_under(NULL, NULL, usual);
    CU_ASSERT_STRING_EQUAL(usual[0], "new");
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        ask_under(theirs[i][0], theirs[i][1], found);
        for (size_t k = 0; k < ANSWERS; k++) {
            if (strcmp(usual[k], found[k]) != 0)
                printf("      %s = %s: %s: '%s', else '%s'\n", theirs[i][0], theirs[i][1], asked[k], found[k],
                       usual[k]);
            CU_ASSERT_STRING_EQUAL(usual[k], found[k]);
        }
    }
}

static const struct test tests[] = {
    TEST(settings_of_a_role_change_nothing),
    TEST(behind_a_pooler_the_session_stays_as_it_was),
    TEST(a_session_may_wait_for_us),
    TEST(what_cannot_be_pinned_is_refused_in_words),
    TEST(a_report_that_reads_can_change_nothing_whatever_it_calls),
    TEST(the_session_of_a_store_that_only_reads_is_read_only),
    TEST(no_literal_of_a_function_depends_on_standard_strings),
    TEST(the_settings_of_applications_change_nothing_for_them),
    { NULL, NULL },
};

const struct suite suite_store_pg_settings = { "store_pg_settings", pgfx_setup, pgfx_teardown, tests };
