/* targets.h - the slots that are to be run, in the order in which lanes open them. */
#ifndef PRESCIENT_TARGETS_H
#define PRESCIENT_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/agenda.h"
#include "../store/store_slot.h"

/* In the order lanes prefer them. TARGET_MISSED: the time of the slot is over, and the daemon that
 * was there for it has not begun it. */
enum target_kind { TARGET_SLOT, TARGET_RELOOK, TARGET_MISSED, TARGET_SWEEP, TARGET_RESLOT };

/* A slot has rounds: one for urgent checks (priority below 0) if it is split and has some, one for
 * checks of small tenants if it has these beside others (store_slot.h) and is slow, and the last.
 * The rounds before the last go over buckets and read only such checks. A bucket that has no more
 * of them is given back, unfinished, or kept while some of them run. Once none is left to be read,
 * the next round begins. The last one runs all that is there, and only that one finishes buckets.
 * An engine that dies in between leaves nothing to be cleared up: who comes then has rounds of its
 * own. */

struct target {
    enum target_kind kind;
    int64_t slot;
    enum read_what round;           /* what is read in this one; READ_ALL: it is the last */
    bool round_ends;                /* no bucket is left to take in it */
    bool began_rounds;              /* it was opened, and what rounds it has is known */
    uint64_t small_buckets;         /* a bit each: those that the round of small tenants goes over */
    /* Its first round is all: the sweep takes the urgent checks of all late slots before the others
     * of any, which then are another target's. */
    bool only_urgent;
    uint64_t buckets_of_round;      /* a bit each: those that this round has been over */
    int64_t began_us;               /* monotonic */
    int begun;                      /* so many parts of it had begun when it was opened last (phases.h) */
    bool is_opening;                /* a lane is opening it and its split is not known yet */
    bool exhausted;                 /* nothing of it can be taken any more */
    /* It was not done yet when it was opened: its buckets that are done were emptied just now, and
     * are not looked at again. */
    bool first_open;
    /* It was not opened, or not to its end: the plan that asked for it has to ask again. */
    bool unopened;
    bool is_final;                  /* no sweep comes after it: checks that it leaves are told */
    /* A sweep passes over a slot once for checks that can be run here, and once more, after all
     * else, to put off those that cannot. */
    bool puts_off;                  /* that is this one */
    bool was_taken;                 /* a lease of it */
    bool left_some;                 /* checks that cannot be run here */
    bool is_barren;                 /* the last page of it had nothing to run here */
    int held_by_others;             /* leases of it */
    int leased;                     /* leases of it that our lanes hold */
    /* since when the database's clock has it in the future; 0: it does not */
    int64_t early_since_us;
    int64_t locked_since_us;        /* since when a lock keeps it from being opened; 0: none does */
    int locked_opens;               /* how often in a row */
    int damaged_opens;              /* how often in a row its opening met a corrupt block */
    int64_t retry_us;               /* it is not opened before */
    struct alarm retry;
    /* buckets, a bit each, that were finished with rows in them: this target does not take them
     * again */
    uint64_t skipped_buckets;
    struct pass_counts counts;      /* summed over its buckets */
    struct target *following;
};

struct targets {
    struct target *first;
    struct agenda *agenda;          /* for the next tries of those that were locked */
};

void targets_release(struct targets *all);

/* Of one slot there is one: it is returned as it is. NULL: out of memory. */
struct target *targets_add(struct targets *all, enum target_kind kind, int64_t slot, int64_t now_us);
bool targets_have(const struct targets *all, int64_t slot);
/* It is the time of `slot`. Of the slots and missed ones that no lane has begun to open, those from
 * `oldest` on are missed ones now; those before are dropped: the sweep takes them. So are those
 * behind `slot`: the clock was set back, and they come again. */
void targets_pass_over(struct targets *all, int64_t slot, int64_t oldest);
void targets_remove(struct targets *all, struct target *t);

/* The next one, or NULL: the first, but one that is barren comes after others of its kind. While a
 * lock keeps a slot from being opened whose time it is, no missed one is tried: it would meet the
 * same. */
struct target *targets_to_open(const struct targets *all, int64_t now_us);

/* A lock kept it from being opened. It is tried again after a pause that grows; `random` is its
 * jitter. True when that has just begun. */
bool targets_locked(struct targets *all, struct target *t, int64_t now_us, uint64_t random);
/* A slot waits for as long as a daemon lives, until the next one begins; missed ones wait until too
 * many have come behind them. What a command or a catch-up waits for may be an application's
 * transaction that stays open for hours, with others behind it: such a slot is not waited for after
 * half a minute. */
bool target_is_worth_waiting(const struct target *t, bool patient, int64_t now_us);
enum { TARGET_LOCKED_LONG_S = 30 };

/* The database's clock has it in the future. That is over in a moment, or the database's clock was
 * set back. True while the former is likely. */
bool target_is_nearly_due(struct target *t, int64_t now_us);

/* What more of it there is begins later (phases.h): it is not opened before. */
void targets_wait(struct targets *all, struct target *t, int64_t until_us);

/* An open was answered: it is neither locked nor early. */
void target_opened(struct target *t);

/* Only once, and only of some kinds. */
bool target_may_have_rounds(const struct target *t);
/* It was opened: its rounds begin, if it may have any. */
void target_begin_rounds(struct target *t, bool has_urgent, uint64_t small_buckets);
/* None of its leases is left to take in this round. `is_read`: some lane still reads checks of this
 * round. True when nothing more of it is opened. */
bool target_none_left(struct target *t, bool is_read);
/* Nothing more of it is opened, at the end of its last round or before: what our lanes have leased
 * is run to its end. */
void target_end_opening(struct target *t);
/* Buckets that an open is not to take: a bit each. */
uint64_t target_left_out(const struct target *t);

/* One of its buckets is over. */
void target_bucket_over(struct target *t, const struct pass_counts *counts);
/* Nothing of it is left to take, and no lane holds a lease of it. At a stop nothing is taken. */
bool target_is_over(const struct target *t, bool stopping);
/* It is over, but for checks that are to be put off: it left some, or none of its leases was wanted
 * for those that can be run here. */
bool target_has_to_put_off(const struct target *t);
/* Its second round begins, behind the first ones of all others. */
void targets_put_off(struct targets *all, struct target *t);

#endif
