/* process.h - the process that engines run in: it hears signals, waits for all that they wait for,
 * and lets an engine with other settings take over from the one before. That one takes nothing new
 * from then on, and stays until what runs under its settings is written down; so each check sees
 * the settings of one engine. */
#ifndef PRESCIENT_PROCESS_H
#define PRESCIENT_PROCESS_H

#include "../base/hangup.h"
#include "engine.h"

/* How many engines there are at most; who wants another one waits until one of them is over. */
enum { PROCESS_ENGINES = 4 };

struct process_options {
    struct log *log;
    struct supervisor *supervisor; /* NULL: nobody wants to know */
    const struct clock *clock;
    /* SIGHUP: makes the engine that is to take over, and begins it. NULL: there is none, and it has
     * said why. NULL as a function: SIGHUP ends the process, as SIGTERM does. That of a terminal
     * that is closed always does, but under nohup (hangup.h). */
    struct engine *(*renew)(void *ctx);
    /* It has done an engine's work, and has taken over; or could not (`why`), and will be over. */
    void (*taken)(void *ctx, const struct engine *e);
    void (*refused)(void *ctx, const struct engine *e, const struct err *why);
    /* It is over, and is the caller's again. */
    void (*over)(void *ctx, struct engine *e);
    void *ctx;
};

enum process_stage {
    STAGE_PROVING, /* its store has not let it do an engine's work yet */
    STAGE_SERVING, /* it has; or it is the first one */
    STAGE_LEAVING, /* another one has taken over */
    STAGE_CLOSING  /* it has ended; its workers close their jobs */
};

struct process {
    struct process_options o;
    struct process_engine {
        struct engine *e;
        enum process_stage stage;
        int64_t begun_us; /* monotonic */
    } all[PROCESS_ENGINES];
    int n;
    struct hangup hangup;
    int signals;         /* signalfd */
    int stop_signals;    /* how many came */
    bool wants_renewal;  /* SIGHUP came, and nothing was made of it yet */
    bool waits_to_renew; /* and the log says what that waits for */
    bool is_ending;
    int rc; /* of the engine that served last */
    struct err err;
};

void process_init(struct process *p, const struct process_options *options);

/* Runs the engine, which has begun, and those that take over from it, until all are over; those
 * that are were given back. 0, or the negative ERR_ that the one which served last has ended
 * with. */
int process_run(struct process *p, struct engine *first, struct err *err);

/* What is to be made of a SIGHUP now. */
enum process_renewal {
    RENEWAL_NONE,       /* none came; or all are ending */
    RENEWAL_INSTEAD,    /* an engine proves itself, with settings that were read before: it is dropped */
    RENEWAL_LACKS_ROOM, /* it waits until one of the engines is over */
    RENEWAL_NOW
};
enum process_renewal process_renewal(const struct process *p);

/* So long an engine may prove itself while the one before has its store. Then the settings of
 * before stay in force: what it lacks (a connection, a right) may never come, and who has sent the
 * SIGHUP is to hear of it. */
enum { PROCESS_PROVING_S = 120 };

/* For engine_options.kin: whether the child is a worker of one of its engines. */
bool process_has_child(const void *process, pid_t pid);

#endif
