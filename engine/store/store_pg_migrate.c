/* store_pg_migrate.c - creates and upgrades a schema of PostgreSQL: the calls that migrate.h needs,
 * then rights and slot length. Several processes may try at once. Blocks. */
#include <stdio.h>
#include <string.h>

#include "../pg/pg_denied.h"
#include "../rules/slot.h"
#include "migrate.h"
#include "store_pg.h"

#define TRIES 5

/* ---- a transaction in which nobody else migrates --------------------------------------------- */

/* What the calls of the dialect get. */
struct pg_migration {
    struct pg_store *pg;
    PGconn *conn;
    const struct migrate_options *options;
    bool is_complete;           /* all that init does was done in the transaction of the migrations */
};

static int lock_migrations(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = pg_execute(pg, conn, PG_LOCK_MIGRATIONS, err);
    return rc < 0 ? err_wrap(err, rc, "waiting for whoever else migrates schema '%s'", pg->schema) : rc;
}

static int make_schema(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = pg_execute(pg, conn, PG_MAKE_SCHEMA, err);
    if (rc >= 0 || !pg_is_denied(err))
        return rc;
    char database[200] = "", user[200] = "";
    pg_denied_quote(PQdb(conn), database, sizeof database);
    pg_denied_quote(PQuser(conn), user, sizeof user);
    return err_set(err, ERR_DENIED,
                   "user %s may not create schema '%s' in database %s. As the owner of the database run: "
                   "GRANT CREATE ON DATABASE %s TO %s",
                   PQuser(conn), pg->schema, PQdb(conn), database, user);
}

/* Where there is nothing to lock yet, the catalog's own unique indexes let one through, and the
 * others wait for its end. */
static int make_place(struct pg_store *pg, PGconn *conn, bool has_schema, struct err *err)
{
    int rc = has_schema ? 0 : make_schema(pg, conn, err);
    if (rc < 0)
        return rc;
    return pg_execute(pg, conn, PG_MAKE_MIGRATION_TABLE, err);
}

/* The schema is ours or is not there, and nobody else works on it. */
static int take_place(struct pg_store *pg, PGconn *conn, struct err *err)
{
    struct pg_has_migrations_out table = { 0 };
    int rc = pg_ask(pg, conn, PG_HAS_MIGRATIONS, NULL, &table, err);
    if (rc >= 0 && table.has_schema)
        rc = pg_ask_owners(pg, conn, true, err);
    if (rc < 0)
        return rc;
    return table.has ? lock_migrations(pg, conn, err) : make_place(pg, conn, table.has_schema, err);
}

/* Schema or table are there already, or their names were taken by a transaction that has just
 * ended. */
static bool was_made_meanwhile(const struct err *err)
{
    static const char *const states[] = { "42P06", "42P07", "23505" };
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (!strcmp(err->sqlstate, states[i]))
            return true;
    return false;
}

static int begin_once(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = pg_begin_blocking(pg, conn, PG_BEGIN_MIGRATION, err);
    if (rc < 0)
        return rc;
    rc = take_place(pg, conn, err);
    if (rc < 0)
        return rc;
    return pg_execute(pg, conn, PG_SHORTEN_LOCK_TIMEOUT, err);
}

static int begin_locked(struct pg_store *pg, PGconn *conn, struct err *err)
{
    for (int tries = 1;; tries++) {
        int rc = begin_once(pg, conn, err);
        if (rc >= 0 || tries == TRIES || !was_made_meanwhile(err))
            return rc;
        PQclear(PQexec(conn, "ROLLBACK"));
        err_clear(err);
    }
}

/* Ends the transaction that has come to `rc`; gives it back, or the failure of the COMMIT. */
static int end_locked(struct pg_store *pg, PGconn *conn, int rc, struct err *err)
{
    if (rc < 0) {
        PQclear(PQexec(conn, "ROLLBACK"));
        return rc;
    }
    int committed = pg_execute_text(pg, conn, "COMMIT", err);
    return committed < 0 ? committed : rc;
}

/* ---- the calls of migrate.h ------------------------------------------------------------------ */

static int migration_begin(void *ctx, struct err *err)
{
    struct pg_migration *m = ctx;
    return begin_locked(m->pg, m->conn, err);
}

static int migration_commit(void *ctx, struct err *err)
{
    struct pg_migration *m = ctx;
    return pg_execute_text(m->pg, m->conn, "COMMIT", err);
}

