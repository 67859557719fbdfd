/* engine_state.h - what an engine owns: its parts, each a module of its own, and the loop's state.
 * For engine.c, engine_new.c and their tests; lanes and plans are given pointers to the parts that
 * they need. */
#ifndef PRESCIENT_ENGINE_STATE_H
#define PRESCIENT_ENGINE_STATE_H

#include "engine_options.h"
#include "lane_state.h"
#include "notifying.h"
#include "plan.h"

struct engine {
    struct engine_options o;
    unsigned char owner[STORE_OWNER_SIZE];
    char name[96];                  /* "host/pid" */
    uint64_t random;
    struct agenda agenda;           /* when anything has to be done next */
    /* the parts */
    struct pool *pool;
    struct lanes lanes;
    struct clocks clocks;
    struct targets targets;
    struct watch watch;
    struct cooldowns cooldowns;
    struct health health;
    struct jobs jobs;
    struct pace pace;
    struct pausing pausing;
    struct places *places;
    struct run_hours *run_hours;
    struct long_runs long_runs;
    struct measuring measuring;
    struct notifying notifying;
    struct errands errands;
    struct shutdown shutdown;
    struct totals totals;
    struct trouble trouble;
    struct zones zones;
    struct terms_memo terms_memo;
    /* the last lane runs fine slots and nothing else: a slow check there holds no lease that a pass
     * needs */
    struct targets fine_targets;
    struct errands fine_errands;
    /* what was done in fine slots and is not logged yet: a line for each second would be many */
    struct { struct pass_counts counts; int slots; int64_t logged_us; } fine_done;
    struct lane_env lane_env, fine_lane_env;
    struct plan_env plan_env;
    /* the loop */
    const struct plan *plan;
    void *plan_state;
    struct alarm wake_plan, wake_stop;
    bool needs_tick;                /* something ended since the plan was last asked: do not wait */
    int64_t note_until_us;          /* at a stop: until then it tries to say its last words */
    bool workers_broken;            /* it stops because no worker gets ready */
};

/* Events of its lanes and of its pool: engine.c. */
void engine_target_over(void *engine, struct target *target);
void engine_errand_done(void *engine, const struct errand_result *result);
void engine_fatal(void *engine, int rc, const char *text);
void engine_answered(void *engine, struct page *page, int index, enum answer_kind kind,
                     const struct raw_answer *raw, int64_t taken_us);
void engine_workers_ready(void *engine, const bool *usable);
bool engine_is_idle(const void *engine);

#endif
