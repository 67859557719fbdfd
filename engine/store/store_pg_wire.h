/* store_pg_wire.h - parameters and columns of PostgreSQL in its binary format: from and to the
 * structs that the build makes of each statement (statement.h). */
#ifndef PRESCIENT_STORE_PG_WIRE_H
#define PRESCIENT_STORE_PG_WIRE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include "../base/arena.h"
#include "statement.h"

#define WIRE_PARAMS_MAX 32
#define WIRE_TIMESTAMP_EPOCH_S 946684800LL      /* 2000-01-01, where PostgreSQL counts from */

struct wire_params {
    int n;
    const char *values[WIRE_PARAMS_MAX];
    int lengths[WIRE_PARAMS_MAX], formats[WIRE_PARAMS_MAX];
    Oid types[WIRE_PARAMS_MAX];
    char scalars[WIRE_PARAMS_MAX][8];
};

Oid wire_type(enum sql_type type);

/* Encodes `in`, which has these fields. Arrays go to `a`, texts and uuids stay where they are.
 * False when out of memory, or when a pointer is NULL that must not be. */
bool wire_put(struct wire_params *p, struct arena *a, const struct sql_field *fields, int n, const void *in);

/* Fills `out`, which has these fields, from a row of a binary result. Texts stay in the result,
 * arrays go to `a`. NULL reads as 0, false, NULL or an empty array. False when the result has
 * another number of columns, when a value is not of its type or NULL where none may be (a server
 * that we do not know), or when memory is out. */
bool wire_get(const PGresult *r, int row, struct arena *a, const struct sql_field *fields, int n, void *out);

/* Big endian numbers as they stand in a row or a COPY. */
int64_t wire_int8(const char *p);
int32_t wire_int4(const char *p);
void wire_put_int8(char *p, int64_t v);
void wire_put_int4(char *p, int32_t v);
void wire_put_int2(char *p, int16_t v);

#endif
