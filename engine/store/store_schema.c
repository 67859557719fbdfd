/* store_schema.c - the migrations as one script, for those who apply them by their own tool. */
#include "store_schema.h"

#include <stdlib.h>
#include <string.h>

#include "migrate.h"
#include "store_pg.h"

/* A kind of store: what comes before its migrations, and the row that is noted of each. */
struct kind {
    const char *scheme;
    const struct sql_migration *steps;
    const char *begin, *note, *now;
    const char *length, *length_end;            /* what sets the slot length, around the seconds */
};

#define ROLES                                                                                                \
    "-- As the role that is to own the schema, which need not be a superuser:\n"                            \
    "--   psql -v ON_ERROR_STOP=1 -f FILE\n"                                                                \
    "-- It needs CREATE on the database. If it may not create roles, have these created first:\n"           \
    "-- prescient_enqueuer, prescient_engine, prescient_reader.\n"

static const struct kind kinds[] = {
    { "postgresql", migrations_pg, ROLES "BEGIN;\nSET LOCAL search_path = pg_catalog, pg_temp;\n"
      "SET LOCAL standard_conforming_strings = on;\n",
      "INSERT INTO prescient.migration (version, name, sha256, oldest_engine, applied_at)",
      "clock_timestamp()", "SELECT prescient.set_slot_length(", ");\n" },
    { "sqlite", migrations_sqlite, "-- On an empty file: sqlite3 -bail FILE < SCRIPT\nBEGIN IMMEDIATE;\n",
      "INSERT INTO prescient_migration (version, name, checksum, oldest_engine, applied_at_us)",
      "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)",
      "UPDATE prescient_setting SET value = ", " WHERE name = 'slot_length_s';\n" },
};

/* In the schema `name`; NULL: as it is. */
static int write_text(const char *text, const char *name, FILE *out, struct err *err)
{
    char *named = name ? pg_with_schema(text, name) : NULL;
    if (name && !named)
        return err_set(err, ERR_NOMEM, "out of memory");
    fputs(named ? named : text, out);
    free(named);
    return 0;
}

static int write_migration(const struct kind *kind, const struct sql_migration *m, const char *name,
                           FILE *out, struct err *err)
{
    char sha256[CHECKSUM_SIZE];
    fputc('\n', out);
    int rc = write_text(m->text, name, out, err);
    if (rc == 0)
        rc = write_text(kind->note, name, out, err);
    fingerprint_checksum(m->text, sha256);
    fprintf(out, "\n    VALUES (%d, '%s', '%s', %d, %s);\n", m->version, m->name, sha256,
            migrate_oldest_engine(m), kind->now);
    return rc;
}

/* What migrations of PostgreSQL find: in SQLite, the first one makes its own place. */
static int write_place(const char *name, FILE *out, struct err *err)
{
    static const enum pg_statement place[] = { PG_MAKE_SCHEMA, PG_MAKE_MIGRATION_TABLE };
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        int rc = write_text(pg_statements[place[i]].text, name, out, err);
        if (rc < 0)
            return rc;
        fputs(";\n", out);
    }
    return 0;
}

static int write_slot_length(const struct kind *kind, const struct schema_wish *wish, const char *name,
                             FILE *out, struct err *err)
{
    if (!wish->slot_length_s)
        return 0;
    fputc('\n', out);
    int rc = write_text(kind->length, name, out, err);
    fprintf(out, "%d%s", wish->slot_length_s, kind->length_end);
    return rc;
}

static int write_kind(const struct kind *kind, const struct schema_wish *wish, FILE *out, struct err *err)
{
    bool is_pg = kind->steps == migrations_pg;
    const char *name = wish->schema ? wish->schema : "prescient";
    int rc = 0;
    if (!is_pg)
        name = NULL;                    /* SQLite has no schemas */
    fputs(kind->begin, out);
    if (is_pg)
        rc = write_place(name, out, err);
    for (const struct sql_migration *m = kind->steps; m->name && rc == 0; m++)
        rc = write_migration(kind, m, name, out, err);
    if (rc == 0)
        rc = write_slot_length(kind, wish, name, out, err);
    fputs("\nCOMMIT;\n", out);
    return rc;
}

int store_schema_write(const struct schema_wish *wish, FILE *out, struct err *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].scheme, wish->scheme))
            return write_kind(&kinds[i], wish, out, err);
    return err_set(err, ERR_NOTFOUND, "there is no kind of store '%s'", wish->scheme);
}
