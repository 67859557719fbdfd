/* trouble.h - what a person has to hear of: checks that ended in trouble, and checks that were put
 * off because no engine has their job, or it is broken. A few lines each, then a count: a daemon
 * logs them when a slot is over, a command at its end. */
#ifndef PRESCIENT_TROUBLE_H
#define PRESCIENT_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/log.h"
#include "../base/settings.h"
#include "../store/store_slot.h"
#include "cooldown.h"

enum { TROUBLE_CHECKS_MAX = 10, TROUBLE_JOBS_MAX = 10 };

struct trouble {
    const struct settings *settings;
    struct log *log;
    int64_t nended;                 /* checks that ended in trouble; the first ones are in the log */
    struct trouble_job {
        char *name;
        int64_t nchecks;            /* settled as put off, or left */
        int64_t nput_off;           /* of them: put off, and not met again since */
        int64_t oldest_at;          /* the slot at which the oldest was due */
        bool is_left;               /* they were left in their slots, and are not put off */
        char *why_broken;           /* what the first of them was told; NULL: it is not */
    } jobs[TROUBLE_JOBS_MAX];
    int njobs;
    int64_t nothers;                /* checks of jobs for which there was no room */
    /* jobs that cannot be run here, of which the slot that runs has checks: another engine may run
     * them there. The slot in which the first was met */
    struct trouble_here {
        char *name;
        int64_t slot;
    } here[TROUBLE_JOBS_MAX];
    int nhere;
};

void trouble_release(struct trouble *trouble);

/* A settlement was written. True when it is one of those that a command's exit code has to show
 * besides the counts: its job cannot be run here, or is broken. */
bool trouble_note(struct trouble *trouble, const struct settlement *settled);

/* A check was left in its slot: its job cannot be run here, and no sweep will put it off. */
void trouble_note_left(struct trouble *trouble, const struct check *check);

/* A check was left in the slot that runs, for an engine that has its job. */
void trouble_note_here(struct trouble *trouble, const struct check *check);
/* Logs their jobs. To be called where no other engine is there: nobody runs them. False: there are
 * none. */
bool trouble_tell_here(struct trouble *trouble);

/* Logs what was noted since the last time. `cooldowns`: a job is named once, and again after
 * growing pauses, in which its checks add up; NULL: now. */
void trouble_tell(struct trouble *trouble, struct cooldowns *cooldowns, int64_t now_us);

#endif
