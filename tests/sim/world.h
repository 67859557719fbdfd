/* world.h - one simulated world: hosts with engines, workers and clocks, one database, an
 * application, and time that is only counted. All that happens is an event on one queue, and their
 * order follows from the seed alone. */
#ifndef PRESCIENT_SIM_WORLD_H
#define PRESCIENT_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../engine/base/settings.h"
#include "mistakes.h"

#define SECOND_US 1000000LL
#define MS_US 1000LL

enum { HOSTS_MAX = 3, KEYS_MAX = 128, JOBS = 3, WORLD_WORDS = 400, LEASE_MOST_S = 12 };

struct world;
struct db;
struct host;
struct checker;
struct app;
struct faults;
struct network;

/* `tag` is the caller's: an event that is out of date knows itself by it. */
typedef void (*event_fn)(struct world *w, void *arg, uint64_t tag);

struct event {
    int64_t at_us;
    uint64_t order;                 /* of those at the same moment: the earlier made goes first */
    event_fn run;
    void *arg;
    uint64_t tag;
};

/* What this world is like. All of it is drawn from the seed. */
struct shape {
    int32_t slot_length_s;
    int hosts, checks, slots;       /* checks are filed over so many slots */
    int64_t lease_us, trust_us;
    int split_at;
    bool calm;                      /* no fault at all: more is asked then */
    bool app_writes;                /* applications change things while engines run */
    bool jobs_misbehave, jobs_are_slow;
    bool only_kills;                /* the only faults are kills, and one engine is spared */
    bool only_locks;                /* the only faults are locks on what the opening of a slot needs */
    bool prompt;                    /* how late a check may begin can be told */
};

struct world {
    uint64_t seed, random;
    int64_t began_us, now_us;       /* true time, which no clock in here shows */
    int64_t quiet_us;               /* from then on nothing goes wrong any more */
    struct shape shape;
    const bool *wrong;              /* by enum mistake: what the simulated parts do wrong on purpose */
    const struct settings *settings;        /* what all engines start from */
    FILE *out;                      /* the story; NULL: nobody listens */
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
    char violation[WORLD_WORDS];    /* the first rule that was broken; "": none */
    int64_t done_us;                /* when all was done */
};

/* Lives one world from its beginning to its end. True when every rule held; else `words` says
 * which did not. */
bool world_live(uint64_t seed, const struct settings *settings, const bool *wrong, FILE *out,
                char words[WORLD_WORDS]);

void world_at(struct world *w, int64_t at_us, event_fn run, void *arg, uint64_t tag);
static inline void world_after(struct world *w, int64_t us, event_fn run, void *arg, uint64_t tag)
{
    world_at(w, w->now_us + us, run, arg, tag);
}

uint64_t world_random(struct world *w);
int64_t world_between(struct world *w, int64_t least, int64_t most);       /* both included */
bool world_chance(struct world *w, int per_mille);
static inline bool world_is_quiet(const struct world *w) { return w->now_us >= w->quiet_us; }
static inline int64_t world_slot_us(const struct world *w) { return w->shape.slot_length_s * SECOND_US; }

/* One line of the story. */
void world_say(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define world_tell(w, ...) do { if ((w)->out) world_say((w), __VA_ARGS__); } while (0)

/* A rule is broken: the world ends here. */
void world_violate(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
