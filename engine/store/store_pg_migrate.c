/* store_pg_migrate.c - the schema's own life: migrations are applied in order, a transaction each,
 * by whoever comes first. Blocks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/fingerprint.h"
#include "../rules/slot.h"
#include "embedded_sql.h"
#include "store_pg.h"

#define DAYS_AHEAD 7
#define TRIES 5

/* ---- migrations ------------------------------------------------------------------------------ */

/* "-- oldest engine: N" in the file's head: the newest migration that a program must know to work
 * with the schema after this one. */
static int oldest_engine(const struct sql_migration *m)
{
    const char *line = strstr(m->text, "-- oldest engine: ");
    return line ? atoi(line + strlen("-- oldest engine: ")) : m->version;
}

static int lock_migrations(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = pg_execute(pg, conn, PG_LOCK_MIGRATIONS, err);
    return rc < 0 ? err_wrap(err, rc, "waiting for whoever else migrates schema '%s'", pg->schema) : rc;
}

/* Where there is nothing to lock yet, the catalog's own unique indexes let one through, and the
 * others wait for its end. */
static int make_place(struct pg_store *pg, PGconn *conn, bool has_schema, struct err *err)
{
    int rc = has_schema ? 0 : pg_execute(pg, conn, PG_MAKE_SCHEMA, err);
    if (rc < 0)
        return rc;
    return pg_execute(pg, conn, PG_MAKE_MIGRATION_TABLE, err);
}

