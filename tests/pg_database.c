/* pg_database.c - a database of a test's own on the server of the run. */
#include "pg_database.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

/* A database with the schema, on a server that is removed with all its databases; or NULL. */
static const char *template(void)
{
    const char *name = getenv("PRESCIENT_TEST_TEMPLATE");
    return name && *name ? name : NULL;
}

void pg_drop_notice(void *arg, const char *words)
{
    (void)arg;
    (void)words;
}

static bool run_sql(PGconn *conn, const char *sql)
{
    PGresult *r = PQexec(conn, sql);
    bool well = PQresultStatus(r) == PGRES_COMMAND_OK;
    if (!well)
        printf("\n      %s: %s", sql, PQerrorMessage(conn));
    PQclear(r);
    return well;
}

static bool drop(PGconn *conn, const char *name)
{
    char sql[200];
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s (FORCE)", name);
    return run_sql(conn, sql);
}

/* Its files are copied. Through the log, as PostgreSQL 15 and later would, it takes three times the
 * work; before 15 there was no other way. */
static bool create(PGconn *conn, const char *name)
{
    char sql[200];
    const char *how = PQserverVersion(conn) >= 150000 ? " STRATEGY file_copy" : "";
    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE %s%s", name,
             template() ? template() : "template1", how);
    return run_sql(conn, sql);
}

/* The server's URL with another database in place of "/postgres". */
static void name_it(struct pg_database *db, const char *what)
{
    const char *server = test_pg_url(), *path = strstr(server, "/postgres?");
    const char *before = path ? path : strrchr(server, '/');
    snprintf(db->name, sizeof db->name, "%s_%d", what, (int)getpid());
    snprintf(db->url, sizeof db->url, "%.*s/%s%s", (int)(before - server), server, db->name,
             path ? path + strlen("/postgres") : "");
}

bool pg_database_make(struct pg_database *db, const char *what)
{
    name_it(db, what);
    PGconn *conn = PQconnectdb(test_pg_url());
    PQsetNoticeProcessor(conn, pg_drop_notice, NULL);
    /* of an earlier process with this number */
    bool well = drop(conn, db->name) && create(conn, db->name);
    PQfinish(conn);
    return well;
}

void pg_database_drop(const struct pg_database *db)
{
    if (template())
        return;
    PGconn *conn = PQconnectdb(test_pg_url());
    drop(conn, db->name);
    PQfinish(conn);
}
