/* host.h - a machine with clocks of its own. It runs one engine at a time, with its workers. */
#ifndef PRESCIENT_SIM_HOST_H
#define PRESCIENT_SIM_HOST_H

#include "../../engine/run/engine.h"
#include "../../engine/run/plans.h"
#include "worker.h"
#include "world.h"

/* a daemon that is always up; a cron with `prescient run` (or sweep, or reslot) at each slot */
enum host_kind { HOST_DAEMON, HOST_CRON };

struct host {
    struct world *w;
    int number;
    enum host_kind kind;
    struct clock clock;
    int64_t mono_base_us, wall_offset_us, drift_ppm;
    int64_t asleep_us, asleep_since_us;     /* suspended in total; since then, 0: awake */
    struct settings settings;
    struct job_settings jobs[JOBS];         /* those of the settings */
    struct log log;
    FILE *log_out;
    struct engine *engine;                  /* NULL: no engine runs */
    int starts;
    int64_t started_us;
    union { struct plan_daemon daemon; struct plan_run run; struct plan_sweep sweep; } plan;
    /* its next turn; an event with another tag is out of date */
    int64_t wake_us;
    uint64_t wake_tag;
    int64_t turned_us;
    int turns;                              /* in the second that began at turned_us */
    bool frozen, workers_frozen, stopping;
    int64_t thawed_us;
    bool cut_to, cut_from;                  /* requests, answers do not get through */
    int64_t no_spawn_until_us, dead_start_until_us;
    int64_t away_until_us;                  /* no engine starts before then */
    struct crew crew;
    bool usable[JOBS];
    int shut_job;                   /* this job cannot be opened until shut_until_us */
    int64_t shut_until_us;
    int deadly_job;                         /* opening this job kills the worker; -1: no job */
};

void hosts_make(struct world *w);
void hosts_free(struct world *w);
void hosts_stop(struct world *w);                   /* asks all engines to stop, and starts no more */
void hosts_end_in_time(struct world *w);            /* checks that the engines of crons end in time */
bool hosts_are_empty(const struct world *w);

struct world *host_world(const struct host *h);
int host_number(const struct host *h);
bool host_is_cut(const struct host *h, bool from);
int64_t host_boot_us(const struct host *h);

void host_start(struct host *h);                    /* starts an engine, unless one runs */
void host_kill(struct host *h);                     /* kills its engine and workers */
void host_wake(struct host *h, int64_t at_us);
void host_freeze(struct host *h, bool workers);
void host_thaw(struct host *h);
void host_suspend(struct host *h);
void host_resume(struct host *h);

#endif
