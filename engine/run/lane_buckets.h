/* lane_buckets.h - what lanes hold: leased buckets, and the pages read under them. */
#ifndef PRESCIENT_LANE_BUCKETS_H
#define PRESCIENT_LANE_BUCKETS_H

#include "lane_state.h"

/* one that has more to read, and does not rest; NULL: none */
struct leased_bucket *lane_bucket_to_read(const struct lane *l);
/* when one that rests may be read again, INT64_MAX: none rests */
int64_t lane_rests_until(const struct lane *l);
/* Whether in each bucket that it has leased, checks are put off and no more. */
bool lane_only_puts_off(const struct lane *l);
/* one that is read to its end and has no page; NULL: none */
struct leased_bucket *lane_bucket_to_finish(const struct lane *l);
/* It has no page, and for now nothing to read: no more checks of its slot's round while that goes
 * on, or only such that begin later (phases.h). */
bool lane_gives_back(const struct lane *l, const struct leased_bucket *bucket);
/* one of these; NULL: none */
struct leased_bucket *lane_bucket_to_give_back(const struct lane *l);
int lane_waiting_checks(const struct lane *l);              /* read, and not given to a worker yet */

/* A page was read; it is appended to those of the lane. */
void lane_add_page(struct lane *l, struct leased_bucket *bucket, struct page *page);
void lane_page_done(struct lane *l, struct page *page);     /* all of it is over; frees it */
/* frees dropped pages of which nothing runs any more */
void lane_bury_zombies(struct lane *l);
/* Stopping: what has not been started is left where it is, but for buckets that go on; what runs
 * may still answer. */
void lane_wind_down(struct lane *l);

/* There is room for it, since no more than that was asked for: a lease that is taken is not
 * forgotten for want of memory. */
void lane_add_bucket(struct lane *l, struct target *t, const struct lease *lease,
                     const struct lease_origin *origin);
/* It is given up or finished: its pages are dropped. Its target is over when it was the last. */
void lane_bucket_over(struct lane *l, struct leased_bucket *bucket);
/* the same, and the log says so: another engine has its lease */
void lane_bucket_lost(struct lane *l, struct leased_bucket *bucket);
/* Before it is read: as many parts of it as have begun. */
void lane_begin_parts(const struct lane *l, struct leased_bucket *bucket);
/* Checks of this page that another one holds which is read again (of small tenants, or of parts
 * that began before) are not run again. Returns how many. */
int lane_leave_those_read(const struct lane *l, struct page *page);

/* Something of it was read, or given up: its next round begins once no lane reads checks of this
 * one. */
void lane_look_at_round(const struct lane *l, struct target *t);
/* Reports the target when it is over. */
void lane_target_over(struct lane *l, struct target *t);

/* Until when (CLOCK_BOOTTIME) checks may be started under a lease that was written by the call
 * just ended; 0: not at all. */
int64_t lane_trust_until_us(const struct lane *l);
void lane_set_trust(struct lane *l, struct leased_bucket *bucket, int64_t start_until_us);

/* ---- all lanes ---- */

/* The store is reachable but rejects writes, so that answers could not be saved either: nothing is
 * started any more, in no lane, before a renewal is taken again. */
void lanes_distrust(const struct lanes *lanes);
/* One of them has checks of this target's round to read. */
bool lanes_read_round(const struct lanes *lanes, const struct target *t);
/* Their engine leaves, and others get what it has not begun. But a lease under which something runs
 * cannot be given back. Such a bucket goes on until the last of these runs is over: all that waits
 * in it would wait for that, too. */
void lanes_leave(const struct lanes *lanes);
/* Some do. */
bool lanes_go_on(const struct lanes *lanes);
/* One of them works under this lease. */
bool lanes_hold_lease(const struct lanes *lanes, const struct lease *lease);
/* A run has ended: a pool's event. */
void lanes_take_answer(const struct lanes *lanes, struct page *page, int index, enum answer_kind kind,
                       const struct raw_answer *raw, int64_t taken_us);
/* Checks that ran under places of concurrency keys are over: others are admitted there. */
void lanes_collect_places(const struct lanes *lanes);
/* Checks that were found busy are put off; places were taken, renewed or lost, which changes what
 * may be started. */
void lanes_note_places(const struct lanes *lanes);
/* What waits, and what workers were given and have not begun, is put into the slots of pauses that
 * are on. */
void lanes_take_back_paused(const struct lanes *lanes);
/* No worker can run the job any more: what waits is put off. */
void lanes_job_is_gone(const struct lanes *lanes, int job);

#endif
