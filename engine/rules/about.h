/* about.h - what a line of the log is about: a check, or a slot. */
#ifndef PRESCIENT_ABOUT_H
#define PRESCIENT_ABOUT_H

#include "../base/log.h"
#include "check.h"

static inline struct log_about about_slot(int64_t slot)
{
    return (struct log_about){ .slot = slot };
}

static inline struct log_about about_check(const struct check *c)
{
    return (struct log_about){ c->next_check_at, c->job_exec, c->entity_name, c->entity_key };
}

#endif
