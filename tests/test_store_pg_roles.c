/* test_store_pg_roles.c - who may do what on PostgreSQL: an application may enqueue and no more, an
 * engine owns nothing, and `init` gives both what they need. */
#include "pg_roles_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/store/embedded_sql.h"
#include "../engine/store/store_pg.h"

/* ---- functions ------------------------------------------------------------------------------- */

static void no_function_is_open_to_everybody(void)
{
    WITH_ROLES();
    SQL_IS("",
           "SELECT string_agg(p.oid::regprocedure::text, ' ') FROM pg_proc p WHERE p.pronamespace = "
           "'prescient'::regnamespace"
           "   AND (p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = 0))");
}

static void every_function_with_its_owners_rights_has_a_path_of_its_own(void)
{
    WITH_ROLES();
    SQL_IS("", "SELECT string_agg(p.oid::regprocedure::text, ' ') FROM pg_proc p WHERE p.pronamespace = "
               "'prescient'::regnamespace AND p.prosecdef"
               "   AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)");
    SQL_IS("t", "SELECT count(*) > 10 FROM pg_proc p WHERE p.pronamespace = 'prescient'::regnamespace AND "
                "p.prosecdef");
}

static void whoever_makes_tables_with_its_owners_rights_says_where(void)
{
    WITH_ROLES();
    SQL_IS("",
           "SELECT string_agg(p.oid::regprocedure::text, ' ') FROM pg_proc p WHERE p.pronamespace = "
           "'prescient'::regnamespace AND p.prosecdef"
           "   AND p.prosrc ~ 'CREATE (TABLE|INDEX)' AND (SELECT count(*) FROM unnest(p.proconfig) c (one) "
           "WHERE one ~ '^default_tablespace=(\"\")?$' OR one = 'default_table_access_method=heap') < 2");
    SQL_IS("2", "SELECT count(*) FROM pg_proc p WHERE p.pronamespace = 'prescient'::regnamespace AND "
                "p.prosecdef AND p.prosrc ~ 'CREATE (TABLE|INDEX)'");
}

/* ---- the application ------------------------------------------------------------------------- */

static void an_enqueuer_may_call_the_api_and_nothing_else(void)
{
    WITH_ROLES();
    SQL_IS("ask_loads bucket_of enqueue enqueue_each enqueue_many enqueue_now filed_at jobs_noted pace "
           "pace_s pending post_checks request_of reschedule resolve resolve_doubt schedule schedule_off "
           "schedule_on schedule_set schema_state slot_ceil slot_fine_next slot_floor slot_for "
           "slot_length_s slot_loads slot_next tokens unschedule",
           "SELECT string_agg(DISTINCT p.proname, ' ' ORDER BY p.proname) FROM pg_proc p WHERE "
           "p.pronamespace = 'prescient'::regnamespace"
           "   AND has_function_privilege('" SHOP "', p.oid, 'EXECUTE')");
    SQL_IS("",
           "SELECT string_agg(c.relname, ' ') FROM pg_class c WHERE c.relnamespace = "
           "'prescient'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')"
           "   AND (has_table_privilege('" SHOP
           "', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')"
           "        OR has_any_column_privilege('" SHOP "', c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))");
    SQL_IS("", "SELECT string_agg(c.relname, ' ') FROM pg_class c WHERE c.relnamespace = "
               "'prescient'::regnamespace AND CASE c.relkind"
               " WHEN 'S' THEN has_sequence_privilege('" SHOP "', c.oid, 'USAGE, SELECT, UPDATE') END");
    SQL_IS("f", "SELECT has_schema_privilege('" SHOP "', 'prescient', 'CREATE')");
}

