/* lane_state.h - what the files of a lane share: its call under way, its leases, its pages. lane.c
 * decides and drives, lane_calls.c makes the calls (lane_open.c the one that opens a slot),
 * lane_send.c sends them and backs off, lane_buckets.c keeps what they brought. */
#ifndef PRESCIENT_LANE_STATE_H
#define PRESCIENT_LANE_STATE_H

#include "lane_env.h"
#include "leased_bucket.h"
#include "settle.h"

/* Leases are taken a few at a time. Those whose pages only wait for slow jobs are many more at
 * most: a hanging check must not keep a lane from its other buckets. */
enum { LANE_TAKE = 4, LANE_BUCKETS = 32, LANE_PAGES = 64 };

enum lane_action {
    LANE_WAIT, LANE_OPEN, LANE_RENEW, LANE_READ, LANE_SETTLE, LANE_FINISH, LANE_GIVE_BACK, LANE_RELEASE,
    LANE_ERRAND, LANE_TAKE_PLACES, LANE_RENEW_PLACES, LANE_RETURN_PLACES, LANE_ACTIONS
};

struct lane {
    int number;
    const struct lane_env *env;
    struct store *store;
    enum lane_action doing;         /* the call under way; LANE_WAIT: none */
    union {
        struct store_call call;
        struct store_open_slot open;
        struct store_renew renew;
        struct store_release release;
        struct store_read_page read;
        struct store_settle settle;
        struct store_finish finish;
        struct store_take_places take_places;
        struct store_renew_places renew_places;
        struct store_return_places return_places;
        union errand_request errand;
    } req;
    /* the first `nbuckets` are leased, the others' room is free */
    struct leased_bucket *buckets[LANE_BUCKETS], room[LANE_BUCKETS];
    int nbuckets;
    struct page *pages, *zombies;   /* zombies: dropped, but a worker still runs a check of them */
    int npages;
    struct agenda settles;          /* when answers of its pages are to be settled */
    struct alarm wake;              /* in the engine's agenda: when it has to be driven */
    struct target *opening;
    int begun;                      /* so many parts of its slot (phases.h), when that was asked */
    struct leased_bucket *bucket;   /* that the read or finish under way is for */
    struct settler settler;
    int64_t sent_boot_us;           /* when the lease was asked for or renewed */
    int64_t renewed_us;             /* monotonic */
    /* a call was lost, and perhaps the database with the leases it had given: renewed before they
     * are used */
    bool in_doubt;
    struct lease leases[LANE_BUCKETS];      /* of the renewal or release under way */
    /* of the call that gives some back, and what was run under them */
    struct leased_bucket *given_back[LANE_BUCKETS];
    int ngiven_back;
    struct pass_counts given_back_counts;
    struct lease watched[WATCH_MAX];        /* of the open under way */
    int64_t retry_us;               /* backing off: nothing is sent before */
    int failures;                   /* in a row, renewals and reads between them aside */
    enum lane_action failing;       /* what failed last */
    /* By what was called, an errand by its kind: how often in a row it failed. Another call that
     * works says nothing about it. */
    uint8_t failed[LANE_ACTIONS + ERRANDS];
    int sent;                       /* the place there of the call that was sent last */
    /* by what it does: how often in a row the answer did not come in its time */
    uint8_t late[LANE_ACTIONS];
};

struct lanes { struct lane *all; int n; };

static inline int64_t lane_now_us(const struct lane *l)
{
    return clock_mono_us(l->env->clock);
}

/* The store counts a lease in whole seconds. */
static inline int lane_lease_s(const struct lane *l)
{
    return (int)((l->env->settings->lease_us + 999999) / 1000000);
}

/* A corrupt block keeps many rows and buckets of a slot: the first line in the log is enough, and
 * another one after growing pauses. */
static inline bool lane_may_log_slot(const struct lane *l, int64_t slot)
{
    return cooldown_may_log(l->env->cooldowns, cooldown_of(COOLDOWN_SLOT, slot), lane_now_us(l));
}

#endif
