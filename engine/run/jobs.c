/* jobs.c - the table of jobs.h. */
#include "jobs.h"

#include <stdlib.h>

#include "../rules/job_limits.h"

static void list_sound(struct jobs *jobs)
{
    jobs->nsound = 0;
    for (int i = 0; i < jobs->settings->njobs; i++)
        if (jobs->watched[i].is_usable && !jobs->watched[i].is_broken)
            jobs->sound[jobs->nsound++] = jobs->settings->jobs[i].name;
}

int jobs_init(struct jobs *jobs, const struct settings *settings, struct err *err)
{
    size_t n = (size_t)settings->njobs + 1;
    *jobs = (struct jobs){ .settings = settings };
    jobs->watched = calloc(n, sizeof *jobs->watched);
    jobs->policies = calloc(n, sizeof *jobs->policies);
    jobs->of_deliveries = calloc(n, sizeof *jobs->of_deliveries);
    jobs->names = calloc(n, sizeof *jobs->names);
    jobs->sound = calloc(n, sizeof *jobs->sound);
    if (!jobs->watched || !jobs->policies || !jobs->of_deliveries || !jobs->names || !jobs->sound)
        return err_set(err, ERR_NOMEM, "out of memory for %d jobs", settings->njobs);
    for (int i = 0; i < settings->njobs; i++) {
        jobs->watched[i].is_usable = true;
        jobs->policies[i] = job_limits_policy(&settings->jobs[i], 0);
        jobs->of_deliveries[i] = job_limits_of_deliveries(&settings->jobs[i], 0);
        jobs->names[jobs->nnames++] = settings->jobs[i].name;
    }
    list_sound(jobs);
    jobs->policies[settings->njobs] = job_limits_policy(&settings->defaults, 0);
    jobs->of_deliveries[settings->njobs] = job_limits_of_deliveries(&settings->defaults, 0);
    return 0;
}

void jobs_release(struct jobs *jobs)
{
    free(jobs->watched);
    free(jobs->policies);
    free(jobs->of_deliveries);
    free(jobs->names);
    free(jobs->sound);
    *jobs = (struct jobs){ 0 };
}

void jobs_set_usable(struct jobs *jobs, const bool *usable)
{
    bool changes = !jobs->changes;
    jobs->nnames = 0;
    for (int i = 0; i < jobs->settings->njobs; i++) {
        changes = changes || jobs->watched[i].is_usable != usable[i];
        jobs->watched[i].is_usable = usable[i];
        if (usable[i])
            jobs->names[jobs->nnames++] = jobs->settings->jobs[i].name;
    }
    jobs->changes += changes;
    list_sound(jobs);
}

int jobs_usable_index(const struct jobs *jobs, const char *name)
{
    int index = -1;
    if (!settings_job(jobs->settings, name, &index) || !jobs->watched[index].is_usable)
        return -1;
    return index;
}

bool jobs_note_run(struct jobs *jobs, int job, enum answer_kind kind)
{
    if (job < 0)
        return false;
    struct job_watch *w = &jobs->watched[job];
    bool is_trouble = kind == ANSWER_TIMEOUT || kind == ANSWER_CRASH || kind == ANSWER_BROKEN;
    w->troubles = is_trouble ? w->troubles + 1 : 0;
    if (kind == ANSWER_DEFER)               /* it says nothing of the job */
        return false;
    if (w->is_broken != (kind == ANSWER_BROKEN)) {
        w->is_broken = kind == ANSWER_BROKEN;
        list_sound(jobs);
    }
    return w->troubles >= jobs->settings->hold_back_after;
}

void jobs_hold_no_more(struct jobs *jobs, int64_t slot)
{
    for (int i = 0; i < jobs->settings->njobs; i++)
        if (jobs->watched[i].held_slot == slot)
            jobs->watched[i].held_slot = 0;
}