static void what_an_enqueuer_may_not_it_cannot(void)
{
    WITH_ROLES();
    SHOP_IS(
        "new",
        "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '3 hours', '{\"card\": \"4111\"}')");
    static const char *const attempts[] = {
        "SELECT payload FROM prescient.future_job",
        "SELECT note FROM prescient.future_job_history",
        "SELECT * FROM prescient.event",
        "COPY prescient.future_job TO STDOUT",
        "BEGIN; LOCK TABLE prescient.future_job IN ACCESS SHARE MODE",
        "TRUNCATE prescient.future_job",
        "INSERT INTO prescient.slot_lease (slot_at, bucket, owner, expires_at) VALUES (now(), -1, "
        "'00000000-0000-0000-0000-000000000000', now())",
        "DELETE FROM prescient.future_job",
        "UPDATE prescient.future_job SET job_exec = 'other'",
        "UPDATE prescient.setting SET value = '1'",
        "SELECT nextval('prescient.future_job_id_seq')",
        "SELECT prescient.set_slot_length(60)",
        "SELECT prescient.set_pace(0.5)",
        "SELECT prescient.keep_history_days(10000)",
        "SELECT prescient.make_history_day('2030-01-01')",
        "SELECT prescient.file_check('e', '1', 'j', now(), NULL, 'keep', 0, '2000-01-01')",
        "SELECT prescient.resolve_at('orders', '42', NULL, now())",
        "SELECT prescient.end_checks('orders', '42', NULL, now())",
        "SELECT * FROM prescient.schedule",
        "INSERT INTO prescient.schedule (name) VALUES ('s')",
        "SELECT prescient.remove_schedule('s', now(), NULL, NULL)",
        "SELECT prescient.change_checks('resolve', '[[\"orders\", \"42\", null]]')",
        "SELECT prescient.change_delivery('mail/1')",
        "SELECT prescient.change_schedule('remove', '{\"name\": \"s\"}')",
        "SELECT prescient.pause(job => 'unshipped')",
        "SELECT * FROM prescient.audit",
        "CREATE TABLE prescient.mine (id int)",
        "CREATE FUNCTION prescient.enqueue(text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE OPERATOR prescient.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq)",
        "ALTER TABLE prescient.future_job ADD COLUMN x int",
        "CREATE TRIGGER t BEFORE INSERT ON prescient.future_job FOR EACH ROW EXECUTE FUNCTION "
        "suppress_redundant_updates_trigger()",
        "CREATE INDEX ON prescient.future_job (payload)",
        "CREATE VIEW pg_temp.v AS SELECT * FROM prescient.future_job; SELECT * FROM pg_temp.v",
        "SET prescient.now = '2000-01-01 00:00+00'; SELECT prescient.enqueue('e', '1', 'j', now())",
        "ALTER FUNCTION prescient.enqueue(text, text, text, interval, anycompatible, text, integer, "
        "interval, text, text) SET search_path = public",
        "DROP SCHEMA prescient CASCADE",
        "SELECT * FROM payroll.salary",
        "SET ROLE prescient_engine",
        "SET SESSION AUTHORIZATION postgres",
        "GRANT prescient_engine TO " SHOP,
        "GRANT SELECT ON prescient.future_job TO " SHOP,
        "ALTER ROLE " SHOP " SUPERUSER",
        "SELECT pg_read_file('/etc/passwd')",
    };
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const char *got = pgfx_cell(pg_roles.shop, "%s", attempts[i]);
        PQclear(PQexec(pg_roles.shop, "ROLLBACK"));
        /* A grant without the right to it is a warning in some cases; what counts is that it
         * changes nothing. */
        if (strcmp(got, DENIED) != 0 && strncmp(attempts[i], "GRANT SELECT", 12) != 0) {
            printf("      %s: '%s'\n", attempts[i], got);
            CU_FAIL("not denied");
        }
    }
    SHOP_IS(DENIED, "SELECT count(*) FROM prescient.future_job");
    SQL_IS("1", "SELECT count(*) FROM prescient.future_job");
}

