/* engine_command.h - what run, sweep, reslot, daemon and replay share: an engine made from the
 * settings, run under a plan, and its totals printed at the end. */
#ifndef PRESCIENT_ENGINE_COMMAND_H
#define PRESCIENT_ENGINE_COMMAND_H

#include "../run/engine.h"
#include "../run/plans.h"
#include "command.h"

/* Returns the exit code of the command: 0; 1 when checks ended in trouble; 75 when others hold all
 * that was due; or that of a failure. `virtual_now` 0: the database's clock. `patient`: it keeps
 * trying for ever (a daemon), and returns neither 1 nor 75. */
int engine_command(struct app *app, const struct plan *plan, void *plan_state, int64_t virtual_now,
                   bool patient);

#endif
