/* store_pg_wire.h - parameters and columns in PostgreSQL's binary format, from and to the structs
 * that the build makes of each statement (statement.h). The format is that of the types' send and
 * receive functions, in network byte order (PostgreSQL manual, "Message Formats", and
 * src/backend/utils/adt). */
#ifndef PRESCIENT_STORE_PG_WIRE_H
#define PRESCIENT_STORE_PG_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/arena.h"
#include "../pg/libpq.h"
#include "statement.h"

#define WIRE_PARAMS_MAX 32
#define WIRE_TIMESTAMP_EPOCH_S 946684800LL      /* 2000-01-01, PostgreSQL's epoch */

struct wire_params {
    int n;
    const char *values[WIRE_PARAMS_MAX];
    int lengths[WIRE_PARAMS_MAX], formats[WIRE_PARAMS_MAX];
    Oid types[WIRE_PARAMS_MAX];
    char scalars[WIRE_PARAMS_MAX][8];
};

Oid wire_type(enum sql_type type);

/* Encodes `in`, which consists of these fields. Arrays are encoded into `a`; texts and uuids are
 * not copied. False: out of memory, or a pointer is NULL that must not be. */
bool wire_put(struct wire_params *p, struct arena *a, const struct sql_field *fields, int n, const void *in);

/* Fills `out`, which consists of these fields, from a row of a binary result. Texts stay in the
 * result, arrays go to `a`. NULL becomes 0, false, NULL or an empty array. False: another number of
 * columns, a value of another type, a NULL that is not allowed (from an unknown server), or out of
 * memory. */
bool wire_get(const PGresult *r, int row, struct arena *a, const struct sql_field *fields, int n, void *out);

/* Big-endian numbers as in a row or a COPY. */
int64_t wire_int8(const char *p);
int32_t wire_int4(const char *p);
void wire_put_int8(char *p, int64_t v);
void wire_put_int4(char *p, int32_t v);
void wire_put_int2(char *p, int16_t v);

#endif