/* It would be filed anew within the hour, and in between its listener hears of nothing. */
static void an_enqueuer_leaves_digests_alone(void)
{
    WITH_ROLES();
    PQclear(pgfx_ask(pgfx.app, "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, "
                     "first_check_at, next_check_at, terms) SELECT prescient.bucket_of('prescient.digest', "
                     "'late'), 'prescient.digest', 'late', 'mail', '2100-01-01 00:00+00', "
                     "'2100-01-01 00:00+00', 'schedule \"late\" every 900 bias 0 missed run_once digest "
                     "\"late\"'"));
    static const char *const attempts[] = {
        "SELECT prescient.resolve('prescient.digest', 'late')",
        "SELECT prescient.resolve('prescient.digest', 'none')",
        "SELECT prescient.resolve('prescient.digest', 'late', 'mail')",
        "SELECT prescient.reschedule('prescient.digest', 'late', 'mail', '8000-01-01 00:00+00'::timestamptz)",
        "SELECT prescient.enqueue('prescient.digest', 'late', 'mail', now(), NULL, 'replace')",
        "SELECT prescient.schedule('s', 'prescient.digest', 'late', 'mail', interval '1 hour')",
    };
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        PGresult *r = pgfx_ask(pg_roles.shop, "%s", attempts[i]);
        CU_ASSERT_EQUAL(PQresultStatus(r), PGRES_FATAL_ERROR);
        CU_ASSERT_PTR_NOT_NULL(strstr(PQerrorMessage(pg_roles.shop), "prescient.digest, which stands for "
                                      "digests: only engines "));
        PQclear(r);
    }
    SQL_IS("mail 2100-01-01 00:00:00+00",
           "SET timezone = UTC; SELECT string_agg(job_exec || ' ' || next_check_at, ',') FROM "
           "prescient.future_job");
    SQL_IS("1", "SELECT prescient.resolve('prescient.digest', 'late')");
}

/* The values of others do not come back in the words of an error. */
static void errors_show_no_row_of_somebody_else(void)
{
    WITH_ROLES();
    PQclear(pgfx_ask(
        pgfx.app,
        "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '3 hours', '{\"card\": \"4111\"}')"));
    static const char *const attempts[] = {
        "SELECT prescient.enqueue('orders', '42', 'unshipped', 'infinity'::timestamptz, NULL, 'replace')",
        "SELECT prescient.enqueue('orders', '42', 'unshipped', '-infinity'::timestamptz, NULL, 'earlier')",
        "SELECT prescient.enqueue('orders', '42', 'unshipped', '9999-12-31 23:59:59+00'::timestamptz, NULL, "
        "'replace')",
        "SELECT prescient.reschedule('orders', '42', 'unshipped', '9999-12-31 23:59:59+00'::timestamptz)",
        "SELECT prescient.enqueue_each(ARRAY['orders', 'orders'], ARRAY['42', '42'], ARRAY['unshipped', "
        "NULL], ARRAY[now(), now()], NULL, 'replace')",
        "SELECT prescient.enqueue('orders', '42', 'unshipped', now(), json_build_object('x', repeat('x', "
        "70000)), 'replace')",
    };
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        PGresult *r = pgfx_ask(pg_roles.shop, "%s", attempts[i]);
        CU_ASSERT_EQUAL(PQresultStatus(r), PGRES_FATAL_ERROR);
        CU_ASSERT_PTR_NULL(strstr(PQerrorMessage(pg_roles.shop), "4111"));
        PQclear(r);
    }
}

/* A key and a payload may be of any type. A cast that a user has made for a type of his own is not
 * called with the owner's rights, whatever it is given for. */
