/* engine_command.h - what run, sweep, reslot, daemon and replay share: an engine made from the
 * settings, run under a plan, and its totals said at the end. */
#ifndef PRESCIENT_ENGINE_COMMAND_H
#define PRESCIENT_ENGINE_COMMAND_H

#include "../run/engine.h"
#include "../run/plans.h"
#include "command.h"

/* Returns the command's exit code: 0; 1 when checks ended in trouble; 75 when all that was due is
 * held by others; or what the failure says. `virtual_now` 0: the database's clock. `patient`:
 * keeps trying for ever (a daemon), and neither of the two is said. */
int engine_command(struct app *app, const struct plan *plan, void *plan_state, int64_t virtual_now,
                   bool patient);

#endif
