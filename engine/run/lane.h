/* lane.h - between the files of a lane: lane.c decides and drives, lane_calls.c makes the calls,
 * lane_runs.c keeps what they brought. All of it belongs to one lane and is called by its engine's
 * loop alone. */
#ifndef PRESCIENT_LANE_H
#define PRESCIENT_LANE_H

#include "engine.h"

/* ---- lane_calls.c ---- */

struct lane_move {
    void (*begin)(struct lane *l);          /* fills l->req and sends it */
    void (*end)(struct lane *l, int rc);    /* rc: 0 or a negative ERR_; l->req.call.err says why */
    /* when the store refuses it, answers of jobs could not be written down either */
    bool writes;
};
extern const struct lane_move lane_moves[];         /* by enum lane_action; LANE_WAIT has none */

/* ---- lane.c ---- */

/* Sends it. A line may have died without a word, and whoever waits on it settles nothing, renews
 * nothing, and does not look for the new primary: so a call may take as long as a lease lasts. One
 * that was late may only be slow, as a look at a million rows can be: each time it gets twice as
 * long. */
void lane_send(struct lane *l, struct store_call *call);

/* Nothing is sent before a pause that grows with each failure in a row; `what` begins the line in
 * the log. */
void lane_back_off(struct lane *l, const char *what, const struct err *err);

/* A third of the shorter of lease and trust: two renewals may be lost before anything ends. */
static inline int64_t lane_renew_every_us(const struct lane *l)
{
    const struct settings *s = l->engine->o.settings;
    return (s->lease_us < s->trust_us ? s->lease_us : s->trust_us) / 3;
}

/* ---- lane_runs.c ---- */

struct bucket_run *lane_run_to_read(const struct lane *l);      /* one that has more to read; NULL: none */
/* one that is read to its end and has no page; NULL: none */
struct bucket_run *lane_run_to_finish(const struct lane *l);
int lane_waiting_checks(const struct lane *l);                  /* read, and not given to a worker yet */

void lane_page_done(struct lane *l, struct page *page);         /* all of it is settled or left; frees it */
/* frees dropped pages of which nothing runs any more */
void lane_bury_zombies(struct lane *l);
/* Stopping: what has not been started is left where it is; what runs may still answer. */
void lane_wind_down(struct lane *l);

/* There is room for it, since no more than that was asked for: a lease that is taken is not
 * forgotten for want of memory. */
void lane_start_run(struct lane *l, struct target *t, const struct lease *lease,
                    const struct lease_origin *origin);
/* it is given up or finished: pages that are left are dropped, `run` is no more */
void lane_run_over(struct lane *l, struct bucket_run *run);
/* the same, in words: another engine has its lease */
void lane_run_lost(struct lane *l, struct bucket_run *run);

/* Until when (CLOCK_BOOTTIME) checks may be started under a lease that was written by the call
 * just ended; 0: not at all. */
int64_t lane_trust_until_us(const struct lane *l);
void lane_set_trust(struct lane *l, struct bucket_run *run, int64_t start_until_us);
/* The store is there and does not take what is written: what jobs would answer now could not be
 * written down either. Nothing is started any more, in no lane, before a renewal shows that it
 * does. */
void lane_writes_refused(struct engine *e);

#endif