static void a_cast_of_the_callers_own_is_never_called(void)
{
    WITH_ROLES();
    static const char *const calls[] = {
        "prescient.enqueue('orders'::text, t.own, 'j'::text, interval '1 hour')",
        "prescient.enqueue('orders', 1, 'j', interval '1 hour', t.own)",
        "prescient.enqueue('orders', '1'::text, 'j', now(), payload => t.own)",
        "prescient.enqueue_many('orders', ARRAY[t.own], 'j', interval '1 hour')",
        "prescient.enqueue_many('orders', ARRAY[1], 'j', interval '1 hour', t.own)",
        "prescient.enqueue_each(ARRAY['orders'], ARRAY[t.own], ARRAY['j'], now())",
        "prescient.enqueue_each(ARRAY['orders'], ARRAY[1], ARRAY['j'], now(), ARRAY[t.own])",
        "prescient.enqueue_each(ARRAY['orders'], ARRAY[1], ARRAY['j'], now(), t.own)",
        "prescient.reschedule('orders'::text, t.own, 'j'::text, interval '1 hour')",
        "prescient.enqueue_now('orders'::text, t.own, 'j'::text)",
        "prescient.enqueue_now('orders', 1, 'j', t.own)",
        "prescient.resolve('orders'::text, t.own)",
        "prescient.schedule('s', 'orders'::text, t.own, 'j'::text, interval '1 hour')",
        "prescient.schedule('s', 'orders', 1, 'j', interval '1 hour', payload => t.own)",
        "prescient.schedule_set('s', interval '1 hour', payload => t.own)",
        "prescient.pending('orders'::text, t.own)",
    };
    SHOP_IS("", "CREATE SCHEMA trap; CREATE TYPE trap.kind AS ENUM ('1'); CREATE FUNCTION "
                "trap.read(trap.kind) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''called as "
                "%%'', current_user USING ERRCODE = ''TRAP1''; END'; CREATE CAST (trap.kind AS text) WITH "
                "FUNCTION trap.read(trap.kind) AS ASSIGNMENT");
    SHOP_IS("TRAP1", "SELECT '1'::trap.kind::text");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        SHOP_IS("42804", "SELECT %s FROM (SELECT '1'::trap.kind) t (own)", calls[i]);
    SQL_IS(
        "enqueue enqueue_each enqueue_many enqueue_now pending reschedule resolve schedule schedule_set",
        "SELECT string_agg(DISTINCT p.proname, ' ' ORDER BY p.proname) FROM pg_proc p, unnest(p.proargtypes) "
        "t "
        "WHERE p.pronamespace = 'prescient'::regnamespace AND p.prosecdef AND t::regtype::text LIKE 'any%%'");
    SHOP_IS("", "DROP SCHEMA trap CASCADE");
    SHOP_IS("new", "SELECT prescient.enqueue('orders', 1, 'j', interval '1 hour', '{}'::varchar)");
    SHOP_IS("replaced",
            "SELECT prescient.enqueue('orders', 1, 'j', interval '1 hour', '{}'::jsonb, 'replace')");
    SHOP_IS("(2,0,0,0)",
            "SELECT prescient.enqueue_each(ARRAY['a', 'b'], ARRAY[1, 2], ARRAY['j', 'j'], now(), "
            "ARRAY['{}', NULL]::jsonb[])");
}

/* What a domain is made over, and a value of it. */
static const struct { const char *type, *value; } trapped[] = {
    { "smallint", "1" }, { "integer", "1" }, { "bigint", "1" }, { "text", "{}" }, { "varchar", "{}" },
    { "uuid", "5cbd9d1c-5ad2-4d0c-8f8c-5ad2b1be2f4a" }, { "json", "{}" }, { "jsonb", "{}" },
    { "integer[]", "{1}" }, { "text[]", "{\"{}\"}" }, { "json[]", "{\"{}\"}" },
    { "uuid[]", "{5cbd9d1c-5ad2-4d0c-8f8c-5ad2b1be2f4a}" },
};

/* A domain trap.kind, whose constraint fails with TRAP1 where its owner has not the say, and with
 * casts from it and from its arrays that fail with TRAP2. */
static void set_trap(const char *over)
{
    static const char *const targets[] = { "text", "text[]", "varchar", "json", "json[]", "jsonb", "bigint" };
    SHOP_IS("", "SET client_min_messages = error; CREATE SCHEMA trap; CREATE FUNCTION trap.holds() RETURNS "
                "boolean LANGUAGE plpgsql AS 'BEGIN IF current_user <> session_user THEN RAISE EXCEPTION "
                "''as %%'', current_user USING ERRCODE = ''TRAP1''; END IF; RETURN true; END'; "
                "CREATE DOMAIN trap.kind AS %s CHECK (trap.holds())", over);
    for (size_t i = 0; i < 2 * sizeof targets / sizeof *targets; i++) {
        const char *to = targets[i / 2], *many = i % 2 ? "[]" : "";
        SHOP_IS("", "CREATE FUNCTION trap.read%zu(trap.kind%s) RETURNS %s LANGUAGE plpgsql AS 'BEGIN RAISE "
                    "EXCEPTION ''called'' USING ERRCODE = ''TRAP2''; END'; CREATE CAST (trap.kind%s AS %s) "
                    "WITH FUNCTION trap.read%zu(trap.kind%s) AS ASSIGNMENT", i, many, to, many, to, i, many);
    }
}

/* Of a domain over what a key or a payload may be, everything may be given: PostgreSQL passes over
 * casts from the domain itself. It does not over those from arrays of it, nor, in a cast to the
 * domain, over its constraint, which is a function of the caller's, too. */
