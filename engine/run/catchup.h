/* catchup.h - the work of earlier slots: second looks at slots that are not closed, then the sweep
 * (or the reslot) of late slots, oldest first: full ones one at a time, fine ones some at once, as
 * one slow check would keep all others. A sweep takes the urgent checks (priority below 0) of all
 * full ones before the others of any. A part of the plans that need it; it asks the store by
 * errands.
 *
 * On PostgreSQL an old transaction or snapshot keeps the rows that were settled since it began, and
 * a look scans them. A look that timed out twice is asked narrowly: it leaves out where those rows
 * are. What it leaves out is looked at when the transaction has ended; the log reports it.
 *
 * Checks at times that are no slots are moved to slots, some thousand a call: one call between two
 * late slots, the rest when there is none. A daemon makes CATCHUP_REFILES calls in a catch-up at
 * most, and looks again soon, as second looks wait meanwhile.
 *
 * Checks that were put off because no engine could run their jobs wait for as long as half of the
 * time since they were due. An engine that can run them files them into the next slot: a sweep
 * asks for them when it has found no more late slots. */
#ifndef PRESCIENT_CATCHUP_H
#define PRESCIENT_CATCHUP_H

#include "plan.h"

enum catchup_step {
    CATCHUP_DONE, CATCHUP_RELOOK, CATCHUP_LOOKED, CATCHUP_ASK, CATCHUP_SLOT, CATCHUP_REFILE,
    CATCHUP_RECALL, CATCHUP_MARK
};

/* How far the look at checks that were put off is. */
struct recalling {
    bool wanted;
    struct recall_place after;
    int64_t recalled;
};

enum { CATCHUP_AT_ONCE = 16, CATCHUP_REFILES = 16, CATCHUP_RECALLS = 16 };

struct catchup {
    enum catchup_step step;
    bool sweeps;                    /* false: only the second looks */
    enum target_kind kind;          /* TARGET_SWEEP or TARGET_RESLOT */
    int64_t from, before;           /* late slots: [from, before); from 0: the low-water mark */
    bool full;                      /* look below the mark of the sweep, too */
    int64_t skipped_from;           /* the first slot that could not be emptied; 0: none */
    /* Of a sweep, whose first step are the urgent checks of all full slots: from which slot on they
     * are asked for, none were left at the last question, and those that were found are over. */
    int64_t urgent_from;
    bool found_urgents, urgents_over;
    int64_t under_way[CATCHUP_AT_ONCE];     /* late slots */
    int nunder_way;
    bool found_all;                 /* there are no more late slots */
    int waiting;                    /* second looks at full slots under way */
    int slots;                      /* late slots found, but for those of which nothing could be run */
    int damaged;                    /* how often in a row a question met a corrupt block */
    bool narrow;                    /* from now on looks are narrow */
    bool looked_past;               /* something was not looked at: the mark of the sweep stays */
    int64_t cost_us;                /* the database's own time for the questions so far */
    /* The time of questions that timed out. It was the store's if a narrow one is answered, else
     * that of a dead line; and neither where writes were lost meanwhile: the store was away. */
    int64_t unanswered_us, unanswered_since_us;
    bool moved;                     /* the last look closed something or found something to do */
    bool unfinished;                /* a slot waits for the lease of an engine that may be dead */
    int64_t refile_from;            /* checks at times that are no slots: from there; 0: none are left */
    bool is_refiles_turn;           /* a late slot was asked for since the last call */
    int refiles;                    /* calls so far */
    int64_t refiled;                /* checks that they have moved */
    struct recalling recalling;     /* wanted: its plan has set it; may last longer than a catch-up */
    int recalls;                    /* calls so far */
};

/* How long a daemon waits after a catch-up that took `cost_us` of the store's time. Costly ones,
 * more than a quarter of a second, take a tenth of a lane's time at most, but are never put off for
 * longer than five minutes. */
int64_t catchup_rest_us(int64_t cost_us);

/* Keeps `recalling`. */
void catchup_begin(struct catchup *c, enum target_kind kind, bool sweeps, int64_t before, bool full);
/* The database's clock was set back: what is late now ends at `before`. A sweep that went on to
 * where it was late before would take slots that are to come, one by one as each begins, and keep
 * all others waiting. */
void catchup_end_before(struct catchup *c, int64_t before);
void catchup_tick(const struct plan_env *env, struct catchup *c);
void catchup_errand_done(const struct plan_env *env, struct catchup *c, const struct errand_result *result);
void catchup_target_over(const struct plan_env *env, struct catchup *c, const struct target *target);

#endif
