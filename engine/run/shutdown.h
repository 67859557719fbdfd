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

void shutdown_begin(struct shutdown *s, int64_t until_us); /* of several times the earliest counts */
void shutdown_end(struct shutdown *s, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