/* The schema is ours or is not there, and nobody else works on it. */
static int take_place(struct pg_store *pg, PGconn *conn, struct err *err)
{
    struct pg_has_migrations_out table = { 0 };
    int has_schema = pg_ask_owners(pg, conn, true, err);
    if (has_schema < 0)
        return has_schema;
    int rc = pg_ask(pg, conn, PG_HAS_MIGRATIONS, NULL, &table, err);
    if (rc < 0)
        return rc;
    return table.has ? lock_migrations(pg, conn, err) : make_place(pg, conn, has_schema, err);
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
    int rc = pg_execute(pg, conn, PG_BEGIN_MIGRATION, err);
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

/* 1: applied and as it was; 0: not applied yet; negative: ERR_SCHEMA. */
static int is_applied(struct pg_store *pg, PGconn *conn, const struct sql_migration *m, struct err *err)
{
    char ours[CHECKSUM_SIZE];
    struct pg_find_migration_in in = { .version = m->version };
    struct pg_find_migration_out row = { 0 };
    int n = pg_ask(pg, conn, PG_FIND_MIGRATION, &in, &row, err);
    if (n <= 0)
        return n;
    fingerprint_checksum(m->text, ours);
    if (strcmp(row.sha256, ours) == 0)
        return 1;
    return err_set(err, ERR_SCHEMA,
                   "migration %s of schema '%s' was applied as '%s' with checksum %.12s, this program has "
                   "%.12s: a landed migration never changes",
                   m->name, pg->schema, row.name, row.sha256, ours);
}

static int apply_one(struct pg_store *pg, PGconn *conn, const struct sql_migration *m, struct err *err)
{
    char sum[CHECKSUM_SIZE];
    fingerprint_checksum(m->text, sum);
    struct pg_note_migration_in in = {
        .version = m->version, .name = m->name, .sha256 = sum, .oldest_engine = oldest_engine(m)
    };
    int rc = pg_execute_text(pg, conn, m->text, err);
    if (rc < 0)
        return err_wrap(err, rc, "migration %s", m->name);
    return pg_ask(pg, conn, PG_NOTE_MIGRATION, &in, NULL, err);
}

/* A schema from a later program is left alone when it still serves this one. */
static int check_newest(struct pg_store *pg, PGconn *conn, struct err *err)
{
    struct pg_oldest_engine_out oldest = { 0 };
    int rc = pg_ask(pg, conn, PG_OLDEST_ENGINE, NULL, &oldest, err);
    if (rc < 0)
        return rc;
    if (oldest.version <= pg_schema_known())
        return 0;
    return err_set(err, ERR_SCHEMA,
                   "schema '%s' serves programs that know migration %d or later; this one knows %d: "
                   "upgrade it",
                   pg->schema, oldest.version, pg_schema_known());
}

/* 1: applied, 0: was there, negative: ERR_. */
static int apply_if_missing(struct pg_store *pg, PGconn *conn, const struct sql_migration *m, struct err *err)
{
    int rc = check_newest(pg, conn, err);
    if (rc < 0)
        return rc;
    int applied = is_applied(pg, conn, m, err);
    if (applied < 0)
        return applied;
    rc = applied ? 0 : apply_one(pg, conn, m, err);
    return rc < 0 ? rc : !applied;
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

/* One migration in a transaction of its own. 1: applied, 0: was there, negative: ERR_. */
static int migrate_one(struct pg_store *pg, PGconn *conn, const struct sql_migration *m, struct err *err)
{
    int rc = begin_locked(pg, conn, err);
    if (rc == 0)
        rc = apply_if_missing(pg, conn, m, err);
    return end_locked(pg, conn, rc, err);
}

static void tell(const struct migrate_options *o, const struct sql_migration *m)
{
    if (o->applied)
        o->applied(o->ctx, m->version, m->name);
}

static int count_missing(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, struct err *err)
{
    int missing = 0;
    struct pg_has_migrations_out table = { 0 };
    int rc = pg_ask(pg, conn, PG_HAS_MIGRATIONS, NULL, &table, err);
    if (rc < 0)
        return rc;
    for (const struct sql_migration *m = migrations_pg; m->name; m++) {
        rc = table.has ? is_applied(pg, conn, m, err) : 0;
        if (rc < 0)
            return rc;
        if (rc == 0) {
            tell(o, m);
            missing++;
        }
    }
    return missing;
}

static int apply_missing(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, struct err *err)
{
    int applied = 0;
    for (const struct sql_migration *m = migrations_pg; m->name; m++) {
        int rc = migrate_one(pg, conn, m, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            tell(o, m);
        applied += rc;
    }
    return applied;
}

/* What init and migrate repeat each time: a restore knows the schema, and may know nothing of who
 * may do what. Nothing is written where all is as it must be. */
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
    char words[200];
    struct pg_absent_out row = { 0 };
    int rc = pg_ask(pg, conn, PG_ABSENT, NULL, &row, err);
    if (rc < 0)
        return rc;
    if (!row.roles || !o->noted)
        return 0;
    snprintf(words, sizeof words,
             "these roles are not there, and this user may not make them, so that the schema works for its "
             "owner alone: %s",
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

static int note_history(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, struct err *err)
{
    struct pg_note_history_out row = { 0 };
    int rc = pg_ask(pg, conn, PG_NOTE_HISTORY, NULL, &row, err);
    if (rc < 0)
        return rc;
    if (o->noted && row.noted)
        o->noted(o->ctx, row.noted);
    return 0;
}

/* What init and migrate do each time, behind the migrations. */
static int put_in_order(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, bool is_new,
                        struct err *err)
{
    struct pg_make_days_in days = { .days = DAYS_AHEAD };
    struct pg_make_days_out made = { 0 };
    int rc = mend_rights(pg, conn, err);
    if (rc < 0)
        return rc;
    rc = note_absent_roles(pg, conn, o, err);
    if (rc < 0)
        return rc;
    rc = settle_slot_length(pg, conn, o, is_new, err);
    if (rc < 0)
        return rc;
    rc = pg_make_ids_unique(pg, conn, err);
    if (rc < 0)
        return rc;
    rc = pg_ask(pg, conn, PG_MAKE_DAYS, &days, &made, err);
    if (rc < 0)
        return rc;
    return note_history(pg, conn, o, err);
}

static int migrate(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, struct err *err)
{
    struct pg_has_checks_out checks = { 0 };
    if (PQserverVersion(conn) < 130000)
        return err_set(err, ERR_SETTINGS, "store: the server is older than PostgreSQL 13");
    int rc = pg_ask_owners(pg, conn, !o->dry_run, err);
    if (rc < 0)
        return rc;
    if (o->dry_run)
        return count_missing(pg, conn, o, err);
    rc = pg_ask(pg, conn, PG_HAS_CHECKS, NULL, &checks, err);
    if (rc < 0)
        return rc;
    int applied = apply_missing(pg, conn, o, err);
    if (applied < 0)
        return applied;
    rc = put_in_order(pg, conn, o, !checks.has, err);
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
