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

int pg_schema_known(void)
{
    int newest = 0;
    for (const struct sql_migration *m = migrations_pg; m->name; m++)
        newest = m->version > newest ? m->version : newest;
    return newest;
}

/* ---- migrations ------------------------------------------------------------------------------ */

/* "-- oldest engine: N" in the file's head: the newest migration that a program must know to work
 * with the schema after this one. */
static int oldest_engine(const struct sql_migration *m)
{
    const char *line = strstr(m->text, "-- oldest engine: ");
    return line ? atoi(line + strlen("-- oldest engine: ")) : m->version;
}

/* Everybody who migrates this schema waits for its table of migrations, until the end of the
 * transaction. To lock it takes the rights of its owner: whoever can merely connect keeps nobody
 * waiting. */
static int lock_migrations(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = pg_execute(pg, conn, "LOCK TABLE prescient.migration IN SHARE ROW EXCLUSIVE MODE", err);
    return rc < 0 ? err_wrap(err, rc, "waiting for whoever else migrates schema '%s'", pg->schema) : rc;
}

/* Where there is nothing to lock yet, the catalog's own unique indexes let one through, and the
 * others wait for its end. No IF NOT EXISTS: what another role has made meanwhile is not taken for
 * ours. */
static int make_place(struct pg_store *pg, PGconn *conn, bool has_schema, struct err *err)
{
    static const char table[] =
        "CREATE TABLE prescient.migration (version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT "
        "NULL,"
        " oldest_engine integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())";
    int rc = has_schema ? 0 : pg_execute(pg, conn, "CREATE SCHEMA prescient_schema", err);
    return rc < 0 ? rc : pg_execute(pg, conn, table, err);
}