static void nothing_of_a_domain_of_the_callers_own_runs_as_the_owner(void)
{
    WITH_ROLES();
    static const char *const calls[] = {
        "prescient.enqueue('orders'::text, t.own, 'j'::text, interval '1 hour')",
        "prescient.enqueue('orders', 1, 'j', interval '1 hour', t.own)",
        "prescient.enqueue_many('orders', ARRAY[t.own], 'j', interval '1 hour')",
        "prescient.enqueue_many('orders', t.own, 'j', interval '1 hour')",
        "prescient.enqueue_many('orders', ARRAY[1], 'j', interval '1 hour', t.own)",
        "prescient.enqueue_each(ARRAY['orders'], ARRAY[t.own], ARRAY['j'], now())",
        "prescient.enqueue_each(ARRAY['orders'], t.own, ARRAY['j'], now())",
        "prescient.enqueue_each(ARRAY['orders'], ARRAY[1], ARRAY['j'], now(), ARRAY[t.own])",
        "prescient.enqueue_each(ARRAY['orders'], ARRAY[1], ARRAY['j'], now(), t.own)",
        "prescient.reschedule('orders'::text, t.own, 'j'::text, interval '1 hour')",
        "prescient.enqueue_now('orders'::text, t.own, 'j'::text)",
        "prescient.enqueue_now('orders', 1, 'j', t.own)",
        "prescient.resolve('orders'::text, t.own)",
        "prescient.pending('orders'::text, t.own)",
        "prescient.schedule('s', 'orders'::text, t.own, 'j'::text, interval '1 hour')",
        "prescient.schedule('s', 'orders', 1, 'j', interval '1 hour', payload => t.own)",
        "prescient.schedule_set('s', interval '1 hour', payload => t.own)",
    };
    for (size_t d = 0; d < sizeof trapped / sizeof *trapped; d++) {
        set_trap(trapped[d].type);
        SHOP_IS("TRAP2", "SELECT t.own::text[] FROM (SELECT ARRAY['%s'::trap.kind]) t (own)",
                trapped[d].value);
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            const char *got = pgfx_cell(pg_roles.shop, "SELECT %s::text FROM (SELECT '%s'::trap.kind) t "
                                        "(own)", calls[i], trapped[d].value);
            if (strncmp(got, "TRAP", 4) == 0) {
                printf("      %s of a domain over %s: '%s'\n", calls[i], trapped[d].type, got);
                CU_FAIL("the caller's own function was called");
            }
        }
        SHOP_IS("", "DROP SCHEMA trap CASCADE; RESET client_min_messages");
    }
}

static void keys_may_be_an_array_of_a_domain(void)
{
    WITH_ROLES();
    SHOP_IS("", "CREATE DOMAIN pg_temp.number AS integer CHECK (VALUE > 0)");
    SHOP_IS("(2,0,0,0)", "SELECT prescient.enqueue_many('orders', ARRAY[7, 9]::pg_temp.number[], 'j', "
                         "interval '1 hour')");
    SHOP_IS("(1,1,0,0)", "SELECT prescient.enqueue_each('{orders,orders}'::text[], "
                         "ARRAY[9, 8]::pg_temp.number[], '{j,j}', now())");
    SQL_IS("7 8 9", "SELECT string_agg(entity_key, ' ' ORDER BY entity_key) FROM prescient.future_job");
    SHOP_IS("", "DROP DOMAIN pg_temp.number");
}

/* ---- the engine ------------------------------------------------------------------------------ */

