/* statement.h - what the build makes of each statement in store_pg.sql and store_sqlite.sql: its
 * text, and the names and types of its parameters and columns (statements.awk, whose head describes
 * the .sql files).
 *
 * A statement `renew` of PostgreSQL becomes PG_RENEW, an index into pg_statements, and struct
 * pg_renew_in and struct pg_renew_out. One of SQLite becomes STATEMENT_RENEW, an index into
 * sqlite_statements, and struct sqlite_renew_in and struct sqlite_renew_out. The stores' macros
 * (pg_send, pg_row, sqlite_run, sqlite_ask, ...) accept an index only with a pointer to its own
 * struct. */
#ifndef PRESCIENT_STATEMENT_H
#define PRESCIENT_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of a field. A text column is a const char *, and its length follows it (NAME_len). */
enum sql_type {
    SQL_BOOL,
    SQL_INT2,
    SQL_INT4,
    SQL_INT8,
    SQL_FLOAT8,
    SQL_NUMERIC,
    SQL_TEXT,
    SQL_JSON,
    SQL_UUID,
    SQL_BYTES,      /* a parameter only */
    SQL_MOMENT,     /* seconds since 1970 */
    SQL_MOMENT_US,  /* microseconds since 1970 */
    SQL_INT2S,
    SQL_INT4S,
    SQL_INT8S,
    SQL_FLOAT8S,
    SQL_TEXTS,
    SQL_UUIDS,      /* 16 bytes each, without gaps */
    SQL_MOMENTS,
    SQL_MOMENTS_US,
    SQL_TYPES
};

struct sql_bytes { int n; const unsigned char *v; };

/* Arrays. `v` is NULL for SQL NULL, where that is allowed. */
struct sql_int2s { int n; const int16_t *v; };
struct sql_int4s { int n; const int32_t *v; };
struct sql_int8s { int n; const int64_t *v; };
struct sql_float8s { int n; const double *v; };
struct sql_uuids { int n; const unsigned char *v; };
struct sql_texts { int n; const char *const *v; };

/* A parameter or a column, and its offset in the struct. */
struct sql_field { const char *name; uint8_t type; bool may_be_null; uint16_t offset; };

struct sql_statement {
    const char *name, *text;
    const char *types;                  /* SQL types of the parameters, separated by commas */
    const struct sql_field *in, *out;
    int nin, nout;
    unsigned forms;                     /* the forms it has; their rows follow this one */
    bool is_report, writes;             /* may be asked for by name; changes data */
    bool is_prepared;                   /* a report that is asked for often: prepare it */
    bool is_script;                     /* several commands */
};

/* The distance from the plain form's row to the row of the form `wanted`. Forms that the statement
 * does not have are ignored. */
static inline int sql_form(const struct sql_statement *plain, unsigned wanted)
{
    int behind = 0, step = 1;
    for (unsigned form = 1; form <= plain->forms; form <<= 1)
        if (plain->forms & form) {
            behind += wanted & form ? step : 0;
            step <<= 1;
        }
    return behind;
}

/* The argument, if it is a pointer to the struct of `statement`; other types do not compile. NULL
 * for a statement without parameters. */
#define SQL_IN(statement, ...) _Generic((__VA_ARGS__), statement##_IN *: (__VA_ARGS__))
#define SQL_OUT(statement, ...) _Generic((__VA_ARGS__), statement##_OUT *: (__VA_ARGS__))

#endif
