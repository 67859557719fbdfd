/* migrate.h - which migrations a program applies, in what order, and which schemas it refuses. One
 * way for all stores; a store gives the calls of its dialect. Included by the stores only. */
#ifndef PRESCIENT_MIGRATE_H
#define PRESCIENT_MIGRATE_H

#include "../base/fingerprint.h"
#include "embedded_sql.h"
#include "store.h"

/* What a database has: all zeros when no migration was applied to it. */
struct migrate_state {
    bool is_there;              /* the table of migrations exists */
    int version;                /* the newest that was applied */
    int oldest_engine;          /* the newest that a program must know to work with this schema */
    bool is_unreleased;         /* migrations of other names have made it (migrate_is_unreleased) */
};

/* A migration as it was applied. Longer texts are cut; a checksum that is too long stays so. */
struct migrate_applied { char name[128], sha256[CHECKSUM_SIZE + 1]; };

/* Migrations that were applied just now and are to be noted, an array for each column. */
struct migrate_notes {
    int n;
    int32_t *versions, *oldest_engines;
    const char **names, **sha256s;
};

/* The calls of a dialect, each with the context that was given to migrate_run. They return 0 or a
 * negative ERR_ unless noted otherwise. */
struct migrate_dialect {
    /* A transaction in which no other process migrates this schema. After it the table of
     * migrations exists, or the first migration creates it. */
    int (*begin)(void *ctx, struct err *err);
    int (*commit)(void *ctx, struct err *err);
    void (*rollback)(void *ctx);                /* also after a begin that failed */
    int (*read_state)(void *ctx, struct migrate_state *out, struct err *err);
    /* 1: the migration was applied, and *out is filled; 0: it was not. */
    int (*find)(void *ctx, int version, struct migrate_applied *out, struct err *err);
    int (*apply)(void *ctx, const char *text, struct err *err);
    int (*record)(void *ctx, const struct migrate_notes *notes, struct err *err);
    /* All migrations were applied to an empty database, and their transaction is still open. NULL:
     * there is nothing else to do in it. */
    int (*complete)(void *ctx, struct err *err);
    /* The message of a refusal, which names the database; ERR_SCHEMA. */
    int (*refuse_newer)(void *ctx, const struct migrate_state *found, struct err *err);
    int (*refuse_unreleased)(void *ctx, struct err *err);
    int (*refuse_changed)(void *ctx, const struct sql_migration *m, const struct migrate_applied *found,
                          const char *sha256, struct err *err);
};

/* Applies what is missing of `steps`, in their order: to an empty database all of them in one
 * transaction, to another one a transaction each. Inside each transaction it looks again what is
 * there: another process may be at the same migration. Refused are a schema that serves only later
 * programs, one that other migrations have made, and a migration that was applied with another
 * text. What was committed before a failure stays. With options->dry_run nothing is begun, and what
 * is missing is counted. options->applied is called after the commit. Returns how many were
 * applied, or would be, or a negative ERR_. */
int migrate_run(const struct migrate_dialect *dialect, void *ctx, const struct sql_migration *steps,
                const struct migrate_options *options, struct err *err);

/* Whether a program that knows `steps` works with a schema. */
enum migrate_fit {
    MIGRATE_FITS,
    MIGRATE_BEHIND,             /* migrations are missing */
    MIGRATE_OUTGROWN,           /* it serves only programs that know later migrations */
    MIGRATE_UNRELEASED,         /* a program that was never released has made it */
};
enum migrate_fit migrate_fit(const struct sql_migration *steps, const struct migrate_state *found);

/* Whether migrations of other names than `steps` have made a schema: those of a program that was
 * never released. `names` has those that were applied, by version, a blank between them. */
bool migrate_is_unreleased(const struct sql_migration *steps, const char *names);

/* The message about such a schema, or about a migration that was applied with another text. `where`
 * is the schema, `drop` what drops it. ERR_SCHEMA. */
int migrate_refuse_unreleased(const char *where, const char *drop, struct err *err);

int migrate_newest(const struct sql_migration *steps);          /* 0: there are none */

/* From the line "-- oldest engine: N" of a migration; without it, a program must know the migration
 * itself. */
int migrate_oldest_engine(const struct sql_migration *m);

#endif
