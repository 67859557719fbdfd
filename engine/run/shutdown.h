/* shutdown.h - whether this engine is to stop, and with which result it ends. */
#ifndef PRESCIENT_SHUTDOWN_H
#define PRESCIENT_SHUTDOWN_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/err.h"

struct shutdown {
    bool stopping;                  /* what runs is finished, nothing new is taken */
    int64_t until_us;               /* monotonic; then jobs that still run are ended */
    /* They were ended: that says nothing about their checks. */
    bool jobs_killed;
    bool ended;                     /* the loop is over */
    int rc;
    struct err err;
};

/* A time that never comes: what runs ends by its own timeouts. */
#define SHUTDOWN_IN_ITS_TIME (INT64_MAX / 2)

/* It is to stop by a certain time. One that stops in its time has as much as one that goes on. */
static inline bool shutdown_hurries(const struct shutdown *s)
{
    return s->stopping && s->until_us < SHUTDOWN_IN_ITS_TIME;
}

/* It takes nothing new, and has the time to finish what it has begun. */
static inline bool shutdown_leaves(const struct shutdown *s)
{
    return s->stopping && !shutdown_hurries(s);
}

void shutdown_begin(struct shutdown *s, int64_t until_us); /* of several times the earliest counts */
void shutdown_end(struct shutdown *s, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
