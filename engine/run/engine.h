/* engine.h - one engine process: lanes (a store connection each), the pool of workers, and what
 * there is to do.
 *
 * A plan (plan_*.c) says which slots are to be run: it adds targets. Each lane, when it has
 * nothing better to do, opens a target and takes leases of it; under a lease it reads pages, hands
 * them to the pool, settles the answers and finishes the bucket. One loop drives it all; nothing
 * here blocks but the poll in engine_run (and SQLite's own calls). */
#ifndef PRESCIENT_ENGINE_H
#define PRESCIENT_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/clock.h"
#include "../base/err.h"
#include "../base/log.h"
#include "../base/settings.h"
#include "../store/store.h"
#include "../pool/page.h"
#include "../pool/pool.h"

struct engine;
struct lane;

/* ---- what there is to do ---- */

/* in the order lanes prefer them */
enum target_kind { TARGET_SLOT, TARGET_RELOOK, TARGET_SWEEP, TARGET_RESLOT };

struct target {
    enum target_kind kind;
    int64_t slot;
    int64_t began_us;               /* monotonic */
    bool opening;                   /* a lane is opening it and its split is not known yet */
    bool exhausted;                 /* nothing of it can be taken any more */
    /* it was not done yet when it was opened: buckets that are done need no second look by this
     * pass */
    bool fresh;
    int held;                       /* leases of it that others hold */
    /* since when it has not begun by the database's clock; 0: was not refused */
    int64_t refused_us;
    int64_t locked_us;              /* since when what its opening needs is locked; 0: is not */
    int64_t retry_us;               /* it is not opened before: it was locked */
    int locked_opens;               /* how often in a row */
    bool dropped;                   /* it was left unopened: whoever asked for it must come again */
    /* buckets, a bit each, that were finished with rows in them: by this target they are not taken
     * anew */
    uint64_t left;
    bool blind;                     /* what is left in it cannot be looked at when it is finished */
    int damaged_opens;              /* how often in a row the store said that a page of its own is damaged */
    int runs;                       /* leases of it that our lanes hold */
    struct pass_counts counts;      /* summed over its buckets */
    struct target *following;
};

/* ---- a lease and what is left to do under it ---- */

/* Leases are taken a few at a time. Those whose pages only wait for slow jobs are many more at
 * most: a hanging check must not keep a lane from its other buckets. */
enum {
    LANE_TAKE = 4,
    LANE_RUNS = 32,
    LANE_PAGES = 64,
    LEFT_JOBS_MAX = 32,
    ROUNDS_MAX = 100,
    WATCHED_MAX = BUCKETS * 2
};

struct bucket_run {
    struct lease lease;
    struct target *target;
    struct page_cursor cursor;
    struct lease_origin origin;
    bool saw_all;                   /* the first read saw all that will ever be filed there */
    /* checks read, and those of them that a settle is known to have written */
    int64_t nread, ntouched;
    bool exhausted;                 /* the last read found no more */
    bool leave;                     /* finish it whatever is left in it */
    int64_t damaged_id;             /* of the first row that was left out; 0: none was */
    int damaged_reads;              /* how often in a row the store said that a page of its own is damaged */
    int rounds;                     /* how often in a row a finish found more and nothing had been settled */
    int64_t settled;                /* checks settled when the last finish was tried */
    int npages;
    int64_t start_until_us;         /* trust, CLOCK_BOOTTIME */
    int64_t began_us;
    bool ran;                       /* counts.late_us is set */
    char *left[LEFT_JOBS_MAX];      /* names of jobs unknown here */
    int nleft;
    struct pass_counts counts;
};

/* ---- a lane: one store connection ---- */

enum lane_action {
    LANE_WAIT, LANE_OPEN, LANE_RENEW, LANE_READ, LANE_SETTLE, LANE_FINISH, LANE_RELEASE, LANE_ERRAND,
    LANE_ACTIONS
};

