/* test_store_pg_owners.c - a schema that belongs to another role, or that others may create in, is
 * not used; a role that can merely connect holds up no migration. */
/* about 9 s */
#include "pg_roles_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- schemas of others ----------------------------------------------------------------------- */

/* A schema of the application's own making, in which all that is read first calls a function that
 * tells who was there, and does what it can. It tells by a notification: that goes out of
 * transactions in which nothing may be written, too. */
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
                         "GRANT USAGE ON SCHEMA evil TO PUBLIC;"
                         "CREATE FUNCTION evil.trap() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM "
                         "pg_notify('caught', current_user);"
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
    PQclear(pgfx_ask(pgfx.app, "LISTEN caught"));
}

/* How often somebody was caught since the last call; *others: how often another one than `who`. */
static int caught(const char *who, int *others)
{
    int n = 0;
    PGnotify *told;
    *others = 0;
    PQclear(pgfx_ask(pgfx.app, "SELECT 1"));        /* what was told before it has come then */
    while ((told = PQnotifies(pgfx.app))) {
        n++;
        *others += strcmp(told->extra, who) != 0;
        PQfreemem(told);
    }
    return n;
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
    int others;
    struct store *own = pgfx.st;
    lay_out_a_schema();
    const struct { const char *url, *user;
    } who[] = { { pgfx.db.url, "postgres" }, { pg_roles.runner_url, RUNNER } };
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
    CU_ASSERT_EQUAL(caught(RUNNER, &others), 0);
    SQL_IS("f", "SELECT rolsuper FROM pg_roles WHERE rolname = '" SHOP "'");
    pgfx.st = own;
}

static void a_schema_of_the_role_that_the_settings_name_is_used(void)
{
    WITH_ROLES();
    int others;
    struct store *own = pgfx.st;
    lay_out_a_schema();
    pgfx.st = pgfx_new_store(
        &(struct store_options){ .url = pg_roles.runner_url, .schema = "evil", .schema_owner = SHOP });
    RC_IS(0, hello());
    /* it works: what the test above is about */
    CU_ASSERT(caught(RUNNER, &others) > 0);
    CU_ASSERT_EQUAL(others, 0);
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

/* Nobody else who has the rights of a superuser is trusted: others may have them by him. */
static void what_a_superuser_owns_is_used_and_what_a_member_of_his_owns_is_not(void)
{
    WITH_ROLES();
    struct store *own = pgfx.st;
    pgfx.st = pgfx_new_store(&(struct store_options){ .url = pg_roles.runner_url });
    PQclear(pgfx_ask(pgfx.app, "CREATE ROLE prescient_test_chief SUPERUSER"));
    PQclear(pgfx_ask(pgfx.app,
                     "ALTER FUNCTION prescient.slot_floor(timestamptz) OWNER TO prescient_test_chief"));
    RC_IS(0, hello());
    PQclear(pgfx_ask(pgfx.app, "ALTER ROLE prescient_test_chief NOSUPERUSER"));
    PQclear(pgfx_ask(pgfx.app, "GRANT postgres TO prescient_test_chief"));
    store_free(pgfx.st);
    pgfx.st = pgfx_new_store(&(struct store_options){ .url = pg_roles.runner_url });
    REFUSED(hello(), "function 'slot_floor' of schema 'prescient' belongs to role 'prescient_test_chief'");
    PQclear(pgfx_ask(pgfx.app, "ALTER FUNCTION prescient.slot_floor(timestamptz) OWNER TO postgres"));
    PQclear(pgfx_ask(pgfx.app, "DROP ROLE prescient_test_chief"));
    RC_IS(0, hello());
    store_free(pgfx.st);
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
    PQsetNoticeProcessor(runner, pg_drop_notice, NULL);
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
    int rc = store_new(&(struct store_options){ .url = pgfx.db.url, .schema = schema }, &st, &err);
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
    for (int round = test_is_brief() ? 2 : 0; round < 3; round++) {
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

static const struct test tests[] = {
    TEST(nothing_in_a_schema_of_somebody_else_is_touched),
    TEST(a_schema_of_the_role_that_the_settings_name_is_used),
    TEST(what_a_superuser_owns_is_used_and_what_a_member_of_his_owns_is_not),
    TEST(what_others_own_or_may_make_in_ones_own_schema_is_told),
    TEST(a_migration_wants_a_schema_of_its_users_own),
    TEST(nobody_who_can_merely_connect_holds_up_a_migration),
    TEST(of_many_who_make_a_schema_at_once_each_step_is_made_by_one),
    { NULL, NULL },
};

const struct suite suite_store_pg_owners = { "store_pg_owners", pg_roles_setup, pg_roles_teardown, tests };
