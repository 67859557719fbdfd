/* paused.h - what pause and resume have in common: of what. */
#ifndef PRESCIENT_PAUSED_H
#define PRESCIENT_PAUSED_H

#include "args.h"
#include "command.h"

#define PAUSED_JOB    { "job", 'j', "JOB", "the checks of this job" }
#define PAUSED_ENTITY { "entity", 'e', "ENTITY", "the checks of all rows of this entity" }
#define PAUSED_SCHEDULE { "schedule", 'c', "NAME", "the check of this schedule" }
#define PAUSED_TENANT { "tenant", 't', "NAME", "the checks that have this tenant" }

struct paused { const char *job, *entity, *schedule, *tenant; };        /* one of them is not NULL */

/* Returns 0, or ERR_INPUT when not exactly one of them is given. */
int paused_read(const struct args *args, struct paused *out, struct err *err);
/* "job unshipped_order is paused". */
void paused_print(struct app *app, const struct paused *p, const char *words);

#endif
