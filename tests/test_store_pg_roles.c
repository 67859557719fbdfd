/* test_store_pg_roles.c - who may do what on PostgreSQL: an application that may enqueue and no
 * more, an engine that owns nothing, and what an application lays out for others to stumble over.
 */
#include "pg_roles_fixture.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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
    SQL_IS("bucket_of enqueue enqueue_many reschedule resolve slot_ceil slot_floor slot_for slot_length_s "
           "slot_next",
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
        "SELECT prescient.keep_history_days(10000)",
        "SELECT prescient.make_history_day('2030-01-01')",
        "SELECT prescient.file_check('e', '1', 'j', now(), NULL, 'keep', 0, '2000-01-01')",
        "SELECT prescient.resolve_at('orders', '42', NULL, now())",
        "SELECT prescient.end_checks('orders', '42', NULL, now())",
        "CREATE TABLE prescient.mine (id int)",
        "CREATE FUNCTION prescient.enqueue(text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE OPERATOR prescient.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq)",
        "ALTER TABLE prescient.future_job ADD COLUMN x int",
        "CREATE TRIGGER t BEFORE INSERT ON prescient.future_job FOR EACH ROW EXECUTE FUNCTION "
        "suppress_redundant_updates_trigger()",
        "CREATE INDEX ON prescient.future_job (payload)",
        "CREATE VIEW pg_temp.v AS SELECT * FROM prescient.future_job; SELECT * FROM pg_temp.v",
        "ALTER FUNCTION prescient.enqueue(text, text, text, interval, json, text, integer) SET search_path = "
        "public",
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
        "SELECT prescient.enqueue_many(ARRAY['orders', 'orders'], ARRAY['42', '42'], ARRAY['unshipped', "
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

/* ---- the engine ------------------------------------------------------------------------------ */

static void an_engine_owns_nothing_and_changes_no_schema(void)
{
    WITH_ROLES();
    SQL_IS("0", "SELECT count(*) FROM pg_class c WHERE c.relnamespace = 'prescient'::regnamespace AND "
                "pg_has_role('" RUNNER "', c.relowner, 'MEMBER')");
    SQL_IS("0", "SELECT count(*) FROM pg_proc p WHERE p.pronamespace = 'prescient'::regnamespace AND "
                "pg_has_role('" RUNNER "', p.proowner, 'MEMBER')");
    PGconn *runner = PQconnectdb(pg_roles.runner_url);
    PQsetNoticeProcessor(runner, pg_roles_drop_notice, NULL);
    static const char *const attempts[] = {
        "CREATE TABLE prescient.mine (id int)",
        "CREATE FUNCTION prescient.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "ALTER TABLE prescient.future_job DROP CONSTRAINT future_job_slot",
        "DROP TABLE prescient.event",
        "TRUNCATE prescient.future_job_history",
        "CREATE TRIGGER t BEFORE INSERT ON prescient.future_job FOR EACH ROW EXECUTE FUNCTION "
        "suppress_redundant_updates_trigger()",
        "SELECT prescient.set_slot_length(60)",
        "INSERT INTO prescient.migration VALUES (999, 'x', 'x', 999)",
        "DELETE FROM prescient.migration",
        "ALTER FUNCTION prescient.enqueue(text, text, text, interval, json, text, integer) OWNER TO " RUNNER,
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

/* ---- schemas of others ----------------------------------------------------------------------- */

/* A schema of the application's own making, in which all that is read first calls a function that
 * keeps who was there, and what it could. */
static void lay_out_a_schema(void)
{
    struct store *own = pgfx.st;
    PQclear(pgfx_ask(pgfx.app, "DROP SCHEMA IF EXISTS evil CASCADE"));
    pgfx.st = pgfx_new_store(&(struct store_options){ .url = pg_roles.shop_url, .schema = "evil" });
    struct migrate_options options = { 0 };
    CU_ASSERT(store_migrate(pgfx.st, &options, &pgfx.err) > 0);
    store_free(pgfx.st);
    pgfx.st = own;
    PGresult *r = PQexec(pg_roles.shop,
                         "GRANT USAGE ON SCHEMA evil TO PUBLIC; CREATE TABLE evil.caught (who name); GRANT "
                         "INSERT ON evil.caught TO PUBLIC;"
                         "CREATE FUNCTION evil.trap() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT "
                         "INTO evil.caught VALUES (current_user);"
                         " IF current_setting('is_superuser')::boolean THEN ALTER ROLE " SHOP
                         " SUPERUSER; END IF; RETURN true; END $$;"
                         "ALTER TABLE evil.setting RENAME TO setting_0; CREATE VIEW evil.setting AS SELECT * "
                         "FROM evil.setting_0 WHERE evil.trap();"
                         "ALTER TABLE evil.migration RENAME TO migration_0; CREATE VIEW evil.migration AS "
                         "SELECT * FROM evil.migration_0 WHERE evil.trap();"
                         "CREATE OR REPLACE FUNCTION evil.slot_floor(at timestamptz) RETURNS timestamptz "
                         "LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.trap(); RETURN at; END $$;"
                         "GRANT SELECT ON ALL TABLES IN SCHEMA evil TO PUBLIC; GRANT EXECUTE ON ALL "
                         "FUNCTIONS IN SCHEMA evil TO PUBLIC");
    CU_ASSERT_EQUAL(PQresultStatus(r), PGRES_COMMAND_OK);
    PQclear(r);
}

#define REFUSED(call, words) \
    do { \
        RC_IS(ERR_SETTINGS, call); \
        if (!strstr(pgfx.err.text, words)) \
            printf("      %s\n", pgfx.err.text); \
        CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, words)); \
    } while (0)

static int hello(void)
{
    struct store_hello h = STORE_HELLO_INIT;
    return pgfx_call(&h.call);
}

static int report_status(void)
{
    struct arena *a = arena_new(4096);
    int rc = pgfx_report(a, "status", 0, NULL).call.rc;
    arena_free(a);
    return rc;
}

static int migrate(bool dry_run)
{
    struct migrate_options options = { .dry_run = dry_run };
    return store_migrate(pgfx.st, &options, &pgfx.err);
}

static void nothing_in_a_schema_of_somebody_else_is_touched(void)
{
    WITH_ROLES();
    struct store *own = pgfx.st;
    lay_out_a_schema();
    const struct { const char *url, *user;
    } who[] = { { pgfx.url, "postgres" }, { pg_roles.runner_url, RUNNER } };
    for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
        char words[200];
        snprintf(words, sizeof words,
                 "schema 'evil' belongs to role '" SHOP
                 "', whose functions would run with the rights of '%s'",
                 who[i].user);
        pgfx.st = pgfx_new_store(&(struct store_options){ .url = who[i].url, .schema = "evil" });
        REFUSED(hello(), words);
        REFUSED(report_status(), words);
        REFUSED(migrate(true), words);
        REFUSED(migrate(false), "schema 'evil' belongs to role '" SHOP "' and this is '");
        store_free(pgfx.st);
    }
    SQL_IS("", "SELECT string_agg(who, ' ') FROM evil.caught");
    SQL_IS("f", "SELECT rolsuper FROM pg_roles WHERE rolname = '" SHOP "'");
    pgfx.st = own;
}