struct lane_view {                  /* all that a decision rests on */
    bool stopping, hungry;
    bool broken;                    /* no worker gets ready: nothing can be run */
    bool renew_due, settle_due;
    bool apart_due;                 /* an answer that could not be written is to be tried again */
    bool can_read;                  /* a run is not exhausted and there is room for a page */
    bool can_finish;                /* a run is exhausted and all its pages are over */
    bool can_open;                  /* a target is waiting and there is room for a lease */
    bool has_errand;
    bool is_urgent;                 /* the errand comes before other slots, whatever leases are held */
    bool has_runs, has_pages;
};
enum lane_action lane_decide(const struct lane_view *view);

/* From how many checks on a slot is split. Leases, settles and ends of 64 parts cost as much as
 * thousands of quick checks: what an engine that has seen its checks to be quick could run alone
 * in a fifth of a second, it does not split, up to ten times the setting. */
/* answers of workers; what the last of them took, about a hundred, in 64ths of a microsecond */
struct pace { int64_t seen, mean_run_us64; };
void pace_add(struct pace *pace, int64_t run_us);
int pace_split_at(const struct pace *pace, int split_at);

struct lane {
    int number;
    struct engine *engine;
    struct store *store;
    enum lane_action doing;         /* the call under way; LANE_WAIT: none */
    union {
        struct store_call call;
        struct store_hello hello;
        struct store_open_slot open;
        struct store_renew renew;
        struct store_release release;
        struct store_read_page read;
        struct store_settle settle;
        struct store_finish finish;
        struct store_relook relook;
        struct store_pulse pulse;
        struct store_late_slot late;
        struct store_mark_swept swept;
        struct store_keep_days days;
        struct store_prune prune;
    } req;
    /* the first `nruns` are under way, the others' room is free */
    struct bucket_run *runs[LANE_RUNS], room[LANE_RUNS];
    int nruns;
    struct page *pages, *zombies;   /* zombies: dropped, but a worker still runs a check of them */
    int npages;
    struct target *opening;
    struct bucket_run *on;          /* the run that the call under way is for */
    struct page *settling;
    struct settlement *batch;       /* of the settle under way, and where each came from */
    int *batch_index;
    int batch_room, settle_limit;
    int64_t sent_boot_us;           /* when the lease was asked for or renewed */
    int64_t renewed_us;             /* monotonic */
    /* a call was lost, and perhaps the database with the leases it had given: renewed before they
     * are used */
    bool in_doubt;
    struct lease renewing[LANE_RUNS];
    struct lease watched[WATCHED_MAX];      /* of the open under way */
    int64_t retry_us;               /* backing off: nothing is sent before */
    int failures;                   /* in a row, renewals and reads between them aside */
    enum lane_action failing;       /* what failed last */
    /* by what it does: how often in a row the answer did not come in its time */
    uint8_t late[LANE_ACTIONS];
};

/* ---- errands: calls of the plan, made by whichever lane is free ---- */

/* RELOOK_SETTLED and LATE_BESIDE are the narrow forms of the line before: see catchup.h. */
enum errand_kind {
    ERRAND_NONE, ERRAND_HELLO, ERRAND_KEEP_DAYS, ERRAND_INDEX_DAYS, ERRAND_PULSE,
    ERRAND_RELOOK, ERRAND_LATE_SLOT,
    ERRAND_RELOOK_SETTLED, ERRAND_LATE_BESIDE,
    ERRAND_MARK_SWEPT, ERRAND_PRUNE
};
enum { ERRANDS = ERRAND_PRUNE + 1 };

struct errand {
    enum errand_kind kind;
    bool under_way;
    int64_t given_us, sent_us;      /* monotonic */
    /* LATE_SLOT, LATE_BESIDE, MARK_SWEPT (before), PRUNE (which table, before) */
    int64_t from, before;
    bool full;                      /* LATE_SLOT; PRUNE: only asks whose turn it is */
};

struct plan {
    const char *name;
    /* Looks at engine and plan state and adds targets, gives errands, or calls engine_end. Each
     * turn of the loop. */
    void (*tick)(struct engine *e, void *state);
    /* An errand has come back; `rc` < 0 when it failed (it will not be repeated by itself). */
    void (*errand_done)(struct engine *e, void *state, const struct errand *errand, int rc,
                        const struct lane *lane);
    /* A target is over: nothing of it is left to take and no lane holds a lease of it. */
    void (*target_over)(struct engine *e, void *state, const struct target *target);
    /* When tick must be called at the latest, monotonic; NULL: only when something happened. */
    int64_t (*next_us)(const struct engine *e, const void *state);
};

