/* store_pg_wire.h - parameters and columns of PostgreSQL in its binary format, driven by a format
 * of one letter a value.
 *
 *   letter  C argument                      SQL                   letter  C arguments            SQL
 *   i       int                             integer               I       int, const int32_t *   integer[]
 *   l       int64_t                         bigint                L       int, const int64_t *   bigint[]
 *   b       int                             boolean               H       int, const int16_t *   smallint[]
 *   t       const char * (NULL is NULL)     text                  T       int, char ** of texts  text[] (n < 0: NULL)
 *   m       int64_t, seconds                timestamptz           M       int, const int64_t *   timestamptz[], of seconds
 *   o       the same, 0 is NULL             timestamptz           N       the same               timestamptz[], of microseconds
 *   u       const unsigned char[16]         uuid                  U       int, unsigned char *   uuid[], 16 bytes each
 *
 * The letters of a statement's parameters are also its parameter types. Reading: i l b t m u with
 * pointers, and n for microseconds of a timestamptz, I for an integer[] (int *n, const int32_t
 * **), s for a text and its bytes (const char **, uint32_t *). NULL reads as 0, false, NULL or an
 * empty array. */
#ifndef PRESCIENT_STORE_PG_WIRE_H
#define PRESCIENT_STORE_PG_WIRE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include "../base/arena.h"

#define WIRE_PARAMS_MAX 24
#define WIRE_TIMESTAMP_EPOCH_S 946684800LL      /* 2000-01-01, where PostgreSQL counts from */

struct wire_params {
    int n;
    const char *values[WIRE_PARAMS_MAX];
    int lengths[WIRE_PARAMS_MAX], formats[WIRE_PARAMS_MAX];
};

/* Encodes the arguments into `a`. False when out of memory. */
bool wire_put(struct wire_params *p, struct arena *a, const char *letters, ...);

/* The types that `letters` stand for; returns how many. */
int wire_types(const char *letters, Oid types[WIRE_PARAMS_MAX]);

/* Reads the first columns of a row of a binary result. Texts stay in the result, arrays go to `a`.
 * False when a value is not what its letter says (a server we do not know) or memory is out. */
bool wire_get(const PGresult *r, int row, struct arena *a, const char *letters, ...);

/* Big endian numbers as they stand in a row or a COPY. */
int64_t wire_int8(const char *p);
int32_t wire_int4(const char *p);
void wire_put_int8(char *p, int64_t v);
void wire_put_int4(char *p, int32_t v);
void wire_put_int2(char *p, int16_t v);

#endif
