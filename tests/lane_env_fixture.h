/* lane_env_fixture.h - the parts that lanes and plans share, without an engine: for suites of what
 * works on a lane's pages, and of plans. Time is `now_us`, and moves only when a test moves it. */
#ifndef PRESCIENT_LANE_ENV_FIXTURE_H
#define PRESCIENT_LANE_ENV_FIXTURE_H

#include "../engine/pool/page.h"
#include "../engine/run/lane_env.h"
#include "../engine/run/leased_bucket.h"
#include "../engine/run/plan.h"
#include "settings_fixture.h"

enum { FIXTURE_SLOT = 900 * 1000, FIXTURE_LENGTH_S = 900 };

struct lane_env_fixture {
    struct settings settings;
    struct log log;                 /* into a file of its own, see fixture_logged */
    char *logged;
    size_t logged_size;
    struct clocks clocks;
    struct targets targets, fine_targets;
    struct watch watch;
    struct cooldowns cooldowns;
    struct health health;
    struct jobs jobs;
    struct pace pace;
    struct pausing pausing;         /* nothing is paused */
    struct places *places;
    struct run_hours *run_hours;
    struct long_runs long_runs;
    struct measuring measuring;     /* nobody wants metrics */
    struct errands errands, fine_errands;
    struct shutdown shutdown;
    struct totals totals;
    struct trouble trouble;
    struct zones zones;
    struct terms_memo terms_memo;
    uint64_t random;
    struct lane_env env;
    int fatal_rc;                   /* of the last fatal event; 0: none came */
    struct agenda agenda, settles;
    struct alarm wake_plan;
    struct plan_env plan_env;       /* of the same parts; is_idle is always false */
    struct target target;
    struct leased_bucket bucket;
};
extern int64_t fixture_now_us;      /* monotonic */

/* One job, `j`, besides what `settings` holds. */
void lane_env_begin(struct lane_env_fixture *x, const char *settings);
void lane_env_end(struct lane_env_fixture *x);

/* A page of `n` checks of job `j` with the ids 1..n, read under the fixture's bucket. */
struct page *fixture_page(struct lane_env_fixture *x, int n);
bool fixture_logged(struct lane_env_fixture *x, const char *text);

#endif
