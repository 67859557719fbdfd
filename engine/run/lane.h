/* lane.h - a lane: one store connection, with the leases taken by it and the pages read under them.
 * Each lane, when it has nothing better to do, opens a target and takes leases of it; under a lease
 * it reads pages, hands them to the pool, settles the answers and finishes the bucket. It carries
 * one call at a time, and never waits. */
#ifndef PRESCIENT_LANE_H
#define PRESCIENT_LANE_H

#include "lane_state.h"

void lane_init(struct lane *l, const struct lane_env *env, int number);
void lane_release(struct lane *l);

/* as far as it goes without waiting */
void lane_drive(struct lane *l);
/* Sets its alarm: when it has to be driven again at the latest. At the end of each turn, since what
 * workers have answered meanwhile may give it something to do. */
void lane_set_alarm(struct lane *l);
bool lane_is_idle(const struct lane *l);

/* ---- what a lane does next ---- */

struct lane_view {                  /* all that the decision rests on */
    bool stopping;
    bool hurries;                   /* stopping, and by a certain time */
    bool workers_idle;              /* they have nothing to run */
    bool workers_broken;            /* none gets ready: nothing can be run */
    bool renew_due, settle_due;
    bool take_places_due, renew_places_due, return_places_due;     /* of concurrency keys */
    bool last_due;                  /* an answer that could not be written, or checks that are put off */
    bool can_read;                  /* a bucket is not exhausted and there is room for a page */
    bool can_put_off;               /* the same, and checks are only put off there */
    bool can_finish;                /* a bucket is exhausted and all its pages are over */
    bool can_give_back;             /* the same, of urgent checks, in a first round */
    bool can_open;                  /* a target is waiting and there is room for a lease */
    bool has_errand;
    bool is_urgent;                 /* the errand comes before other slots, whatever leases are held */
    bool has_leases, has_pages;
    bool only_puts_off;             /* in all buckets whose leases it has */
};
enum lane_action lane_decide(const struct lane_view *view);

#endif
