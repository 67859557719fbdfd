/* clock.h - the three clocks, behind a seam so that a test can bring its own. Durations and
 * deadlines are monotonic; the trust window counts through a suspend (boottime); the wall clock is
 * only for logs and for SQLite, whose "database clock" it is. Rules never read a clock: the time is
 * a parameter. */
#ifndef PRESCIENT_CLOCK_H
#define PRESCIENT_CLOCK_H

#include <stdint.h>

struct clock {
    int64_t (*mono_us)(void *ctx);
    int64_t (*boot_us)(void *ctx);
    int64_t (*wall_us)(void *ctx);      /* since the Unix epoch, UTC */
    void *ctx;
};

extern const struct clock clock_system;

static inline int64_t clock_mono_us(const struct clock *c) { return c->mono_us(c->ctx); }
static inline int64_t clock_boot_us(const struct clock *c) { return c->boot_us(c->ctx); }
static inline int64_t clock_wall_us(const struct clock *c) { return c->wall_us(c->ctx); }

#endif
