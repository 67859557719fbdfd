/* verdict.h - from an answer to a settlement: the guard is asked, jobs in trouble are held back.
 * Pages in, settlements out; no I/O but the log. */
#ifndef PRESCIENT_VERDICT_H
#define PRESCIENT_VERDICT_H

#include "../pool/page.h"
#include "../wire/slab.h"
#include "lane_env.h"
#include "leased_bucket.h"

/* A page that was read just now: checks that are not to be run are left behind or moved on. */
void verdict_take_in(const struct lane_env *env, struct page *page, int64_t now_us);

/* A run has ended. True when its job is to be held back for the rest of the pass: too many timeouts
 * or crashes in a row, or it is broken. */
bool verdict_answered(const struct lane_env *env, struct page *page, int index, enum answer_kind kind,
                      const struct raw_answer *raw, int64_t now_us);

/* The database refuses the answer of a check: it becomes a bad one, with `reason` as its note. */
void verdict_refused_by_database(const struct lane_env *env, struct page *page, int index,
                                 const char *reason);

/* What waits in the page and is paused is put into the slot of its pause. */
void verdict_pause(const struct lane_env *env, struct page *page, int64_t now_us);

/* A check whose concurrency key is busy is tried again up to `most_s` seconds later. */
void verdict_busy(const struct lane_env *env, struct page *page, int index, int64_t most_s, int64_t now_us);

/* The checks of `job` that wait in the page are moved on: it is held back, or cannot be run here
 * any more. */
void verdict_hold_back(const struct lane_env *env, struct page *page, int job, int64_t now_us);
void verdict_job_is_gone(const struct lane_env *env, struct page *page, int job, int64_t now_us);

#endif
