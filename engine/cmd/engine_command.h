/* engine_command.h - what run, sweep, reslot and replay share: an engine made from the settings,
 * run under a plan, and its totals printed at the end; parts of it are for daemon, too. */
#ifndef PRESCIENT_ENGINE_COMMAND_H
#define PRESCIENT_ENGINE_COMMAND_H

#include "../run/engine.h"
#include "../run/plans.h"
#include "command.h"

struct progress;

/* Returns the exit code of the command: 0; 1 when checks ended in trouble; 75 when others hold all
 * that was due; or that of a failure. `virtual_now` 0: the database's clock. `bar`: what the plan
 * draws, which makes room for whatever else is printed; NULL: nothing. */
int engine_command(struct app *app, const struct plan *plan, void *plan_state, int64_t virtual_now,
                   struct progress *bar);

/* Says which store it is, where a variable or nothing at all has said it. */
void engine_tell_store(struct app *app);
void engine_print_totals(struct app *app, const struct totals *totals, const char *plan);

#endif
