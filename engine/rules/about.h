/* about.h - what a line of the log is about: a check, or a slot. */
#ifndef PRESCIENT_ABOUT_H
#define PRESCIENT_ABOUT_H

#include "../base/log.h"
#include "check.h"
#include "slot.h"

/* The slot of a pause is no time: of what it holds none is told. */
static inline struct log_about about_job(int64_t slot, const char *job)
{
    return (struct log_about){ .slot = slot_is_of_pause(slot) ? 0 : slot, .job = job };
}

static inline struct log_about about_slot(int64_t slot)
{
    return about_job(slot, NULL);
}

static inline struct log_about about_check(const struct check *c)
{
    struct log_about about = about_job(c->next_check_at, c->job_exec);
    about.entity = c->entity_name;
    about.key = c->entity_key;
    return about;
}

#endif