static void migration_rollback(void *ctx)
{
    struct pg_migration *m = ctx;
    PQclear(PQexec(m->conn, "ROLLBACK"));
}

static int migration_read_state(void *ctx, struct migrate_state *out, struct err *err)
{
    struct pg_migration *m = ctx;
    struct pg_has_migrations_out table = { 0 };
    struct pg_schema_version_out schema = { 0 };
    int rc = pg_ask(m->pg, m->conn, PG_HAS_MIGRATIONS, NULL, &table, err);
    if (rc < 0)
        return rc;
    if (!table.has)
        return 0;
    rc = pg_ask(m->pg, m->conn, PG_SCHEMA_VERSION, NULL, &schema, err);
    if (rc < 0)
        return rc;
    *out = (struct migrate_state){
        .is_there = true,
        .version = schema.version,
        .oldest_engine = schema.oldest_engine,
        .is_unreleased = migrate_is_unreleased(migrations_pg, schema.names),
    };
    return 0;
}

static int migration_find(void *ctx, int version, struct migrate_applied *out, struct err *err)
{
    struct pg_migration *m = ctx;
    struct pg_find_migration_in in = { .version = version };
    struct pg_find_migration_out row = { 0 };
    int n = pg_ask(m->pg, m->conn, PG_FIND_MIGRATION, &in, &row, err);
    if (n <= 0)
        return n;
    snprintf(out->name, sizeof out->name, "%s", row.name);
    snprintf(out->sha256, sizeof out->sha256, "%s", row.sha256);
    return 1;
}

static int migration_apply(void *ctx, const char *text, struct err *err)
{
    struct pg_migration *m = ctx;
    return pg_execute_text(m->pg, m->conn, text, err);
}

static int migration_record(void *ctx, const struct migrate_notes *notes, struct err *err)
{
    struct pg_migration *m = ctx;
    struct pg_note_migrations_in in = {
        .versions = { notes->n, notes->versions },
        .names = { notes->n, notes->names },
        .sha256s = { notes->n, notes->sha256s },
        .oldest_engines = { notes->n, notes->oldest_engines },
    };
    return pg_ask(m->pg, m->conn, PG_NOTE_MIGRATIONS, &in, NULL, err);
}

static int migration_refuse_newer(void *ctx, const struct migrate_state *found, struct err *err)
{
    struct pg_migration *m = ctx;
    return err_set(err, ERR_SCHEMA,
                   "schema '%s' serves programs that know migration %d or later; this one knows %d: "
                   "upgrade it",
                   m->pg->schema, found->oldest_engine, migrate_newest(migrations_pg));
}

static int migration_refuse_unreleased(void *ctx, struct err *err)
{
    struct pg_migration *m = ctx;
    return pg_refuse_unreleased(m->pg, err);
}

static int migration_refuse_changed(void *ctx, const struct sql_migration *step,
                                    const struct migrate_applied *found, const char *sha256, struct err *err)
{
    struct pg_migration *m = ctx;
    int rc = pg_refuse_unreleased(m->pg, err);
    return err_wrap(err, rc, "migration %s was applied with checksum %.12s, this program has %.12s",
                    step->name, found->sha256, sha256);
}

/* ---- what init and migrate do each time ------------------------------------------------------ */

/* A restore brings the schema, and perhaps not who may do what. Nothing is written where all rights
 * are as they must be. */
static int mend_rights_locked(struct pg_store *pg, PGconn *conn, struct err *err)
{
    struct pg_mend_rights_out row = { 0 };
    int rc = pg_execute(pg, conn, PG_MAKE_ROLES, err);
    if (rc < 0)
        return rc;
    rc = pg_ask(pg, conn, PG_MEND_RIGHTS, NULL, &row, err);
    if (rc < 0)
        return rc;
    return *row.commands ? pg_execute_text(pg, conn, row.commands, err) : 0;
}

static int mend_rights(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = begin_locked(pg, conn, err);
    if (rc == 0)
        rc = mend_rights_locked(pg, conn, err);
    rc = end_locked(pg, conn, rc, err);
    return rc < 0 ? err_wrap(err, rc, "rights in schema '%s'", pg->schema) : 0;
}

/* Where its user may not make roles either, nobody but the owner can enqueue or run checks. */
static int note_absent_roles(struct pg_store *pg, PGconn *conn, const struct migrate_options *o,
                             struct err *err)
{
    char words[400];
    struct pg_absent_out row = { 0 };
    int rc = pg_ask(pg, conn, PG_ABSENT, NULL, &row, err);
    if (rc < 0)
        return rc;
    if (!row.roles || !o->noted)
        return 0;
    snprintf(words, sizeof words,
             "these roles are not there, and this user may not make them, so that the schema works for its "
             "owner alone: %s. As a superuser run CREATE ROLE for each, and then prescient init again",
             row.roles);
    o->noted(o->ctx, words);
    return 0;
}