static void a_schema_of_the_role_that_the_settings_name_is_used(void)
{
    WITH_ROLES();
    struct store *own = pgfx.st;
    lay_out_a_schema();
    pgfx.st = pgfx_new_store(
        &(struct store_options){ .url = pg_roles.runner_url, .schema = "evil", .schema_owner = SHOP });
    RC_IS(0, hello());
    /* it works: what the test above is about */
    CU_ASSERT_STRING_EQUAL(pgfx_cell(pgfx.app, "SELECT DISTINCT who FROM evil.caught"), RUNNER);
    store_free(pgfx.st);
    pgfx.st = pgfx_new_store(&(struct store_options){ .url = pg_roles.shop_url, .schema = "evil" });
    RC_IS(0, hello());
    store_free(pgfx.st);
    pgfx.st = own;
    PQclear(pgfx_ask(pgfx.app, "DROP SCHEMA evil CASCADE"));
}

static void what_others_own_or_may_make_in_ones_own_schema_is_told(void)
{
    WITH_ROLES();
    static const struct { const char *spoil, *words, *mend;
    } ways[] = {
        { "ALTER FUNCTION prescient.slot_floor(timestamptz) OWNER TO " SHOP,
          "function 'slot_floor' of schema 'prescient' belongs to role '" SHOP "', the schema to 'postgres'",
          "ALTER FUNCTION prescient.slot_floor(timestamptz) OWNER TO postgres" },
        { "ALTER TABLE prescient.event OWNER TO " SHOP,
          "relation 'event' of schema 'prescient' belongs to role '" SHOP "'",
          "ALTER TABLE prescient.event OWNER TO postgres" },
        { "GRANT CREATE ON SCHEMA prescient TO PUBLIC", "everybody may create in schema 'prescient'",
          "REVOKE CREATE ON SCHEMA prescient FROM PUBLIC" },
        { "GRANT CREATE ON SCHEMA prescient TO " SHOP, "REVOKE CREATE ON SCHEMA prescient FROM " SHOP,
          "REVOKE CREATE ON SCHEMA prescient FROM " SHOP },
    };
    struct store *own = pgfx.st;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        pgfx.st = pgfx_new_store(NULL);
        PQclear(pgfx_ask(pgfx.app, "%s", ways[i].spoil));
        REFUSED(hello(), ways[i].words);
        REFUSED(migrate(false), ways[i].words);
        PQclear(pgfx_ask(pgfx.app, "%s", ways[i].mend));
        RC_IS(0, hello());
        RC_IS(0, migrate(false));
        store_free(pgfx.st);
    }
    pgfx.st = own;
}

