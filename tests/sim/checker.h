/* checker.h - the rules that must hold in every world. The checker compares three logs: commits of
 * the database, runs that workers started, and faults. It trusts neither engines nor database. */
#ifndef PRESCIENT_SIM_CHECKER_H
#define PRESCIENT_SIM_CHECKER_H

#include "../../engine/store/store_slot.h"
#include "world.h"

struct tx;

/* The action of a job on a check. */
enum act {
    ACT_DONE,
    ACT_AGAIN,
    ACT_DEFER,
    ACT_FAIL,
    ACT_SILENT,
    ACT_GARBAGE,
    ACT_SLOW,
    ACT_HANG,
    ACT_CRASH,
    ACT_EXIT,
    ACT_CLOSE,
    ACT_LIE,
    ACT_BABBLE,
    ACT_CHATTER,
    ACTS
};

struct run {
    int key, host;
    int64_t id, slot;
    int32_t check_count, failure_count;
    int64_t began_us;
    int64_t deadline_boot_us;       /* of one with a concurrency key: then its worker is ended */
    enum act act;
    bool answered;                  /* published in the slab */
    bool settled;                   /* this and the next fields are undone when a failover loses the commit */
    int effects;                    /* events that its answer declared */
    int emitted;                    /* events that were written */
};

void checker_make(struct world *w);
void checker_free(struct world *w);

/* A worker starts a check. Returns the number of the run, which its answer carries. */
int checker_run_begins(struct world *w, const struct run *run);
/* A worker ends with `nclaimed` unanswered checks. Its last progress was at `progress_us`. */
void checker_worker_ends(struct world *w, const struct host *h, int nclaimed, int64_t progress_us);
struct run *checker_run(struct world *w, int number);
/* A worker was given a check, and begins it when it comes to that. */
void checker_given(struct world *w, int64_t id, int64_t slot);
/* Its answer was published, or its worker ended; or its engine was killed, and it lives on until
 * its deadline. */
void checker_run_ends(struct world *w, int number);
void checker_run_is_left(struct world *w, int number);
/* It has another deadline. */
void checker_run_has_until(struct world *w, int number, int64_t boot_us);

/* Before a transaction takes effect. */
void checker_commit(struct world *w, const struct tx *tx);

/* An event that may cause a second run: on a host (-1: on all), of a key (-1: any). A first run
 * that begins within `lasts_us` may still lose its lease because of it. */
void checker_event(struct world *w, int host, int key, int64_t lasts_us, const char *what);
void checker_engine_killed(struct world *w, int host);
/* The opening of a slot is locked until `until_us`. */
void checker_locked(struct world *w, int64_t until_us);
/* Leases may end before their time from now on. */
void checker_clock_jumped(struct world *w, int64_t by_us);
bool checker_has_jumped(const struct world *w);
/* Leases and places may be missing that their owners still trust. */
bool checker_has_lost_rows(const struct world *w);
/* Before some concurrency keys have other numbers of places. */
void checker_limits_change(struct world *w);

/* A copy of the checker's state, restored when a failover loses the commits after it. */
struct checker_mark;
struct checker_mark *checker_remember(const struct world *w);
void checker_forget(struct checker_mark *mark);
void checker_was_failed_over(struct world *w, const struct checker_mark *mark);

void checker_at_the_end(struct world *w);

#endif
