/* lane_env.h - what a lane is given of its engine: the parts that lanes share, and where it reports
 * what concerns others. */
#ifndef PRESCIENT_LANE_ENV_H
#define PRESCIENT_LANE_ENV_H

#include "../base/agenda.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/settings.h"
#include "../pool/pool.h"
#include "../rules/retry.h"
#include "../rules/terms.h"
#include "clocks.h"
#include "cooldown.h"
#include "counts.h"
#include "errand.h"
#include "health.h"
#include "jobs.h"
#include "pace.h"
#include "pausing.h"
#include "long_runs.h"
#include "places.h"
#include "run_hours.h"
#include "shutdown.h"
#include "targets.h"
#include "trouble.h"
#include "watch.h"
#include "zones.h"

struct lanes;

struct lane_events {
    /* Nothing of the target is left to take and no lane holds a lease of it. It is freed. */
    void (*target_over)(void *ctx, struct target *target);
    void (*errand_done)(void *ctx, const struct errand_result *result);
    /* A failure that waiting does not heal. */
    void (*fatal)(void *ctx, int rc, const char *text);
    void *ctx;
};

struct lane_env {
    const struct settings *settings;
    struct log *log;
    const struct clock *clock;
    bool patient;                   /* a daemon */
    bool leaves_deliveries;         /* a replay that sends nothing */
    const unsigned char *owner;     /* of our leases */
    const struct lanes *lanes;      /* all of them */
    struct agenda *agenda;          /* when anything has to be done next */
    struct pool *pool;
    struct clocks *clocks;
    struct targets *targets;
    struct watch *watch;
    struct cooldowns *cooldowns;
    struct health *health;
    struct jobs *jobs;
    struct pace *pace;
    struct pausing *pausing;
    struct places *places;
    struct run_hours *run_hours;
    struct long_runs *long_runs;
    struct measuring *measuring;
    struct errands *errands;
    const struct shutdown *shutdown;
    struct totals *totals;
    struct trouble *trouble;
    struct zones *zones;
    struct terms_memo *terms_memo;
    uint64_t *random;
    struct lane_events events;
};

#endif