/* Whose the schema is when he has given all in it away, he can still replace it. */
static void a_migration_wants_a_schema_of_its_users_own(void)
{
    WITH_ROLES();
    struct store *own = pgfx.st;
    PQclear(PQexec(pg_roles.shop, "CREATE SCHEMA early"));
    pgfx.st = pgfx_new_store(&(struct store_options){ .schema = "early", .schema_owner = SHOP });
    REFUSED(migrate(false), "ALTER SCHEMA early OWNER TO postgres");
    SQL_IS("", "SELECT to_regclass('early.migration')::text");
    PQclear(pgfx_ask(pgfx.app, "ALTER SCHEMA early OWNER TO postgres"));
    CU_ASSERT(migrate(false) > 0);
    PQclear(pgfx_ask(pgfx.app, "ALTER SCHEMA early OWNER TO " SHOP));
    REFUSED(migrate(false), "schema 'early' belongs to role '" SHOP "' and this is 'postgres'");
    store_free(pgfx.st);
    pgfx.st = own;
    PQclear(pgfx_ask(pgfx.app, "DROP SCHEMA early CASCADE"));
}

/* ---- locks that anybody may take ------------------------------------------------------------- */

static void nobody_who_can_merely_connect_holds_up_a_migration(void)
{
    WITH_ROLES();
    struct store *own = pgfx.st;
    SHOP_IS(
        "2",
        "SELECT count(pg_advisory_lock(1886544242, hashtext(s))) FROM unnest(ARRAY['prescient', 'late']) s");
    RC_IS(0, migrate(false));
    pgfx.st = pgfx_new_store(&(struct store_options){ .schema = "late" });
    CU_ASSERT(migrate(false) > 0);
    RC_IS(0, migrate(false));
    store_free(pgfx.st);
    SHOP_IS(DENIED, "BEGIN; LOCK TABLE late.migration IN ACCESS SHARE MODE");
    PQclear(PQexec(pg_roles.shop, "ROLLBACK"));
    PGconn *runner = PQconnectdb(pg_roles.runner_url);
    PQsetNoticeProcessor(runner, pg_roles_drop_notice, NULL);
    CELL_IS(runner, DENIED, "BEGIN; LOCK TABLE prescient.migration IN ROW EXCLUSIVE MODE");
    PQfinish(runner);
    SHOP_IS("", "SELECT pg_advisory_unlock_all()");
    pgfx.st = own;
    PQclear(pgfx_ask(pgfx.app, "DROP SCHEMA late CASCADE"));
}

/* Each tries it by itself; what it applied is its exit code. */
static int migrate_in_a_child(const char *schema)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct err err = { 0 };
    struct store *st = NULL;
    struct migrate_options options = { 0 };
    int rc = store_new(&(struct store_options){ .url = pgfx.url, .schema = schema }, &st, &err);
    rc = rc < 0 ? rc : store_migrate(st, &options, &err);
    if (rc < 0)
        printf("      %s\n", err.text);
    fflush(stdout);
    _exit(rc < 0 ? 255 : rc);
}

