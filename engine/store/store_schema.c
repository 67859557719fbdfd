/* store_schema.c - the migrations as one script, for those who apply them by their own tool. */
#include "store_schema.h"

#include <stdlib.h>
#include <string.h>

#include "migrate.h"
#include "schema_statement.h"
#include "store_pg.h"

/* A kind of store: what comes before its migrations, and the row that is noted of each. */
struct kind {
    const char *scheme;
    const struct sql_migration *steps;
    const char *begin, *note, *now;
    const char *length, *length_end;            /* what sets the slot length, around the seconds */
    const char *again;                          /* what comes before objects that are made again */
};

#define BEGIN_PG                                                                                             \
    "BEGIN;\nSET LOCAL search_path = pg_catalog, pg_temp;\nSET LOCAL standard_conforming_strings = on;\n"

#define ROLES                                                                                                \
    "-- As the role that is to own the schema, which need not be a superuser:\n"                            \
    "--   psql -v ON_ERROR_STOP=1 -f FILE\n"                                                                \
    "-- It needs CREATE on the database. If it may not create roles, have these created first:\n"           \
    "-- prescient_enqueuer, prescient_operator, prescient_engine, prescient_reader.\n"

static const struct kind kinds[] = {
    { "postgresql", migrations_pg, ROLES BEGIN_PG,
      "INSERT INTO prescient.migration (version, name, sha256, oldest_engine, applied_at)",
      "clock_timestamp()", "SELECT prescient.set_slot_length(", ");\n",
      "-- As the owner of the schema: psql -v ON_ERROR_STOP=1 -f FILE\n"
      "-- Then prescient init gives the rights.\n"
      BEGIN_PG },
    { "sqlite", migrations_sqlite, "-- On an empty file: sqlite3 -bail FILE < SCRIPT\nBEGIN IMMEDIATE;\n",
      "INSERT INTO prescient_migration (version, name, checksum, oldest_engine, applied_at_us)",
      "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)",
      "UPDATE prescient_setting SET value = ", " WHERE name = 'slot_length_s';\n",
      "BEGIN IMMEDIATE;\n" },
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

/* ---- some objects, again --------------------------------------------------------------------- */

/* How a kind of object is made where it may be there. A trigger may not on PostgreSQL, as 13 cannot
 * replace one. */
static const struct { const char *kind, *pg, *sqlite; } again[] = {
    { "FUNCTION", "OR REPLACE FUNCTION ", "" },
    { "VIEW", "OR REPLACE VIEW ", "VIEW IF NOT EXISTS " },
    { "TRIGGER", "TRIGGER ", "TRIGGER IF NOT EXISTS " },
    { "INDEX", "INDEX IF NOT EXISTS ", "INDEX IF NOT EXISTS " },
};
enum { KINDS_AGAIN = sizeof again / sizeof *again };

static int again_named(const char *kind)
{
    for (int i = 0; i < KINDS_AGAIN; i++)
        if (!strcmp(again[i].kind, kind))
            return i;
    return -1;
}

/* Whether `name` is one of those with commas between them. */
static bool is_among(const char *names, const char *name, size_t length)
{
    for (;; names++) {
        size_t n = strcspn(names, ",");
        if (n == length && !memcmp(names, name, n))
            return true;
        names += n;
        if (!*names)
            return false;
    }
}

static const char *head_of(bool is_pg, const char *kind)
{
    int i = again_named(kind);
    return is_pg ? again[i].pg : again[i].sqlite;
}

static int write_again(bool is_pg, const struct schema_statement *s, const char *name, FILE *out,
                       struct err *err)
{
    int from = s->is_comment ? 0 : s->name_at;
    if (!s->is_comment)
        fprintf(out, "CREATE %s%s", s->is_unique ? "UNIQUE " : "", head_of(is_pg, s->kind));
    char *text = strndup(s->text + from, (size_t)(s->length - from));
    int rc = text ? write_text(text, name, out, err) : err_set(err, ERR_NOMEM, "out of memory");
    fputc('\n', out);
    free(text);
    return rc;
}

/* The migrations make it, with the slot length of a new schema. */
static int write_slot_length_again(const char *only, const char *name, FILE *out, struct err *err)
{
    static const char function[] = "slot_length_s";
    if (!is_among(only, function, strlen(function)))
        return 0;
    int rc = write_text(pg_statements[PG_SLOT_LENGTH_AGAIN].text, name, out, err);
    fputs(";\n", out);
    return rc;
}

/* Whether the migrations make an object of this name that can be made again. A table and a function
 * may have one name. */
static int require_object(const struct kind *kind, const char *name, size_t length, struct err *err)
{
    struct schema_statement s;
    char lost[SCHEMA_NAME_SIZE] = "";
    for (const struct sql_migration *m = kind->steps; m->name; m++)
        for (const char *at = m->text; (at = schema_statement_next(at, &s));) {
            if (!length || s.is_comment || strlen(s.name) != length || memcmp(s.name, name, length) != 0)
                continue;
            if (again_named(s.kind) >= 0)
                return 0;
            memcpy(lost, s.kind, sizeof lost);
        }
    if (*lost)
        return err_set(err, ERR_INPUT, "--only: %s %.*s is not made again, as what it held would be missing: "
                       "restore a backup", lost, (int)length, name);
    return err_set(err, ERR_INPUT, "--only: the schema has no function, view, trigger or index '%.*s'",
                   (int)length, name);
}

static int require_objects(const struct kind *kind, const char *only, struct err *err)
{
    int rc = 0;
    for (const char *at = only; rc == 0; at++) {
        size_t n = strcspn(at, ",");
        rc = require_object(kind, at, n, err);
        at += n;
        if (!*at)
            break;
    }
    return rc;
}

/* The comments on its columns, too: a view that was dropped has lost them. */
static bool is_wanted_again(const struct schema_statement *s, const char *only)
{
    bool is_column = s->is_comment && !strcmp(s->kind, "COLUMN");
    return (is_column || again_named(s->kind) >= 0) && is_among(only, s->name, strlen(s->name));
}

static int write_only(const struct kind *kind, const struct schema_wish *wish, const char *name, FILE *out,
                      struct err *err)
{
    struct schema_statement s;
    bool is_pg = kind->steps == migrations_pg;
    int rc = require_objects(kind, wish->only, err);
    if (rc == 0)
        fputs(kind->again, out);
    for (const struct sql_migration *m = kind->steps; m->name && rc == 0; m++)
        for (const char *at = m->text; rc == 0 && (at = schema_statement_next(at, &s));)
            if (is_wanted_again(&s, wish->only))
                rc = write_again(is_pg, &s, name, out, err);
    if (rc == 0 && is_pg)
        rc = write_slot_length_again(wish->only, name, out, err);
    if (rc == 0)
        fputs("COMMIT;\n", out);
    return rc;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int write_kind(const struct kind *kind, const struct schema_wish *wish, FILE *out, struct err *err)
{
    bool is_pg = kind->steps == migrations_pg;
    const char *name = wish->schema ? wish->schema : "prescient";
    int rc = 0;
    if (!is_pg)
        name = NULL;                    /* SQLite has no schemas */
    if (wish->only)
        return write_only(kind, wish, name, out, err);
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

static const struct kind *kind_of(const char *scheme)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].scheme, scheme))
            return &kinds[i];
    return NULL;
}

int store_schema_newest(const char *scheme)
{
    const struct kind *kind = kind_of(scheme);
    return kind ? migrate_newest(kind->steps) : 0;
}

int store_schema_write(const struct schema_wish *wish, FILE *out, struct err *err)
{
    const struct kind *kind = kind_of(wish->scheme);
    if (!kind)
        return err_set(err, ERR_NOTFOUND, "there is no kind of store '%s'", wish->scheme);
    return write_kind(kind, wish, out, err);
}
