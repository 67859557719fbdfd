/* statement.h - what the build knows of each statement in store_pg.sql and store_sqlite.sql: its
 * text, and the names and types of its parameters and columns (statements.awk, whose head
 * describes the .sql files).
 *
 * For a statement `renew` of PostgreSQL there are PG_RENEW, its place in pg_statements, and struct
 * pg_renew_in and struct pg_renew_out; for one of SQLite STATEMENT_RENEW, in sqlite_statements, and
 * struct sqlite_renew_in and struct sqlite_renew_out. The stores' macros (pg_send, pg_row,
 * sqlite_run, sqlite_ask, ...) take the place and a pointer to the struct that belongs to it, and
 * no other. */
#ifndef PRESCIENT_STATEMENT_H
#define PRESCIENT_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a field is in C. A text column is a const char * with its length behind it (NAME_len). */
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
    SQL_MOMENT,     /* seconds since 1970 */
    SQL_MOMENT_US,  /* microseconds since 1970 */
    SQL_INT2S,
    SQL_INT4S,
    SQL_INT8S,
    SQL_TEXTS,
    SQL_UUIDS,      /* 16 bytes each, one behind the other */
    SQL_MOMENTS,
    SQL_MOMENTS_US,
    SQL_TYPES
};

/* Arrays. Where one may be NULL, `v` NULL is that. */
struct sql_int2s { int n; const int16_t *v; };
struct sql_int4s { int n; const int32_t *v; };
struct sql_int8s { int n; const int64_t *v; };
struct sql_uuids { int n; const unsigned char *v; };
struct sql_texts { int n; const char *const *v; };

/* A parameter or a column, and where it stands in its struct. */
struct sql_field { const char *name; uint8_t type; bool may_be_null; uint16_t offset; };

struct sql_statement {
    const char *name, *text;
    const char *types;                  /* of its parameters, as SQL, with commas */
    const struct sql_field *in, *out;
    int nin, nout;
    unsigned forms;                     /* those it comes in: these rows follow its own */
    bool is_report, writes;             /* it may be asked for by name; it changes something */
    bool is_prepared;                   /* a report that is asked for often */
    bool is_script;                     /* several commands */
};

/* How many rows the statement in the form `wanted` stands behind the plain one. Forms that it does
 * not come in are no matter. */
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

/* The argument, when it is a pointer to the struct of `statement`; anything else does not compile.
 * NULL where it has no parameters. */
#define SQL_IN(statement, ...) _Generic((__VA_ARGS__), statement##_IN *: (__VA_ARGS__))
#define SQL_OUT(statement, ...) _Generic((__VA_ARGS__), statement##_OUT *: (__VA_ARGS__))

#endif
