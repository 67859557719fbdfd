/* store_pg_owners.c - checks who owns the schema, and that it is on one node. Its functions run
 * with the caller's rights, which may be an engine's or a superuser's. So nothing in the schema
 * is used before its owner, and the owners of all objects in it, are known to be trusted. */
#include <stdio.h>
#include <string.h>

#include "store_pg.h"

static const char *const expected_of =
    "expected the user that asks, a superuser, the database's owner, or the setting schema_owner";

static int refuse_owner(const struct pg_store *pg, const struct pg_owners_out *o, struct err *err)
{
    return err_set(
        err, ERR_SETTINGS,
        "store: schema '%s' belongs to role '%s', whose functions would run with the rights of '%s'; %s "
        "(%s). If that is the right one, set schema_owner = \"%s\"",
        pg->schema, o->who, o->asker, expected_of, pg->schema_owner, o->who);
}

static int refuse_right(const struct pg_store *pg, const struct pg_owners_out *o, struct err *err)
{
    const char *from = strcmp(o->who, "everybody") ? o->who : "PUBLIC";
    return err_set(
        err, ERR_SETTINGS,
        "store: %s may create in schema '%s', and functions made there would run with the rights of '%s'; "
        "revoke that right: REVOKE CREATE ON SCHEMA %s FROM %s",
        o->who, pg->schema, o->asker, pg->schema, from);
}

static int refuse_thing(const struct pg_store *pg, const struct pg_owners_out *o, struct err *err)
{
    return err_set(
        err, ERR_SETTINGS,
        "store: %s '%s' of schema '%s' belongs to role '%s', the schema to '%s'; %s (%s): drop it, or "
        "ALTER ... OWNER TO %s",
        o->kind, o->name, pg->schema, o->who, o->owner, expected_of, pg->schema_owner, o->owner);
}

/* Transaction ids, snapshots and clocks are a node's own: leases, closed slots and the order of
 * events would not hold. */
static int refuse_distributed(const struct pg_store *pg, const struct pg_owners_out *o, struct err *err)
{
    return err_set(
        err, ERR_SETTINGS,
        "store: table '%s' of schema '%s' is distributed over nodes (Citus, pg_dist_partition), where checks "
        "would be lost or run twice; a store is on one node: SELECT undistribute_table('%s.%s'), or "
        "citus_schema_undistribute('%s') for all of it; or another schema or server",
        o->distributed, pg->schema, pg->schema, o->distributed, pg->schema);
}

static int judge(const struct pg_store *pg, const struct pg_owners_out *o, struct err *err)
{
    if (*o->distributed)
        return refuse_distributed(pg, o, err);
    if (!*o->kind)
        return 0;
    if (!strcmp(o->kind, "schema"))
        return refuse_owner(pg, o, err);
    return (!strcmp(o->kind, "right") ? refuse_right : refuse_thing)(pg, o, err);
}

static void note_asker(struct pg_store *pg, const struct pg_owners_out *row)
{
    snprintf(pg->asker, sizeof pg->asker, "%s", row->asker);
    pg->has_role = row->has_role;
}

/* A schema that does not exist has no row. */
int pg_check_owners(struct pg_store *pg, const PGresult *r, struct err *err)
{
    struct pg_owners_out row = { 0 };
    if (PQntuples(r) == 0)
        return 0; /* the next statement reports it in its own message */
    if (!pg_row(pg, PG_OWNERS, r, 0, &row))
        return err_set(err, ERR_SCHEMA,
                       "store: the owner of schema '%s' cannot be read: its answer has an unknown form",
                       pg->schema);
    note_asker(pg, &row);
    return judge(pg, &row, err);
}

/* Objects that a migration makes belong to its user. In a schema of another owner they would run
 * with the user's rights, and the owner could replace them. */
static int check_is_own(const struct pg_store *pg, const struct pg_owners_out *o, struct err *err)
{
    if (!strcmp(o->asker, o->owner))
        return 0;
    return err_set(err, ERR_SETTINGS,
                   "store: schema '%s' belongs to role '%s' and this is '%s': functions made there "
                   "would run with the rights of '%s', and '%s' could "
                   "replace them. Run this as '%s' (another user in the URL, or options=-crole=%s "
                   "there); or, if nothing in it is needed, DROP SCHEMA %s CASCADE; or first "
                   "ALTER SCHEMA %s OWNER TO %s",
                   pg->schema, o->owner, o->asker, o->asker, o->owner, o->owner, o->owner, pg->schema,
                   pg->schema, o->asker);
}

int pg_ask_owners(struct pg_store *pg, PGconn *conn, bool own, struct err *err)
{
    struct pg_owners_in in = { .schema_owner = pg->schema_owner, .role = pg->role };
    struct pg_owners_out row = { 0 };
    int n = pg_ask(pg, conn, PG_OWNERS, &in, &row, err);
    if (n <= 0)
        return n;
    int rc = own ? check_is_own(pg, &row, err) : 0;
    if (rc < 0)
        return rc;
    rc = judge(pg, &row, err);
    return rc < 0 ? rc : n;
}
