/* pg_roles_fixture.h - an application, an engine, a reader and a user without any role on the
 * server, for suites of who may do what. */
#ifndef PRESCIENT_PG_ROLES_FIXTURE_H
#define PRESCIENT_PG_ROLES_FIXTURE_H

#include "pg_fixture.h"

#define SHOP "prescient_test_shop"          /* an application */
#define RUNNER "prescient_test_runner"      /* an engine */
#define READER "prescient_test_reader"      /* a dashboard */
#define NOBODY "prescient_test_nobody"      /* may log in, and has no role */

struct pg_roles {
    PGconn *shop;                           /* NULL: there is no server, or it has other users */
    PGconn *reader;
    char shop_url[600], runner_url[600], reader_url[600], nobody_url[600];
};
extern struct pg_roles pg_roles;

/* The setup and teardown of a suite. */
int pg_roles_setup(void);
int pg_roles_teardown(void);

#define WITH_ROLES() WITH_SERVER(); if (!pg_roles.shop) return
#define SHOP_IS(expected, ...) CELL_IS(pg_roles.shop, expected, __VA_ARGS__)
#define READER_IS(expected, ...) CELL_IS(pg_roles.reader, expected, __VA_ARGS__)
#define DENIED "42501"

#endif
