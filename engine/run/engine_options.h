/* engine_options.h - what an engine is made with. */
#ifndef PRESCIENT_ENGINE_OPTIONS_H
#define PRESCIENT_ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/clock.h"
#include "../base/err.h"
#include "../base/log.h"
#include "../base/settings.h"
#include "../base/supervisor.h"
#include "../store/store_slot.h"

#include "../pool/pool.h"
#include "measuring.h"

struct engine_options {
    const struct settings *settings;
    struct log *log;
    const struct clock *clock;      /* NULL: the machine's */
    int64_t virtual_now;            /* 0: the database's clock */
    bool relaxed;                   /* a replay: settles need not be on disk one by one */
    bool leaves_deliveries;         /* those that are due stay where they are, unrun */
    /* a daemon: keeps trying for ever; else a store that is away at the start ends it */
    bool patient;
    struct supervisor *supervisor;  /* who started the process, and wants to know; NULL: nobody */
    struct metrics_writer metrics;  /* who wants them once a minute, and at the end of a command */
    const char *worker_program;     /* NULL: this program */
    struct pool_kin kin;            /* whose workers are children of this process, too */
    /* The world that it stands on; a simulation brings its own. */
    const struct spawner *spawner;  /* NULL: processes */
    /* NULL: store_new */
    int (*open_store)(const struct store_options *options, struct store **out, struct err *err);
    uint64_t seed;                  /* of its name and its jitter; 0: the kernel's */
};

#endif