/* The schema is ours or is not there, and nobody else works on it. */
static int take_place(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int64_t has_table;
    int has_schema = pg_ask_owners(pg, conn, true, err);
    if (has_schema < 0)
        return has_schema;
    int rc = pg_ask_number(pg, conn, "SELECT (to_regclass('prescient.migration') IS NOT NULL)::int", NULL,
                           &has_table, err);
    if (rc < 0)
        return rc;
    return has_table ? lock_migrations(pg, conn, err) : make_place(pg, conn, has_schema, err);
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

static int begin_locked(struct pg_store *pg, PGconn *conn, struct err *err)
{
    for (int tries = 1;; tries++) {
        int rc = pg_execute(pg, conn, PG_BEGIN "; SET LOCAL lock_timeout = '30s'", err);
        rc = rc < 0 ? rc : take_place(pg, conn, err);
        rc = rc < 0 ? rc : pg_execute(pg, conn, "SET LOCAL lock_timeout = '3s'", err);
        if (rc >= 0 || tries == TRIES || !was_made_meanwhile(err))
            return rc;
        PQclear(PQexec(conn, "ROLLBACK"));
        err_clear(err);
    }
}

/* 1: applied and as it was; 0: not applied yet; negative: ERR_SCHEMA. */
static int is_applied(struct pg_store *pg, PGconn *conn, const struct sql_migration *m, struct err *err)
{
    char version[16], ours[CHECKSUM_SIZE];
    const char *params[] = { version };
    snprintf(version, sizeof version, "%d", m->version);
    PGresult *r = pg_run(pg, conn, "SELECT name, sha256 FROM prescient.migration WHERE version = $1::integer",
                         params, 1, err);
    if (!r)
        return err->code;
    int rc = PQntuples(r) > 0;
    fingerprint_checksum(m->text, ours);
    if (rc && strcmp(PQgetvalue(r, 0, 1), ours) != 0)
        rc = err_set(err, ERR_SCHEMA,
                     "migration %s of schema '%s' was applied as '%s' with checksum %.12s, this program has "
                     "%.12s: a landed migration never changes",
                     m->name, pg->schema, PQgetvalue(r, 0, 0), PQgetvalue(r, 0, 1), ours);
    PQclear(r);
    return rc;
}

static int apply_one(struct pg_store *pg, PGconn *conn, const struct sql_migration *m, struct err *err)
{
    char version[16], oldest[16], sum[CHECKSUM_SIZE];
    const char *params[] = { version, m->name, sum, oldest };
    snprintf(version, sizeof version, "%d", m->version);
    snprintf(oldest, sizeof oldest, "%d", oldest_engine(m));
    fingerprint_checksum(m->text, sum);
    int rc = pg_execute(pg, conn, m->text, err);
    if (rc < 0)
        return err_wrap(err, rc, "migration %s", m->name);
    PGresult *r = pg_run(pg, conn,
                         "INSERT INTO prescient.migration (version, name, sha256, oldest_engine) VALUES "
                         "($1::integer, $2, $3, $4::integer)",
                         params, 4, err);
    PQclear(r);
    return r ? 0 : err->code;
}

/* A schema from a later program is left alone when it still serves this one. */
static int check_newest(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int64_t oldest;
    int rc = pg_ask_number(pg, conn, "SELECT coalesce(max(oldest_engine), 0) FROM prescient.migration", NULL,
                           &oldest, err);
    if (rc < 0 || oldest <= pg_schema_known())
        return rc;
    return err_set(err, ERR_SCHEMA,
                   "schema '%s' serves programs that know migration %" PRId64
                   " or later; this one knows %d: upgrade it",
                   pg->schema, oldest, pg_schema_known());
}

/* One migration in a transaction of its own. 1: applied, 0: was there, negative: ERR_. */
static int migrate_one(struct pg_store *pg, PGconn *conn, const struct sql_migration *m, struct err *err)
{
    int rc = begin_locked(pg, conn, err);
    rc = rc < 0 ? rc : check_newest(pg, conn, err);
    int applied = rc < 0 ? rc : is_applied(pg, conn, m, err);
    if (applied == 0)
        rc = apply_one(pg, conn, m, err);
    if (applied < 0 || rc < 0) {
        PQclear(PQexec(conn, "ROLLBACK"));
        return applied < 0 ? applied : rc;
    }
    rc = pg_execute(pg, conn, "COMMIT", err);
    return rc < 0 ? rc : applied == 0;
}

static void tell(const struct migrate_options *o, const struct sql_migration *m)
{
    if (o->applied)
        o->applied(o->ctx, m->version, m->name);
}

static int count_missing(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, struct err *err)
{
    int missing = 0;
    int64_t there;
    int rc = pg_ask_number(pg, conn, "SELECT (to_regclass('prescient.migration') IS NOT NULL)::int", NULL,
                           &there, err);
    for (const struct sql_migration *m = migrations_pg; rc >= 0 && m->name; m++) {
        rc = there ? is_applied(pg, conn, m, err) : 0;
        if (rc == 0) {
            tell(o, m);
            missing++;
        }
    }
    return rc < 0 ? rc : missing;
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
    char *roles = pg_expand(pg, "make_roles", 0), *question = pg_expand(pg, "mend_rights", 0);
    int rc = roles && question ? pg_execute(pg, conn, roles, err)
                               : err_set(err, ERR_NOMEM, "store: out of memory");
    PGresult *r = rc < 0 ? NULL : pg_run(pg, conn, question, NULL, 0, err);
    if (rc >= 0)
        rc = !r ? err->code : *PQgetvalue(r, 0, 0) ? pg_execute(pg, conn, PQgetvalue(r, 0, 0), err) : 0;
    PQclear(r);
    free(roles);
    free(question);
    return rc;
}

static int mend_rights(struct pg_store *pg, PGconn *conn, struct err *err)
{
    int rc = begin_locked(pg, conn, err);
    rc = rc < 0 ? rc : mend_rights_locked(pg, conn, err);
    rc = rc < 0 ? rc : pg_execute(pg, conn, "COMMIT", err);
    if (rc >= 0)
        return rc;
    PQclear(PQexec(conn, "ROLLBACK"));
    return err_wrap(err, rc, "rights in schema '%s'", pg->schema);
}

/* Where its user may not make roles either, nobody but the owner can enqueue or run checks. */
static int note_absent_roles(struct pg_store *pg, PGconn *conn, const struct migrate_options *o,
                             struct err *err)
{
    char words[200], *question = pg_expand(pg, "absent", 0);
    if (!question)
        return err_set(err, ERR_NOMEM, "store: out of memory");
    PGresult *r = pg_run(pg, conn, question, NULL, 0, err);
    free(question);
    if (!r)
        return err->code;
    snprintf(words, sizeof words,
             "these roles are not there, and this user may not make them, so that the schema works for its "
             "owner alone: %s",
             PQgetvalue(r, 0, 0));
    if (o->noted && !PQgetisnull(r, 0, 0))
        o->noted(o->ctx, words);
    PQclear(r);
    return 0;
}

/* A new schema takes the length wanted; an old one keeps its own unless it is told to change. */
static int settle_slot_length(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, bool is_new,
                              struct err *err)
{
    int64_t length_s;
    char wanted[16];
    int rc = pg_ask_number(pg, conn, "SELECT prescient.slot_length_s()", NULL, &length_s, err);
    int32_t want = o->slot_length_s ? o->slot_length_s : (int32_t)length_s;
    if (rc < 0)
        return rc;
    if (!slot_length_is_valid(want))
        return err_set(err, ERR_SETTINGS, "slot_length is %d s, expected 1 s to 1 day, dividing a day", want);
    if (want != length_s && !is_new && !o->change_slot_length)
        return err_set(
            err, ERR_SETTINGS,
            "slot_length is %d s in the settings and %" PRId64
            " s in the database; changing it moves what is pending: ask for that, or change the setting",
            want, length_s);
    snprintf(wanted, sizeof wanted, "%d", want);
    if (want != length_s && (rc = pg_ask_number(pg, conn, "SELECT prescient.set_slot_length($1::integer)",
                                                wanted, &length_s, err)) < 0)
        return rc;
    pg->head.slot_length_s = want;
    return 0;
}

/* A database that was restored, or switched to: a history of its own, and sequences that are not
 * behind. Each check's id is looked at where that is soon done, or something was found. */
static int note_history(struct pg_store *pg, PGconn *conn, const struct migrate_options *o, struct err *err)
{
    PGresult *r = pg_run(pg, conn, "SELECT prescient.note_history(true)", NULL, 0, err);
    if (!r)
        return err->code;
    if (o->noted && !PQgetisnull(r, 0, 0))
        o->noted(o->ctx, PQgetvalue(r, 0, 0));
    PQclear(r);
    return 0;
}

int pg_migrate(struct store *st, const struct migrate_options *o, struct err *err)
{
    struct pg_store *pg = pg_store(st);
    PGconn *conn = pg_connect_blocking(pg, err);
    if (!conn)
        return err->code;
    if (PQserverVersion(conn) < 130000) {
        PQfinish(conn);
        return err_set(err, ERR_SETTINGS, "store: the server is older than PostgreSQL 13");
    }
    int64_t there = 0, made;
    char ahead[16];
    snprintf(ahead, sizeof ahead, "%d", DAYS_AHEAD);
    int rc = pg_ask_owners(pg, conn, !o->dry_run, err);
    rc = rc < 0 ? rc
         : o->dry_run
             ? count_missing(pg, conn, o, err)
             : pg_ask_number(pg, conn, "SELECT (to_regclass('prescient.future_job') IS NOT NULL)::int", NULL,
                             &there, err);
    if (!o->dry_run && rc >= 0)
        rc = apply_missing(pg, conn, o, err);
    if (!o->dry_run && rc >= 0) {
        int applied = rc;
        rc = mend_rights(pg, conn, err);
        rc = rc < 0 ? rc : note_absent_roles(pg, conn, o, err);
        rc = rc < 0 ? rc : settle_slot_length(pg, conn, o, !there, err);
        rc = rc < 0 ? rc : pg_make_ids_unique(pg, conn, err);
        rc = rc < 0 ? rc
                    : pg_ask_number(pg, conn, "SELECT prescient.keep_history_days($1::integer)", ahead, &made,
                                    err);
        rc = rc < 0 ? rc : note_history(pg, conn, o, err);
        rc = rc < 0 ? rc : applied;
    }
    PQfinish(conn);
    return rc;
}
