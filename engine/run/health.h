/* health.h - whether the store takes what is written to it. Times are monotonic but where they are
 * named boot (CLOCK_BOOTTIME). */
#ifndef PRESCIENT_HEALTH_H
#define PRESCIENT_HEALTH_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/err.h"

struct health {
    /* it has done something that an engine alone has the rights to; before, a daemon has not worked
     * once, although its store may have answered */
    bool has_worked;
    int64_t refused_boot_us;        /* when it last refused a write; 0: never */
    /* an open or a settle was lost: perhaps today's partition is missing */
    bool writes_failed;
    int64_t write_failed_us;        /* when one last was; 0: never */
    /* when a settle last met a row that another transaction holds; 0: never */
    int64_t lock_met_us;
    int64_t settled_us;             /* when it last took a settle; 0: never */
    /* Since then, settles of one check that met a corrupt block. After a few, perhaps no answer can
     * be written at all: until one is, checks are read and run one by one. */
    int unwritable;
    bool is_degraded;
    struct err last_failure;        /* of a call that is tried again; its text is "": none has failed */
    char passed_over[512];          /* the last logged reason why a host of the store did not take us */
};

/* An open or a settle was lost. */
void health_write_failed(struct health *h, int64_t now_us);
void health_settled(struct health *h, int64_t now_us);
void health_unwritable(struct health *h);
/* Nothing was written since the beginning, however often it was tried. */
bool health_is_hopeless(const struct health *h);
/* Nothing was written for a second: a lane has to pause before it tries again. */
bool health_wants_pause(const struct health *h, int64_t now_us);

/* A row that another transaction holds was met a short while ago. A lock that is met costs the lock
 * timeout, and the holder of one row often holds others. */
bool health_met_lock_lately(const struct health *h, int64_t now_us);

/* Until when checks may be started under a lease that was written by a call sent at
 * `sent_boot_us`; 0: not at all. A call that was sent before another one was refused proves
 * nothing. */
int64_t health_trust_until_us(const struct health *h, int64_t sent_boot_us, int64_t trust_us);

#endif
