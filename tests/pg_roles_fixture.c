/* pg_roles_fixture.c - an application, an engine, a reader and a user without any role on the
 * server. */
#include "pg_roles_fixture.h"

#include <stdio.h>
#include <string.h>

struct pg_roles pg_roles;

/* The server's URL for another role; tests run as postgres. */
static bool as_user(const char *user, char out[600])
{
    const char *at = strstr(pgfx.db.url, "postgres@");
    if (at)
        snprintf(out, 600, "%.*s%s@%s", (int)(at - pgfx.db.url), pgfx.db.url, user, at + strlen("postgres@"));
    return at != NULL;
}

int pg_roles_setup(void)
{
    int rc = pgfx_setup();
    if (rc || !test_pg_url() || !as_user(SHOP, pg_roles.shop_url) || !as_user(RUNNER, pg_roles.runner_url) ||
        !as_user(READER, pg_roles.reader_url) || !as_user(NOBODY, pg_roles.nobody_url))
        return rc;
    PQclear(pgfx_ask(pgfx.app,
                     "DROP ROLE IF EXISTS " SHOP "; DROP ROLE IF EXISTS " RUNNER ";"
                     "DROP ROLE IF EXISTS " READER "; DROP ROLE IF EXISTS " NOBODY ";"
                     "CREATE ROLE " SHOP " LOGIN IN ROLE prescient_enqueuer; CREATE ROLE " RUNNER
                     " LOGIN IN ROLE prescient_engine; CREATE ROLE " READER
                     " LOGIN IN ROLE prescient_reader; CREATE ROLE " NOBODY " LOGIN;"
                     "CREATE SCHEMA payroll; CREATE TABLE payroll.salary (id int); GRANT CREATE, TEMP ON "
                     "DATABASE %s TO " SHOP ", " READER,
                     pgfx.db.name));
    pg_roles.shop = PQconnectdb(pg_roles.shop_url);
    pg_roles.reader = PQconnectdb(pg_roles.reader_url);
    PQsetNoticeProcessor(pg_roles.shop, pg_drop_notice, NULL);
    PQsetNoticeProcessor(pg_roles.reader, pg_drop_notice, NULL);
    return PQstatus(pg_roles.shop) != CONNECTION_OK || PQstatus(pg_roles.reader) != CONNECTION_OK;
}

int pg_roles_teardown(void)
{
    PQfinish(pg_roles.shop);
    PQfinish(pg_roles.reader);
    if (pg_roles.shop)
        PQclear(pgfx_ask(pgfx.app, "DROP OWNED BY " SHOP ", " RUNNER ", " READER ", " NOBODY
                                   " CASCADE; DROP ROLE " SHOP ", " RUNNER ", " READER ", " NOBODY));
    pg_roles.shop = pg_roles.reader = NULL;
    return pgfx_teardown();
}