/* ---- the engine ---- */

struct watched_lease { struct lease lease; int64_t since_us, wait_us; };

/* A check whose row an application's transaction has held for long, or whose settle the database
 * refuses: not run again at once. Or a slot that cannot be read: not told again at once. */
struct given_up { int64_t what; int64_t until_us, pause_us; bool is_held; };
enum { GIVEN_UP_MAX = 256 };

/* held_slot: held back for the pass of that slot; 0: is not */
struct job_watch { bool usable; int in_a_row; int64_t held_slot; };

struct engine_options {
    const struct settings *settings;
    struct log *log;
    const struct clock *clock;
    int64_t virtual_now;            /* 0: the database's clock */
    bool relaxed;                   /* a replay: settles need not be on disk one by one */
    /* a daemon: keeps trying for ever; else a store that is away at the start ends it */
    bool patient;
    const char *worker_program;     /* NULL: this program */
    /* What it stands on, for whoever brings a world of his own (a simulation does). */
    const struct spawner *spawner;  /* NULL: processes */
    /* NULL: store_new */
    int (*open_store)(const struct store_options *options, struct store **out, struct err *err);
    uint64_t seed;                  /* of its name and its jitter; 0: the kernel's */
};

struct engine {
    struct engine_options o;
    unsigned char owner[STORE_OWNER_SIZE];
    char name[96];                  /* "host/pid" */
    struct pool *pool;
    struct lane *lanes;
    int nlanes;
    const struct plan *plan;
    void *plan_state;
    struct target *targets;         /* those that are not over, preferred ones first */
    struct errand errand;
    uint8_t errand_late[ERRANDS];   /* as a lane's `late` */
    struct job_watch *jobs;         /* one a job of the settings */
    const char **job_names;         /* of the usable ones; for store_open_slot */
    int njob_names;
    struct watched_lease watched[WATCHED_MAX];
    int nwatched;
    struct given_up given_up[GIVEN_UP_MAX];
    int ngiven_up;
    int64_t virtual_now;
    bool has_clock;
    int64_t clock_offset_us;        /* the database's clock minus our monotonic one */
    /* CLOCK_BOOTTIME minus our monotonic one, as of this turn: how long the machine has been
     * suspended */
    int64_t asleep_us;
    int32_t slot_length_s;
    /* when a sweep last began with a full look, by the database's clock and for all engines; 0:
     * never */
    int64_t full_look_at;
    bool wants_clock;               /* the database's clock was not what we thought: ask it again */
    int64_t refused_boot_us;        /* when the store last refused a write (CLOCK_BOOTTIME); 0: never */
    bool writes_failed;             /* an open or a settle was lost: perhaps today's partition is missing */
    /* when a settle last met a row that somebody else's transaction holds, monotonic; 0: never */
    int64_t lock_met_us;
    int64_t settled_us;             /* when the store last took a settle, monotonic */
    /* since then, settles of one check that met a page of the database that cannot be read */
    int strikes;
    /* so many that perhaps no answer can be written: until one is, checks are run one by one */
    bool is_wary;
    char passed_over[512];          /* what was last told of a host of the store that does not take us */
    struct pass_counts totals;
    int64_t slots_over, held_by_others;
    /* what should have been run was left behind, in words: a command's exit code says so */
    bool left_some;
    struct pace pace;
    uint64_t random;
    bool stirred;                   /* something ended since the plan was last asked: do not wait */
    int signals;                    /* signalfd */
    int stop_signals;               /* how many came */
    bool stopping, ended;
    bool broken;                    /* no worker gets ready */
    /* the stop timeout is over: running jobs were ended by us, which counts for nothing */
    bool killed;
    int64_t stop_until_us;
    int end_rc;
    struct err end_err;
};

int engine_new(const struct engine_options *options, struct engine **out, struct err *err);
void engine_free(struct engine *e);

/* Runs until the plan ends it or a signal stops it. 0, or the negative ERR_ that it ended with. */
int engine_run(struct engine *e, const struct plan *plan, void *plan_state, struct err *err);

