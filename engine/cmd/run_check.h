/* run_check.h - `prescient run --check`: one check that waits is run in the next second, by this
 * program or by another engine, and waited for. */
#ifndef PRESCIENT_RUN_CHECK_H
#define PRESCIENT_RUN_CHECK_H

#include "command.h"

struct run_check {
    const char *entity, *key, *job;     /* job NULL: the only one that waits */
    int64_t within_us;                  /* how long it is waited for */
};

/* Returns the exit code of the command: 0 when its job has answered; 1 when it has failed, or there
 * is no such check; 75 when it has not run in time. */
int run_check(struct app *app, const struct run_check *wanted);

#endif
