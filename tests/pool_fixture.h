/* pool_fixture.h - a pool whose workers are fakes: forks of the test that have the socket and the
 * slab, and no rules; with a page of checks, and a clock that can be moved on. */
#ifndef PRESCIENT_POOL_FIXTURE_H
#define PRESCIENT_POOL_FIXTURE_H

#include <stdio.h>

#include "test.h"

#include "../engine/base/settings_load.h"
#include "../engine/pool/pool.h"
#include "../engine/wire/message.h"
#include "../include/prescient/job.h"

enum { CHECKS = 40, TURNS_MAX = 4000 };

#define SETTINGS(workers_max) SETTINGS_OF("1", workers_max)
#define SETTINGS_OF(workers, workers_max)                                                                    \
    "workers = " workers "; workers_max = " workers_max                                                      \
    "; kill_grace = \"20ms\"; slab = 20; plugin_dirs = [\"/nonexistent\"];\n"                                \
    "jobs = { one = { plugin = \"x\"; timeout = \"2s\"; batch_timeout = \"3s\"; }; two = { plugin = \"y\"; " \
    "}; };\n"

struct fake_worker { int sock; struct slab *slab; uint32_t generation; };

struct pool_fixture {
    struct settings settings;
    struct agenda agenda;
    struct pool *pool;
    struct page *page;                  /* of CHECKS checks of the job `one` */
    const char *terms;                  /* of all checks of the next page */
    const char *tenant;                 /* of all checks of the next page; NULL: "orders" */
    int32_t priority;                   /* of all checks of the next page */
    /* what each other check of the next page is of: the job `two` */
    bool has_both_jobs;
    bool runs_singly;                   /* workers say that their jobs take no batches */
    void (*misdeed)(struct fake_worker *f);     /* what the next worker does once it has its settings */
    int started;                        /* workers */
    int ended[ANSWER_BAD + 1];          /* checks, by their answers */
    struct raw_answer last;             /* of these answers */
    bool usable[2], is_ready;           /* what the pool has told of its jobs */
    int64_t ahead_us;                   /* of our clock before the machine's */
    char *logged;
    size_t logged_size;
    FILE *log_file;
    struct log log;
};
extern struct pool_fixture poolfx;
extern const struct clock poolfx_clock;

/* A pool of one worker at most, or by other settings, which has been offered a page. */
void poolfx_begin(void (*deed)(struct fake_worker *f));
void poolfx_begin_with(const char *settings_text, void (*deed)(struct fake_worker *f));
void poolfx_make_page(void);            /* poolfx.page: a new one, which is not offered */
void poolfx_end(void);

/* A turn of an engine's loop; `step_us` is what our clock gains beside the real time. */
void poolfx_turn(int64_t step_us);
/* Whether what is awaited may still come: a turn ends early when there is something to read, so
 * many turns may be over before a busy machine has begun a process. */
bool poolfx_may_come(int turns, int64_t since_us);
#define TURN_UNTIL(condition, step_us)                                                                       \
    do {                                                                                                     \
        int n_ = 0;                                                                                          \
        int64_t since_us_ = clock_mono_us(&clock_system);                                                    \
        while (!(condition) && poolfx_may_come(n_++, since_us_))                                             \
            poolfx_turn(step_us);                                                                            \
        CU_ASSERT_TRUE(condition);                                                                           \
    } while (0)

bool poolfx_says(const char *words);    /* the log has them */
int poolfx_all_ended(void);

/* In a worker: */
void poolfx_say(struct fake_worker *f, enum message_kind kind, const void *body, size_t len);
void poolfx_say_ready(struct fake_worker *f);
enum message_kind poolfx_hear(struct fake_worker *f, char body[MESSAGE_MAX + 1]);
void poolfx_wait_for(struct fake_worker *f, enum message_kind kind);
_Noreturn void poolfx_sleep_for_ever(void);
void poolfx_answer_slab(struct fake_worker *f);     /* the one that it has heard of last */
/* Deeds that keep to the rules. */
void poolfx_answer_all(struct fake_worker *f);
void poolfx_ready_and_answer_all(struct fake_worker *f);

#endif
