/* jobs.h - the jobs of the settings as this engine sees them: which can be run here, and which are
 * in trouble. */
#ifndef PRESCIENT_JOBS_H
#define PRESCIENT_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/err.h"
#include "../base/settings.h"
#include "../rules/guard.h"

struct jobs {
    const struct settings *settings;
    struct job_watch {
        bool is_usable;
        int troubles;               /* timeouts, crashes and answers that it is broken, in a row */
        bool is_broken;             /* the last of them was such an answer */
        int64_t held_slot;          /* held back for the pass of that slot; 0: is not */
    } *watched;                     /* one a job of the settings */
    struct guard_policy *policies;  /* likewise, and the one of the defaults at the end */
    struct guard_policy *of_deliveries;     /* likewise */
    const char **names;             /* of the usable ones */
    int nnames;
    const char **sound;             /* of those that have not said last that they are broken */
    int nsound;
    unsigned changes;               /* to which can be run; 0: no worker has loaded them */
};

/* All are taken for usable until the first worker has loaded them. */
int jobs_init(struct jobs *jobs, const struct settings *settings, struct err *err);
void jobs_release(struct jobs *jobs);

/* Which of them a worker can run; one a job of the settings. */
void jobs_set_usable(struct jobs *jobs, const bool *usable);
int jobs_usable_index(const struct jobs *jobs, const char *name);       /* -1: cannot be run here */
/* of job -1, unknown here: the defaults */
static inline const struct job_settings *jobs_settings(const struct jobs *jobs, int job)
{
    return job >= 0 ? &jobs->settings->jobs[job] : &jobs->settings->defaults;
}

/* The job's limits, for slots of that length; of job -1, the defaults. Valid until the next call
 * for the same job. */
static inline const struct guard_policy *jobs_policy(const struct jobs *jobs, int job,
                                                     int32_t slot_length_s)
{
    struct guard_policy *policy = &jobs->policies[job >= 0 ? job : jobs->settings->njobs];
    policy->slot_length_s = slot_length_s;
    return policy;
}

static inline const struct guard_policy *jobs_policy_of_deliveries(const struct jobs *jobs, int job,
                                                                   int32_t slot_length_s)
{
    struct guard_policy *policy = &jobs->of_deliveries[job >= 0 ? job : jobs->settings->njobs];
    policy->slot_length_s = slot_length_s;
    return policy;
}

/* A check of the job ended like that. True when the job is to be held back for the rest of the
 * pass: too many timeouts or crashes in a row, or it has said too often that it is broken. */
bool jobs_note_run(struct jobs *jobs, int job, enum answer_kind kind);
/* Those that are held back for the pass of this slot are run again in the rest of it. */
void jobs_hold_no_more(struct jobs *jobs, int64_t slot);
static inline bool jobs_is_held(const struct jobs *jobs, int job, int64_t slot)
{
    return job >= 0 && jobs->watched[job].held_slot == slot;
}

#endif
