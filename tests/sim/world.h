/* world.h - one simulated world: hosts with engines, workers and clocks, one database, an
 * application, and simulated time. Everything is an event on one queue, and the order of events
 * follows from the seed alone. */
#ifndef PRESCIENT_SIM_WORLD_H
#define PRESCIENT_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../engine/base/settings.h"
#include "mistakes.h"

#define SECOND_US 1000000LL
#define MS_US 1000LL

enum {
    HOSTS_MAX = 3,
    KEYS_MAX = 128,
    JOBS = 3,
    SCHEDULES_MAX = 4,
    CONCURRENCY_MAX = 3,            /* concurrency keys */
    VIOLATION_SIZE = 400,
    LEASE_MOST_S = 12
};

/* What worlds count: a rule that nothing was judged by has not held. */
enum counted {
    TALLY_RUNS,
    TALLY_KEYED_RUNS,
    TALLY_PLACES,
    TALLY_BUSY,
    TALLY_READ_URGENT,
    TALLY_READ_SMALL,
    TALLY_AFTER_ROUNDS,
    TALLY_SPREAD,
    TALLIES
};

struct world;
struct db;
struct host;
struct checker;
struct app;
struct faults;
struct network;

/* The caller chooses `tag`, and finds events that are out of date by it. */
typedef void (*event_fn)(struct world *w, void *arg, uint64_t tag);

struct event {
    int64_t at_us;
    uint64_t order;                 /* of events at the same time: the one made first goes first */
    event_fn run;
    void *arg;
    uint64_t tag;
};

/* The shape of this world, drawn from the seed. */
struct shape {
    int32_t slot_length_s;
    int hosts, checks, slots;       /* checks are filed into this many slots */
    bool pauses;                    /* jobs and schedules are paused and resumed */
    int schedules;                  /* the first checks are those of schedules */
    int64_t lease_us, trust_us;
    int split_at;
    bool calm;                      /* no faults at all: stricter rules hold then */
    bool app_writes;                /* applications change things while engines run */
    bool asks_at_once;              /* applications ask for checks in the next second */
    bool jobs_misbehave, jobs_are_slow;
    bool unknown_job;               /* most engines lack the first job or the last */
    bool only_kills;                /* the only faults are kills, and one engine survives */
    bool only_locks;                /* the only faults are locks on the opening of a slot */
    int attempts;                   /* of every job, in a slot */
    bool urgent;                    /* many of the first checks are urgent, and slots are split */
    int32_t pace_s;                 /* full slots are spread over so many seconds; 0: they are not */
    int64_t pace_ends_us;           /* by then they are not spread any more; 0: they are to the end */
    int concurrency_keys;           /* more than half of the checks have one of so many; 0: none has */
    bool prompt;                    /* the delay of a check has a known bound */
};

struct world {
    uint64_t seed, random;
    int64_t began_us, now_us;       /* true time: the simulated clocks differ from it */
    int64_t quiet_us;               /* no faults from then on */
    struct shape shape;
    const bool *wrong;              /* the planted mistakes, by enum mistake */
    const struct settings *settings;        /* the base settings of all engines */
    int64_t *tallies;               /* TALLIES of them */
    FILE *out;                      /* the story; NULL: no output */
    struct event *events;           /* a heap */
    int nevents, room;
    uint64_t made;
    struct db *db;
    struct host *hosts;             /* HOSTS_MAX of them */
    struct app *app;
    struct faults *faults;
    struct network *network;
    struct checker *checker;
    bool over;
    char violation[VIOLATION_SIZE]; /* the first broken rule; "": none */
    int64_t done_us;                /* when all was done */
};

/* What all worlds have in common. `tallies` are added to. */
struct world_options {
    const struct settings *settings;
    const bool *wrong;
    FILE *out;
    int64_t *tallies;
};

/* Runs one world from its beginning to its end. True when every rule held; else `violation`
 * describes the broken one. */
bool world_run(uint64_t seed, const struct world_options *options, char violation[VIOLATION_SIZE]);

void world_at(struct world *w, int64_t at_us, event_fn run, void *arg, uint64_t tag);
static inline void world_after(struct world *w, int64_t us, event_fn run, void *arg, uint64_t tag)
{
    world_at(w, w->now_us + us, run, arg, tag);
}

uint64_t world_random(struct world *w);
int64_t world_between(struct world *w, int64_t least, int64_t most);       /* both included */
bool world_chance(struct world *w, int per_mille);
static inline void world_count(struct world *w, enum counted what) { w->tallies[what]++; }
static inline bool world_is_quiet(const struct world *w) { return w->now_us >= w->quiet_us; }
static inline int64_t world_slot_us(const struct world *w) { return w->shape.slot_length_s * SECOND_US; }

/* One line of the story. */
void world_write_line(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define world_log(w, ...) do { if ((w)->out) world_write_line((w), __VA_ARGS__); } while (0)

/* A rule is broken: the world ends here. */
void world_violate(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