static void of_many_who_make_a_schema_at_once_each_step_is_made_by_one(void)
{
    WITH_ROLES();
    struct store *own = pgfx.st;
    pgfx.st = pgfx_new_store(&(struct store_options){ .schema = "many" });
    int steps = migrate(true);
    store_free(pgfx.st);
    pgfx.st = own;
    for (int round = 0; round < 3; round++) {
        enum { MANY = 5 };
        int pids[MANY], total = 0;
        for (int i = 0; i < MANY; i++)
            pids[i] = migrate_in_a_child("many");
        for (int i = 0; i < MANY; i++) {
            int status = 0;
            waitpid(pids[i], &status, 0);
            CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) != 255);
            total += WEXITSTATUS(status);
        }
        CU_ASSERT_EQUAL(total, steps);
        PQclear(pgfx_ask(pgfx.app, "DROP SCHEMA many CASCADE"));
    }
}

/* ---- what init puts right -------------------------------------------------------------------- */

/* A schema that was only migrated. */
static void make_bare_schema(void)
{
    PQclear(pgfx_ask(pgfx.app, "SET search_path = pg_catalog; CREATE SCHEMA bare; CREATE TABLE "
                               "bare.migration (version integer PRIMARY KEY)"));
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
    "'::regnamespace AND c.relkind IN ('r', 'p', 'S') AND NOT c.relispartition AND c.relname <> 'migration'" \
    " AND a.grantee IN ('prescient_engine'::regrole, 'prescient_enqueuer'::regrole, 0))"

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

/* ---- traps ----------------------------------------------------------------------------------- */

/* Once for all tests: in "public", where up to PostgreSQL 14 everybody might create. */
static bool lay_traps(void)
{
    if (!strcmp(pgfx_cell(pgfx.app, "SELECT to_regclass('public.trapped')::text"), "public.trapped"))
        return true;
    char text[1 << 14];
    FILE *f = fopen("tests/traps.sql", "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    PQclear(pgfx_ask(pgfx.app, "GRANT CREATE ON SCHEMA public TO PUBLIC"));
    PGresult *r = PQexec(pg_roles.shop, text);
    bool good = n > 0 && PQresultStatus(r) == PGRES_COMMAND_OK;
    if (!good)
        printf("      traps: %s\n", PQerrorMessage(pg_roles.shop));
    PQclear(r);
    PQclear(pgfx_ask(pgfx.app, "SET search_path = pg_catalog"));        /* the test itself steps on none */
    return good;
}

/* Whether they would be stepped on by `conn` as it is; from here on none may be. */
static void traps_work_on(PGconn *conn)
{
    CU_ASSERT_STRING_NOT_EQUAL(pgfx_cell(conn, "SELECT 1::smallint + 1::numeric"), "2");
    CU_ASSERT_STRING_NOT_EQUAL(pgfx_cell(conn, "SELECT unnest(ARRAY[1::bigint])"), "1");
    SQL_IS("2", "SELECT last_value FROM public.trapped");
    PQclear(pgfx_ask(pg_roles.shop, "ALTER SEQUENCE public.trapped RESTART"));
}

#define TRAPS_UNTOUCHED() SQL_IS("f", "SELECT is_called FROM public.trapped")

/* The caller's path, and what it has in its temporary schema, say nothing inside of the functions.
 */
static void a_callers_own_path_does_not_reach_into_the_api(void)
{
    WITH_ROLES();
    CU_ASSERT_FATAL(lay_traps());
    PQclear(pgfx_ask(pg_roles.shop,
                     "SET search_path = public, pg_temp, pg_catalog; CREATE TEMP TABLE future_job (id "
                     "int); CREATE TEMP TABLE pg_inherits (x int);"
                     "CREATE TEMP TABLE pg_class (oid int); CREATE TEMP TABLE setting (x int)"));
    traps_work_on(pg_roles.shop);
    SHOP_IS(
        "new",
        "SELECT prescient.enqueue('e'::pg_catalog.text, '1', 'j', '2030-01-01 00:00+00'::timestamptz, '{}')");
    SHOP_IS("kept", "SELECT prescient.enqueue('e'::pg_catalog.text, '1', 'j', interval '1 hour')");
    SHOP_IS("moved",
            "SELECT prescient.enqueue('e'::pg_catalog.text, '1', 'j', '+1h'::text, NULL, 'earlier')");
    SHOP_IS("replaced", "SELECT prescient.enqueue('e'::pg_catalog.text, '1', 'j', '2030-01-01 "
                        "00:00+00'::timestamptz, '{\"a\": 1}', 'replace', 7)");
    SHOP_IS("(1,1,0,0)", "SELECT prescient.enqueue_many(ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], "
                         "ARRAY['2030-01-01 00:00+00', '2030-01-01 00:00+00']::timestamptz[])");
    SHOP_IS("(1,1,0,0)",
            "SELECT prescient.enqueue_many('e', ARRAY['2', '3'], 'j', '2030-01-01 00:00+00'::timestamptz)");
    SHOP_IS(
        "moved",
        "SELECT prescient.reschedule('e'::pg_catalog.text, '2', 'j', '2031-01-01 00:00+00'::timestamptz)");
    SHOP_IS("moved", "SELECT prescient.reschedule('e'::pg_catalog.text, '2', 'j', interval '1 day')");
    SHOP_IS("moved",
            "SELECT prescient.reschedule('e'::pg_catalog.text, '2', 'j', '2031-01-01 00:00+00'::text)");
    SHOP_IS("1", "SELECT prescient.resolve('e', '3')");
    TRAPS_UNTOUCHED();
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
    PQclear(pgfx_ask(pg_roles.shop, "RESET search_path; DISCARD TEMP"));
}

/* All that an engine asks in the life of checks. */
static void live_as_an_engine(const char *keys_before)
{
    struct pgfx_run run;
    struct effect effects[] = {
        { .kind = EFFECT_EMIT, .event = "late", .json = "{\"a\": 1}" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "f",
          .entity_key = keys_before,
          .job = "j",
          .at = SLOT + 9000,
          .json = "{}",
          .conflict = "replace" },
        { .kind = EFFECT_RESOLVE, .entity_name = "g", .entity_key = "1" },
    };
    pgfx_run_init(&run, 6);
    run.s[1].effects = effects;
    run.s[1].neffects = 3;
    run.s[2] = pgfx_again(&run.page.checks[2], SLOT + 2 * LENGTH);
    struct store_settle settle = pgfx_settle_of(&run.lease, run.s, 3);
    RC_IS(0, pgfx_call(&settle.call));
    settle = pgfx_settle_of(&run.lease, run.s + 3, 3);
    settle.skip_locked = true;
    RC_IS(0, pgfx_call(&settle.call));
    struct store_renew renew = STORE_RENEW_INIT;
    renew.leases = &run.lease;
    renew.n = 1;
    renew.lease_s = 60;
    RC_IS(0, pgfx_call(&renew.call));
    struct store_finish finish = STORE_FINISH_INIT;
    finish.lease = run.lease;
    RC_IS(0, pgfx_call(&finish.call));
    check_rows_free(&run.page);
    struct relook_slot slots[4];
    struct store_relook relook = pgfx_relook(slots);
    (void)relook;
    struct store_late_slot late = STORE_LATE_SLOT_INIT;
    late.before = SLOT + 100 * LENGTH;
    RC_IS(0, pgfx_call(&late.call));
    struct store_mark_swept mark = STORE_MARK_SWEPT_INIT;
    mark.slot = SLOT - LENGTH;
    RC_IS(0, pgfx_call(&mark.call));
    RC_IS(0, pgfx_call(&mark.call));
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 9;
    RC_IS(0, pgfx_call(&days.call));
    days.days = 0;
    RC_IS(0, pgfx_call(&days.call));
}

static void ask_everything(void)
{
    static const struct { const char *name; int nparams; const char *params[8];
    } all[] = {
        { "enqueue", 8, { "h", "1", "j", "1772388000", "{}", "keep", "3", "1772370000" } },
        { "enqueue", 8, { "h", "1", "j", "1772388000", NULL, "replace", NULL, NULL } },
        { "reschedule", 5, { "h", "1", "j", "1772398000", "1772370000" } },
        { "resolve", 4, { "h", "1", NULL, "1772370000" } },
        { "retry", 7, { NULL } },
        { "retry", 7, { "e", "1", "look", "0", "2000000000", "10", "1772370000" } },
        { "list", 6, { "e", NULL, NULL, "0", "2000000000", "10" } },
        { "list", 0, { NULL } },
        { "history", 7, { "e", "1", "look", "done", "0", "2000000000", "10" } },
        { "history", 0, { NULL } },
        { "runs", 7, { "e", "1", "look", "again", "0", "2000000000", "10" } },
        { "runs", 0, { NULL } },
        { "slots", 3, { "0", "2000000000", "10" } },
        { "slots", 0, { NULL } },
        { "passes", 3, { "0", "2000000000", "10" } },
        { "passes", 0, { NULL } },
        { "status", 1, { "1772370000" } },
        { "status", 0, { NULL } },
        { "leases", 0, { NULL } },
        { "jobs_pending", 0, { NULL } },
        { "growth", 0, { NULL } },
        { "events", 4, { NULL, NULL, NULL, "10" } },
        { "events_end", 0, { NULL } },
        { "doctor", 1, { "1772370000" } },
        { "doctor", 0, { NULL } },
        { "whole", 1, { "1" } },
        { "plan", 1, { "1772370000" } },
        { "plan", 0, { NULL } },
    };
    struct arena *a = arena_new(4096);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct store_report r = pgfx_report(a, all[i].name, all[i].nparams, all[i].params);
        if (r.call.rc < 0)
            printf("      %s: %s\n", all[i].name, r.call.err.text);
        CU_ASSERT_EQUAL(r.call.rc, 0);
    }
    arena_free(a);
}

static void load_and_prune(void)
{
    struct load_row rows[] = { { "l", "1", "j", "{\"a\": 1}", SLOT - 10, 3 },
                               { "l", "2", "j", NULL, SLOT + 1, 0 } };
    struct load_counts counts;
    struct prune_counts pruned;
    int bad;
    RC_IS(0, store_load(pgfx.st, rows, 2, "keep", NOW - LENGTH, &counts, &bad, &pgfx.err));
    RC_IS(0, store_load(pgfx.st, rows, 2, "replace", 0, &counts, &bad, &pgfx.err));
    RC_IS(0, store_prune(pgfx.st, SLOT + 1000000, true, &pruned, &pgfx.err));
    RC_IS(0, store_prune(pgfx.st, SLOT - 1000000, false, &pruned, &pgfx.err));
}

static void what_others_lay_on_an_engines_path_is_not_stepped_on(void)
{
    WITH_ROLES();
    CU_ASSERT_FATAL(lay_traps());
    traps_work_on(pgfx.other);                  /* who is superuser, and whose path is the usual one */
    struct store *own = pgfx.st;
    const struct {
        const char *url;
        bool unprepared, owns;
    } who[] = { { pg_roles.runner_url, false, false },
                { pg_roles.runner_url, true, false },
                { pgfx.url, false, true } };
    for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
        CU_ASSERT_FATAL(pgfx_begin());
        pgfx.st = pgfx_new_store(
            &(struct store_options){ .url = who[i].url, .unprepared = who[i].unprepared });
        live_as_an_engine(i == 0 ? "1" : "2");
        ask_everything();
        load_and_prune();
        struct migrate_options migrate = { .dry_run = !who[i].owns };
        RC_IS(0, store_migrate(pgfx.st, &migrate, &pgfx.err));
        TRAPS_UNTOUCHED();
        store_free(pgfx.st);
    }
    pgfx.st = own;
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
    TEST(errors_show_no_row_of_somebody_else),
    TEST(an_engine_owns_nothing_and_changes_no_schema),
    TEST(nothing_in_a_schema_of_somebody_else_is_touched),
    TEST(a_schema_of_the_role_that_the_settings_name_is_used),
    TEST(what_others_own_or_may_make_in_ones_own_schema_is_told),
    TEST(a_migration_wants_a_schema_of_its_users_own),
    TEST(nobody_who_can_merely_connect_holds_up_a_migration),
    TEST(of_many_who_make_a_schema_at_once_each_step_is_made_by_one),
    TEST(init_gives_what_the_migrations_gave_and_no_more),
    TEST(init_gives_no_right_to_what_it_has_not_made),
    TEST(a_callers_own_path_does_not_reach_into_the_api),
    TEST(what_others_lay_on_an_engines_path_is_not_stepped_on),
    TEST(the_oldest_transaction_is_told_to_an_engines_role),
    { NULL, NULL },
};

const struct suite suite_store_pg_roles = { "store_pg_roles", pg_roles_setup, pg_roles_teardown, tests };