/* A new schema takes the length wanted; an old one keeps its own unless it is told to change. */
static int settle_slot_length(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, bool is_new,
                              struct err *err)
{
    struct pg_slot_length_out now = { 0 };
    int rc = pg_ask(pg, conn, PG_SLOT_LENGTH, NULL, &now, err);
    if (rc < 0)
        return rc;
    int32_t want = o->slot_length_s ? o->slot_length_s : now.length_s;
    if (!slot_length_is_valid(want))
        return err_set(err, ERR_SETTINGS, "slot_length is %d s, expected 1 s to 1 day, dividing a day", want);
    if (want != now.length_s && !is_new && !o->change_slot_length)
        return err_set(
            err, ERR_SETTINGS,
            "slot_length is %d s in the settings and %d s in the database; changing it moves what is "
            "pending: ask for that, or change the setting",
            want, now.length_s);
    if (want != now.length_s) {
        struct pg_set_slot_length_in in = { .length_s = want };
        struct pg_set_slot_length_out reslotted = { 0 };
        rc = pg_ask(pg, conn, PG_SET_SLOT_LENGTH, &in, &reslotted, err);
        if (rc < 0)
            return rc;
    }
    pg->head.slot_length_s = want;
    return 0;
}

/* What was made in this transaction has one history, which its migrations have noted. */
static int note_history(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, bool is_new,
                        struct err *err)
{
    struct pg_note_restored_out restored = { 0 };
    struct pg_note_history_out row = { 0 };
    if (is_new && !o->restored)
        return 0;
    int rc = o->restored ? pg_ask(pg, conn, PG_NOTE_RESTORED, NULL, &restored, err) : 0;
    if (rc < 0)
        return rc;
    if (o->noted && restored.noted)
        o->noted(o->ctx, restored.noted);
    rc = pg_ask(pg, conn, PG_NOTE_HISTORY, NULL, &row, err);
    if (rc < 0)
        return rc;
    if (o->noted && row.noted)
        o->noted(o->ctx, row.noted);
    return 0;
}

static int put_in_order(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, bool is_new,
                        struct err *err)
{
    int rc = note_absent_roles(pg, conn, o, err);
    if (rc < 0)
        return rc;
    rc = settle_slot_length(pg, conn, o, is_new, err);
    return rc < 0 ? rc : note_history(pg, conn, o, is_new, err);
}

/* In the transaction that creates the schema: nobody sees it with slots of another length. */
static int migration_complete(void *ctx, struct err *err)
{
    struct pg_migration *m = ctx;
    m->is_complete = true;
    return put_in_order(m->pg, m->conn, m->options, true, err);
}

static const struct migrate_dialect dialect = {
    .begin = migration_begin,
    .commit = migration_commit,
    .rollback = migration_rollback,
    .read_state = migration_read_state,
    .find = migration_find,
    .apply = migration_apply,
    .record = migration_record,
    .complete = migration_complete,
    .refuse_newer = migration_refuse_newer,
    .refuse_unreleased = migration_refuse_unreleased,
    .refuse_changed = migration_refuse_changed,
};

static int migrate(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, struct err *err)
{
    struct pg_migration migration = { .pg = pg, .conn = conn, .options = o };
    if (PQserverVersion(conn) < 130000)
        return err_set(err, ERR_SETTINGS, "store: the server is older than PostgreSQL 13");
    int rc = pg_ask_owners(pg, conn, !o->dry_run, err);
    if (rc < 0)
        return rc;
    int applied = migrate_run(&dialect, &migration, migrations_pg, o, err);
    if (applied < 0 || o->dry_run || migration.is_complete)
        return applied;
    rc = mend_rights(pg, conn, err);
    if (rc == 0)
        rc = put_in_order(pg, conn, o, false, err);
    return rc < 0 ? rc : applied;
}

int pg_migrate(struct store *st, const struct migrate_options *o, struct err *err)
{
    struct pg_store *pg = pg_store(st);
    PGconn *conn = pg_connect_blocking(pg, err);
    if (!conn)
        return err->code;
    int rc = migrate(pg, conn, o, err);
    PQfinish(conn);
    return rc;
}