static void an_engine_owns_nothing_and_changes_no_schema(void)
{
    WITH_ROLES();
    SQL_IS("0", "SELECT count(*) FROM pg_class c WHERE c.relnamespace = 'prescient'::regnamespace AND "
                "pg_has_role('" RUNNER "', c.relowner, 'MEMBER')");
    SQL_IS("0", "SELECT count(*) FROM pg_proc p WHERE p.pronamespace = 'prescient'::regnamespace AND "
                "pg_has_role('" RUNNER "', p.proowner, 'MEMBER')");
    PGconn *runner = PQconnectdb(pg_roles.runner_url);
    PQsetNoticeProcessor(runner, pg_drop_notice, NULL);
    static const char *const attempts[] = {
        "CREATE TABLE prescient.mine (id int)",
        "CREATE FUNCTION prescient.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "ALTER TABLE prescient.future_job DROP CONSTRAINT future_job_pkey",
        "DROP TABLE prescient.event",
        "TRUNCATE prescient.future_job_history",
        "CREATE TRIGGER t BEFORE INSERT ON prescient.future_job FOR EACH ROW EXECUTE FUNCTION "
        "suppress_redundant_updates_trigger()",
        "SELECT prescient.set_slot_length(60)",
        "INSERT INTO prescient.migration VALUES (999, 'x', 'x', 999)",
        "DELETE FROM prescient.migration",
        "ALTER FUNCTION prescient.enqueue(text, text, text, interval, anycompatible, text, integer, "
        "interval, text, text) OWNER TO " RUNNER,
        "SET ROLE postgres",
        "SELECT * FROM payroll.salary",
        "CREATE ROLE x",
        "GRANT prescient_engine TO " SHOP,
        "SELECT pg_read_file('/etc/passwd')",
        "ALTER TABLE prescient.future_job_history OWNER TO " RUNNER,
        "COPY prescient.event TO PROGRAM 'cat'",
    };
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        CELL_IS(runner, DENIED, "%s", attempts[i]);
    PQfinish(runner);
}

/* ---- what init puts right -------------------------------------------------------------------- */

/* A schema that was only migrated. */
static void make_bare_schema(void)
{
    PQclear(pgfx_ask(pgfx.app, "SET search_path = pg_catalog; CREATE SCHEMA bare; CREATE TABLE "
                               "bare.migration (version integer PRIMARY KEY, "
                               "oldest_engine integer)"));
    for (const struct sql_migration *m = migrations_pg; m->name; m++) {
        char *text = pg_with_schema(m->text, "bare");
        PGresult *r = PQexec(pgfx.app, text);
        if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
            printf("      %s: %s\n", m->name, PQresultErrorMessage(r));
        CU_ASSERT(PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK);
        PQclear(r);
        free(text);
    }
}

#define RIGHTS_IN(schema)                                                                                    \
    "(SELECT replace(p.oid::regprocedure::text, '" schema                                                    \
    ".', '') AS what, a.grantee, a.privilege_type FROM pg_proc p, aclexplode(p.proacl) a"                    \
    " WHERE p.pronamespace = '" schema "'::regnamespace UNION ALL"                                           \
    " SELECT c.relname, a.grantee, a.privilege_type FROM pg_class c, aclexplode(c.relacl) a"                 \
    " WHERE c.relnamespace = '" schema                                                                       \
    "'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S') AND NOT c.relispartition"                         \
    " AND c.relname <> 'migration'"                                                                          \
    " AND a.grantee IN ('prescient_engine'::regrole, 'prescient_enqueuer'::regrole, "                        \
    "'prescient_reader'::regrole, 'prescient_operator'::regrole, 0))"

/* Whoever adds a function or a table that an engine has other rights to than are usual says so in
 * both places. */
static void init_gives_what_the_migrations_gave_and_no_more(void)
{
    WITH_ROLES();
    make_bare_schema();
    SQL_IS(
        "",
        "SELECT string_agg(what || ' ' || grantee::regrole || ' ' || privilege_type, ', ') FROM (" RIGHTS_IN(
            "prescient") " EXCEPT " RIGHTS_IN("bare") ") x");
    SQL_IS(
        "",
        "SELECT string_agg(what || ' ' || grantee::regrole || ' ' || privilege_type, ', ') FROM (" RIGHTS_IN(
            "bare") " EXCEPT " RIGHTS_IN("prescient") ") x");
    PQclear(pgfx_ask(pgfx.app, "DROP SCHEMA bare CASCADE"));
}

/* What somebody has put into the schema: so does PostgreSQL's own search_path, "$user", for a user
 * named as the schema. */
