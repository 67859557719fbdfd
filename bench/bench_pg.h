/* bench_pg.h - shared by bench_pg.c (places, rows, costs) and bench_pg_bare.c (the bare SQL). */
#ifndef PRESCIENT_BENCH_PG_H
#define PRESCIENT_BENCH_PG_H

#include <libpq-fe.h>
#include "bench.h"

struct bench_db {
    PGconn *control, *snapshot;
    bool holds_place;           /* we created the schema, so we drop it */
    int postmaster;             /* its pid; 0: on another machine or not visible */
};

PGconn *bench_pg_connect(const struct bench *b, struct err *err);
int bench_pg_fail(PGconn *conn, const PGresult *result, const char *what, struct err *err);
int bench_pg_bare(struct bench *b, enum bench_bare what, int connections, struct bench_figures *out,
                  struct err *err);

#endif