/* The same in parts, for whoever waits himself: begin once, then turn whenever a connection or a
 * worker has something to say, and at the latest at engine_next_us (monotonic), until `ended`.
 * Signals come in by engine_stop. */
void engine_begin(struct engine *e, const struct plan *plan, void *plan_state);
void engine_turn(struct engine *e);
int64_t engine_next_us(const struct engine *e);
int engine_result(const struct engine *e, struct err *err);

/* For plans. */
/* seconds by the clock that counts; 0 before the first hello */
int64_t engine_now(const struct engine *e);
int64_t engine_now_us(const struct engine *e);
int64_t engine_mono_us(const struct engine *e);
/* The last full look was an hour ago or more, whoever made it: a transaction may have come in
 * below the sweep's mark since then. */
bool engine_wants_full_look(const struct engine *e);
void engine_noted_full_look(struct engine *e);
bool engine_is_idle(const struct engine *e);            /* no target, no errand, no lease */
/* one that exists is returned; NULL: out of memory, in words */
struct target *engine_add_target(struct engine *e, enum target_kind kind, int64_t slot);
bool engine_has_target(const struct engine *e, int64_t slot);
/* slots before this one that nobody has begun to open: to the sweep */
void engine_leave_older(struct engine *e, int64_t slot);
/* nobody waits for it, and it may fail */
static inline bool engine_can_wait(const struct errand *errand)
{
    return errand->kind == ERRAND_INDEX_DAYS || errand->kind == ERRAND_PRUNE;
}
/* false: one is under way */
bool engine_give_errand(struct engine *e, enum errand_kind kind, int64_t from, int64_t before, bool full);
void engine_end(struct engine *e, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void engine_stop(struct engine *e);                     /* as a first SIGTERM */
void counts_add(struct pass_counts *sum, const struct pass_counts *more);

/* Between the files of the engine. */
/* as far as it goes without waiting */
void lane_drive(struct lane *lane);
void lane_init(struct lane *lane, struct engine *e, int number);
void lane_release_memory(struct lane *lane);
bool lane_is_idle(const struct lane *lane);
int64_t lane_next_us(const struct lane *lane);
struct target *engine_target_for(struct engine *e);                     /* the one to open next, or NULL */
void engine_target_run_over(struct engine *e, struct target *t, const struct pass_counts *counts);
/* Leases that are seen held; `is_ours` tells those of our own that a lane works under. */
void engine_watch_leases(struct engine *e, int64_t slot, const struct lease *held, int n,
                         bool (*is_ours)(const struct engine *e, const struct lease *lease));
/* those unchanged for the lease time */
int engine_watched(const struct engine *e, int64_t slot, struct lease *out, int room);
void engine_errand_done(struct engine *e, struct lane *lane, int rc);
void engine_set_clock(struct engine *e, const struct store_hello *hello);

/* Leaves a check (its id) alone for a minute, the next time for two, and so on up to an hour. A
 * slot has a place of its own there. */
void engine_give_up(struct engine *e, int64_t what);
/* the same, for as long as somebody else's transaction holds it */
void engine_give_up_held(struct engine *e, int64_t what);
void engine_try_held_again(struct engine *e);                      /* one has ended */
void engine_give_up_for_long(struct engine *e, int64_t what);      /* for a day */
bool engine_has_given_up(const struct engine *e, int64_t what);
static inline int64_t given_up_slot(int64_t slot) { return -slot; }         /* ids are positive */
static const int64_t given_up_catchup = INT64_MIN, given_up_narrow = INT64_MIN + 1;
/* Gives it up; false: it is already. For words that are worth saying once, and again after growing
 * pauses. */
bool engine_gives_up_anew(struct engine *e, int64_t what);

/* verdict.c */
void verdict_answered(void *engine, struct page *page, int index, enum answer_kind kind,
                      const struct raw_answer *raw);
/* a page just read: who runs, who does not */
void verdict_take_in(struct engine *e, struct bucket_run *run, struct page *page);
void verdict_refused_by_database(struct engine *e, struct page *page, int index, const char *words);
void verdict_settled(struct bucket_run *run, const struct settlement *s);               /* counts it */
int verdict_job_of(void *engine, const char *name);
/* nobody here can run it any more: what waits in pages is put off */
void verdict_job_is_gone(struct engine *e, int job);

#endif
