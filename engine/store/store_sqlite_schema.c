/* store_sqlite_schema.c - makes and upgrades the tables, and changes the slot length that stands
 * in them as a literal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/fingerprint.h"
#include "../rules/slot.h"
#include "embedded_sql.h"
#include "store_sqlite_calls.h"

/* A migration's comment says how many migrations an engine must know to work beside it. */
static int oldest_engine_of(const struct sql_migration *m)
{
    static const char label[] = "-- oldest engine:";
    const char *at = strstr(m->text, label);
    return at ? atoi(at + strlen(label)) : m->version;
}

/* ---- the slot length ------------------------------------------------------------------------- */

/* `text` with every "% 900 = 0" turned into "% 300 = 0"; NULL when there was none. The caller
 * frees. */
static char *with_slot_length(const char *text, int32_t old_s, int32_t new_s)
{
    char old[32], new[32], *out = NULL;
    size_t size;
    snprintf(old, sizeof old, "%% %d = 0", old_s);
    snprintf(new, sizeof new, "%% %d = 0", new_s);
    if (!strstr(text, old))
        return NULL;
    FILE *f = open_memstream(&out, &size);
    for (const char *hit; f && (hit = strstr(text, old)); text = hit + strlen(old))
        fprintf(f, "%.*s%s", (int)(hit - text), text, new);
    if (f) {
        fputs(text, f);
        fclose(f);
    }
    return out;
}

/* SQLite cannot change a CHECK: the table is made anew under the old one's name, beside it, and
 * filled. The ids go on where they were. `table` and `indexes` are the new text of the table and
 * the text of its indexes. */
static int rebuild(struct sqlite_store *db, const char *table, const char *indexes, int64_t now,
                   struct err *err)
{
    int rc = sqlite_exec(db, sqlite_statements[STATEMENT_RESLOT_SET_ASIDE].text, err);
    if (rc < 0)
        return rc;
    rc = sqlite_exec(db, table, err);
    if (rc < 0)
        return rc;
    rc = (int)sqlite_run(db, err, STATEMENT_RESLOT_COPY, &(struct sqlite_reslot_copy_in){ .now = now });
    if (rc < 0)
        return rc;
    rc = (int)sqlite_run(db, err, STATEMENT_RESLOT_FORGET_SEQUENCE, NULL);
    if (rc < 0)
        return rc;
    rc = (int)sqlite_run(db, err, STATEMENT_RESLOT_KEEP_SEQUENCE, NULL);
    if (rc < 0)
        return rc;
    rc = (int)sqlite_run(db, err, STATEMENT_RESLOT_DROP_OLD, NULL);
    if (rc < 0)
        return rc;
    return sqlite_exec(db, indexes, err);
}

