/* slow_runs.h - runs that have been going on for long: status --slow. */
#ifndef PRESCIENT_SLOW_RUNS_H
#define PRESCIENT_SLOW_RUNS_H

#include "args.h"
#include "command.h"

/* The whole of the command, with --slow. Returns an exit code. */
int slow_runs_main(struct app *app, const struct args *args);

#endif
