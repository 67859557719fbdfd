/* runs_by.h - what runs were like, by job, entity or tenant: status --by. */
#ifndef PRESCIENT_RUNS_BY_H
#define PRESCIENT_RUNS_BY_H

#include "args.h"
#include "command.h"

extern const char *const runs_by_parts[];       /* what --by may be; ends with NULL */

/* The whole of the command, with --by. Returns an exit code. */
int runs_by_main(struct app *app, const struct args *args);

#endif
