/* checker.h - what must hold in every world, asked of three logs: what the database committed,
 * what workers started, and what went wrong. It believes neither the engines nor the database. */
#ifndef PRESCIENT_SIM_CHECKER_H
#define PRESCIENT_SIM_CHECKER_H

#include "../../engine/store/store_slot.h"
#include "world.h"

struct tx;

/* What a job does with a check. */
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
    enum act act;
    bool answered;                  /* published in the slab */
    bool settled;                   /* as is what follows: gone when a failover loses it */
    int effects;                    /* events that its answer declared */
    int emitted;                    /* and that were written */
};

void checker_make(struct world *w);
void checker_free(struct world *w);

/* A worker starts a check. Returns the number that its answer carries. */
int checker_run_begins(struct world *w, const struct run *run);
/* A worker ends, `nclaimed` checks of it unanswered, and nothing came from it since then. */
void checker_worker_ends(struct world *w, const struct host *h, int nclaimed, int64_t moved_us);
struct run *checker_run(struct world *w, int number);

/* Before a transaction takes effect. */
void checker_commit(struct world *w, const struct tx *tx);

/* Something that may be the reason of a second run: on a host (-1: on all), about a key (-1: any).
 * Its effect lasts: a first run that begins so long after it may still lose its lease by it. */
void checker_event(struct world *w, int host, int key, int64_t lasts_us, const char *what);
void checker_engine_killed(struct world *w, int host);
/* The opening of a slot is locked until then. */
void checker_locked(struct world *w, int64_t until_us);
/* Leases may end before their time from now on. */
void checker_clock_jumped(struct world *w);
bool checker_has_jumped(const struct world *w);

/* What was settled and lived at a moment, to go back to when what came after it is lost. */
struct checker_mark;
struct checker_mark *checker_remember(const struct world *w);
void checker_forget(struct checker_mark *mark);
void checker_was_failed_over(struct world *w, const struct checker_mark *mark);

void checker_at_the_end(struct world *w);

#endif
