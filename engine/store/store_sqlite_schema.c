/* store_sqlite_schema.c - creates and upgrades the tables, by the calls that migrate.h needs, and
 * changes the slot length. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../rules/slot.h"
#include "store_sqlite_calls.h"

/* ---- the slot length ------------------------------------------------------------------------- */

static int change_slot_length(struct sqlite_store *db, int32_t old_s, int32_t new_s, struct err *err)
{
    int64_t rc = sqlite_run(db, err, STATEMENT_SET_SLOT_LENGTH,
                            &(struct sqlite_set_slot_length_in){ .length_s = new_s });
    if (rc < 0)
        return (int)rc;
    rc = sqlite_run(db, err, STATEMENT_RESLOT,
                    &(struct sqlite_reslot_in){ .old_s = old_s, .new_s = new_s, .now = sqlite_now(db, 0) });
    if (rc < 0)
        return (int)rc;
    return sqlite_exec(db, sqlite_statements[STATEMENT_RESLOT_TELL].text, err);
}

static int refuse_while_leased(struct sqlite_store *db, struct err *err)
{
    struct sqlite_reslot_leases_out leases = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_RESLOT_LEASES, &leases,
                        &(struct sqlite_reslot_leases_in){ .clock_us = sqlite_clock_us(db) });
    if (rc < 0)
        return rc;
    if (leases.n)
        return err_set(err, ERR_BUSY,
                       "%s: %lld leases are held, so checks are being run: stop the engines, then change the "
                       "slot length",
                       db->path, (long long)leases.n);
    return 0;
}

/* Nobody runs checks, and all migrations are applied. */
static int prepare_old(struct sqlite_store *db, int32_t new_s, struct err *err)
{
    int rc = refuse_while_leased(db, err);
    if (rc < 0)
        return rc;
    int64_t n = sqlite_run(db, err, STATEMENT_RESLOT_SOUGHT,
                           &(struct sqlite_reslot_sought_in){ .new_s = new_s });
    return n < 0 ? (int)n : 0;
}

static int settle_slot_length(struct sqlite_store *db, const struct migrate_options *o, bool fresh,
                              struct err *err)
{
    struct sqlite_slot_length_out slot = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_SLOT_LENGTH, &slot, NULL);
    if (rc < 0)
        return rc;
    if (o->slot_length_s == 0 || o->slot_length_s == slot.length_s)
        return 0;
    if (!fresh && !o->change_slot_length)
        return err_set(
            err, ERR_SETTINGS,
            "%s has a slot length of %d s, the settings say %d s: make them equal, or change the file's, "
            "which moves pending checks to new slots, with 'prescient migrate --slot-length LENGTH'",
            db->path, slot.length_s, o->slot_length_s);
    if (!fresh) {
        rc = prepare_old(db, o->slot_length_s, err);
        if (rc < 0)
            return rc;
    }
    return change_slot_length(db, slot.length_s, o->slot_length_s, err);
}

/* ---- the calls of migrate.h ------------------------------------------------------------------ */

struct sqlite_migration {
    struct sqlite_store *db;
    const struct migrate_options *options;
    bool is_new;                /* no migration was applied to the file yet */
};

static int migration_begin(void *ctx, struct err *err)
{
    struct sqlite_migration *m = ctx;
    sqlite_start_clock(m->db, true);
    m->db->deadline_us = INT64_MAX;     /* a migration may take long */
    return (int)sqlite_run(m->db, err, STATEMENT_BEGIN, NULL);
}

static int migration_commit(void *ctx, struct err *err)
{
    struct sqlite_migration *m = ctx;
    return sqlite_commit(m->db, err);
}

static void migration_rollback(void *ctx)
{
    struct sqlite_migration *m = ctx;
    sqlite_rollback(m->db);
}

static int migration_read_state(void *ctx, struct migrate_state *out, struct err *err)
{
    struct sqlite_migration *m = ctx;
    struct sqlite_has_schema_out schema = { 0 };
    struct sqlite_schema_version_out version = { 0 };
    int rc = sqlite_ask(m->db, err, STATEMENT_HAS_SCHEMA, &schema, NULL);
    if (rc < 0)
        return rc;
    m->is_new = !schema.has;
    if (m->is_new)
        return 0;
    rc = sqlite_find_unreleased(m->db, &out->is_unreleased, err);
    if (rc < 0)
        return rc;
    rc = sqlite_ask(m->db, err, STATEMENT_SCHEMA_VERSION, &version, NULL);
    if (rc < 0)
        return rc;
    out->is_there = true;
    out->version = version.version;
    out->oldest_engine = version.oldest_engine;
    return 0;
}

static int migration_find(void *ctx, int version, struct migrate_applied *out, struct err *err)
{
    struct sqlite_migration *m = ctx;
    struct sqlite_migration_find_out applied = { 0 };
    sqlite3_stmt *row = NULL;
    int rc = sqlite_query(m->db, err, &row, STATEMENT_MIGRATION_FIND,
                          &(struct sqlite_migration_find_in){ .version = version });
    if (rc <= 0)
        return rc;
    int read = sqlite_columns(row, STATEMENT_MIGRATION_FIND, &applied);
    if (read == ERR_NOMEM || !applied.checksum)
        rc = err_set(err, ERR_NOMEM, "out of memory");
    else
        snprintf(out->sha256, sizeof out->sha256, "%s", applied.checksum);
    sqlite_done(row);
    return rc;
}