static void init_gives_no_right_to_what_it_has_not_made(void)
{
    WITH_ROLES();
    PQclear(pgfx_ask(
        pgfx.app,
        "CREATE TABLE prescient.orders (id serial PRIMARY KEY); CREATE TABLE prescient.event_p2020 (id int);"
        "CREATE FUNCTION prescient.charge() RETURNS integer LANGUAGE sql AS 'SELECT 1'; GRANT USAGE ON "
        "SCHEMA prescient TO PUBLIC"));
    struct store *s = pgfx_new_store(NULL);
    CU_ASSERT(store_migrate(s, &(struct migrate_options){ 0 }, &pgfx.err) >= 0);
    store_free(s);
    SQL_IS("f f f",
           "SELECT concat_ws(' ', has_table_privilege('prescient_engine', 'prescient.orders', 'SELECT'),"
           " has_sequence_privilege('prescient_engine', 'prescient.orders_id_seq', 'USAGE'), "
           "has_table_privilege('prescient_engine', 'prescient.event_p2020', 'SELECT'))");
    SQL_IS("", "SELECT proacl::text FROM pg_proc WHERE oid = 'prescient.charge()'::regprocedure");
    PQclear(pgfx_ask(pgfx.app, "DROP TABLE prescient.orders, prescient.event_p2020; DROP FUNCTION "
                               "prescient.charge(); REVOKE USAGE ON SCHEMA prescient FROM PUBLIC"));
}

/* ---- what all wait for ----------------------------------------------------------------------- */

static const char *cell_of(const struct store_rows *rows, int row, const char *column)
{
    for (int c = 0; c < rows->columns; c++)
        if (!strcmp(rows->names[c], column))
            return rows->cells[row * rows->columns + c];
    return NULL;
}

/* When somebody else's transaction began is not shown to an engine's role; that there is one, how
 * old, and whose it is, has to be. */
static void the_oldest_transaction_is_told_to_an_engines_role(void)
{
    WITH_ROLES();
    struct arena *a = arena_new(4096);
    struct store *own = pgfx.st;
    struct store_options options = { .url = pg_roles.runner_url, .engine = "roles/1" };
    struct store *st = pgfx_new_store(&options);
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    pgfx.st = st;
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);     /* its second look has to wait */
    RC_IS(0, pgfx_call(&o.call));
    SQL_IS("", "UPDATE prescient.slot_pass SET recorded_at = recorded_at - interval '20 minutes'");
    struct store_report r = pgfx_report(a, "status", 0, NULL);
    CU_ASSERT_PTR_NULL(cell_of(&r.rows, 0, "oldest_transaction_us"));
    const char *since = cell_of(&r.rows, 0, "transactions_since");
    CU_ASSERT(since && atoi(since) >= 1);
    r = pgfx_report(a, "doctor", 0, NULL);
    bool told = false;
    for (int row = 0; row < r.rows.rows; row++) {
        const char *found = cell_of(&r.rows, row, "found");
        if (strcmp(cell_of(&r.rows, row, "what"), "oldest transaction") != 0)
            continue;
        told = true;
        CU_ASSERT_STRING_EQUAL(cell_of(&r.rows, row, "level"), "warn");
        CU_ASSERT(strstr(found, "second looks wait since 120") && strstr(found, "user postgres in"));
    }
    CU_ASSERT(told);
    pgfx.st = own;
    store_free(st);
    arena_free(a);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK"));
}

static const struct test tests[] = {
    TEST(no_function_is_open_to_everybody),
    TEST(every_function_with_its_owners_rights_has_a_path_of_its_own),
    TEST(whoever_makes_tables_with_its_owners_rights_says_where),
    TEST(an_enqueuer_may_call_the_api_and_nothing_else),
    TEST(what_an_enqueuer_may_not_it_cannot),
    TEST(an_enqueuer_leaves_digests_alone),
    TEST(errors_show_no_row_of_somebody_else),
    TEST(a_cast_of_the_callers_own_is_never_called),
    TEST(nothing_of_a_domain_of_the_callers_own_runs_as_the_owner),
    TEST(keys_may_be_an_array_of_a_domain),
    TEST(an_engine_owns_nothing_and_changes_no_schema),
    TEST(init_gives_what_the_migrations_gave_and_no_more),
    TEST(init_gives_no_right_to_what_it_has_not_made),
    TEST(the_oldest_transaction_is_told_to_an_engines_role),
    { NULL, NULL },
};

const struct suite suite_store_pg_roles = { "store_pg_roles", pg_roles_setup, pg_roles_teardown, tests };