/* The text of the table with the new length, and that of its indexes; the caller frees both. */
static int text_with_slot_length(struct sqlite_store *db, int32_t old_s, int32_t new_s, char **table,
                                 char **indexes, struct err *err)
{
    struct sqlite_reslot_schema_out texts = { 0 };
    sqlite3_stmt *row = NULL;
    *table = *indexes = NULL;
    int rc = sqlite_query(db, err, &row, STATEMENT_RESLOT_SCHEMA, NULL);
    if (rc < 0)
        return rc;
    sqlite_columns(row, STATEMENT_RESLOT_SCHEMA, &texts);
    *table = texts.table_sql ? with_slot_length(texts.table_sql, old_s, new_s) : NULL;
    *indexes = strdup(texts.indexes_sql ? texts.indexes_sql : "");
    sqlite_done(row);
    if (!*table)
        return err_set(err, ERR_SCHEMA,
                       "%s: table prescient_future_job does not have the slot length %d in its CHECK",
                       db->path, old_s);
    return *indexes ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

static int change_slot_length(struct sqlite_store *db, int32_t old_s, int32_t new_s, struct err *err)
{
    char *table, *indexes;
    int rc = text_with_slot_length(db, old_s, new_s, &table, &indexes, err);
    if (rc == 0)
        rc = (int)sqlite_run(db, err, STATEMENT_SET_SLOT_LENGTH,
                             &(struct sqlite_set_slot_length_in){ .length_s = new_s });
    if (rc >= 0)
        rc = rebuild(db, table, indexes, sqlite_now(db, 0), err);
    free(table);
    free(indexes);
    return rc < 0 ? rc : 0;
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

static int settle_slot_length(struct sqlite_store *db, const struct migrate_options *o, bool fresh,
                              struct err *err)
{
    struct sqlite_slot_length_out slot = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_SLOT_LENGTH, &slot, NULL);
    if (rc < 0)
        return rc;
    if (o->slot_length_s == 0 || o->slot_length_s == slot.length_s || o->dry_run)
        return 0;
    if (!fresh && !o->change_slot_length)
        return err_set(
            err, ERR_SETTINGS,
            "%s has a slot length of %d s, the settings say %d s: make them equal, or change the file's, "
            "which moves pending checks to new slots, with 'prescient migrate --slot-length LENGTH'",
            db->path, slot.length_s, o->slot_length_s);
    if (!fresh)
        rc = refuse_while_leased(db, err);
    if (rc < 0)
        return rc;
    return change_slot_length(db, slot.length_s, o->slot_length_s, err);
}

/* ---- migrations ------------------------------------------------------------------------------ */

/* 1: applied already, 0: not. */
static int is_applied(struct sqlite_store *db, const struct sql_migration *m, const char *checksum,
                      struct err *err)
{
    struct sqlite_has_schema_out schema = { 0 };
    struct sqlite_migration_find_out applied = { 0 };
    sqlite3_stmt *row = NULL;
    int rc = sqlite_ask(db, err, STATEMENT_HAS_SCHEMA, &schema, NULL);
    if (rc < 0 || !schema.has)
        return rc < 0 ? rc : 0;
    rc = sqlite_refuse_newer(db, err);
    if (rc < 0)
        return rc;
    rc = sqlite_query(db, err, &row, STATEMENT_MIGRATION_FIND,
                      &(struct sqlite_migration_find_in){ .version = m->version });
    if (rc <= 0)
        return rc;
    if (sqlite_columns(row, STATEMENT_MIGRATION_FIND, &applied) == ERR_NOMEM || !applied.checksum)
        rc = err_set(err, ERR_NOMEM, "out of memory");
    else if (strcmp(applied.checksum, checksum) != 0)
        rc = err_set(
            err, ERR_SCHEMA,
            "%s: migration %s was applied with other contents (checksum %.12s..., this program has %.12s...)",
            db->path, m->name, applied.checksum, checksum);
    sqlite_done(row);
    return rc;
}

static int apply(struct sqlite_store *db, const struct sql_migration *m, const char *checksum,
                 const struct migrate_options *o, struct err *err)
{
    int rc = sqlite_exec(db, m->text, err);
    if (rc >= 0)
        rc = (int)sqlite_run(db, err, STATEMENT_MIGRATION_ADD, &(struct sqlite_migration_add_in){
            .version = m->version,
            .name = m->name,
            .checksum = checksum,
            .oldest_engine = oldest_engine_of(m),
            .clock_us = sqlite_clock_us(db),
        });
    if (rc >= 0 && m->version == 1)
        rc = settle_slot_length(db, o, true, err);
    return rc < 0 ? err_wrap(err, rc, "migration %s", m->name) : 0;
}

/* 1: was missing, 0: was there. Looked at again inside the transaction: another process may be at
 * the same migration. */
static int migrate_one(struct sqlite_store *db, const struct sql_migration *m,
                       const struct migrate_options *o, struct err *err)
{
    char checksum[CHECKSUM_SIZE];
    fingerprint_checksum(m->text, checksum);
    int rc = o->dry_run ? 0 : (int)sqlite_run(db, err, STATEMENT_BEGIN, NULL);
    int there = rc < 0 ? rc : is_applied(db, m, checksum, err);
    if (there == 0 && !o->dry_run) {
        rc = apply(db, m, checksum, o, err);
        rc = rc < 0 ? rc : sqlite_commit(db, err);
        there = rc < 0 ? rc : 0;
    }
    sqlite_rollback(db);
    if (there == 0 && o->applied)
        o->applied(o->ctx, m->version, m->name);
    return there < 0 ? there : !there;
}

static int migrate_all(struct sqlite_store *db, const struct migrate_options *o, struct err *err)
{
    int applied = 0, rc = 0;
    for (const struct sql_migration *m = migrations_sqlite; m->name; m++) {
        sqlite_start_clock(db, true);
        db->deadline_us = INT64_MAX;
        rc = migrate_one(db, m, o, err);
        if (rc < 0)
            return rc;
        applied += rc;
    }
    if (applied && o->dry_run)
        return applied;
    rc = o->dry_run ? 0 : (int)sqlite_run(db, err, STATEMENT_BEGIN, NULL);
    rc = rc < 0 ? rc : settle_slot_length(db, o, false, err);
    rc = rc < 0 || o->dry_run ? rc : sqlite_commit(db, err);
    sqlite_rollback(db);
    return rc < 0 ? rc : applied;
}

/* What would be done to a file that is not there, or is empty. */
static int say_all(const struct migrate_options *o)
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
    if (options->slot_length_s && !slot_length_is_valid(options->slot_length_s))
        return err_set(err, ERR_INPUT, "slot_length is %d s, expected 1 s to 1 day that divides a day",
                       options->slot_length_s);
    if (options->dry_run && access(db->path, F_OK) != 0)
        return say_all(options);
    sqlite_start_clock(db, true);
    int rc = sqlite_create(db, err);
    rc = rc < 0 ? rc : migrate_all(db, options, err);
    /* the next call checks the new schema as any other connection would */
    sqlite_disconnect(db);
    db->head.slot_length_s = 0;
    return rc;
}
