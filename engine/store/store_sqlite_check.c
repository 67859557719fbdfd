/* store_sqlite_check.c - whether a file has a schema that this program can work with, when it is
 * opened and whenever its schema has changed. */
#include "store_sqlite_db.h"

int sqlite_refuse_newer(const struct sqlite_store *db, const struct migrate_state *found, struct err *err)
{
    err_set(err, ERR_SCHEMA,
            "%s has schema version %d, which needs a program that knows version %d; this one knows %d: "
            "install a newer prescient",
            db->path, found->version, found->oldest_engine, migrate_newest(migrations_sqlite));
    if (err)
        err->reason = ERR_REASON_OUTGROWN;
    return ERR_SCHEMA;
}

int sqlite_refuse_unreleased(const struct sqlite_store *db, struct err *err)
{
    return migrate_refuse_unreleased(db->path, "remove the file, or drop its tables", err);
}

int sqlite_find_unreleased(struct sqlite_store *db, bool *is_unreleased, struct err *err)
{
    struct sqlite_migration_names_out found = { 0 };
    sqlite3_stmt *row = NULL;
    int rc = sqlite_query(db, err, &row, STATEMENT_MIGRATION_NAMES, NULL);
    if (rc <= 0)
        return rc;
    if (sqlite_columns(row, STATEMENT_MIGRATION_NAMES, &found) == ERR_NOMEM || !found.names)
        rc = err_set(err, ERR_NOMEM, "out of memory");
    else
        *is_unreleased = migrate_is_unreleased(migrations_sqlite, found.names);
    sqlite_done(row);
    return rc < 0 ? rc : 0;
}

static int check_version(struct sqlite_store *db, const struct migrate_state *found, struct err *err)
{
    enum migrate_fit fit = migrate_fit(migrations_sqlite, found);
    if (fit == MIGRATE_UNRELEASED)
        return sqlite_refuse_unreleased(db, err);
    if (fit == MIGRATE_BEHIND)
        return err_set(err, ERR_SCHEMA,
                       "%s has schema version %d, this program needs %d: run 'prescient migrate'", db->path,
                       found->version, migrate_newest(migrations_sqlite));
    db->schema_version = found->version;
    return fit == MIGRATE_OUTGROWN ? sqlite_refuse_newer(db, found, err) : 0;
}

static int check_slot_length(struct sqlite_store *db, int64_t length_s, struct err *err)
{
    if (db->slot_length_wanted_s && length_s != db->slot_length_wanted_s)
        return err_set(
            err, ERR_SETTINGS,
            "slot_length is %d s in the settings and %lld s in %s: make them equal, or change the file with "
            "'prescient migrate --slot-length LENGTH'",
            db->slot_length_wanted_s, (long long)length_s, db->path);
    if (db->head.slot_length_s && length_s != db->head.slot_length_s)
        return err_set(
            err, ERR_CHANGED,
            "the slot length of %s was changed from %d s to %lld s while this program ran: start it again",
            db->path, db->head.slot_length_s, (long long)length_s);
    db->head.slot_length_s = (int32_t)length_s;
    return 0;
}

static int read_cookie(struct sqlite_store *db, int64_t *cookie, struct err *err)
{
    struct sqlite_schema_cookie_out row = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_SCHEMA_COOKIE, &row, NULL);
    *cookie = row.schema_version;
    return rc < 0 ? rc : 0;
}

int sqlite_check_schema(struct sqlite_store *db, struct err *err)
{
    struct migrate_state found = { .is_there = true };
    struct sqlite_has_schema_out schema = { 0 };
    struct sqlite_schema_version_out s = { 0 };
    int rc = read_cookie(db, &db->schema_cookie, err);
    if (rc < 0)
        return rc;
    rc = sqlite_ask(db, err, STATEMENT_HAS_SCHEMA, &schema, NULL);
    if (rc < 0)
        return rc;
    if (!schema.has)
        return err_set(err, ERR_SCHEMA, "%s has no schema: run 'prescient init'", db->path);
    rc = sqlite_find_unreleased(db, &found.is_unreleased, err);
    if (rc < 0)
        return rc;
    rc = sqlite_ask(db, err, STATEMENT_SCHEMA_VERSION, &s, NULL);
    if (rc < 0)
        return rc;
    found.version = s.version;
    found.oldest_engine = s.oldest_engine;
    rc = check_version(db, &found, err);
    if (rc < 0)
        return rc;
    return check_slot_length(db, s.slot_length_s, err);
}

int sqlite_check_cookie(struct sqlite_store *db, struct err *err)
{
    int64_t cookie;
    int rc = read_cookie(db, &cookie, err);
    if (rc < 0 || cookie == db->schema_cookie)
        return rc;
    rc = sqlite_check_schema(db, err);          /* an application's own tables change the cookie, too */
    if (rc < 0)
        db->distrusted = true;
    return rc;
}