static int migration_apply(void *ctx, const char *text, struct err *err)
{
    struct sqlite_migration *m = ctx;
    return sqlite_exec(m->db, text, err);
}

/* A new file takes the slot length that was asked for in the transaction that creates its tables:
 * no other process sees it with another one. */
static int migration_record(void *ctx, const struct migrate_notes *notes, struct err *err)
{
    struct sqlite_migration *m = ctx;
    int64_t rc = 0, clock_us = sqlite_clock_us(m->db);
    for (int i = 0; i < notes->n && rc >= 0; i++)
        rc = sqlite_run(m->db, err, STATEMENT_MIGRATION_ADD, &(struct sqlite_migration_add_in){
            .version = notes->versions[i],
            .name = notes->names[i],
            .checksum = notes->sha256s[i],
            .oldest_engine = notes->oldest_engines[i],
            .clock_us = clock_us,
        });
    if (rc < 0)
        return (int)rc;
    return m->is_new ? settle_slot_length(m->db, m->options, true, err) : 0;
}

static int migration_refuse_newer(void *ctx, const struct migrate_state *found, struct err *err)
{
    struct sqlite_migration *m = ctx;
    return sqlite_refuse_newer(m->db, found, err);
}

static int migration_refuse_unreleased(void *ctx, struct err *err)
{
    return sqlite_refuse_unreleased(((struct sqlite_migration *)ctx)->db, err);
}

static int migration_refuse_changed(void *ctx, const struct sql_migration *step,
                                    const struct migrate_applied *found, const char *sha256, struct err *err)
{
    struct sqlite_migration *m = ctx;
    return err_set(
        err, ERR_SCHEMA,
        "%s: migration %s was applied with other contents (checksum %.12s..., this program has %.12s...)",
        m->db->path, step->name, found->sha256, sha256);
}

static const struct migrate_dialect dialect = {
    .begin = migration_begin,
    .commit = migration_commit,
    .rollback = migration_rollback,
    .read_state = migration_read_state,
    .find = migration_find,
    .apply = migration_apply,
    .record = migration_record,
    .refuse_newer = migration_refuse_newer,
    .refuse_unreleased = migration_refuse_unreleased,
    .refuse_changed = migration_refuse_changed,
};

/* ---- init and migrate ------------------------------------------------------------------------ */

/* Cursors of a lost history lie before what comes. */
static int note_restored(struct sqlite_migration *m, struct err *err)
{
    char words[200];
    struct sqlite_events_handed_out_out newest = { 0 };
    int rc = sqlite_ask(m->db, err, STATEMENT_EVENTS_HANDED_OUT, &newest, NULL);
    int64_t n = rc < 0 ? rc : sqlite_run(m->db, err, STATEMENT_EVENTS_HOLD, NULL);
    if (n >= 0)
        n = sqlite_run(m->db, err, STATEMENT_EVENTS_RESTART, NULL);
    snprintf(words, sizeof words,
             "this is a restored copy: events go on far above number %" PRId64
             ", after all that a consumer may have seen before",
             newest.id);
    if (n >= 0 && m->options->noted)
        m->options->noted(m->options->ctx, words);
    return n < 0 ? (int)n : 0;
}

/* In a transaction of its own: an old file changes its length only on demand. */
static int settle_old(struct sqlite_migration *m, struct err *err)
{
    int rc = migration_begin(m, err);
    if (rc < 0)
        return rc;
    rc = settle_slot_length(m->db, m->options, false, err);
    if (rc == 0 && m->options->restored)
        rc = note_restored(m, err);
    if (rc < 0) {
        sqlite_rollback(m->db);
        return rc;
    }
    return sqlite_commit(m->db, err);
}

static int migrate_open(struct sqlite_migration *m, struct err *err)
{
    int applied = migrate_run(&dialect, m, migrations_sqlite, m->options, err);
    if (applied < 0 || m->options->dry_run)
        return applied;
    int rc = settle_old(m, err);
    return rc < 0 ? rc : applied;
}

/* What would be done to a file that does not exist. */
static int report_all(const struct migrate_options *o)
{
    int n = 0;
    for (const struct sql_migration *m = migrations_sqlite; m->name; m++, n++)
        if (o->applied)
            o->applied(o->ctx, m->version, m->name);
    return n;
}

int sqlite_migrate(struct store *st, const struct migrate_options *options, struct err *err)
{
    struct sqlite_store *db = (struct sqlite_store *)st;
    struct sqlite_migration migration = { .db = db, .options = options };
    if (options->slot_length_s && !slot_length_is_valid(options->slot_length_s))
        return err_set(err, ERR_INPUT, "slot_length is %d s, expected 1 s to 1 day that divides a day",
                       options->slot_length_s);
    if (options->dry_run && access(db->path, F_OK) != 0)
        return report_all(options);
    sqlite_start_clock(db, true);
    int rc = sqlite_create(db, err);
    db->deadline_us = INT64_MAX;        /* a migration may take long */
    if (rc >= 0)
        rc = migrate_open(&migration, err);
    /* the next call checks the new schema as any other connection would */
    sqlite_disconnect(db);
    db->head.slot_length_s = 0;
    return rc;
}
