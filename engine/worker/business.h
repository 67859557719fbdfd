/* business.h - the database that jobs query: one connection a worker, opened for the first query,
 * read-only, each query within the time that its check still has. One struct of functions;
 * PostgreSQL and SQLite implement it. */
#ifndef PRESCIENT_BUSINESS_H
#define PRESCIENT_BUSINESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../include/prescient/job.h"
#include "../base/arena.h"
#include "../base/err.h"

struct business_options {
    const char *url;                    /* "sqlite:FILE", "postgresql://...", or a libpq keyword string */
    bool unprepared;                    /* no prepared statements */
    int64_t connect_timeout_us;         /* at most, within the query's deadline. 0: up to that */
};

struct business;

/* No I/O. ERR_SETTINGS when the URL is of no known kind. The strings of `options` are copied. */
int business_new(const struct business_options *options, struct business **out, struct err *err);
void business_free(struct business *b);                     /* closes; NULL is fine */
const char *business_dialect(const struct business *b);     /* "postgresql" or "sqlite" */

/* Parameters $1 ... $n as text. `deadline_us` is CLOCK_BOOTTIME; past it: ERR_BUSY. A lost
 * connection is opened again once. *rows live until the next query or business_free. */
int business_query(struct business *b, const char *sql, const struct prescient_value *params, int n,
                   int64_t deadline_us, const struct prescient_rows **rows, struct err *err);

/* ---- for the backends ---- */

struct business_ops {
    const char *dialect;
    bool (*claims)(const char *url);
    int (*open)(const struct business_options *options, struct business **out, struct err *err);
    void (*close)(struct business *b);
    int (*query)(struct business *b, const char *sql, const struct prescient_value *params, int n,
                 int64_t deadline_us, struct err *err);
};

extern const struct business_ops business_pg_ops, business_sqlite_ops;

struct business {                       /* each backend's struct begins with it */
    const struct business_ops *ops;
    struct arena *arena;                /* the rows of the last query; a backend fills `rows` from it */
    struct prescient_rows rows;
};

/* CLOCK_BOOTTIME in microseconds, and the time until a deadline in whole milliseconds (0: it has
 * passed). */
int64_t business_now_us(void);
int business_remaining_ms(int64_t deadline_us);

#endif
